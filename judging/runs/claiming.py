"""Claiming calls of judge runs: each is committed, and its highest cost reserved, before a model is asked.

A committed reply to the same request is used again; a request in flight is waited for.
"""

import logging
import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from django.db import IntegrityError, InterfaceError, OperationalError, transaction
from django.utils import timezone

from arena.models import Assignment
from judging.models import JudgeCall, JudgeRun, RunAssignment
from judging.protocols.parsing import no_text
from judging.protocols.replies import ReplyText
from judging.runs import limiting
from judging.runs.asking import CallBuilder, PreparedCall
from judging.runs.lifecycle import end_if_closed, finish_if_done, pause_run
from judging.runs.limiting import Limits
from judging.runs.recording import record
from judging.runs.work import Work, put_aside, put_waiting_aside, text_of, unrateable, waiting, with_calls
from judging.spending import budgets
from judging.spending.reservations import reserve

logger = logging.getLogger(__name__)

PAUSE: Final = timedelta(seconds=1)
"""Until what cannot be asked now, for lack of budget, say, is looked at again."""
LATER: Final = timedelta(minutes=1)
"""Until an assignment is tried again that cannot be claimed."""
TRIES: Final = 5  # how often a claim is tried when other workers are faster
COPIED: Final = (
    *("raw_reply", "refusal", "finish_reason", "model_returned"),
    *("logprobs", "expected", "lacks_logprobs"),
)
"""Columns copied from the call whose reply is used again. Its tokens were paid for once."""


class Claimed(NamedTuple):
    """A call to make."""

    work: Work
    call: JudgeCall
    asked: PreparedCall


def claim(worker: str, free: int) -> list[Claimed]:
    """Claim calls of the runs that this arena asks, for a worker with so many free slots.

    A run has an equal share of the slots even while calls of others hold all of them: an endpoint that hangs
    holds up no other run. What is free beyond the shares goes to whoever can use it.
    """
    running = JudgeRun.objects.whole().filter(state=JudgeRun.State.RUNNING, remote=False)
    awake = running.filter(judge__rater__paused_at=None).order_by("pk")
    runs = [run for run in awake if not end_if_closed(run)]
    if not runs:
        return []
    in_flight = JudgeCall.objects.in_flight().filter(worker=worker).exclude(pk__in=limiting.ended.copy())
    own = Counter(in_flight.order_by().values_list("run", flat=True))
    slots = free + own.total()
    claimed: list[Claimed] = []
    hungry = []
    for run, share in _shares(runs, slots):
        found = claim_of(run, share - own[run.pk], worker)
        claimed += found
        if share <= own[run.pk] or len(found) == share - own[run.pk]:
            hungry.append(run)
    for run in sorted(hungry, key=lambda run: own[run.pk]):
        claimed += claim_of(run, slots - own.total() - len(claimed), worker)
    return claimed


