"""Ratings of pairs, stored."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from django.db import transaction
from django.db.models import F, IntegerField

from arena.models import Assignment, Comparison, CriterionRating, Pair, Rater
from arena.models.compiled import CompiledUpdateFor, given
from arena.models.signals import comparison_recorded
from arena.rating.opinions import InvalidAnswerError, Rating
from arena.rating.recorders import (
    BATCH,
    Entry,
    Recorder,
    batches,
    common_fields,
    counted,
    gave_up_place,
    is_person,
    late,
    retire,
    target,
)


class PairRecorder(Recorder[Rating, Comparison]):
    kind = Assignment.Kind.COMPARE
    said = Rating

    def earlier(self, assignments: Iterable[Assignment]) -> dict[int, Comparison]:
        current = Comparison.objects.current().filter(assignment__in=assignments)
        return {each.assignment_id: each for each in current if each.assignment_id is not None}

    def is_same(self, earlier: Comparison, said: Rating) -> bool:
        stored = (earlier.rating, earlier.reason, earlier.points)
        return stored == (said.rating, said.reason, said.points)

    def other_remarks(self, earlier: Comparison, said: Rating) -> list[str]:
        criteria = {each.criterion: each.said for each in earlier.criterion_ratings.all()}
        differs = {
            "another comment": earlier.rationale != said.rationale,
            "other reasons": earlier.reasons != list(said.reasons),
            "other criteria": criteria != dict(said.criteria),
        }
        return [what for what, is_other in differs.items() if is_other]

    def in_words(self, earlier: Comparison) -> str:
        return f"This pair is already answered with {earlier.rating or earlier.reason}"

    def refuse(self, assignment: Assignment, said: Rating) -> None:
        study = assignment.study
        if assignment.rater.kind == Rater.Kind.PERSON and said.points != study.points:
            raise InvalidAnswerError(
                "points", f"This study rates on {study.points} points, not {said.points}."
            )
        unknown = sorted(set(said.criteria) - set(study.criteria))
        if unknown:
            raise InvalidAnswerError(f"criteria.{unknown[0]}", f"This study has no criterion {unknown[0]}.")
        strange = [reason for reason in said.reasons if reason not in study.reasons]
        if strange:
            offered = ", ".join(f"“{reason}”" for reason in study.reasons) or "none"
            raise InvalidAnswerError(
                "reasons", f"This study does not offer the reason “{strange[0]}”. It offers: {offered}."
            )

    def store(self, entries: Sequence[Entry[Rating, Comparison]]) -> None:
        new = [each for each in entries if not each.earlier]
        by_person = is_person(entries)
        given_up = gave_up_place(new) if by_person else []
        # Counting locks a single pair; several are locked in the order of their ids.
        ratings = _locked(new) if given_up or len(new) > 1 else {}
        are_late = late(given_up, ratings)
        rows = [_row(each, are_late) for each in entries]
        write_comparisons(
            rows,
            criteria=[each.said.criteria for each in entries],
            people_ratings=[target(each.assignment) for each in counted(new)] if by_person else (),
            judge_ratings=() if by_person else [target(each.assignment) for each in new],
        )
        for each, comparison in zip(entries, rows, strict=True):
            each.stored = comparison


def _locked(entries: Iterable[Entry[Rating, Comparison]]) -> dict[int, int]:
    """The ratings by people of the pairs, with their rows locked."""
    pairs = Pair.objects.filter(pk__in={target(each.assignment) for each in entries}).order_by("pk")
    return dict(pairs.select_for_update(no_key=True).values_list("pk", "people_ratings"))


def _row(entry: Entry[Rating, Comparison], are_late: Iterable[int]) -> Comparison:
    assignment, said = entry.assignment, entry.said
    first_score, second_score = map(float, said.scores) if said.scores else (None, None)
    row = Comparison(
        **common_fields(entry, are_late),
        pair_id=target(assignment),
        swapped=assignment.swapped,
        points=said.points,
        status=Comparison.Status.IDENTICAL if _is_control(assignment) else "",
        rating=said.rating,
        reason=said.reason,
        first_score=first_score,
        second_score=second_score,
        expected=said.expected,
        raw_reply=said.raw_reply,
        rationale=said.rationale,
        reasons=list(said.reasons),
        seconds=said.seconds,
        revises=entry.earlier,
    )
    row.is_late |= entry.earlier is not None and entry.earlier.is_late
    return row


def _is_control(assignment: Assignment) -> bool:
    """Whether the answer is a control of a judge, about two equal texts."""
    return assignment.rater.kind == Rater.Kind.JUDGE and bool(
        assignment.pair and assignment.pair.is_identical
    )


def write_comparisons(
    rows: Sequence[Comparison],
    *,
    criteria: Sequence[Mapping[str, int | str]] = (),
    people_ratings: Iterable[int] = (),
    judge_ratings: Iterable[int] = (),
    announce: bool = True,
) -> None:
    """Store new comparisons in the caller's transaction; nothing else creates any. Raises IntegrityError.
    - the status follows from the rating, unless the caller set IDENTICAL;
    - a revised comparison is no longer current;
    - ``criteria`` holds by criterion each row's rating, or the reason why there is none;
    - pairs in ``people_ratings`` or ``judge_ratings`` are counted up, once per mention;
    - with ``announce``, ``comparison_recorded`` is sent for each study after the commit.
    """
    for row in rows:
        if not row.status:
            row.status = Comparison.Status.UNSCORED if row.rating is None else Comparison.Status.SCORED
    retire(Comparison, rows)
    _count_up(people_ratings, "people_ratings")
    _count_up(judge_ratings, "judge_ratings")
    Comparison.objects.bulk_create(rows, batch_size=BATCH)
    CriterionRating.objects.bulk_create(
        CriterionRating(
            comparison=row,
            criterion=name,
            points=row.points,
            **({"reason": said} if isinstance(said, str) else {"rating": said}),
        )
        for row, given in zip(rows, criteria, strict=bool(criteria))
        for name, said in given.items()
    )
    if announce:
        for study, newest in {row.study_id: row.pk for row in rows}.items():
            transaction.on_commit(
                partial(comparison_recorded.send, Comparison, study_id=study, comparison_id=newest)
            )


def _count_up(pairs: Iterable[int], counter: str) -> None:
    pairs_of: dict[int, list[int]] = {}
    for pair, times in Counter(pairs).items():
        pairs_of.setdefault(times, []).append(pair)
    for times, named in pairs_of.items():
        for some in batches(named):
            _COUNT[counter](some, times=times)


_COUNT: Final = {
    counter: CompiledUpdateFor(
        lambda them: Pair.objects.filter(pk__in=them),
        **{counter: F(counter) + given("times", IntegerField())},
    )
    for counter in ("people_ratings", "judge_ratings")
}
