"""One verdict out of several: of samples, voters, both orders, or scores of single answers. Pure."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from statistics import fmean, median

from judging.protocols.answer_scales import AnswerScale
from judging.protocols.replies import Reason, Verdict, side_of


@dataclass(frozen=True)
class Verdicts:
    """The verdicts read so far, by step, in the order of items and of the assignment.

    A score of one answer is the verdict's rating.
    """

    by_step: Mapping[str, Sequence[Verdict]]
    scale: AnswerScale
    parameters: Mapping[str, object] = field(default_factory=dict)

    def of(self, step: str) -> Sequence[Verdict]:
        return self.by_step.get(step, ())


Decide = Callable[[Verdicts], Verdict]


def last_verdict(verdicts: Verdicts) -> Verdict:
    return [one for each in verdicts.by_step.values() for one in each][-1]


def compared(step: str) -> Decide:
    """Decides by the scores in ``step``; equal ones are the middle of three points."""

    def decide(verdicts: Verdicts) -> Verdict:
        first, second = verdicts.of(step)
        for one in (first, second):
            if one.rating is None:
                return one
        assert first.rating is not None and second.rating is not None  # noqa: S101, PT018 - just checked
        rating = 2 + (second.rating > first.rating) - (first.rating > second.rating)
        scores = (Decimal(first.rating), Decimal(second.rating))
        rationale = f"{first.rationale}\n\n{second.rationale}".strip()
        return Verdict(rating, rationale=rationale, scores=scores)

    return decide


def contradict(*steps: str) -> Callable[[Verdicts], bool]:
    """Tell whether verdicts of these steps take opposite sides; the middle is no side."""

    def decide(verdicts: Verdicts) -> bool:
        sides = {side_of(one, verdicts.scale.points) for step in steps for one in verdicts.of(step)}
        return {"first", "second"} <= sides

    return decide


def last_of(*steps: str) -> Decide:
    def decide(verdicts: Verdicts) -> Verdict:
        return [one for step in steps for one in verdicts.of(step)][-1]

    return decide


def majority(voters: Sequence[Verdict], points: int) -> Verdict:
    """The side that most voters with a rating take, with the median of their ratings.

    The middle of an odd scale is a side of its own. Of two medians the milder counts, with its rationale.
    Sides with equally many votes are unscored as ``undecided``. If no voter has a rating, the first one's
    reason stands.
    """
    scored = [one for one in voters if one.rating is not None]
    if not scored:
        return replace(voters[0], rationale="")
    counts = Counter(side_of(one, points) for one in scored).most_common()
    if len(counts) > 1 and counts[0][1] == counts[1][1]:
        return Verdict(None, "undecided")
    winners = [one for one in scored if side_of(one, points) == counts[0][0]]
    mildest_first = sorted(winners, key=lambda one: abs(2 * (one.rating or 0) - (points + 1)))
    return mildest_first[(len(winners) - 1) // 2]


@dataclass(frozen=True)
class TextScore:
    """Score of one answer: a value, or None with a reason."""

    value: float | None
    reason: Reason = ""
    rationale: str = ""


def combined(samples: Sequence[Verdict], how: str) -> TextScore:
    """The mean or median of the scores that could be read, with the first one's rationale."""
    read = [one for one in samples if one.rating is not None]
    if not read:
        return TextScore(None, samples[0].reason)
    scores = [one.rating for one in read if one.rating is not None]
    return TextScore(float(median(scores) if how == "median" else fmean(scores)), "", read[0].rationale)


def debated(step: str) -> Decide:
    """Decide a debate in ``step`` by its parameters: the last speaker, or most of the last round of roles."""

    def decide(verdicts: Verdicts) -> Verdict:
        statements = verdicts.of(step)
        if verdicts.parameters["decision"] == "last":
            return statements[-1]
        speakers = verdicts.parameters["roles"]
        assert isinstance(speakers, tuple)  # noqa: S101 - declared so by the protocol
        return majority(statements[-len(speakers) :], verdicts.scale.points)

    return decide
