"""What the rating page shows: one assignment, without anything that tells who wrote what."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from arena import scales
from arena.annotation.forms import RatingForm
from arena.models import Assignment, Comparison, Study
from arena.rendering_cache import rendered


@dataclass(frozen=True)
class Point:
    """One button of the scale. side is a, b, or tie for the exact middle; gap: space before it."""

    rating: int
    caption: str
    side: str
    gap: bool


@dataclass(frozen=True)
class Row:
    """One question with its buttons: the overall rating, or a criterion."""

    name: str
    label: str
    chosen: str
    errors: Sequence[str]


@dataclass(frozen=True)
class Response:
    """A completion under the name that its place gives it. parts: its turns as HTML, empty ones as ''."""

    letter: str
    parts: list[SafeString]


@dataclass(frozen=True)
class Task:
    """An assignment ready to be shown."""

    public_id: str
    turns: list[str]
    input: str
    category: str
    responses: list[Response]
    points: list[Point]
    overall: Row
    criteria: list[Row]
    comment: str
    comment_errors: Sequence[str]
    earlier: Comparison | None
    reopened: bool

    @property
    def is_long(self) -> bool:
        """Whether the prompt is folded at first."""
        text = "\n".join([*self.turns, self.input])
        return len(text) > 700 or text.count("\n") > 8

    @property
    def is_conversation(self) -> bool:
        return len(self.turns) > 1 or any(len(response.parts) > 1 for response in self.responses)


def scale_points(points: int) -> list[Point]:
    """The buttons of a scale, the sides of an even one set apart by a gap in the middle."""
    sides = {rating: scales.preference(rating, points) for rating in range(1, points + 1)}
    return [
        Point(
            rating=rating,
            caption=scales.CAPTIONS[points][rating - 1],
            side="a" if side < 0 else "b" if side > 0 else "tie",
            gap=rating > 1 and sides[rating - 1] < 0 < side,
        )
        for rating, side in sides.items()
    ]


def build(assignment: Assignment, form: RatingForm | None) -> Task:
    """The task for an assignment loaded by ``for_page``; ``form`` is a refused answer to it, if any."""
    pair = assignment.pair
    assert pair is not None  # noqa: S101 - people are offered pairs only
    shown = pair.shown(assignment.swapped)
    html = rendered(turn for completion in shown for turn in completion.turns if turn.strip())
    earlier = _earlier(assignment)
    blank = form or RatingForm(assignment.study)
    return Task(
        public_id=assignment.public_id,
        turns=pair.prompt.turns,
        input=pair.prompt.input,
        category=pair.prompt.category,
        responses=[
            Response(letter, [html.get(turn, SafeString()) for turn in completion.turns])
            for letter, completion in zip("AB", shown, strict=True)
        ],
        points=scale_points(assignment.study.points),
        overall=_row(blank, "rating", "Which response is better?"),
        criteria=[_row(blank, name, label) for name, label in blank.criterion_fields().items()],
        comment=_sent(form, "rationale") if form else earlier.rationale if earlier else "",
        comment_errors=list(map(str, blank["rationale"].errors)),
        earlier=earlier,
        reopened=assignment.finished_at is not None,
    )


def _earlier(assignment: Assignment) -> Comparison | None:
    if assignment.finished_at is None:
        return None
    return Comparison.objects.current().filter(assignment=assignment).first()


def _row(form: RatingForm, name: str, label: str) -> Row:
    return Row(name, label, _sent(form, name), list(map(str, form[name].errors)))


def _sent(form: RatingForm | None, name: str) -> str:
    value: Any = form.data.get(name, "") if form else ""
    return str(value)


def scale_in_words(study: Study) -> list[tuple[int, str]]:
    """Each rating of the study's scale with its meaning, for the guidelines."""
    return list(enumerate(scales.CAPTIONS[study.points], start=1))
