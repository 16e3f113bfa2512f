"""Reading the verdict of a reply."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final, NamedTuple

from arena.rules import scales
from arena.texts.marks import Answer, answer_of, strip_end_tokens, without_thinking
from arena.texts.visible import is_blank
from judging.protocols.answer_scales import GRADES, LETTERS, AnswerScale
from judging.protocols.replies import Place, Reason, ReplyText, Verdict

# What a line says, in each form of verdicts. Decoration around a verdict does not change it.

FULL_WIDTH: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x2019: "'", 0x3000: " "}
"""Full-width forms of ASCII in East Asian texts, and the typographic apostrophe."""

DECORATION: Final = " \t\r*_`#\"'[](){}\ufeff\u200b\u200e\u200f\u202a\u202b\u202c“”„«»「」『』【】"
"""Characters that may stand around a verdict; those of writing from right to left too."""

EMPHASIS: Final = re.compile(r"(?<!\d)[*_`]+|[*_`]+(?!\d)")
"""Markdown inside a line, but not between two digits."""

BOXED: Final = re.compile(
    r"(?:\$+|\\[(\[])?\s*\\boxed\{\s*(?:\\(?:text|textbf|mathrm|mathbf)\{)?([^{}]*)\}?\s*\}\s*(?:\$+|\\[)\]])?"
)
"""How mathematical texts show their result."""

DISPLAYED: Final = re.compile(
    r"^[ \t]*(?:\$\$|\\\[)\s*(\\boxed\{(?:[^{}\n]|\{[^{}\n]{0,99}\}){0,99}\})[ \t.]*\s*(?:\$\$|\\\])[ \t.]*$",
    re.MULTILINE,
)
"""A result in a formula with lines of its own."""

LONGEST_LINE: Final = 100  # a longer line is prose
LONGEST_DECORATED: Final = 4 * LONGEST_LINE  # with decoration; what is longer is not looked at
OWN: Final = r"(?:(?:my|the|final|overall|meine?|ma|mi|tu|la|моя|мой|我的|私の|最终|最終)\s*)*"

RATING: Final = (
    r"(?:rating|score|verdict|answer|preference|number"
    r"|bewertung|urteil|note|évaluation|puntuación|calificación|valoración|veredicto"
    r"|评分|评级|得分|分数|評価|評点|スコア|التقييم|الدرجة|оценка|рейтинг|रेटिंग|अंक|मूल्यांकन)"
)

ANSWER: Final = (
    r"(?:answer|output|response|assistant|option|completion|candidate"
    r"|antwort|réponse|respuesta|risposta|resposta|回答|答案|ответ|الإجابة|उत्तर)"
)
"""What an answer may be called before its letter."""

CHOICE: Final = (
    rf"(?:verdict|answer|choice|winner|preference|decision|judge?ment|better(?:\s+(?:{ANSWER}|one))?"
    r"|urteil|wahl|bessere\s+antwort|verdict|meilleure\s+réponse|choix|veredicto|mejor\s+respuesta|elección"
    r"|判定|选择|更好的回答|選択|より良い回答|الأفضل|الحكم|вердикт|выбор|лучший\s+ответ|निर्णय|बेहतर\s+उत्तर)"
)
"""What a choice between the two may be called."""


def plain(text: str) -> str:
    return text.translate(FULL_WIDTH)


def words_of(line: str) -> str:
    """A line without decoration, with single spaces; "" if it is too long to be a verdict."""
    line = line.strip()
    if len(line) > LONGEST_DECORATED:
        return ""
    words = BOXED.sub(r"\1", strip_end_tokens(plain(line)))
    words = " ".join(EMPHASIS.sub("", words).strip(DECORATION).split())
    return words if len(words) <= LONGEST_LINE else ""


HOW_MUCH: Final = {">>": "much better", ">": "better"}  # words that the judge sees for the grades
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
"""A number, as in "Rating (1-8): 5" or "5/8", but not "Answer 2", the name of the second answer."""

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
"""Two scores with their names, or two bare ones separated by a space: 7,5 is a decimal to many."""

_NAME: Final = rf"{_OPEN}(?:the\s+)?(?:{ANSWER}\s*)?{_OPEN}(?P<name>[AB])\s*{_CLOSE}"
_BETTER: Final = (
    r"\s+is\s+(?:(?:clearly|slightly|much|significantly|somewhat|far)\s+)?(?:the\s+)?(?:better|best|winner)"
    rf"(?:\s+(?:{ANSWER}|one))?"
)
_SO: Final = r"(?:(?:therefore|thus|hence|so|overall|finally|in\s+(?:conclusion|summary))\s*,?\s+)?"
_VERDICT_IS: Final = rf"{_SO}(?:{OWN}{CHOICE}\s*(?:=|\bis\b\s*:?|:)\s*)?"

CHOSEN: Final = re.compile(rf"{_VERDICT_IS}{_NAME}(?:{_BETTER})?\s*[.!。]?", re.IGNORECASE)
"""One of the two answers, alone or said to be better."""

IDENTIFIERS: Final = ("m", "M")
"""AlpacaEval's names of the two outputs, which differ in their case alone."""

