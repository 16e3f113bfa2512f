"""What is to be asked about assignments, and which replies are there already. Nothing is written here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from judging.models import JudgeCall
from judging.protocols.parsing import no_text
from judging.protocols.replies import ReplyText
from judging.runs.asking import AddressBook, Addressed
from judging.runs.work import Work, text_of


@dataclass
class Plan:
    """What is about to be written for one assignment.

    asked are the questions that nobody has answered or is asking; reused those whose replies are there, with
    the calls that have them. waits_for is the hash of a request that somebody else has in flight, ``until``
    then at the latest. not_before: by the limits of the judge, or because its endpoint is away.
    """

    work: Work
    is_held: bool
    replies: dict[str, ReplyText]
    asked: list[Addressed] = field(default_factory=list)
    reused: list[tuple[Addressed, JudgeCall]] = field(default_factory=list)
    waits_for: str = ""
    until: datetime | None = None
    not_before: datetime | None = None
    is_complete: bool = False

    @property
    def assignment(self) -> int:
        return self.work.assignment.pk


class Planner:
    """Plans assignments together. seen: the committed replies that were looked at."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self.seen: set[int] = set()

    def plan(self, works: Sequence[Work], held: set[int]) -> list[Plan]:
        """What to ask about each. No two plans ask the same, and none what was answered or is being asked."""
        book = AddressBook()
        plans = [Plan(work, work.assignment.pk in held, dict(work.replies)) for work in works]
        taken: dict[str, tuple[int, str]] = {}
        unsettled = plans
        while unsettled:
            questions = [
                [book.address(plan.work, each) for each in plan.work.open_questions(plan.replies)]
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
        """Replies to requests that can be used again, and the deadlines of requests in flight, by hash."""
        if not hashes:
            return {}, {}
        in_flight = JudgeCall.objects.held_up_to(hashes)  # first: what ends meanwhile is among the replies
        replied = list(JudgeCall.objects.cached(hashes))
        self.seen |= {call.pk for call in replied}
        return {call.request_hash: call for call in replied if not no_text(text_of(call))}, in_flight

    def _settle(
        self,
        plan: Plan,
        questions: Sequence[Addressed],
        cached: Mapping[str, JudgeCall],
        in_flight: Mapping[str, datetime],
        taken: dict[str, tuple[int, str]],
    ) -> bool:
        """Sort questions into those to ask, to answer from replies there are, and to wait for.

        Whether a reply was found, so that there may be further questions.
        """
        plan.asked, plan.waits_for, plan.until = [], "", None
        plan.is_complete = not questions and not plan.work.is_being_asked
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
