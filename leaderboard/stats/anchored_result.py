"""What human-anchored ranking finds: strengths with and without the judge, and the judge's worth."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from leaderboard.stats.checks import BoolArray, FloatArray, IntArray, ParameterError
from leaderboard.stats.head_to_head import Difference
from leaderboard.stats.plain_values import DECIMALS, rounded
from leaderboard.stats.ranking_cautions import FEWEST_CLUSTERS, NAMES_SHOWN, some_names
from leaderboard.stats.separation import rank_upper_bound, ranks

NO_ERROR: Final = 1e-9
"""Points. A smaller standard error is rounding: prompts that all say the same do not tell how sure it is."""


@dataclass(frozen=True, eq=False)
class Points:
    """Points, their standard error and interval, each (contestants,); NaN where there is none."""

    value: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    prior: bool = False  # whether each contestant got one drawn game, as no finite answer existed

    def as_dict(self, contestant: int) -> dict[str, float | None]:
        """One contestant's numbers for JSON, rounded; None where there is none."""
        columns = (self.value, self.low, self.high, self.standard_error)
        numbers = (rounded(column[contestant]) for column in columns)
        return dict(zip(("rating", "low", "high", "standard_error"), numbers, strict=True))


@dataclass(frozen=True)
class Counts:
    """Pairs and prompts behind the strengths."""

    human_pairs: int
    judged_pairs: int
    shared_pairs: int
    human_prompts: int
    judged_prompts: int
    left_out: int  # judged pairs whose contestants no chain of human pairs connects


@dataclass(frozen=True, eq=False)
class Anchored:
    """Human-anchored strengths, (contestants,); NaN for a contestant nobody rated."""

    best: Points  # the anchored strengths
    human: Points  # by people alone
    judge: Points  # by the judge alone
    bias: Points  # judge less best
    power: float  # from 0 to 1: how much the judge was used
    power_low: float  # ends of the interval of the best power; NaN where not known
    power_high: float
    interval: float
    effective_votes: FloatArray  # pairs people would have to rate to know as much without the judge
    effective_votes_overall: float  # the same for the mean variance
    component: IntArray  # contestants that human pairs connect, each averaging 1000; -1 without any
    counts: Counts
    balance: Mapping[str, float]  # p values, small where the pairs people rated look like no random part
    influence: FloatArray  # of each prompt on the anchored strengths, in points (prompts, contestants)

    @property
    def rating(self) -> FloatArray:
        return self.best.value

    @property
    def standard_error(self) -> FloatArray:
        return self.best.standard_error

    @property
    def low(self) -> FloatArray:
        return self.best.low

    @property
    def high(self) -> FloatArray:
        return self.best.high

    @property
    def gain_may_be_chance(self) -> bool:
        """Whether the judge seems to save people pairs, but not by more than a judge without a clue might."""
        return self.effective_votes_overall >= self.counts.human_pairs + 1 and not self.power_low > 0.0

    @property
    def is_anchored(self) -> BoolArray:
        return self.component >= 0

    def difference(self, first: int, second: int) -> Difference:
        """How many points the first is above the second; raises ParameterError if nothing connects them."""
        if not self.is_anchored[[first, second]].all() or self.component[first] != self.component[second]:
            raise ParameterError("no chain of pairs that people rated connects the two models")
        moved, prompts = self.influence[:, first] - self.influence[:, second], self.counts.human_prompts
        points = float(self.rating[first] - self.rating[second])
        error = float(np.sqrt(prompts / (prompts - 1) * moved @ moved)) if prompts > 1 else 0.0
        return Difference(points, error if error > NO_ERROR else None, prompts)

    def beside_the_leader(self, order: Sequence[int]) -> list[int]:
        """Whom the leader of the first component cannot be told apart from, in this order."""
        first, *others = [i for i in order if self.component[i] == 0] or [-1]
        ends = {other: self.difference(first, other).ends(self.interval) for other in others}
        return [other for other in others if (found := ends[other]) is None or found[0] <= 0.0]

    def order(self, names: Sequence[str]) -> list[int]:
        """Contestants by component, then strength, best first, then name; those not anchored last."""
        group = np.where(self.is_anchored, self.component, len(self.component)).tolist()
        rating = np.round(np.nan_to_num(self.rating), DECIMALS).tolist()
        return sorted(range(len(names)), key=lambda i: (group[i], -rating[i], names[i]))

    def as_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Plain values for JSON, rounded to 1e-6, in the order of ``order``."""
        ranks, order = self.ranks(), self.order(names)
        return {
            "parameters": {
                "interval": self.interval,
                "power": rounded(self.power),
                "power_low": rounded(self.power_low),
                "power_high": rounded(self.power_high),
            },
            "counts": asdict(self.counts),
            "effective_votes": rounded(self.effective_votes_overall),
            "votes_gained": rounded(self.effective_votes_overall - self.counts.human_pairs),
            "balance": rounded(self.balance),
            "prior": {"anchored": self.best.prior, "human": self.human.prior, "judge": self.judge.prior},
            "standings": [self._row(i, names[i], ranks) for i in order],
            "beside_the_leader": [names[i] for i in self.beside_the_leader(order)],
        }

    def ranks(self) -> tuple[IntArray, IntArray]:
        """Rank within the component, and the best rank an interval allows; 0 where not anchored."""
        rank = ranks(self.rating, self.component)
        best = rank_upper_bound(self.low, self.high, self.component)
        return np.where(self.is_anchored, rank, 0), np.where(self.is_anchored, best, 0)

    def _row(self, i: int, name: str, ranks: tuple[IntArray, IntArray]) -> dict[str, Any]:
        rank, best = (int(each[i]) or None for each in ranks)
        return {
            "contestant": name,
            "rank": rank,
            "rank_ub": best,
            "component": int(self.component[i]) if self.is_anchored[i] else None,
            **self.best.as_dict(i),
            "human": self.human.as_dict(i),
            "judge": self.judge.as_dict(i),
            "bias": self.bias.as_dict(i),
            "effective_votes": rounded(self.effective_votes[i]),
        }


# P values of the balance below this are reported: one test in a thousand by chance.
UNLIKELY: Final = 0.001
_SMALLEST: Final = 1e-6
_IMBALANCE: Final = {
    "contestants": "other models",
    "decided": "the judge was more, or less, sure of them",
    "categories": "other categories",
}


def anchored_cautions(found: Anchored, names: Sequence[str]) -> tuple[str, ...]:
    """Sentences to show with the result, the most serious first; ``names`` are the contestants'."""
    checks = (_not_anchored, _groups, _imbalance, _few_prompts, _unbounded, _no_help, _left_out)
    return tuple(sentence for check in checks for sentence in check(found, names))