def _shares(runs: Sequence[JudgeRun], slots: int) -> Iterator[tuple[JudgeRun, int]]:
    """An equal part for each endpoint, and of that for each of its runs, at least one."""
    by_endpoint = Counter(run.judge.base_url for run in runs)
    for run in runs:
        yield run, max(slots // len(by_endpoint) // by_endpoint[run.judge.base_url], 1)


def claim_of(run: JudgeRun, most: int, worker: str) -> list[Claimed]:
    """Claim up to ``most`` calls of a running run; finish it if everything has ended."""
    if not run.remote:
        pause, room = limiting.room(run.judge)
        most = 0 if pause else min(most, room)
    tries = 0
    while most > 0 and tries < TRIES:
        try:
            claimed, is_over = Claim(run, worker).claim(most)
        except (IntegrityError, _OutdatedError):
            tries += 1
        except (OperationalError, InterfaceError):  # the database is away, for all of them
            raise
        except Exception as error:
            logger.debug("Claiming of %s one by one: %s", run, error)
            return _one_by_one(run, most, worker)
        else:
            if claimed or is_over:
                return claimed
    return []


def _one_by_one(run: JudgeRun, most: int, worker: str) -> list[Claimed]:
    """Claim each assignment by itself: one that cannot be must not hold up the others."""
    claimed: list[Claimed] = []
    for row in waiting(run)[:most]:
        try:
            claimed += Claim(run, worker, row.assignment_id).claim(1)[0]
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            logger.exception("Assignment %d cannot be claimed; it is tried again later", row.assignment_id)
            RunAssignment.objects.filter(pk=row.pk).update(due_at=timezone.now() + LATER)
    return claimed


@dataclass
class _Plan:
    """What is about to be written for one assignment."""

    work: Work
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

    @property
    def makes_way(self) -> bool:
        """True where others may be claimed, although nothing is to be asked about this one."""
        return bool(self.reused or self.is_complete or (self.waits_for and not self.asked))


class _OutdatedError(Exception):
    """What a plan rests on changed before it was written."""


_Wanted = tuple[_Plan, JudgeCall, PreparedCall]


class Claim:
    """One try to claim calls of a run, of one assignment or of those that come next.

    Locks assignments, then calls, then limits, then purses, as everywhere.
    """

    def __init__(self, run: JudgeRun, worker: str, assignment: int | None = None) -> None:
        self._run, self._worker, self._assignment = run, worker, assignment
        self._now = timezone.now()
        self._seen: set[int] = set()  # ids of the committed replies that were looked at
        self._taken: dict[str, tuple[int, str]] = {}  # the assignment and key that ask a request

    @transaction.atomic
    def claim(self, most: int) -> tuple[list[Claimed], bool]:
        """Calls to make, and whether nothing more can be claimed now."""
        works = with_calls(self._locked(most))
        if not works:
            finish_if_done(self._run)
            return [], True
        if gone := unrateable(works):
            put_aside(gone, Assignment.State.OPEN)
            put_waiting_aside(self._run, waiting(self._run))
            aside = {work.assignment.pk for work in gone}
            works = [work for work in works if work.assignment.pk not in aside]
        plans = self._planned([work for work in works if work.has_its_wording])
        self._make_calls(plans, most)
        self._write(plans)
        claimed = [Claimed(plan.work, call, asked) for plan in plans for call, asked in plan.calls]
        return claimed, not (gone or any(plan.makes_way for plan in plans))

    def _locked(self, most: int) -> list[RunAssignment]:
        """The next assignments: those that were never put off before the others."""
        due = waiting(self._run).select_for_update(of=("self", "assignment"), skip_locked=True, no_key=True)
        if self._assignment:
            return list(due.filter(assignment=self._assignment))
        rows = list(due.filter(due_at__lte=self._run.started_at)[:most])
        if len(rows) < most:
            rows += due.filter(due_at__gt=self._run.started_at)[: most - len(rows)]
        return rows

    def _planned(self, works: Sequence[Work]) -> list[_Plan]:
        """What to ask about each. No two plans ask the same, and none what is answered or in flight."""
        builder = CallBuilder()
        plans = [_Plan(work, dict(work.replies)) for work in works]
        unsettled = plans
        while unsettled:
            asked = [
                [builder.build(plan.work, each) for each in plan.work.open_questions(plan.replies)]
                for plan in unsettled
            ]
            known = self._looked_up({each.request_hash for some in asked for each in some} - {""})
            unsettled = [
                plan
                for plan, questions in zip(unsettled, asked, strict=True)
                if self._settle(plan, questions, *known)
            ]
        return plans

    def _looked_up(self, hashes: set[str]) -> tuple[dict[str, JudgeCall], dict[str, datetime]]:
        """Usable replies, and deadlines of requests in flight, by hash."""
        if not hashes:
            return {}, {}
        # In this order: what ends meanwhile is among the replies.
        in_flight = {call.request_hash: call.deadline for call in JudgeCall.objects.asking(hashes)}
        replied = list(JudgeCall.objects.cached(hashes))
        self._seen |= {call.pk for call in replied}
        return {call.request_hash: call for call in replied if not no_text(text_of(call))}, in_flight

    def _settle(
        self,
        plan: _Plan,
        questions: Sequence[PreparedCall],
        cached: Mapping[str, JudgeCall],
        in_flight: Mapping[str, datetime],
    ) -> bool:
        """Sort questions into those to ask, to answer, and to wait for; True if a reply was found."""
        plan.asked, plan.waits_for, plan.until = [], "", None
        plan.is_complete = not questions and not any(call.is_in_flight for call in plan.work.in_round)
        found = False
        for asked in questions:
            name, place = asked.request_hash, (plan.assignment, asked.question.key)
            if name in cached:
                plan.reused.append((asked, cached[name]))
                plan.replies[asked.question.key] = text_of(cached[name])
                found = True
            elif name in in_flight or self._taken.get(name, place) != place:
                plan.waits_for = name
                plan.until = in_flight.get(name, self._now + asked.lease)
            else:
                plan.asked.append(asked)
                if name:
                    self._taken[name] = place
        return found

    def _make_calls(self, plans: Sequence[_Plan], most: int) -> None:
        """Choose the calls that limits and budgets allow now: the first of every plan before any second."""
        planned = {asked.request_hash for plan in plans for asked in plan.asked}
        self._check_waiting({plan.waits_for for plan in plans if not plan.asked} - planned - {""})
        firsts = [(plan, asked) for plan in plans for asked in plan.asked[:1]]
        others = [(plan, asked) for plan in plans for asked in plan.asked[1:]]
        chosen = [*firsts, *others[: max(most - len(firsts), 0)]]
        wanted = [(plan, self._call(plan.work, asked), asked) for plan, asked in chosen]
        limits = Limits([asked.model for _, _, asked in wanted if self._is_limited])
        let_in = [one for one in wanted if self._may_start(one, limits)]
        if not let_in:
            return
        given = reserve([(call, asked.model) for _, call, asked in let_in])["run", self._run.pk]
        for plan, call, asked in let_in[: given.count]:
            plan.calls.append((call, asked))
        for _, _, asked in let_in[given.count :] if self._is_limited else ():
            limits.cancel(asked.model)
        if why := budgets.why_no_more(given):
            pause_run(self._run, why, goes_on_at=budgets.goes_on_at(given))
        limits.save()

    @property
    def _is_limited(self) -> bool:
        return not (self._run.remote or self._run.judge.is_simulated)

    def _check_waiting(self, hashes: set[str]) -> None:
        """Lock the calls that are waited for; raise _OutdatedError if one has ended."""
        # Whoever ends a call locks it first, and only then looks for assignments that wait for it.
        if hashes:
            asking = JudgeCall.objects.filter(request_hash__in=hashes, state=JudgeCall.State.IN_FLIGHT)
            locked = asking.exclude(request_hash="").select_for_update(no_key=True).order_by("pk")
            if hashes - set(locked.values_list("request_hash", flat=True)):
                raise _OutdatedError("a call that was waited for has ended")

    def _may_start(self, wanted: _Wanted, limits: Limits) -> bool:
        """Whether limits allow a call now; else its plan gets a time to come back."""
        plan, call, asked = wanted
        wait = limits.start(call, asked.model, asked.lease) if self._is_limited else 0.0
        if wait:
            spread = random.uniform(1.0, 1.1)  # noqa: S311 - jitter
            plan.not_before = self._now + timedelta(seconds=wait * spread)
        return not wait

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

    def _reused(self, plan: _Plan) -> list[JudgeCall]:
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

    def _write(self, plans: Sequence[_Plan]) -> None:
        """Store the calls, record the answers that are complete, and note what the others wait for."""
        made = [call for plan in plans for call, _ in plan.calls]
        reused = {plan.assignment: self._reused(plan) for plan in plans}
        new = [*made, *(call for calls in reused.values() for call in calls)]
        # In one order everywhere, so that no two wait for each other.
        JudgeCall.objects.bulk_create(sorted(new, key=lambda call: call.request_hash))
        self._check_replies({call.request_hash for call in made} - {""})
        complete = [plan for plan in plans if plan.is_complete]
        record([replace(each.work, calls=(*each.work.calls, *reused[each.assignment])) for each in complete])
        self._write_states([plan for plan in plans if not plan.is_complete])

    def _check_replies(self, hashes: Collection[str]) -> None:
        """Raise _OutdatedError if a request was answered since replies were looked up."""
        # The calls just written keep others from having these requests in flight from now on.
        replied = JudgeCall.objects.cached(hashes).values_list("pk", flat=True) if hashes else ()
        if any(pk not in self._seen for pk in replied):
            raise _OutdatedError("a request was answered meanwhile")

    def _write_states(self, plans: Sequence[_Plan]) -> None:
        """Lease what is asked about; leave open what waits, with the time to look again."""
        leases: dict[datetime, list[int]] = defaultdict(list)
        waits: dict[tuple[str, datetime], list[int]] = defaultdict(list)
        in_flight = {call.request_hash for plan in plans for call, _ in plan.calls}
        planned = {asked.request_hash for plan in plans for asked in plan.asked}
        for plan in plans:
            if plan.calls:
                leases[max(call.deadline for call, _ in plan.calls)].append(plan.assignment)
            elif plan.waits_for and plan.until and plan.waits_for not in planned - in_flight:
                waits[plan.waits_for, plan.until].append(plan.work.row.pk)
            else:
                waits[plan.waits_for, plan.not_before or self._now + PAUSE].append(plan.work.row.pk)
        for until, leased in leases.items():
            claimed = {"state": Assignment.State.CLAIMED, "leased_until": until}
            Assignment.objects.filter(pk__in=leased).update(**claimed)
        for (name, due_at), some in waits.items():
            RunAssignment.objects.filter(pk__in=some).update(waiting_for=name, due_at=due_at)
