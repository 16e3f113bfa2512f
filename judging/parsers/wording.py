"""How verdicts may be decorated without becoming other verdicts."""

import re
from typing import Final

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