CLOSING: Final = re.compile(rf"{_SO}{_NAME}{_BETTER}\s*[.!。]?", re.IGNORECASE)
"""A sentence that may close a line of prose: "Therefore, Output (a) is better."
"""

MARKED: Final = re.compile(
    r"[*_]*(?:rating|score)\s*:[*_]*\s*\[\[\s*(\d{1,99})\s*\]\][*_]*\s*[.!。]?", re.IGNORECASE
)
"""A sentence that may close a line of prose: "Rating: [[5]]", as the judge Auto-J ends."""

TIED: Final = re.compile(rf"{_VERDICT_IS}{_OPEN}(?:C|a?\s*tie)\s*{_CLOSE}\s*[.!。]?", re.IGNORECASE)
"""Neither answer."""

GRADE: Final = re.compile(
    rf"(?:{OWN}verdict\s*(?::|is:?)\s*)?{_OPEN}(?P<grade>[AB]\s*(?:=|>\s*>?)\s*[AB])\s*{_CLOSE}"
    rf"(?P<caption>\s*:[^:]*)?\s*[.!。]?",
    re.IGNORECASE,
)


UNPARSABLE: Final = Verdict(None, "unparsable")
OUT_OF_RANGE: Final = Verdict(None, "out_of_range")


def likert(words: str, scale: AnswerScale) -> Verdict:
    """One number of the rating scale, or a line of the scale as the judge saw it ("7: B is better")."""
    for rating, caption in enumerate(scales.CAPTIONS[scale.points], 1):
        if words.rstrip(".").casefold() == f"{rating}: {caption}".casefold():
            return Verdict(rating)
    return _number(words, 1, scale.points)


def score(words: str, scale: AnswerScale) -> Verdict:
    return _number(words, scale.lowest, scale.highest)


def _number(words: str, lowest: int, highest: int) -> Verdict:
    match = NUMBER.fullmatch(words)
    if match is None:
        return UNPARSABLE
    stated = [(match["low"], lowest), (match["high"], highest), (match["of"], highest)]
    if any(said is not None and int(said) != bound for said, bound in stated):
        return UNPARSABLE  # a number of another scale
    number = _within(match["number"], lowest, highest)
    return OUT_OF_RANGE if number is None else Verdict(number)


def _within(digits: str, lowest: int, highest: int) -> int | None:
    if digits[0] in "-−":  # even of nought: nobody asked for a sign
        return None
    number = int(digits)
    return number if lowest <= number <= highest else None


def scores(words: str, scale: AnswerScale) -> Verdict:
    """Two scores, compared: equal ones are the middle of three points."""
    match = SCORES.fullmatch(words)
    if match is None:
        return UNPARSABLE
    one, two = ("a", "b") if match["a"] is not None else ("c", "d")
    if any(match[f"of_{name}"] not in (None, str(scale.highest)) for name in (one, two)):
        return UNPARSABLE
    first, second = (_within(match[name], scale.lowest, scale.highest) for name in (one, two))
    if first is None or second is None:
        return OUT_OF_RANGE
    return Verdict(2 + (second > first) - (first > second), scores=(Decimal(first), Decimal(second)))