def _not_anchored(found: Anchored, names: Sequence[str]) -> Iterator[str]:
    idle = [name for name, anchored in zip(names, found.is_anchored, strict=True) if not anchored]
    if idle:
        yield f"People rated no pair of {some_names(idle)}, so the ranking leaves them out."


def _groups(found: Anchored, names: Sequence[str]) -> Iterator[str]:
    numbers = np.unique(found.component[found.is_anchored])
    if len(numbers) > 1:
        groups = (
            [name for name, own in zip(names, found.component, strict=True) if own == n] for n in numbers
        )
        listed = "; ".join(some_names(group) for group in list(groups)[:NAMES_SHOWN])
        yield (
            f"The pairs people rated leave {len(numbers)} groups that never met ({listed}). Compare "
            "scores within a group only."
        )


def _imbalance(found: Anchored, _: Sequence[str]) -> Iterator[str]:
    seen = [(name, p) for name, p in found.balance.items() if p < UNLIKELY]
    if seen:
        reasons = "; ".join(f"{_IMBALANCE[name]}, p {_size(p)}" for name, p in seen)
        yield (
            "The pairs people rated do not look like a random part of those the judge rated "
            f"({reasons}), so the judge's bias may remain."
        )


def _few_prompts(found: Anchored, _: Sequence[str]) -> Iterator[str]:
    if found.counts.human_prompts == 1:
        yield "People rated pairs of one prompt only, so nothing shows how other prompts would do."
    elif found.counts.human_prompts < FEWEST_CLUSTERS:
        yield (
            f"People rated pairs of only {found.counts.human_prompts} prompts. Fewer than "
            f"{FEWEST_CLUSTERS} may not represent others, and intervals may be too narrow."
        )


def _unbounded(found: Anchored, _: Sequence[str]) -> Iterator[str]:
    if found.best.prior:
        yield (
            "Some models won, or lost, every pair people rated, so their scores have no limit. One tie "
            "with the average was added for each model."
        )


def _no_help(found: Anchored, _: Sequence[str]) -> Iterator[str]:
    if found.counts.judged_pairs == found.counts.shared_pairs:
        yield "The judge rated only pairs that people rated, so it adds nothing."
    elif found.power_high < 0:
        yield "The judge contradicts people more often than by chance, so the scores come from people only."
    elif found.power == 0:
        yield "Nothing shows that the judge tells what people would say, so the scores come from people only."


def _left_out(found: Anchored, _: Sequence[str]) -> Iterator[str]:
    if out := found.counts.left_out:
        were = "1 pair of the judge was" if out == 1 else f"{out:,} pairs of the judge were"
        yield f"{were} left out, because no pair that people rated connects their models."


def _size(p: float) -> str:
    return f"= {p:.1g}" if p >= _SMALLEST else f"< {_SMALLEST:g}"
