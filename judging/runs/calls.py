"""One assignment of a judge, from claim to submission.

A call is committed before the model is asked, and its reply before anything is done with it. No transaction
is open and no connection held while a model is asked.
"""

import os
import secrets
import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import cache, partial
from typing import Final, NamedTuple

from django.conf import settings
from django.db import close_old_connections

from judging.endpoints.client import Reply
from judging.models import JudgeCall
from judging.protocols import conversation
from judging.runs import claiming, committing, limiting, submitting
from judging.runs.asking import PreparedCall, ask
from judging.runs.batching import Combiner
from judging.runs.claiming import Claimed, ClaimRequest
from judging.runs.committing import Outcome, Results, retry_until
from judging.runs.places import Places
from judging.runs.submitting import Submission, submission_of
from judging.runs.work import Asker

MOST: Final = 64  # most items in one transaction
# Seconds that a batch waits for more while the process is busy: longer where no call waits for it.
BRIEFLY: Final = 0.03
LONGER: Final = 0.4


class Done(NamedTuple):
    asker: Asker
    has_ended: bool  # the assignment is answered or put aside; else it waits


def judge_assignment(assignment_id: int, asker: Asker | None = None) -> Done | None:
    """Submit an assignment's reply, or ask and then submit. Harmless when called twice or too late.

    asker: whose assignment it is, if that is known.
    """
    process = this_process()
    asker = asker or claiming.asker_of(assignment_id)
    claimed = None
    if asker:
        close_old_connections()  # who waits for a place holds none
        if not process.places.enter(asker):
            claiming.leave(assignment_id)
            return None  # its run goes on when one of its calls ends
        claimed = process.claim(ClaimRequest(assignment_id), asker)
    submission = _asked(process, claimed) if claimed else submission_of(assignment_id)
    if submission:
        process.submissions.do(submission)
        return Done(Asker(submission.call.run_id, submission.judge.base_url), has_ended=True)
    return Done(claimed.work.asker, has_ended=claimed.is_aside) if claimed else None


def _asked(process: "Process", claimed: Claimed | None) -> Submission | None:
    """The answer to submit, after asking what is open; None if the rest has to wait."""
    while claimed:
        turn = _Turn(process, claimed)
        if claimed.answered:
            return turn.submission(claimed.answered)
        if not claimed.calls:
            return None
        turn.go()
        if turn.answered:
            return turn.submission(turn.answered)
        if turn.is_stuck:
            return None
        assignment, asker = claimed.work.assignment.pk, claimed.work.asker
        if not process.places.enter(asker):
            claiming.put_back([assignment])
            return None
        claimed = process.claim(ClaimRequest(assignment, is_held=True), asker)
    return None


class _Turn:
    def __init__(self, process: "Process", claimed: Claimed) -> None:
        self._process, self._work, self._calls = process, claimed.work, claimed.calls
        self._replies = dict(claimed.replies)
        self._ended: list[JudgeCall] = []
        self.answered: JudgeCall | None = None
        self.is_stuck = False

    def go(self) -> None:
        """Make the calls and commit each result as it comes."""
        close_old_connections()  # of the pool, for those who need them while this waits
        left = len(self._calls)
        for outcomes in self._outcomes():
            left -= len(outcomes)
            self._commit(outcomes, is_last=left == 0)
        self.is_stuck = sum(call.has_replied for call in self._ended) < len(self._calls)

    def submission(self, last: JudgeCall) -> Submission:
        calls = [*self._work.in_round, *self._ended]
        return Submission(last, calls, self._replies, self._work.configured_protocol)

    def _outcomes(self) -> Iterator[Sequence[Outcome]]:
        if len(self._calls) == 1:
            yield [self._ask(*self._calls[0])]
            return
        submit = self._process.threads.submit  # with the ids that lines of the log carry
        asking = {submit(copy_context().run, self._ask, call, asked) for call, asked in self._calls}
        while asking:
            done, asking = wait(asking, return_when=FIRST_COMPLETED)
            yield [future.result() for future in done]

    def _ask(self, call: JudgeCall, asked: PreparedCall) -> Outcome:
        try:
            result, seconds = ask(self._work, asked)
        finally:
            limiting.ended.add(call.pk)
            self._process.places.give(Counter([self._work.asker]))
        failures, is_to_blame = self._work.failures(call.key), self._work.is_to_blame(call.key)
        return Outcome(call, result, seconds, asked, failures, is_to_blame)

    def _commit(self, outcomes: Sequence[Outcome], *, is_last: bool) -> None:
        last = None
        for one in outcomes:
            if isinstance(one.result, Reply):
                self._replies[one.call.key] = one.result.as_text
                last = one.call
        is_complete = is_last and conversation.is_complete(self._work.configured_protocol, self._replies)
        results = Results(outcomes, is_last, list(self._ended), last if is_complete else None)
        until = max(one.call.deadline for one in outcomes)
        try:
            ended = retry_until(partial(self._process.commits.do, results), until)
        finally:
            limiting.ended.difference_update(one.call.pk for one in outcomes)
        self._ended += ended
        self.answered = next((call for call in ended if call == results.answered), None)


class Process:
    """What the threads of a process share. Its name is unique among all processes that ever run."""

    def __init__(self, pid: int) -> None:
        self.name = f"{socket.gethostname()}:{pid}:{secrets.token_hex(4)}"
        self.places = Places(settings.WORKER_CONCURRENCY)
        briefly, longer = partial(self._linger, BRIEFLY), partial(self._linger, LONGER)
        claim = partial(claiming.claim, worker=self.name, places=self.places)
        self.claims = Combiner[ClaimRequest, Claimed | None](claim, most=MOST, linger=briefly)
        self.commits = Combiner[Results, list[JudgeCall]](committing.commit_each, most=MOST, linger=longer)
        self.submissions = Combiner[Submission, bool](submitting.submit, most=MOST, linger=longer)
        self.threads = ThreadPoolExecutor(settings.CELERY_WORKER_CONCURRENCY, thread_name_prefix="asking")

    def claim(self, wanted: ClaimRequest, asker: Asker) -> Claimed | None:
        """Claim for the asker, who has taken a place; it is given back unless there are calls to make."""
        is_used = False
        try:
            claimed = self.claims.do(wanted)
            is_used = bool(claimed and claimed.calls)
            return claimed
        finally:
            if not is_used:
                self.places.give(Counter([asker]))

    def _linger(self, seconds: float) -> float:
        return seconds if self.places.are_busy else 0.0


def this_process() -> Process:
    return _process(os.getpid())


def this_worker() -> str:
    return this_process().name


@cache
def _process(pid: int) -> Process:
    return Process(pid)
