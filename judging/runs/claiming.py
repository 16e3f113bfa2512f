"""Claiming assignments in batches: the calls about each are committed before a model is asked.

A committed reply to the same request is used again; a request in flight is waited for.
"""

import logging
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import IntegrityError, InterfaceError, OperationalError, transaction
from django.db.models import F
from django.utils import timezone

from arena.models import Assignment
from arena.models.compiled import CompiledFor, CompiledUpdateFor, given
from judging.models import JudgeCall, JudgeRun, RunAssignment
from judging.protocols.parsing import no_text
from judging.protocols.replies import ReplyText
from judging.runs import work as runs_work
from judging.runs.asking import CallBuilder, PreparedCall
from judging.runs.lifecycle import pause_run
from judging.runs.limiting import Limits
from judging.runs.places import Places
from judging.runs.work import Asker, Work, read_work, text_of
from judging.spending import budgets
from judging.spending.purses import reserve


@dataclass
class ClaimPlan:
    """What is about to be written for one assignment."""

    work: Work
    is_held: bool
    replies: dict[str, ReplyText]
    asked: list[PreparedCall] = field(default_factory=list)  # to be sent
    reused: list[tuple[PreparedCall, JudgeCall]] = field(default_factory=list)  # answered already
    calls: list[tuple[JudgeCall, PreparedCall]] = field(default_factory=list)  # can be made now
    waits_for: str = ""  # hash of another worker's request in flight
    until: datetime | None = None  # when that one is over at the latest
    not_before: datetime | None = None  # by limits or an outage
    is_complete: bool = False

    @property
    def assignment(self) -> int:
        return self.work.assignment.pk