def binary(words: str, scale: AnswerScale) -> Verdict:
    """One of the two answers; a line that names both names none."""
    if words in IDENTIFIERS:
        return Verdict(IDENTIFIERS.index(words) + 1)
    return _named(CHOSEN.fullmatch(words), "AB")


def letters(words: str, scale: AnswerScale) -> Verdict:
    """One of the two answers, or C for a tie."""
    found = _named(CHOSEN.fullmatch(words), LETTERS)
    return Verdict(2) if TIED.fullmatch(words) else found


def _named(match: re.Match[str] | None, ratings: Sequence[str]) -> Verdict:
    return Verdict(ratings.index(match["name"].upper()) + 1) if match else UNPARSABLE


def grades(words: str, scale: AnswerScale) -> Verdict:
    """One of the five grades, alone or with the words that the judge saw beside it."""
    match = GRADE.fullmatch(words)
    grade = re.sub(r"\s", "", match["grade"]).upper() if match else ""
    if match is None or grade not in GRADES or not _is_caption(match["caption"], grade):
        return UNPARSABLE
    return Verdict(GRADES.index(grade) + 1)


def _is_caption(caption: str | None, grade: str) -> bool:
    how_much = HOW_MUCH.get(grade[1:-1])
    words = f"answer {grade[0]} is {how_much}" if how_much else "they are about as good"
    return caption is None or caption.strip(" :.").casefold() == words.casefold()


READERS: Final[dict[str, Callable[[str, AnswerScale], Verdict]]] = {
    "likert": likert,
    "binary": binary,
    "scores": scores,
    "grades": grades,
    "letters": letters,
    "score": score,
}


FIELD: Final = re.compile(
    r"[\s*_`#\[(]*(?:(?:my|the|final|overall)\s+)*verdict[\s*_`\"']*[:：]", re.IGNORECASE
)


OBJECT: Final = re.compile(
    r"(?:```[a-z]*[ \t\r]*\n\s*)?(?P<body>\{.*\})(?:\s*```)?", re.DOTALL | re.IGNORECASE
)
"""An object of JSON, also as code."""

FIELD_OF_VERDICT: Final = re.compile(
    rf"{OWN}(?:{RATING}|{CHOICE}|scores?|result|label|met|grade)", re.IGNORECASE
)
FIELD_OF_ONE: Final = re.compile(
    rf"(?:(?:score|rating)s?\s*(?:of|for)?\s*)?(?:the\s+)?(?:{ANSWER}\s*)?(?P<name>[AB])"
    r"(?:\s*(?:score|rating))?",
    re.IGNORECASE,
)


class Said(NamedTuple):
    """Return what a field of an object says, as the line that would say so, and its other texts."""

    words: str
    rest: str


def object_in(text: str) -> list[tuple[str, object]]:
    """Names and values of the object of JSON that a text is; empty if it is none."""
    found = OBJECT.fullmatch(text.strip()) if "{" in text else None
    try:
        pairs = json.loads(found["body"], object_pairs_hook=list) if found else []
    except (ValueError, RecursionError):
        return []
    return [pair for pair in pairs if isinstance(pair, tuple)]


def given_by(text: str) -> list[Said]:
    """Return what an object of JSON says where a verdict is expected: its fields with the name of one."""
    fields = [(" ".join(re.split(r"[\s_-]+", name)), value) for name, value in object_in(text)]
    others = [value for name, value in fields if not FIELD_OF_VERDICT.fullmatch(name)]
    found = [_in_words(value) for name, value in fields if FIELD_OF_VERDICT.fullmatch(name)]
    rest = "\n".join(value for value in others if isinstance(value, str))
    return [Said(words, rest) for words in (*found, _both(fields)) if words]


def _both(fields: Sequence[tuple[str, object]]) -> str:
    """Two scores with their names; "" if these are not all the numbers."""
    named = [(match, value) for name, value in fields if (match := FIELD_OF_ONE.fullmatch(name))]
    return ", ".join(f"{match['name']}: {value}" for match, value in named) if len(named) == 2 else ""


def _in_words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        inside = [pair for pair in value if isinstance(pair, tuple)]
        return _both(inside) if inside else " ".join(_in_words(each) for each in value[:3])
    return words_of(str(value)) if isinstance(value, int | float | str) else ""


