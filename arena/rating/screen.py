"""What the rating page shows: one assignment, without anything that tells who wrote what."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.models import Assignment, Comparison, Study
from arena.rating import scales, texts
from arena.rating.forms import RatingForm
from arena.rating.texts import Part, ShownPrompt
from arena.texts.names import shown_turns

REASON_KEYS = "qwedxvnmhjkl"
"""Keys that choose a reason, in order; none of them does anything else on the page."""


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
class ReasonChip:
    """A reason that can be given once a rating is chosen. key: the letter that chooses it, or ''."""

    text: str
    key: str
    chosen: bool


@dataclass(frozen=True)
class Response:
    """A completion under the name that its place gives it."""

    letter: str
    parts: list[Part]


@dataclass(frozen=True)
class Task:
    """An assignment ready to be shown."""

    public_id: str
    prompt: ShownPrompt
    responses: list[Response]
    points: list[Point]
    overall: Row
    criteria: list[Row]
    reasons: list[ReasonChip]
    reason_errors: Sequence[str]
    comment: str
    comment_errors: Sequence[str]
    earlier: Comparison | None
    reopened: bool
    identical: bool
    tie: int | None

    @property
    def is_conversation(self) -> bool:
        return len(self.prompt.turns) > 1 or any(len(response.parts) > 1 for response in self.responses)


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
    turns = [shown_turns(completion, assignment.study) for completion in shown]
    html = texts.html_of(texts.texts_of(pair.prompt), *turns)
    earlier = _earlier(assignment)
    blank = form or RatingForm(assignment.study)
    return Task(
        public_id=assignment.public_id,
        prompt=texts.shown_prompt(pair.prompt, html),
        responses=[
            Response(letter, texts.parts(some, html)) for letter, some in zip("AB", turns, strict=True)
        ],
        points=scale_points(assignment.study.points),
        overall=_row(blank, "rating", "Which response is better?"),
        criteria=[_row(blank, name, label) for name, label in blank.criterion_fields().items()],
        reasons=_reasons(assignment.study, form, earlier),
        reason_errors=list(map(str, blank["reasons"].errors)),
        comment=_sent(form, "rationale") if form else earlier.rationale if earlier else "",
        comment_errors=list(map(str, blank["rationale"].errors)),
        earlier=earlier,
        reopened=assignment.finished_at is not None,
        identical=pair.is_identical,
        tie=tie_rating(assignment) if pair.is_identical else None,
    )


def tie_rating(assignment: Assignment) -> int | None:
    """The rating that calls it a tie; None where the scale has none.

    An even scale has two beside its middle: a bit of the assignment's seed decides, so that over many pairs
    no side is favoured. (The order of presentation comes from a generator seeded with all of it.)
    """
    band = scales.TIE_BAND[assignment.study.points]
    return band[(assignment.seed >> 20) % len(band)] if band else None


def _reasons(study: Study, form: RatingForm | None, earlier: Comparison | None) -> list[ReasonChip]:
    if form:
        chosen = form.data.getlist("reasons") if hasattr(form.data, "getlist") else []
    else:
        chosen = earlier.reasons if earlier else []
    texts = list(map(str, study.reasons))
    keys = [*REASON_KEYS[: len(texts)], *[""] * (len(texts) - len(REASON_KEYS))]
    return [ReasonChip(text, key, text in chosen) for text, key in zip(texts, keys, strict=True)]


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