class ClaimPlanner:
    """seen: ids of the committed replies that were looked at."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self.seen: set[int] = set()

    def plan(self, works: Sequence[Work], held: set[int]) -> list[ClaimPlan]:
        """What to ask about each. No two plans ask the same, and none what is answered or in flight."""
        builder = CallBuilder()
        plans = [ClaimPlan(work, work.assignment.pk in held, dict(work.replies)) for work in works]
        taken: dict[str, tuple[int, str]] = {}
        unsettled = plans
        while unsettled:
            questions = [
                [builder.build(plan.work, each) for each in plan.work.open_questions(plan.replies)]
                for plan in unsettled
            ]
            cached, in_flight = self._lookup(
                {each.request_hash for some in questions for each in some} - {""}
            )
            unsettled = [
                plan
                for plan, asked in zip(unsettled, questions, strict=True)
                if self._settle(plan, asked, cached, in_flight, taken)
            ]
        return plans

    def _lookup(self, hashes: set[str]) -> tuple[dict[str, JudgeCall], dict[str, datetime]]:
        """Usable replies, and deadlines of requests in flight, by hash."""
        if not hashes:
            return {}, {}
        # In this order: what ends meanwhile is among the replies.
        in_flight = {call.request_hash: call.deadline for call in _ASKING(hashes)}
        replied = _REPLIES(hashes)
        self.seen |= {call.pk for call in replied}
        return {call.request_hash: call for call in replied if not no_text(text_of(call))}, in_flight

    def _settle(
        self,
        plan: ClaimPlan,
        questions: Sequence[PreparedCall],
        cached: Mapping[str, JudgeCall],
        in_flight: Mapping[str, datetime],
        taken: dict[str, tuple[int, str]],
    ) -> bool:
        """Sort questions into those to ask, to answer, and to wait for; True if a reply was found."""
        plan.asked, plan.waits_for, plan.until = [], "", None
        plan.is_complete = not questions and not any(call.is_in_flight for call in plan.work.in_round)
        found = False
        for asked in questions:
            name, key = asked.request_hash, asked.question.key
            if name in cached:
                plan.reused.append((asked, cached[name]))
                plan.replies[key] = text_of(cached[name])
                found = True
            elif name in in_flight or taken.get(name, (plan.assignment, key)) != (plan.assignment, key):
                plan.waits_for = name
                plan.until = in_flight.get(name, self._now + asked.lease)
            else:
                plan.asked.append(asked)
                if name:
                    taken[name] = (plan.assignment, key)
        return found


logger = logging.getLogger(__name__)

SUBMITTING = timedelta(seconds=30)  # how long a reply belongs to the worker that submits it
PAUSE = timedelta(seconds=1)  # until what cannot be asked now, for lack of budget, say, is looked at again
TRIES: Final = 5  # how often a claim is tried when other workers are faster
COPIED: Final = (
    *("raw_reply", "refusal", "finish_reason", "model_returned"),
    *("logprobs", "expected", "lacks_logprobs"),
)
"""Columns copied from the call whose reply is used again. Its tokens were paid for once."""


@dataclass(frozen=True)
class ClaimRequest:
    assignment: int
    is_held: bool = False  # the caller holds it already


@dataclass(frozen=True)
class Claimed:
    """Calls to make, an answer to submit, or nothing for now."""

    work: Work
    replies: Mapping[str, ReplyText] = field(default_factory=dict)
    calls: Sequence[tuple[JudgeCall, PreparedCall]] = ()  # committed as in flight
    answered: JudgeCall | None = None  # has the last reply, if nothing is left to ask
    is_aside: bool = False  # the pair can no longer be rated


def claim_remotely(work: Work, worker: str, lease: timedelta) -> JudgeCall | None:
    """Commit the next call about an assignment for a worker elsewhere; None if there is none.

    No other assignment waits for its reply or reuses it.
    """
    questions = work.open_questions(work.replies)
    if not questions:
        return None
    asked = replace(CallBuilder().build(work, questions[0]), request_hash="", lease=lease)
    plan = ClaimPlan(work, is_held=False, replies={}, asked=[asked])
    try:
        claimed = _Batch(worker, Places(1), is_limited=False).commit([plan])
    except IntegrityError:  # another worker holds this question
        return None
    return next((call for each in claimed.values() for call, _ in each.calls), None)


_Wanted = tuple[ClaimPlan, JudgeCall, PreparedCall]


class _OutdatedError(Exception):
    """What a plan rests on changed before it was written."""


def claim(
    claim_requests: Sequence[ClaimRequest], worker: str, places: Places
) -> list[Claimed | Exception | None]:
    """Claim assignments; None for each that is taken or no longer wanted.

    The caller has a place for one call about each. Further calls take places while there are any; the caller
    gives them back when the calls end.
    """
    try:
        return list(_Batch(worker, places).claim(claim_requests))
    except (OperationalError, InterfaceError):  # the database is away, for all of them
        raise
    except Exception as error:
        logger.debug("Claiming %d assignments one by one: %s", len(claim_requests), error)
    return [_claim_alone(claim_request, worker, places) for claim_request in claim_requests]


def _claim_alone(claim_request: ClaimRequest, worker: str, places: Places) -> Claimed | Exception | None:
    for _ in range(TRIES):
        try:
            return _Batch(worker, places).claim([claim_request])[0]
        except (IntegrityError, _OutdatedError):
            continue
        except Exception as error:  # of this assignment alone, which must not hold up the others
            return error
    if claim_request.is_held:
        put_back([claim_request.assignment])
    return None


def asker_of(assignment: int) -> Asker | None:
    """Whose place asking about an assignment takes; None if no running run wants it asked now."""
    rows = RunAssignment.objects.filter(
        assignment=assignment,
        assignment__state=Assignment.State.OPEN,
        run__state=JudgeRun.State.RUNNING,
        run__remote=False,
    )
    askers = rows.values_list("run", "run__judge__endpoint__base_url")
    return next((Asker(run, address or "") for run, address in askers), None)


def leave(assignment: int) -> None:
    """Forget the message about an assignment for which there was no place; its run sends another."""
    RunAssignment.objects.filter(assignment=assignment).update(queued_until=None)


@transaction.atomic
def put_back(assignments: Iterable[int]) -> None:
    """Reopen claimed assignments that have no call in flight; their replies are kept."""
    rows = Assignment.objects.filter(pk__in=list(assignments), state=Assignment.State.CLAIMED)
    held = [row.pk for row in rows.select_for_update(no_key=True).order_by("pk").only("pk")]
    busy = JudgeCall.objects.filter(assignment__in=held, state=JudgeCall.State.IN_FLIGHT)
    idle = set(held) - set(busy.values_list("assignment", flat=True))
    rows.filter(pk__in=idle).update(state=Assignment.State.OPEN, leased_until=None)


class _Batch:
    def __init__(self, worker: str, places: Places, *, is_limited: bool = True) -> None:
        self._worker, self._places, self._keeps_limits = worker, places, is_limited
        self._now = timezone.now()
        self._planner = ClaimPlanner(self._now)
        self._taken: Counter[Asker] = Counter()  # places for further calls

    def claim(self, claim_requests: Sequence[ClaimRequest]) -> list[Claimed | None]:
        held = {claim_request.assignment for claim_request in claim_requests if claim_request.is_held}
        works = read_work({claim_request.assignment for claim_request in claim_requests} - held, held)
        if unwanted := held - works.keys():  # of runs that were paused or cancelled meanwhile
            put_back(unwanted)
        aside = self._put_aside(works, held)
        plans = self._planner.plan([work for pk, work in works.items() if pk not in aside], held)
        try:
            claimed = aside | (self.commit(plans) if plans else {})
        except BaseException:
            self._places.give(self._taken)
            raise
        # A message that came twice is acted upon once.
        return [claimed.pop(claim_request.assignment, None) for claim_request in claim_requests]

    def _put_aside(self, works: Mapping[int, Work], held: Collection[int]) -> dict[int, Claimed]:
        gone = runs_work.unrateable(works.values())
        claimed = [work for work in gone if work.assignment.pk in held]
        opened = [work for work in gone if work.assignment.pk not in held]
        done = runs_work.put_aside(claimed, Assignment.State.CLAIMED)
        done |= runs_work.put_aside(opened, Assignment.State.OPEN)
        return {work.assignment.pk: Claimed(work, is_aside=work.assignment.pk in done) for work in gone}

    @transaction.atomic
    def commit(self, plans: Sequence[ClaimPlan]) -> dict[int, Claimed]:
        """Write plans. Locks assignments, then calls, then limits, then purses, as everywhere."""
        plans = self._still_there(plans)
        self._make_calls(plans)
        made = [call for plan in plans for call, _ in plan.calls]
        reused = {plan.assignment: self._reused(plan) for plan in plans}
        new = [*made, *(call for calls in reused.values() for call in calls)]
        # In one order everywhere, so that no two wait for each other.
        JudgeCall.objects.bulk_create(sorted(new, key=lambda call: call.request_hash))
        self._check_replies({call.request_hash for call in made} - {""})
        answered = {plan.assignment: self._answered(plan, reused[plan.assignment]) for plan in plans}
        self._write_states(plans, answered)
        return {
            plan.assignment: Claimed(plan.work, plan.replies, plan.calls, answered[plan.assignment])
            for plan in plans
        }

    def _still_there(self, plans: Sequence[ClaimPlan]) -> list[ClaimPlan]:
        """Plans whose assignment is in the state it was read in, locked from now on."""
        states = {row.pk: row.state for row in _LOCKED([plan.assignment for plan in plans])}
        wanted = {True: Assignment.State.CLAIMED, False: Assignment.State.OPEN}
        still = [plan for plan in plans if states.get(plan.assignment) == wanted[plan.is_held]]
        planned = {asked.request_hash for plan in still for asked in plan.asked}
        self._check_waiting({plan.waits_for for plan in still if not plan.asked} - planned - {""})
        return still

    def _check_waiting(self, hashes: set[str]) -> None:
        """Lock the calls that are waited for; raise _OutdatedError if one has ended."""
        # Whoever ends a call locks it first, and only then looks for assignments that wait for it.
        if hashes:
            in_flight = JudgeCall.objects.filter(request_hash__in=hashes, state=JudgeCall.State.IN_FLIGHT)
            locked = in_flight.exclude(request_hash="").select_for_update(no_key=True).order_by("pk")
            if hashes - set(locked.values_list("request_hash", flat=True)):
                raise _OutdatedError("a call that was waited for has ended")

    def _make_calls(self, plans: Sequence[ClaimPlan]) -> None:
        by_run: dict[int, list[_Wanted]] = defaultdict(list)
        for asked, plan in self._placed(plans):
            by_run[plan.work.run.pk].append((plan, self._call(plan.work, asked), asked))
        limited = [one for wanted in by_run.values() for one in wanted if self._is_limited(one)]
        limits = Limits([asked.model for _, _, asked in limited])
        let_in = list(filter(None, (self._let_in(wanted, limits) for _, wanted in sorted(by_run.items()))))
        granted = reserve([(call, asked.model) for wanted in let_in for _, call, asked in wanted])
        for wanted in let_in:
            run = wanted[0][0].work.run
            given = granted["run", run.pk]
            for plan, call, asked in wanted[: given.count]:
                plan.calls.append((call, asked))
            for _, _, asked in filter(self._is_limited, wanted[given.count :]):
                limits.cancel(asked.model)
            if why := budgets.why_no_more(given):
                pause_run(run, why, goes_on_at=budgets.goes_on_at(given))
        limits.save()
        self._give_back(plans)

    def _is_limited(self, wanted: _Wanted) -> bool:
        return self._keeps_limits and not wanted[0].work.judge.is_simulated

    def _placed(self, plans: Sequence[ClaimPlan]) -> Iterator[tuple[PreparedCall, ClaimPlan]]:
        """The questions there are places for: the first of every plan before any second one."""
        for plan in plans:
            yield from ((asked, plan) for asked in plan.asked[:1])
        for plan in plans:
            asker = plan.work.asker
            more = self._places.take(asker, len(plan.asked) - 1) if len(plan.asked) > 1 else 0
            self._taken[asker] += more
            yield from ((asked, plan) for asked in plan.asked[1 : 1 + more])

    def _let_in(self, wanted: list[_Wanted], limits: Limits) -> list[_Wanted]:
        """The calls that limits allow now; the others get a time to come back."""
        let_in = []
        for one in wanted:
            plan, call, asked = one
            if self._is_limited(one) and (wait := limits.start(call, asked.model, asked.lease)):
                spread = random.uniform(1.0, 1.1)  # noqa: S311 - jitter
                plan.not_before = self._now + timedelta(seconds=wait * spread)
            else:
                let_in.append(one)
        return let_in

    def _give_back(self, plans: Sequence[ClaimPlan]) -> None:
        """Give back the places of calls that are not made."""
        used = Counter[Asker]()
        for plan in plans:
            used[plan.work.asker] += max(len(plan.calls) - 1, 0)
        self._places.give(self._taken - used)
        self._taken = used

    def _call(self, work: Work, asked: PreparedCall, **columns: Any) -> JudgeCall:
        key = asked.question.key
        return JudgeCall(
            run=work.run,
            assignment=work.assignment,
            key=key,
            round=work.row.round,
            attempt=1 + work.attempts(key),
            worker=self._worker,
            prompt_hash=work.prompt_hash,
            model=asked.request.model,
            sample=asked.question.sample,
            request_hash=asked.request_hash,
            messages=list(asked.request.messages),
            started_at=self._now,
            deadline=self._now + asked.lease,
            **columns,
        )

    def _reused(self, plan: ClaimPlan) -> list[JudgeCall]:
        return [
            self._call(
                plan.work,
                asked,
                state=JudgeCall.State.REPLIED,
                cached_from=source,
                finished_at=self._now,
                cost=0,
                **{name: getattr(source, name) for name in COPIED},
            )
            for asked, source in plan.reused
        ]

    def _check_replies(self, hashes: set[str]) -> None:
        """Raise _OutdatedError if a request was answered since replies were looked up."""
        # The calls just written keep others from having these requests in flight from now on.
        if any(pk not in self._planner.seen for pk in _IDS_OF_REPLIES(hashes)):
            raise _OutdatedError("a request was answered meanwhile")

    def _answered(self, plan: ClaimPlan, reused: Sequence[JudgeCall]) -> JudgeCall | None:
        """The last reply about a complete assignment, reserved for this worker to submit."""
        if not plan.is_complete:
            return None
        replied = [call for call in plan.work.in_round if call.has_replied]
        last = [*sorted(replied, key=lambda call: call.pk), *reused][-1]
        rows = JudgeCall.objects.filter(pk=last.pk, submitted_at=None)
        if not rows.update(submit_due_at=self._now + SUBMITTING, submit_attempts=F("submit_attempts") + 1):
            return None
        last.submit_attempts += 1
        last.run, last.assignment = plan.work.run, plan.work.assignment
        return last

    def _write_states(self, plans: Sequence[ClaimPlan], answered: Mapping[int, JudgeCall | None]) -> None:
        """Lease what is asked about or submitted; open what waits, with the time to look again."""
        leases: dict[datetime, list[ClaimPlan]] = defaultdict(list)
        waits: dict[tuple[str, datetime], list[ClaimPlan]] = defaultdict(list)
        in_flight = {call.request_hash for plan in plans for call, _ in plan.calls}
        planned = {asked.request_hash for plan in plans for asked in plan.asked}
        for plan in plans:
            if plan.calls:
                leases[max(call.deadline for call, _ in plan.calls)].append(plan)
            elif answered[plan.assignment]:
                leases[self._now + SUBMITTING].append(plan)
            elif plan.waits_for and plan.until and plan.waits_for not in planned - in_flight:
                waits[plan.waits_for, plan.until].append(plan)
            else:
                waits[plan.waits_for, plan.not_before or self._now + PAUSE].append(plan)
        for until, leased in leases.items():
            _write_state(leased, Assignment.State.CLAIMED, until, "", self._now)
        for (name, due_at), waiting in waits.items():
            _write_state(waiting, Assignment.State.OPEN, None, name, due_at)


def _write_state(
    plans: Sequence[ClaimPlan],
    state: Assignment.State,
    leased_until: datetime | None,
    waiting_for: str,
    due_at: datetime,
) -> None:
    _LEASE([plan.assignment for plan in plans], state=state, until=leased_until)
    _TAKE([plan.work.row.pk for plan in plans], waiting_for=waiting_for, due_at=due_at)


_ASKING: Final = CompiledFor(JudgeCall.objects.asking)
_REPLIES: Final = CompiledFor(JudgeCall.objects.cached)
_IDS_OF_REPLIES: Final = CompiledFor(
    lambda hashes: JudgeCall.objects.cached(hashes).values_list("pk", flat=True)
)
_LOCKED: Final = CompiledFor(
    lambda ids: (
        Assignment.objects.filter(pk__in=ids).only("state").select_for_update(no_key=True).order_by("pk")
    )
)
_LEASE: Final = CompiledUpdateFor(
    lambda ids: Assignment.objects.filter(pk__in=ids), state=given("state"), leased_until=given("until")
)
_TAKE: Final = CompiledUpdateFor(
    lambda ids: RunAssignment.objects.filter(pk__in=ids),
    queued_until=None,
    waiting_for=given("waiting_for"),
    due_at=given("due_at"),
)