@dataclass(frozen=True)
class Passage:
    """A line of an answer, its offset in the answer, and the rest, which explains it."""

    text: str
    start: int
    rest: str


def _object(text: str) -> Passage | None:
    """The passage that is a whole reply in JSON."""
    found = given_by(text)
    body = text.strip()
    return Passage(body, text.index(body), found[0].rest) if found else None


def passage(answer: str, place: Place) -> Passage | None:
    body = answer.strip()
    start = answer.index(body)
    if place is Place.ONLY_LINE:
        return None if "\n" in body else Passage(body, start, "")
    if place is Place.FIRST_LINE:
        line, _, rest = body.partition("\n")
        return Passage(line, start, rest.strip())
    before, newline, line = body.rpartition("\n")
    found = Passage(line, start + len(before) + len(newline), before.strip())
    if place is Place.LAST_LINE:
        return found
    label = FIELD.match(line)
    return Passage(line[label.end() :], found.start + label.end(), found.rest) if label else None


REFUSAL: Final = re.compile(
    r"""
    \b(?:i\s*(?:'m|\s+am)\s+(?:sorry|unable|not\s+able)
      | i\s+(?:can\s*not|cannot|can't|won't|will\s+not|must\s+decline|decline|am\s+not\s+comfortable)
      | as\s+an\s+ai\b
      | (?:unable|not\s+able)\s+to\s+(?:assist|help|comply|provide|rate|compare|evaluate)
      | es\s+tut\s+mir\s+leid | ich\s+kann\s+(?:das|dies|diese|hier|dabei)\b[^.]*\bnicht
      | (?:je\s+suis\s+)?désolée?\b | je\s+ne\s+peux\s+pas
      | lo\s+siento | no\s+puedo\s+(?:ayudar|comparar|evaluar|cumplir)
      | извините | к\s+сожалению,\s+я\s+не\s+могу | я\s+не\s+могу
    )
    | 抱歉 | 对不起 | 我无法 | 我不能 | 申し訳 | できません | お手伝いできかねます
    | آسف | عذر[اًا]+ | لا\s+أستطيع | لا\s+يمكنني
    | क्षमा\s+करें | माफ़\s+कीजिए | मैं\s+\S+\s+नहीं\s+कर\s+सकता
    """,
    re.VERBOSE | re.IGNORECASE,
)
WITHIN: Final = 300  # characters from the start in which a refusal is recognised


SENTENCE: Final = re.compile(r"(?<=[.!?。])[*_]*\s+")

HEADING: Final = re.compile(r"\s*(?:#|\*\*|__)")


OPENING_QUOTE: Final = re.compile(r"(?<!\w)['‘„](?=\w)")
CLOSING_QUOTE: Final = re.compile(r"(?<=[\w.!?])['’“](?!\w)")
"""Quotation marks that an apostrophe can be, or that open in one language and close in another."""


def read_verdict(reply: ReplyText, scale: AnswerScale, place: Place) -> Verdict:
    """The verdict in its place, in the form of the answer scale.

    A label ("Rating: 5"), Markdown or brackets around it, and "5/8" on 8 points are accepted; further words
    or numbers, a fraction of another scale or a decimal are not. Yes or no is read as ``read_yes_no`` does.
    """
    if scale.form == "yes_no":
        return read_yes_no(reply)
    return find_verdict(reply, scale, place)[0]


OPENS: Final = re.compile(r"[\s*_#]*(?P<word>yes|no)\b", re.IGNORECASE)  # also in Markdown
CAPITALS: Final = re.compile(r"\b(?:YES|NO)\b")


def read_yes_no(reply: ReplyText) -> Verdict:
    """1 for yes, 2 for no: how the reply begins in any case, else the only one of YES and NO in capitals."""
    # As InFoBench's script reads replies, but for words such as "nothing".
    answer, text = _answer(reply)
    reason = _unreadable(reply, answer, text, Place.LAST_LINE)
    if reason and reason != "truncated":
        return Verdict(None, reason)
    for each in () if answer.is_open else given_by(text):
        if opening := OPENS.fullmatch(each.words):
            return _yes_or_no(opening["word"].upper(), each.rest)
    opening = None if answer.is_open else OPENS.match(plain(text))
    if opening:
        return _yes_or_no(opening["word"].upper(), text[opening.end() :])
    said = set(CAPITALS.findall(plain(text)))
    if not reason and len(said) == 1:
        return _yes_or_no(said.pop(), text)
    return Verdict(None, reason) if reason else _unread(text)


