"""What human-anchored ranking finds: ratings with and without the judge, and what the judge was worth."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from leaderboard.stats.anchored.pairs import BoolArray
from leaderboard.stats.games import FloatArray, IntArray
from leaderboard.stats.order.separation import rank_upper_bound

_DECIMALS: Final = 6


@dataclass(frozen=True, eq=False)
class Estimate:
    """Points, their standard error and interval, each (contestants,); NaN where there is none.

    ``prior`` says that no finite answer existed and that one drawn game per contestant was added.
    """

    value: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    prior: bool = False

    def as_dict(self, contestant: int) -> dict[str, float | None]:
        """The numbers of one contestant for JSON, rounded; None where there is none."""
        columns = {
            "rating": self.value,
            "low": self.low,
            "high": self.high,
            "standard_error": self.standard_error,
        }
        return {name: rounded(column[contestant]) for name, column in columns.items()}


@dataclass(frozen=True)
class Counts:
    """What the ratings rest on: pairs rated by people, by the judge and by both, and the prompts of each.

    ``left_out`` counts judged pairs that were not used, because no chain of pairs rated by people connects
    their contestants.
    """

    human_pairs: int
    judged_pairs: int
    shared_pairs: int
    human_prompts: int
    judged_prompts: int
    left_out: int


@dataclass(frozen=True, eq=False)
class Anchored:
    """Human-anchored ratings: arrays of shape (contestants,), NaN for a contestant nobody rated.

    ``best`` are the anchored ratings, ``human`` those by people alone, ``judge`` those by the judge alone on
    the same contestants; all average 1000 within each ``component`` of contestants that people's pairs
    connect; -1 is the component of a contestant without human pairs. ``bias`` is the judge alone minus
    ``best``: positive where the judge is kind. ``power`` between 0 and 1 says how much the judge was used.

    ``effective_votes`` is the number of pairs people would have had to rate to know each contestant as well
    without the judge, ``effective_votes_overall`` the same for the variance averaged over contestants.
    ``balance`` holds p values, small where the pairs people rated do not look like a random part of the
    judged ones.
    """

    best: Estimate
    human: Estimate
    judge: Estimate
    bias: Estimate
    power: float
    interval: float
    effective_votes: FloatArray
    effective_votes_overall: float
    component: IntArray
    counts: Counts
    balance: Mapping[str, float]

    @property
    def rating(self) -> FloatArray:
        """The anchored ratings."""
        return self.best.value

    @property
    def standard_error(self) -> FloatArray:
        """Their standard errors."""
        return self.best.standard_error

    @property
    def low(self) -> FloatArray:
        """The lower ends of their intervals."""
        return self.best.low

    @property
    def high(self) -> FloatArray:
        """The upper ends."""
        return self.best.high

    @property
    def is_anchored(self) -> BoolArray:
        """Which contestants people rated."""
        found: BoolArray = self.component >= 0
        return found

    def order(self, names: Sequence[str]) -> list[int]:
        """The contestants by component, then rating, best first, then name; those not anchored at the end."""
        group = np.where(self.is_anchored, self.component, len(self.component)).tolist()
        rating = np.round(np.nan_to_num(self.rating), _DECIMALS).tolist()
        return sorted(range(len(names)), key=lambda i: (group[i], -rating[i], names[i]))

    def as_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Plain values for JSON, rounded to 1e-6, best first within each component; not anchored last."""
        ranks = self.ranks()
        return {
            "parameters": {"interval": self.interval, "power": rounded(self.power)},
            "counts": asdict(self.counts),
            "effective_votes": rounded(self.effective_votes_overall),
            "votes_gained": rounded(self.effective_votes_overall - self.counts.human_pairs),
            "balance": {name: rounded(value) for name, value in self.balance.items()},
            "prior": {"anchored": self.best.prior, "human": self.human.prior, "judge": self.judge.prior},
            "standings": [self._row(i, names[i], ranks) for i in self.order(names)],
        }

    def ranks(self) -> tuple[IntArray, IntArray]:
        """Rank by rating within the component, and the best rank an interval allows; 0 where not anchored."""
        rating = np.round(self.rating, _DECIMALS)
        together = self.component[:, None] == self.component[None, :]
        rank = 1 + np.count_nonzero(together & (rating[None, :] > rating[:, None]), axis=1)
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


def rounded(value: float) -> float | None:
    """For JSON: rounded to 1e-6, None for NaN."""
    # Adding zero turns -0.0 into 0.0.
    return None if np.isnan(value) else round(float(value), _DECIMALS) + 0.0
