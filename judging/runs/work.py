"""Assignments of runs with everything needed to ask about them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Final

from django.db import transaction
from django.db.models import Q, QuerySet, prefetch_related_objects
from django.utils import timezone
from django.utils.crypto import salted_hmac

from arena.models import Assignment, Completion, Prompt, Question, Rater, Study
from arena.models.querysets import word
from arena.texts.asides import with_asides
from arena.texts.self_naming import shown_asides, shown_turns
from judging.endpoints.client import REFUSALS
from judging.models import Judge, JudgeCall, JudgeRun, RunAssignment
from judging.protocols import conversation
from judging.protocols.conversation import Question as ProtocolQuestion
from judging.protocols.protocol import ConfiguredProtocol
from judging.protocols.rendering import OneText, PairTexts, Texts
from judging.protocols.replies import ReplyText

MOST_OUTAGES: Final = 20
"""Failures of a question in outages that use up no attempts; at the longest pause they take over an hour."""


@dataclass(frozen=True)
class Work:
    """An assignment as part of a run, and all calls about it, oldest first.

    ``requirements`` are those of its prompt by position, if the protocol shows them.
    """

    row: RunAssignment
    calls: tuple[JudgeCall, ...] = ()
    requirements: Mapping[int, str] = field(default_factory=dict)

    @property
    def run(self) -> JudgeRun:
        return self.row.run

    @property
    def judge(self) -> Judge:
        return self.row.run.judge

    @property
    def assignment(self) -> Assignment:
        return self.row.assignment

    @cached_property
    def configured_protocol(self) -> ConfiguredProtocol:
        configured = self.judge.configured_for(self.run.study)
        configured = configured.asking(self.requirements) if self.requirements else configured
        return configured.of_turns(self._turns) if self._turns > 1 else configured

    @property
    def _turns(self) -> int:
        """How many turns of an answer are scored; an answer with others than its prompt is one text."""
        said = self.assignment.completion
        if said is None or self.judge.task != Assignment.Kind.SCORE:
            return 1
        return len(said.turns) if len(said.turns) == len(said.prompt.turns) else 1

    @property
    def prompt_hash(self) -> str:
        return self.judge.configured_for(self.run.study).prompt_hash

    @property
    def prompt(self) -> Prompt:
        shown = self.assignment.pair or self.assignment.completion
        assert shown is not None  # noqa: S101 - held by a constraint
        return shown.prompt

    @property
    def shown(self) -> tuple[Completion, ...]:
        """The completions it is about, in their order."""
        pair, completion = self.assignment.pair, self.assignment.completion
        return pair.shown(self.assignment.swapped) if pair else (completion,) if completion else ()

    @property
    def has_its_wording(self) -> bool:
        """Whether the wording is that of its other answers; an update may change it."""
        return self.judge.prompt_hash in ("", self.prompt_hash)

    @cached_property
    def texts(self) -> Texts:
        study, prompt, turn = self.run.study, self.prompt, self.assignment.turn
        shown = [with_asides(shown_turns(each, study), shown_asides(each, study)) for each in self.shown]
        asked = with_asides(prompt.turns, prompt.asides)
        references = prompt.reference_turns if self.configured_protocol.takes_references else ()
        if len(shown) == 1:
            return OneText(asked, prompt.input, shown[0], boundary_secret(), references)
        first, second = shown
        both = PairTexts(asked, prompt.input, first, second, boundary_secret(), references)
        return both.at_turn(turn) if turn else both

    @cached_property
    def in_round(self) -> list[JudgeCall]:
        return [call for call in self.calls if call.round == self.row.round]

    @cached_property
    def replies(self) -> dict[str, ReplyText]:
        """The committed replies of this round and the prompt's own references, by the key of the question."""
        given = conversation.given(self.configured_protocol, self.texts)
        return given | replies_among(self.in_round)

    def attempts(self, key: str) -> int:
        """How often a question was asked, in all rounds."""
        return sum(call.key == key for call in self.calls)

    def failures(self, key: str) -> int:
        """How often asking it failed in this run, without outages and refusals of the judge as a whole."""
        return sum(
            call.key == key
            and call.state == JudgeCall.State.FAILED
            and call.run_id == self.run.pk
            and not call.in_outage
            and call.error_kind not in REFUSALS
            for call in self.in_round
        )

    def is_to_blame(self, key: str) -> bool:
        """Whether a question failed in so many outages that it may cause them."""
        outages = sum(
            call.key == key
            and call.in_outage
            and call.run_id == self.run.pk
            and call.error_kind != "unreachable"
            for call in self.in_round
        )
        return outages >= MOST_OUTAGES

    def open_questions(self, replies: Mapping[str, ReplyText]) -> list[ProtocolQuestion]:
        """The questions that can be asked now and are not in flight."""
        asked = {call.key for call in self.in_round if call.is_in_flight}
        questions = conversation.next_questions(self.configured_protocol, self.texts, replies)
        return [question for question in questions if question.key not in asked]


