"""A study that has been rated for long, of any size: what tests.benchmarks.growth measures.

It begins with a block of comparisons of tests.benchmarks.generated_study, and what the arena stores beside
them: an assignment for each, and for one of the three judges a run with its calls. Two more runs of judges
have just been planned over all pairs. SQL then copies these rows, with ids further on. Every ten copies have
people of their own, so that each person rates some hundred pairs; judges rate everything.
"""

from typing import Final

from django.db import connection, models
from django.utils import timezone

from arena.models import Assignment, Comparison, Completion, Membership, Pair, Prompt, Rater, Study
from judging.models import Endpoint, Judge, JudgeCall, JudgeRun, RunAssignment
from tests.benchmarks.generated_study import Maker
from tests.factories import make_judge, make_run

APART: Final = 100_000
"""By how much the ids of a copy are larger than those of the copy before; more than a block has rows."""

COPIES_OF_PEOPLE: Final = 10
"""Copies of which the same people rate the pairs."""

COPIED: Final = (Prompt, Completion, Pair, Assignment, Comparison, JudgeCall, RunAssignment)
UNIQUE: Final = {
    Rater: ("slug", "name"),
    Prompt: ("external_id",),
    Assignment: ("public_id",),
    JudgeCall: ("request_hash",),
}
"""Columns to which the number of the copy is added."""

NOT_BEGUN: Final = {
    (Assignment, "state"): "CASE state WHEN 'claimed' THEN 'open' ELSE state END",
}
"""Columns whose copies know nothing of what was begun since with the first rows."""


class GrowingStudy:
    def __init__(self, block: int = 10_000) -> None:
        maker = Maker.new("growing")
        maker.grow(block)
        # So that raters are offered pairs.
        Study.objects.filter(pk=maker.study.pk).update(ratings_per_pair_people=3, ratings_per_pair_judges=2)
        self.study = Study.objects.get(pk=maker.study.pk)
        Membership.objects.bulk_create(Membership(study=self.study, rater=each) for each in maker.people)
        self.judge = maker.judges[1]
        Rater.objects.filter(pk__in=[self.judge.pk, *(each.pk for each in maker.people)]).update(study=None)
        self._last_person = max(each.pk for each in maker.people)
        self._assign(maker.judges)
        self.local = self._planned(remote=False)
        self.remote = self._planned(remote=True)
        Pair.objects.recount(self.study)
        self._ends = {model: self._last(model) for model in (Rater, Membership, *COPIED)}
        self._block, self._blocks = block, 1

    @property
    def comparisons(self) -> int:
        return Comparison.objects.count()

    def grow(self, comparisons: int) -> None:
        """Copy the first rows until there are about so many comparisons."""
        wanted = comparisons // self._block
        with connection.cursor() as cursor:
            for number in range(self._blocks, wanted):
                if number % COPIES_OF_PEOPLE == 0:
                    self._copy(cursor, Rater, number, f"id <= {self._last_person}")
                    self._copy(cursor, Membership, number)
                for model in COPIED:
                    self._copy(cursor, model, number)
            if connection.vendor == "postgresql":
                self._settle(cursor)
        self._blocks = max(self._blocks, wanted)

    def _assign(self, judges) -> None:
        """Store what led to the comparisons of people and of two judges; the third's came in a file."""
        caller, *_, imported = judges
        rated = list(self.study.comparisons.exclude(rater=imported).order_by("pk"))
        current = [each for each in rated if each.is_current]
        now = timezone.now()
        assignments = Assignment.objects.bulk_create(
            Assignment(
                study=self.study,
                rater_id=each.rater_id,
                pair_id=each.pair_id,
                swapped=each.swapped,
                state="submitted",
                shown_at=now,
                finished_at=now,
            )
            for each in current
        )
        for comparison, assignment in zip(current, assignments, strict=True):
            comparison.assignment, comparison.source = assignment, "web"
        Comparison.objects.bulk_update(current, ["assignment", "source"], batch_size=500)
        of_caller = [pair for pair in zip(current, assignments, strict=True) if pair[0].rater_id == caller.pk]
        endpoint = Endpoint.objects.create(model="loopback", base_url="http://127.0.0.1:9/v1")
        judge = Judge.objects.create(rater=caller, endpoint=endpoint)
        run = self._run(judge, state="finished", finished_at=now)
        RunAssignment.objects.bulk_create(RunAssignment(run=run, assignment=each) for _, each in of_caller)
        JudgeCall.objects.bulk_create(
            JudgeCall(
                run=run,
                assignment=assignment,
                key="rate",
                attempt=1,
                state="replied",
                worker="worker",
                prompt_hash="0" * 64,
                request_hash=f"{assignment.pk:032x}",
                model="loopback",
                model_returned="loopback",
                messages=[{"role": "user", "content": "Which of the two answers is better? " * 20}],
                deadline=now,
                finished_at=now,
                submitted_at=now,
                raw_reply="4",
                prompt_tokens=800,
                completion_tokens=3,
                status=comparison.status,
                reason=comparison.reason,
                rating=comparison.rating,
            )
            for comparison, assignment in of_caller
        )

    def _planned(self, *, remote: bool) -> JudgeRun:
        """A run that wants every pair asked about, and has just begun."""
        judge = make_judge(concurrency=64, timeout=600.0)
        pairs = Pair.objects.order_by("pk").values_list("pk", flat=True)
        assignments = Assignment.objects.bulk_create(
            Assignment(study=self.study, rater=judge.rater, pair_id=pair, state="open") for pair in pairs
        )
        run = self._run(judge, state="running", remote=remote)
        RunAssignment.objects.bulk_create(RunAssignment(run=run, assignment=each) for each in assignments)
        run.started_at = timezone.now()
        run.save(update_fields=["started_at"])
        return run

    def _run(self, judge, **columns) -> JudgeRun:
        return make_run(study=self.study, judge=judge, started_at=timezone.now(), **columns)

    def _copy(self, cursor, model, number, only="TRUE") -> None:
        fields = model._meta.concrete_fields
        columns = ", ".join(f'"{field.column}"' for field in fields)
        copied = ", ".join(self._moved(model, field, number) for field in fields)
        table = model._meta.db_table
        cursor.execute(
            f'INSERT INTO "{table}" ({columns}) SELECT {copied} FROM "{table}" '  # noqa: S608
            f"WHERE id <= {self._ends[model]} AND {only} ORDER BY id"
        )

    def _moved(self, model, field, number) -> str:
        """The value of a column in the copy of this number."""
        column, target = f'"{field.column}"', field.related_model
        if field.primary_key or target in COPIED:
            return f"{column} + {number * APART}"
        if target is Rater:  # people have copies, and judges have none
            further = number // COPIES_OF_PEOPLE * COPIES_OF_PEOPLE * APART
            return f"{column} + CASE WHEN {column} <= {self._last_person} THEN {further} ELSE 0 END"
        if field.name in UNIQUE.get(model, ()):
            return f"{column} || '-{number}'"
        return NOT_BEGUN.get((model, field.name), column)

    @staticmethod
    def _last(model: type[models.Model]) -> int:
        return int(model._default_manager.order_by("-pk").values_list("pk", flat=True)[0])

    @staticmethod
    def _settle(cursor) -> None:
        """Let new ids come after those of the copies, and the planner know how many rows there are."""
        for model in (Rater, Membership, *COPIED):
            table = model._meta.db_table
            cursor.execute(f"SELECT setval('{table}_id_seq', (SELECT MAX(id) FROM {table}))")  # noqa: S608
        cursor.execute("ANALYZE")
