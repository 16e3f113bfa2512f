"""What raters said of single answers, in words: scores, ratings of pairs, requirements that are not met."""

from collections.abc import Collection, Iterator
from typing import Any, Final, NamedTuple

from django.db.models import Q

from arena.models import Answer, Comparison, Rater, Score, Study
from arena.rules import scales

SHOWN: Final = ("first", "second")


class SaidOf(NamedTuple):
    """An opinion of an answer, or of one of its turns; ``turn`` 0 is all of it."""

    completion: int
    turn: int
    rater: str
    words: str
    rationale: str


def said_of(study: Study, completions: Collection[int], most: int) -> dict[int, list[SaidOf]]:
    """At most so many opinions that count of each answer; scores first, and those with an explanation."""
    found: dict[int, list[SaidOf]] = {pk: [] for pk in completions}
    for each in (*_scores(study, completions), *_ratings(study, completions), *_checks(study, completions)):
        found[each.completion].append(each)
    return {pk: sorted(some, key=lambda each: not each.rationale)[:most] for pk, some in found.items()}


def _scores(study: Study, completions: Collection[int]) -> Iterator[SaidOf]:
    rows = Score.objects.counted(study).filter(completion__in=completions).select_related("rater")
    for row in rows.order_by("turn", "pk"):
        words = _why_none(row) if row.value is None else f"Score {row.value:g} of {row.highest:g}"
        yield SaidOf(row.completion_id, row.turn, _who(row), words, row.rationale)


def _ratings(study: Study, completions: Collection[int]) -> Iterator[SaidOf]:
    about = Q(pair__first__in=completions) | Q(pair__second__in=completions)
    rows = Comparison.objects.counted(study).filter(about).exclude(status=Comparison.Status.IDENTICAL)
    for row in rows.select_related("rater", "pair").order_by("pk"):
        texts = (row.pair.first_id, row.pair.second_id)
        for place, pk in enumerate(reversed(texts) if row.swapped else texts):
            if pk in completions:
                yield SaidOf(pk, 0, _who(row), _in_words(row, place), row.rationale)


def _in_words(row: Comparison, place: int) -> str:
    """A rating of a pair, as it is about the answer shown at this place."""
    if row.rating is None:
        return _why_none(row)
    liked = scales.preference(row.rating, row.points) * (1 if place else -1)
    side = "better than" if liked > 0 else "worse than" if liked < 0 else "as good as"
    return f"{side.capitalize()} another answer (shown {SHOWN[place]}, rated {row.rating} of {row.points})"


def _checks(study: Study, completions: Collection[int]) -> Iterator[SaidOf]:
    rows = Answer.objects.counted(study).filter(completion__in=completions, value=Answer.Value.NO)
    for row in rows.select_related("rater", "question").order_by("question__position", "pk"):
        yield SaidOf(row.completion_id, 0, _who(row), f"Not met: {row.question.text}", row.rationale)


def _who(row: Any) -> str:
    """A judge by name; people stay nameless, so that nobody can follow them."""
    return "A person" if row.rater.kind == Rater.Kind.PERSON else str(row.rater.name)


def _why_none(row: Any) -> str:
    return f"Not rated: {row.get_reason_display()}"