def waiting(run: JudgeRun) -> QuerySet[RunAssignment]:
    """The assignments of a run that are to be asked about now, with their texts, in the order of planning."""
    # By rater and time they are found without those that are done.
    own = {"assignment__rater": run.judge.rater_id, "assignment__study": run.study_id}
    due = with_texts().filter(run=run, assignment__state=word("open"), due_at__lte=timezone.now(), **own)
    return due.order_by("assignment__created_at")


def with_texts() -> QuerySet[RunAssignment]:
    """Assignments of runs with what they show; without the run, which is read once and not with every row."""
    return RunAssignment.objects.select_related(
        "assignment__pair__prompt",
        "assignment__pair__first__contestant",
        "assignment__pair__second__contestant",
        "assignment__completion__prompt",
        "assignment__completion__contestant",
    )


def with_calls(rows: Iterable[RunAssignment]) -> list[Work]:
    rows = list(rows)
    runs = JudgeRun.objects.whole().in_bulk({row.run_id for row in rows})
    for row in rows:
        row.run = runs[row.run_id]
    calls: dict[int, list[JudgeCall]] = defaultdict(list)
    for call in JudgeCall.objects.conversations([row.assignment_id for row in rows]):
        calls[call.assignment_id].append(call)
    asked = requirements(_prompt_of(row) for row in rows if takes_questions(row.run))
    works = [Work(row, tuple(calls[row.assignment_id]), asked.get(_prompt_of(row), {})) for row in rows]
    works = [begun_anew(work) if _asked_otherwise(work) else work for work in works]
    prompts = [each.prompt for each in works if each.configured_protocol.takes_references]
    prefetch_related_objects(prompts, "references")
    return works


def _asked_otherwise(work: Work) -> bool:
    in_flight = any(call.is_in_flight for call in work.in_round)
    return not in_flight and asked_otherwise(work.configured_protocol, work.in_round)


def asked_otherwise(configured: ConfiguredProtocol, calls: Iterable[JudgeCall]) -> bool:
    """Whether requirements were changed since a model replied about them: its replies say nothing of now."""
    replied = [call.pk for call in calls if call.has_replied]
    if not (configured.questions and replied):
        return False
    rows = JudgeCall.objects.filter(pk__in=replied).values_list("key", "messages")
    return not conversation.asks_alike(configured, {key: sent[-1]["content"] for key, sent in rows})


def begun_anew(work: Work) -> Work:
    """The work with none of its replies: they are asked for anew."""
    work.row.round += 1
    work.row.save(update_fields=["round"])
    return Work(work.row, work.calls, work.requirements)


def takes_questions(run: JudgeRun) -> bool:
    return run.judge.configured_protocol.takes_questions


def _prompt_of(row: RunAssignment) -> int:
    shown = row.assignment.pair or row.assignment.completion
    return shown.prompt_id if shown else 0


def requirements(prompts: Iterable[int]) -> dict[int, dict[int, str]]:
    """What raters are asked about answers to prompts, by prompt and position."""
    asked: dict[int, dict[int, str]] = defaultdict(dict)
    questions = Question.objects.asked().filter(prompt__in=set(prompts)).order_by("position")
    for prompt, position, text in questions.values_list("prompt", "position", "text"):
        asked[prompt][position] = text
    return asked


def replies_among(calls: Iterable[JudgeCall]) -> dict[str, ReplyText]:
    return {call.key: text_of(call) for call in calls if call.state == JudgeCall.State.REPLIED}


def text_of(call: JudgeCall) -> ReplyText:
    return ReplyText(call.raw_reply, call.finish_reason, call.refusal)


@cache
def boundary_secret() -> bytes:
    """What the boundaries in prompts are made with; never leaves this process."""
    return salted_hmac("judging.protocols.rendering.boundary", "boundary", algorithm="sha256").digest()