def _yes_or_no(word: str, rationale: str) -> Verdict:
    return Verdict(1 if word == "YES" else 2, rationale=rationale.strip(" \t\r\n*_#.,:;-"))


NUMBERED: Final = re.compile(r"[\s*_#(]*(?P<number>\d{1,9})[\s*_)\]]*[:.)\-–]\s*(?P<said>.*)")


def read_lines(reply: ReplyText, numbers: Iterable[int]) -> dict[int, Verdict]:
    """Yes or no on the line of each number; two lines that contradict each other say nothing."""
    answer, text = _answer(reply)
    whole = _unreadable(reply, answer, text, Place.LAST_LINE)
    if whole and whole != "truncated":
        return {number: Verdict(None, whole) for number in numbers}
    missing = Verdict(None, "empty") if is_blank(text) else read_yes_no(ReplyText(text, reply.finish_reason))
    lines: dict[int, list[Verdict]] = {}
    listed = [f"{name}: {_in_words(value)}" for name, value in object_in(text)]
    for line in () if answer.is_open else listed or text.strip().splitlines():
        if match := NUMBERED.match(line):
            lines.setdefault(int(match["number"]), []).append(read_yes_no(ReplyText(match["said"])))
    unread = Verdict(None, whole or ("refused" if missing.reason == "refused" else "unparsable"))
    return {number: _agreed(lines.get(number, []), unread) for number in numbers}


def _agreed(found: list[Verdict], unread: Verdict) -> Verdict:
    return found[0] if len({one.rating for one in found}) == 1 and found[0].rating else unread


def no_text(reply: ReplyText) -> Reason:
    """Why a reply that later steps quote says nothing; else ""."""
    if reply.is_withheld:
        return "refused"
    answer, thinking_open = without_thinking(reply.text)
    if not is_blank(answer) and not thinking_open:
        return ""
    return "truncated" if reply.is_cut_off else "empty"


READ_ANOTHER_WAY: Final = "Try another protocol or answer scale"


def remedy(reply: ReplyText) -> str:
    """Return what helps where the reply has no verdict: a sentence without its full stop."""
    if reply.is_withheld:
        return "The endpoint's content filter or the model refuses this question. Try another model"
    answer, thinking_open = without_thinking(reply.text)
    only_thinking = not is_blank(reply.text) and (thinking_open or is_blank(answer))
    if reply.is_cut_off:
        return f"The limit cut the reply off{' while the model thought' * only_thinking}. Raise max tokens"
    if only_thinking:
        return (
            "The reply is thinking alone, with no answer after it. Raise max tokens, or switch off thinking, "
            "or how the endpoint tells it apart"
        )
    return READ_ANOTHER_WAY


def find_verdict(
    reply: ReplyText, scale: AnswerScale, place: Place
) -> tuple[Verdict, tuple[int, int] | None]:
    """The verdict, and where in the reply's text its line or sentence stands."""
    answer, text = _answer(reply)
    reason = _unreadable(reply, answer, text, place)
    if reason:
        return Verdict(None, reason), None
    where = _object(text) or passage(text, place)
    read, start = _read(where, scale, place) if where else (UNPARSABLE, 0)
    if read.rating is not None and where and not _is_doubtful(answer, where, read, scale, place):
        rationale = f"{where.rest}\n{where.text[:start]}".strip() if start else where.rest
        begin = answer.start + where.start
        return replace(read, rationale=rationale), (begin + start, begin + len(where.text))
    return OUT_OF_RANGE if read == OUT_OF_RANGE else _unread(text), None


def _unread(text: str) -> Verdict:
    """What a text comes to that holds no verdict."""
    return Verdict(None, "refused" if REFUSAL.search(plain(text[:WITHIN])) else "unparsable")


