"""Recording what the replies of judges say, in the transaction that stores the last of them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from operator import attrgetter
from typing import Any, Final, Literal

from django.utils import timezone

from arena.api.opinions import AnswerIn, AnswersIn, ComparisonIn, ScoreIn
from arena.models import Assignment, Comparison
from arena.models.comparisons import Opinion
from arena.rating.opinions import RatingError, Said, TurnScore
from arena.rating.recording import AlreadyAnsweredError, Recorded, record_all
from judging.models import Judge, JudgeCall
from judging.protocols import conversation, deciding
from judging.protocols.protocol import ConfiguredProtocol, Protocol
from judging.protocols.replies import ReplyText, Verdict
from judging.runs.lifecycle import pause_if_unreadable
from judging.runs.work import Work

YES_NO: Final[Mapping[int, Literal["yes", "no"]]] = {1: "yes", 2: "no"}  # by rating


def record(works: Sequence[Work]) -> None:
    """Record the answers of work that has all its replies; notes in the last call what became of each.

    For a transaction in which the assignments are locked.
    """
    by_rater: dict[int, list[Reading]] = defaultdict(list)
    for work in works:
        by_rater[work.judge.rater_id].append(Reading(work))
    for readings in by_rater.values():
        outcomes = record_all(readings[0].work.judge.rater, [each.said for each in readings])
        for reading, outcome in zip(readings, outcomes, strict=True):
            _note(reading, outcome)
    for run in {work.run for work in works}:
        pause_if_unreadable(run)


def _note(reading: "Reading", outcome: Recorded | RatingError) -> None:
    run, assignment = reading.work.run, reading.work.assignment
    last = JudgeCall.objects.filter(pk=reading.last.pk)
    if isinstance(outcome, RatingError) and not isinstance(outcome, AlreadyAnsweredError):
        last.update(run=run, given_up=True, error=str(outcome)[:600])  # for good: the study was closed, say
        unfinished = Assignment.objects.filter(pk=assignment.pk, finished_at=None)
        unfinished.update(state=Assignment.State.FAILED, leased_until=None, finished_at=timezone.now())
        return
    columns = reading.outcome
    if isinstance(stored := outcome.stored[0], Comparison):  # perhaps an older parser has read it
        columns = {name: getattr(stored, name) for name in columns}
    last.update(run=run, submitted_at=timezone.now(), error="", given_up=False, **columns)


@dataclass(frozen=True)
class Reading:
    """What the replies about an assignment say together."""

    work: Work

    @property
    def last(self) -> JudgeCall:
        """The call whose reply came last."""
        replied = [call for call in self.work.in_round if call.has_replied and call.finished_at]
        return sorted(replied, key=attrgetter("finished_at"))[-1]

    @property
    def said(self) -> Said:
        """As the service that records takes it."""
        common: Any = {"assignment": self.work.assignment.public_id, "seconds": self._seconds}
        if self._task == Assignment.Kind.CHECK:
            return AnswersIn(answers=self._checked, **common)
        if self._task == Assignment.Kind.SCORE:
            lowest, highest = self._range
            by_turn = {turn: self._said_of(turn, score) for turn, score in self._scores.items()}
            said = by_turn[0] if 0 in by_turn else {"turns": [TurnScore(**one) for one in by_turn.values()]}
            return ScoreIn(lowest=lowest, highest=highest, **common | said)
        verdict = self._verdict
        common |= {"reason": verdict.reason or None, "rationale": verdict.rationale}
        common |= {"raw_reply": _raw(self._reply), "expected": self._expected(self._overall)}
        criteria: Any = conversation.criterion_verdicts(self._configured, self.work.replies)
        points: Any = self.work.judge.points
        scores = [Decimal(str(round(float(score), 3))) for score in verdict.scores or ()]
        return ComparisonIn(
            points=points,
            rating=verdict.rating,
            scores=(scores[0], scores[1]) if scores else None,
            criteria={name: one.rating or one.reason for name, one in criteria.items()},
            **common,
        )

    @property
    def outcome(self) -> dict[str, Any]:
        """Status, reason and rating of all; of requirements and turns, unscored if none could be read."""
        if self._judge.compares:
            reason, rating = self._verdict.reason, self._verdict.rating
        else:
            parts = self._checks if self._task == Assignment.Kind.CHECK else self._scores
            reasons = [one.reason for one in parts.values()]
            reason, rating = "" if not all(reasons) else reasons[0], None
        status = Opinion.Status.UNSCORED if reason else Opinion.Status.SCORED
        return {"status": status, "reason": reason, "rating": rating}

    @property
    def _judge(self) -> Judge:
        return self.work.judge

    @property
    def _task(self) -> str:
        return self.work.judge.task

    @property
    def _configured(self) -> ConfiguredProtocol:
        return self.work.configured_protocol

    @cached_property
    def _verdict(self) -> Verdict:
        return conversation.verdict(self._configured, self.work.replies)

    @cached_property
    def _scores(self) -> Mapping[int, deciding.TextScore]:
        """Of each turn, or of the whole answer as turn 0."""
        return conversation.scores(self._configured, self.work.replies)

    def _said_of(self, turn: int, score: deciding.TextScore) -> dict[str, Any]:
        said: dict[str, Any] = {"value": score.value, "reason": score.reason or None}
        said |= {"rationale": score.rationale}
        if not turn:
            return said | {"raw_reply": _raw(self._reply), "expected": self._expected(self._overall)}
        keys = conversation.keys_of_turn(self._configured, turn)
        reply = next((self.work.replies[key] for key in reversed(keys) if key in self.work.replies), None)
        said |= {"raw_reply": _raw(reply or self._reply), "expected": self._expected(keys)}
        return said | {"turn": turn, "seconds": self._taken(keys)}

    @cached_property
    def _checks(self) -> Mapping[int, Verdict]:
        """On each requirement, by its position."""
        return conversation.checks(self._configured, self.work.replies)

    @property
    def _checked(self) -> list[AnswerIn]:
        found = []
        for position, verdict in self._checks.items():
            reply, taken = self._reply_about(position)
            found.append(
                AnswerIn(
                    position=position,
                    value=None if verdict.rating is None else YES_NO[verdict.rating],
                    reason=verdict.reason or None,
                    raw_reply=_raw(reply),
                    rationale=verdict.rationale,
                    seconds=taken,
                )
            )
        return found

    def _reply_about(self, position: int) -> tuple[ReplyText, float | None]:
        """The reply about a requirement, or about all of them, and the seconds it took."""
        keys = conversation.keys_about(self._configured, position)
        last = next(key for key in reversed(keys) if key in self.work.replies)
        is_of_all = len(keys) == len(conversation.keys(self._configured))
        return self.work.replies[last], None if is_of_all else self._taken(keys)

    @cached_property
    def _overall(self) -> Sequence[str]:
        """The keys of all questions but those about a criterion."""
        return conversation.keys(replace(self._configured, criteria=None))

    @property
    def _reply(self) -> ReplyText:
        """The last reply about the overall verdict."""
        keys = [key for key in self._overall if key in self.work.replies]
        return self.work.replies[self.last.key if self.last.key in keys else keys[-1]]

    @property
    def _seconds(self) -> float | None:
        """Total latency of the calls; None if all replies were used again."""
        return self._taken([call.key for call in self.work.in_round])

    def _taken(self, keys: Sequence[str]) -> float | None:
        taken = [call.latency for call in self.work.in_round if call.has_replied and call.key in keys]
        known = [seconds for seconds in taken if seconds is not None]
        return sum(known) if known else None

    def _expected(self, keys: Sequence[str]) -> float | None:
        """Mean expected rating of the verdicts; None without any, or where a pair is rated by two scores."""
        if self._judge.compares and has_scores(self._judge.configured_protocol.protocol):
            return None
        calls = [each for each in self.work.in_round if each.has_replied and each.key in keys]
        lowest, highest = self._range  # a worker elsewhere may say anything
        known = [each.expected for each in calls if each.expected is not None]
        within = [expected for expected in known if lowest <= expected <= highest]
        return sum(within) / len(within) if within else None

    @property
    def _range(self) -> tuple[int, int]:
        """The lowest and highest value of an answer."""
        is_score = self._task == Assignment.Kind.SCORE
        return self._configured.score_range if is_score else (1, self._judge.points)


def _raw(reply: ReplyText) -> str:
    return reply.text or reply.refusal


def has_scores(protocol: Protocol) -> bool:
    steps = any(step.score for step in protocol.steps)
    return steps or any(has_scores(part.protocol) for part in protocol.parts)