# An assignment is put aside if what it shows was excluded after the run was planned (a retired contestant,
# say), or if the prompt has lost its requirements.
# If that is taken back, the next run of the judge takes it up again, as it does with what failed.


BATCH: Final = 1000  # rows in one statement

_Shown = tuple[int, ...]  # the ids of an assignment and of the completions it shows


def unrateable(works: Iterable[Work]) -> list[Work]:
    """Work with open questions whose pair or answer can no longer be rated, or without any question."""
    by_assignment = {work.assignment.pk: work for work in works}
    found = [by_assignment[pk] for pk in _unrateable(map(_shown, by_assignment.values()))]
    gone = [work for work in found if work.open_questions(work.replies)]
    return gone + [work for work in by_assignment.values() if not conversation.keys(work.configured_protocol)]


def put_aside(works: Sequence[Work], state: Assignment.State) -> set[int]:
    """Put aside the assignments that are in this state; returns their ids."""
    by_run: dict[int, list[int]] = defaultdict(list)
    for work in works:
        by_run[work.run.pk].append(work.assignment.pk)
    return {pk for run, some in sorted(by_run.items()) for pk in _end(some, Q(state=state), run)}


@transaction.atomic
def put_waiting_aside(run: JudgeRun, waiting: QuerySet[RunAssignment]) -> int:
    """Put aside the open assignments of a run that can no longer be rated; returns how many."""
    # Locked rows are about to be claimed.
    rows = waiting.filter(run=run).select_for_update(of=("self",), skip_locked=True).order_by("pk")
    shown = _ids(rows, "assignment__")
    return len(_end(_unrateable(shown), Q(state=Assignment.State.OPEN), run.pk))


@transaction.atomic
def put_planned_aside(study: Study, rater: Rater) -> int:
    """Put aside what can no longer be rated of the pairs planned for a judge not configured here."""
    lapsed = Q(state=Assignment.State.CLAIMED, leased_until__lte=timezone.now())
    waiting = Q(state=Assignment.State.OPEN) | lapsed
    planned = Assignment.objects.filter(study=study, rater=rater).order_by()
    # By their ids, because PostgreSQL takes few for many and would read all pairs.
    found = [pk for rows in (planned.open(), planned.lapsed()) for pk in rows.values_list("pk", flat=True)]
    return len(_end(_unrateable(_ids(Assignment.objects.filter(pk__in=found))), waiting))


def _ids(rows: QuerySet[Any], prefix: str = "") -> list[_Shown]:
    columns = (f"{prefix}{name}" for name in ("pk", "pair__first", "pair__second", "completion"))
    return [tuple(pk for pk in row if pk is not None) for row in rows.values_list(*columns)]


def _shown(work: Work) -> _Shown:
    return work.assignment.pk, *(completion.pk for completion in work.shown)


def _unrateable(shown: Iterable[_Shown]) -> list[int]:
    shown = list(shown)
    completions = sorted({pk for _, *both in shown for pk in both})
    rateable: set[int] = set()
    for start in range(0, len(completions), BATCH):
        comparable = Completion.objects.comparable().filter(pk__in=completions[start : start + BATCH])
        rateable.update(comparable.order_by().values_list("pk", flat=True))
    return [pk for pk, *both in shown if not rateable.issuperset(both)]


@transaction.atomic
def _end(assignments: Collection[int], condition: Q, run: int | None = None) -> list[int]:
    """End the assignments for which ``condition`` holds; returns which. One that has an answer keeps it."""
    ended: list[int] = []
    ordered = sorted(assignments)
    for start in range(0, len(ordered), BATCH):
        rows = Assignment.objects.filter(condition, pk__in=ordered[start : start + BATCH])
        held = list(rows.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
        rows_held = Assignment.objects.filter(pk__in=held).answered()
        answered = set(rows_held.values_list("pk", flat=True))
        for state, some in (
            (Assignment.State.SUBMITTED, answered),
            (Assignment.State.FAILED, set(held) - answered),
        ):
            these = Assignment.objects.filter(pk__in=some)
            these.update(state=state, leased_until=None, finished_at=timezone.now())
        if run is not None:
            planned = RunAssignment.objects.filter(run=run, assignment__in=held)
            planned.update(put_aside=True, waiting_for="")
        ended += held
    return ended