def _answer(reply: ReplyText) -> tuple[Answer, str]:
    """The part of a reply that is no thinking, and its text as it is read, with all places as they are."""
    found = answer_of(reply.text)
    text = reply.text[found.start : found.end]
    return found, DISPLAYED.sub(lambda box: box[1].rjust(box.end(1) - box.start()).ljust(len(box[0])), text)


def _unreadable(reply: ReplyText, answer: Answer, text: str, place: Place) -> Reason:
    if reply.is_withheld:
        return "refused"
    if answer.is_open:
        return "truncated" if reply.is_cut_off else "unparsable"
    if is_blank(text):
        return "truncated" if reply.is_cut_off else "empty"
    # What was cut off may go on in the place itself: "1" of "10". Only a first line can be complete.
    is_complete = place is Place.FIRST_LINE and "\n" in text.strip()
    return "truncated" if reply.is_cut_off and not is_complete else ""


def _read(where: Passage, scale: AnswerScale, place: Place) -> tuple[Verdict, int]:
    """What a passage says, and the offset from which it says so."""
    read = _read_line(where.text, scale)
    named = {"binary": "AB", "letters": LETTERS}.get(scale.form)
    if read.reason == "unparsable" and named and place is Place.LAST_LINE:
        start = _last_sentence(where.text)
        if start:
            return _named(CLOSING.fullmatch(words_of(where.text[start:])), named), start
    if read.reason == "unparsable" and scale.form == "score" and place is Place.LAST_LINE:
        start = _last_sentence(where.text)
        marked = MARKED.fullmatch(where.text[start:].strip()) if start else None
        if marked:
            return score(marked[1], scale), start
    return read, 0


def _read_line(line: str, scale: AnswerScale) -> Verdict:
    """Return what a line says, or an object of JSON in it, or the one box in it."""
    reader = READERS[scale.form]
    read = reader(words_of(line), scale)
    if read.reason != "unparsable":
        return read
    found = [reader(said.words, scale) for said in given_by(line)]
    boxes = BOXED.findall(line) if len(line) <= LONGEST_DECORATED else []
    found += [reader(words_of(boxes[0]), scale)] if len(boxes) == 1 else []
    known = {one for one in found if one.reason != "unparsable"}
    return known.pop() if len(known) == 1 else UNPARSABLE


def _last_sentence(line: str) -> int:
    """The offset of the sentence that closes a line of prose; 0 if it may belong to a quotation."""
    start = max((match.end() for match in SENTENCE.finditer(line.rstrip())), default=0)
    before = line[:start]
    single = len(OPENING_QUOTE.findall(before)) > len(CLOSING_QUOTE.findall(before))
    is_quoted = (
        single
        or before.count('"') % 2
        or any(
            before.count(opening) != before.count(closing)
            for opening, closing in ("“”", "«»", "「」", "『』")
        )
    )
    return 0 if is_quoted else start


def _is_doubtful(answer: Answer, where: Passage, read: Verdict, scale: AnswerScale, place: Place) -> bool:
    """Whether what stands in the place of the verdict may be something else."""
    if place is Place.FIRST_LINE and scale.form == "binary" and _is_heading(where, read, scale):
        return True
    return place in (Place.FIRST_LINE, Place.ONLY_LINE) and _is_after_verdict(answer, scale, place)


def _is_after_verdict(answer: Answer, scale: AnswerScale, place: Place) -> bool:
    """Whether the text before an unpaired closing tag of thinking has a verdict, too."""
    # Then the tag may be quoted, and what follows it somebody else's words.
    where = passage(answer.orphan, Place.FIRST_LINE) if answer.orphan.strip() else None
    return where is not None and _read(where, scale, place)[0].reason != "unparsable"


def _is_heading(where: Passage, read: Verdict, scale: AnswerScale) -> bool:
    """Whether the verdict is the heading of one answer's discussion, as another line is of the other's."""
    if not HEADING.match(where.text):
        return False
    headings = (line for line in where.rest.splitlines() if HEADING.match(line))
    headed = {binary(words_of(line.rstrip(" :*_")), scale).rating for line in headings} - {None}
    return bool(headed) and read.rating not in headed
