"""What human-anchored ranking finds: ratings with and without the judge, and what the judge was worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from leaderboard.stats.bradley_terry import BoolArray
from leaderboard.stats.games import FloatArray, IntArray

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


@dataclass(frozen=True, eq=False)
class Anchored:
    """Human-anchored ratings: arrays of shape (contestants,), NaN for a contestant nobody rated.

    ``rating`` averages 1000 within each ``component`` of contestants that people's pairs connect; -1 is the
    component of a contestant without human pairs. ``power`` between 0 and 1 says how much the judge was
    used. ``human`` is people alone, ``judge`` the judge alone (on the same contestants), ``bias`` the judge
    alone minus ``rating``: positive where the judge is kind.

    ``effective_votes`` is the number of pairs people would have had to rate to know each contestant as well
    without the judge, ``effective_votes_overall`` the same for the mean variance over all contestants;
    ``human_pairs`` is the number they did rate. ``shared_pairs`` were rated by both, ``judged_pairs`` by the
    judge; ``left_out`` counts judged pairs that no human pair ties to the others. ``balance``
    holds p values, small where the pairs people rated do not look like a random part of the judged ones.
    ``prior`` is as in Estimate.
    """

    rating: FloatArray
    standard_error: FloatArray
    low: FloatArray
    high: FloatArray
    human: Estimate
    judge: Estimate
    bias: Estimate
    power: float
    effective_votes: FloatArray
    effective_votes_overall: float
    component: IntArray
    human_pairs: int
    judged_pairs: int
    shared_pairs: int
    left_out: int
    human_prompts: int
    judged_prompts: int
    interval: float
    prior: bool
    balance: Mapping[str, float]

    @property
    def is_anchored(self) -> BoolArray:
        """Which contestants people rated."""
        found: BoolArray = self.component >= 0
        return found

    @property
    def estimate(self) -> Estimate:
        """The anchored ratings in the form of the other estimates."""
        return Estimate(self.rating, self.standard_error, self.low, self.high, self.prior)

    def order(self, names: Sequence[str]) -> list[int]:
        """The contestants by component, then rating, best first, then name; those not anchored at the end."""
        group = np.where(self.is_anchored, self.component, len(self.component)).tolist()
        rating = np.round(np.nan_to_num(self.rating), _DECIMALS).tolist()
        return sorted(range(len(names)), key=lambda i: (group[i], -rating[i], names[i]))

    def as_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Plain values for JSON, rounded to 1e-6, best first within each component; not anchored last."""
        return {
            "parameters": {"interval": self.interval, "power": rounded(self.power)},
            "counts": {
                "human_pairs": self.human_pairs,
                "judged_pairs": self.judged_pairs,
                "shared_pairs": self.shared_pairs,
                "left_out": self.left_out,
                "human_prompts": self.human_prompts,
                "judged_prompts": self.judged_prompts,
            },
            "effective_votes": rounded(self.effective_votes_overall),
            "votes_gained": rounded(self.effective_votes_overall - self.human_pairs),
            "balance": {name: rounded(value) for name, value in self.balance.items()},
            "prior": {"anchored": self.prior, "human": self.human.prior, "judge": self.judge.prior},
            "standings": [self._row(i, names[i]) for i in self.order(names)],
        }

    def _row(self, i: int, name: str) -> dict[str, Any]:
        return {
            "contestant": name,
            "component": int(self.component[i]) if self.is_anchored[i] else None,
            **self.estimate.as_dict(i),
            "human": self.human.as_dict(i),
            "judge": self.judge.as_dict(i),
            "bias": self.bias.as_dict(i),
            "effective_votes": rounded(self.effective_votes[i]),
        }


def rounded(value: float) -> float | None:
    """For JSON: rounded to 1e-6, None for NaN."""
    # Adding zero turns -0.0 into 0.0.
    return None if np.isnan(value) else round(float(value), _DECIMALS) + 0.0
