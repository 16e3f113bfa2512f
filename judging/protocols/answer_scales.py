"""Answer scales: in what form a judge gives its verdict, and on which rating scale it is stored. Pure."""

from dataclasses import dataclass
from typing import Final, Literal

from arena.rules import scales

Form = Literal["likert", "binary", "scores", "grades", "letters", "score", "yes_no"]

FORMS: Final[dict[str, str]] = {
    "likert": "one number of the rating scale",
    "binary": "the better answer, first or second",
    "scores": "two scores from 1 to 10, compared",
    "grades": "five grades from A>>B to B>>A",
    "letters": "A or B for the better answer, C for a tie",
}
"""Answer scales of judges that compare."""

TEXT_FORMS: Final[dict[str, str]] = {
    "score": "a score of one answer",
    "yes_no": "yes or no to each requirement",
}
"""Answer scales of judges of single answers."""

POINTS: Final[dict[str, tuple[int, ...]]] = {
    "likert": scales.POINTS,
    "binary": (2,),  # it says neither a tie nor how much better an answer is
    "scores": (3,),  # no source says which difference means a much better answer; equal ones are the middle
    "grades": (5,),  # each grade is a point
    "letters": (3,),
}
"""The rating scales of each form."""

UNUSED: Final = 8  # points where single answers are scored or checked, which have no rating scale

GRADES: Final = ("A>>B", "A>B", "A=B", "B>A", "B>>A")  # in the order of their ratings
LETTERS: Final = ("A", "C", "B")


@dataclass(frozen=True)
class AnswerScale:
    """A form of verdicts; lowest and highest bound scores."""

    form: Form
    points: int
    lowest: int = 1
    highest: int = 10

    @property
    def name(self) -> str:
        return f"{self.form}-{self.points}" if self.form == "likert" else self.form


def answer_scale(form: str, points: int) -> AnswerScale:
    """Raises ValueError if there is no such scale."""
    if points not in POINTS.get(form, (UNUSED,) if form in TEXT_FORMS else ()):
        raise ValueError(f"there is no answer scale {form!r} of {points} points")
    return AnswerScale(form, points)  # type: ignore[arg-type]
