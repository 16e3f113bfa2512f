"""Assignments whose pair cannot be rated any more: they are put aside, so that nobody asks and pays for them.

A plan is written once. What it holds may be excluded afterwards: a contestant is retired, a completion gets a
newer version, or the study begins to leave out what names its author. Where that is taken back, the judge's
next run takes up what was put aside, as it does with what failed.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from arena.models import Assignment, Comparison, Completion, Rater, Study
from judging.models import JudgeRun, RunAssignment
from judging.runs.work import Work

BATCH: Final = 1000
"""Rows looked at or written in one statement."""

_Shown = tuple[int, int, int]
"""The id of an assignment, and those of the two completions it shows."""


def unrateable(works: Iterable[Work]) -> list[Work]:
    """Those whose pair cannot be rated any more, and about which something is still to be asked.

    What has all its replies is paid for and submitted as it is.
    """
    by_assignment = {work.assignment.pk: work for work in works}
    found = [by_assignment[pk] for pk in _unrateable(map(_shown, by_assignment.values()))]
    return [work for work in found if work.open_questions(work.replies)]


def put_aside(works: Sequence[Work], state: Assignment.State) -> set[int]:
    """Put aside what is in this state still; the ids of these assignments."""
    by_run: dict[int, list[int]] = defaultdict(list)
    for work in works:
        by_run[work.run.pk].append(work.assignment.pk)
    return {pk for run, some in sorted(by_run.items()) for pk in _end(some, Q(state=state), run)}


@transaction.atomic
def put_waiting_aside(run: JudgeRun, waiting: QuerySet[RunAssignment]) -> int:
    """Put aside those open assignments of a run that cannot be rated any more; returns how many.

    Rows that somebody else has locked are about to be claimed and left alone.
    """
    rows = waiting.filter(run=run).select_for_update(of=("self",), skip_locked=True).order_by("pk")
    pair = "assignment__pair"
    shown = list(rows.values_list("assignment", f"{pair}__first", f"{pair}__second"))
    return len(_end(_unrateable(shown), Q(state=Assignment.State.OPEN), run.pk))


@transaction.atomic
def put_planned_aside(study: Study, rater: Rater) -> int:
    """The same of all that is planned for a judge that is not configured here and that it does not hold."""
    lapsed = Q(state=Assignment.State.CLAIMED, leased_until__lte=timezone.now())
    waiting = Q(state=Assignment.State.OPEN) | lapsed
    rows = Assignment.objects.filter(waiting, study=study, rater=rater, pair__isnull=False)
    shown = list(rows.values_list("pk", "pair__first", "pair__second"))
    return len(_end(_unrateable(shown), waiting))


def _shown(work: Work) -> _Shown:
    pair = work.assignment.pair
    assert pair is not None  # noqa: S101 - held by wanted
    return work.assignment.pk, pair.first_id, pair.second_id


def _unrateable(shown: Iterable[_Shown]) -> list[int]:
    """The assignments that show a completion which cannot be rated.

    Asked by the ids of the completions alone: with the study, SQLite goes through all its prompts.
    """
    shown = list(shown)
    completions = sorted({pk for _, *both in shown for pk in both})
    rateable: set[int] = set()
    for start in range(0, len(completions), BATCH):
        some = Completion.objects.comparable().filter(pk__in=completions[start : start + BATCH])
        rateable.update(some.order_by().values_list("pk", flat=True))
    return [pk for pk, *both in shown if not rateable.issuperset(both)]


@transaction.atomic
def _end(assignments: Collection[int], condition: Q, run: int | None = None) -> list[int]:
    """End those for which the condition holds, as parts of a run; which these were.

    An answer that was to be asked for anew stands as it is.
    """
    ended: list[int] = []
    ordered = sorted(assignments)
    for start in range(0, len(ordered), BATCH):
        rows = Assignment.objects.filter(condition, pk__in=ordered[start : start + BATCH])
        held = list(rows.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
        answers = Comparison.objects.current().filter(assignment__in=held)
        answered = set(answers.values_list("assignment", flat=True))
        for state, some in (
            (Assignment.State.SUBMITTED, answered),
            (Assignment.State.FAILED, set(held) - answered),
        ):
            these = Assignment.objects.filter(pk__in=some)
            these.update(state=state, leased_until=None, finished_at=timezone.now())
        if run is not None:
            planned = RunAssignment.objects.filter(run=run, assignment__in=held)
            planned.update(put_aside=True, queued_until=None, waiting_for="")
        ended += held
    return ended
