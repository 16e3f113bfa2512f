"""What a line says, in each form of verdicts. Readers see it without its decoration."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from arena.rating import scales
from judging.protocols.answer_scales import GRADES, AnswerScale
from judging.protocols.replies import Reason, Verdict

# How verdicts may be decorated without becoming other verdicts.


FULL_WIDTH: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x2019: "'", 0x3000: " "}
"""Full-width forms of ASCII, as East Asian texts use them, and the typographic apostrophe."""

DECORATION: Final = " \t\r*_`#\"'[](){}\ufeff\u200b\u200e\u200f\u202a\u202b\u202c“”„«»「」『』【】"
"""Characters that may stand around a verdict without changing it; those of writing from right to left too."""

EMPHASIS: Final = re.compile(r"(?<!\d)[*_`]+|[*_`]+(?!\d)")
"""Markdown inside a line; between two digits it could be anything."""

BOXED: Final = re.compile(r"\$*\\boxed\{([^{}]*)\}\$*")
"""How mathematical texts show their result."""

LONGEST_LINE: Final = 100
"""A longer line is prose, whatever stands in it."""

LONGEST_DECORATED: Final = 4 * LONGEST_LINE
"""A line that is longer with its decoration is not even looked at."""

OWN: Final = r"(?:(?:my|the|final|overall|meine?|ma|mi|tu|la|моя|мой|我的|私の|最终|最終)\s*)*"

RATING: Final = (
    r"(?:rating|score|verdict|answer|preference|number"
    r"|bewertung|urteil|note|évaluation|puntuación|calificación|valoración|veredicto"
    r"|评分|评级|得分|分数|評価|評点|スコア|التقييم|الدرجة|оценка|рейтинг|रेटिंग|अंक|मूल्यांकन)"
)
"""What a number may be called."""

ANSWER: Final = (
    r"(?:answer|output|response|assistant|option|completion|candidate"
    r"|antwort|réponse|respuesta|risposta|resposta|回答|答案|ответ|الإجابة|उत्तर)"
)
"""What one of the two answers may be called before its letter."""

CHOICE: Final = (
    rf"(?:verdict|answer|choice|winner|preference|decision|judge?ment|better(?:\s+(?:{ANSWER}|one))?"
    r"|urteil|wahl|bessere\s+antwort|verdict|meilleure\s+réponse|choix|veredicto|mejor\s+respuesta|elección"
    r"|判定|选择|更好的回答|選択|より良い回答|الأفضل|الحكم|вердикт|выбор|лучший\s+ответ|निर्णय|बेहतर\s+उत्तर)"
)
"""What a choice between the two may be called."""


def plain(text: str) -> str:
    """The text with full-width characters and typographic apostrophes replaced by plain ones."""
    return text.translate(FULL_WIDTH)


def words_of(line: str) -> str:
    """A line without its decoration, with single spaces; "" where it is too long to be a verdict."""
    line = line.strip()
    if len(line) > LONGEST_DECORATED:
        return ""
    words = BOXED.sub(r"\1", plain(line))
    words = " ".join(EMPHASIS.sub("", words).strip(DECORATION).split())
    return words if len(words) <= LONGEST_LINE else ""


HOW_MUCH: Final = {">>": "much better", ">": "better"}
"""What the list of grades that a judge sees says of the better answer."""

_OPEN: Final = r"[\[(\"']*\s*"
_CLOSE: Final = r"[\])\"']*"

NUMBER: Final = re.compile(
    rf"""
    (?:{OWN}(?!answer\s+{_OPEN}\d){RATING}\s*(?:\((?P<low>\d+)\s*[-–]\s*(?P<high>\d+)\))?(?:\s*(?:[:=]|is)\s*|\s+))?
    {_OPEN}(?P<number>[-+−]?\d+)(?:\.0+)?
    (?:\s*(?:/|out\s+of)\s*(?P<of>\d+))?
    {_CLOSE}\s*[.!。]?
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""A number, as in "Rating (1-8): 5" or "5/8"; "Answer 2" is what the second answer is called."""

_SCORE: Final = r"(?P<{0}>[-−]?\d+)(?:\.0+)?(?:\s*/\s*(?P<of_{0}>\d+))?"

_LABELLED: Final = (
    rf"(?:(?:score|rating)\s*(?:of|for)?\s*)?(?:the\s+)?(?:{ANSWER}\s*)?\(?{{0}}\)?\s*(?:[:=]|scores|gets)\s*"
)

SCORES: Final = re.compile(
    rf"(?:{OWN}(?:scores?|ratings?|verdict)\s*:\s*)?{_OPEN}"
    + rf"(?:{_LABELLED.format('A')}{_SCORE.format('a')}\s*[,;|]?\s*(?:and\s+)?"
    + rf"{_LABELLED.format('B')}{_SCORE.format('b')}"
    + rf"|{_SCORE.format('c')}(?:\s*[,;|]\s+|\s+(?:(?:[|]|and)\s+)?){_SCORE.format('d')})"
    + rf"{_CLOSE}\s*[.!。]?",
    re.IGNORECASE,
)
"""Two scores with their names, or two bare ones with a space between them: 7,5 is a decimal to many."""

_NAME: Final = rf"{_OPEN}(?:the\s+)?(?:{ANSWER}\s*)?{_OPEN}(?P<name>[AB])\s*{_CLOSE}"
_BETTER: Final = (
    r"\s+is\s+(?:(?:clearly|slightly|much|significantly|somewhat|far)\s+)?(?:the\s+)?(?:better|best|winner)"
    rf"(?:\s+(?:{ANSWER}|one))?"
)
_SO: Final = r"(?:(?:therefore|thus|hence|so|overall|finally|in\s+(?:conclusion|summary))\s*,?\s+)?"

CHOSEN: Final = re.compile(
    rf"{_SO}(?:{OWN}{CHOICE}\s*(?::|=|\bis\b)\s*)?{_NAME}(?:{_BETTER})?\s*[.!。]?", re.IGNORECASE
)
"""One of the two answers, alone or said to be better."""

CLOSING: Final = re.compile(rf"{_SO}{_NAME}{_BETTER}\s*[.!。]?", re.IGNORECASE)
"""A sentence that may close a line of prose: "Therefore, Output (a) is better."."""

GRADE: Final = re.compile(
    rf"(?:{OWN}verdict\s*(?::|is:?)\s*)?{_OPEN}(?P<grade>[AB]\s*(?:=|>\s*>?)\s*[AB])\s*{_CLOSE}"
    rf"(?P<caption>\s*:[^:]*)?\s*[.!。]?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Read:
    """What a line says: a rating, or why there is none; scores where it compares two."""

    rating: int | None
    reason: Reason = ""
    scores: tuple[Decimal, Decimal] | None = None

    def verdict(self, rationale: str) -> Verdict:
        return Verdict(self.rating, self.reason, rationale if self.rating is not None else "", self.scores)


UNPARSABLE: Final = Read(None, "unparsable")
OUT_OF_RANGE: Final = Read(None, "out_of_range")


def likert(words: str, scale: AnswerScale) -> Read:
    """One number of the rating scale, or a line of the scale as the judge saw it ("7: B is better")."""
    for rating, caption in enumerate(scales.CAPTIONS[scale.points], 1):
        if words.rstrip(".").casefold() == f"{rating}: {caption}".casefold():
            return Read(rating)
    return _number(words, 1, scale.points)


def score(words: str, scale: AnswerScale) -> Read:
    """One score of one answer."""
    return _number(words, scale.lowest, scale.highest)


def _number(words: str, lowest: int, highest: int) -> Read:
    match = NUMBER.fullmatch(words)
    if match is None:
        return UNPARSABLE
    stated = [(match["low"], lowest), (match["high"], highest), (match["of"], highest)]
    if any(said is not None and int(said) != bound for said, bound in stated):
        return UNPARSABLE  # a number of another scale
    number = _within(match["number"], lowest, highest)
    return OUT_OF_RANGE if number is None else Read(number)


def _within(digits: str, lowest: int, highest: int) -> int | None:
    if digits[0] in "-−":  # even of nought: nobody asked for a sign
        return None
    number = int(digits)
    return number if lowest <= number <= highest else None


def scores(words: str, scale: AnswerScale) -> Read:
    """Two scores, compared: the higher one is better, equal ones are the middle of three points."""
    match = SCORES.fullmatch(words)
    if match is None:
        return UNPARSABLE
    one, two = ("a", "b") if match["a"] is not None else ("c", "d")
    if any(match[f"of_{name}"] not in (None, str(scale.highest)) for name in (one, two)):
        return UNPARSABLE
    first, second = (_within(match[name], scale.lowest, scale.highest) for name in (one, two))
    if first is None or second is None:
        return OUT_OF_RANGE
    return Read(2 + (second > first) - (first > second), scores=(Decimal(first), Decimal(second)))


def binary(words: str, scale: AnswerScale) -> Read:
    """One of the two answers; a line that names both names none."""
    return _named(CHOSEN.fullmatch(words))


def closing(words: str) -> Read:
    """One of the two answers, said to be better in a sentence of its own."""
    return _named(CLOSING.fullmatch(words))


def _named(match: re.Match[str] | None) -> Read:
    return Read("AB".index(match["name"].upper()) + 1) if match else UNPARSABLE


def grades(words: str, scale: AnswerScale) -> Read:
    """One of the five grades, alone or with the words that the judge saw beside it."""
    match = GRADE.fullmatch(words)
    grade = re.sub(r"\s", "", match["grade"]).upper() if match else ""
    if match is None or grade not in GRADES or not _is_caption(match["caption"], grade):
        return UNPARSABLE
    return Read(GRADES.index(grade) + 1)


def _is_caption(caption: str | None, grade: str) -> bool:
    how_much = HOW_MUCH.get(grade[1:-1])
    words = f"answer {grade[0]} is {how_much}" if how_much else "they are about as good"
    return caption is None or caption.strip(" :.").casefold() == words.casefold()


READERS: Final[dict[str, Callable[[str, AnswerScale], Read]]] = {
    "likert": likert,
    "binary": binary,
    "scores": scores,
    "grades": grades,
    "score": score,
}
"""The reader of each form."""
