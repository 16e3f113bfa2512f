"""How to rank: the method, what its games are, and where its intervals come from."""

from dataclasses import dataclass, field
from typing import Final

from leaderboard.stats.bootstrap import check_rounds
from leaderboard.stats.checks import ParameterError, check_level
from leaderboard.stats.choices import INTERVALS, METHODS, RESAMPLE
from leaderboard.stats.elo import EloParameters
from leaderboard.stats.elo_mean import check_k
from leaderboard.stats.resampling import check_seed
from leaderboard.stats.verdicts import TieBand

METHODOLOGY: Final = "8"
"""Rises whenever the same ratings would give other numbers."""


@dataclass(frozen=True)
class Method:
    """How to rank; raises ParameterError for what cannot be."""

    name: str = "elo"
    ties: bool = True
    rounds: int | None = 1000  # resamples, or draws with sandwich intervals; None for no intervals
    interval: float = 95.0
    seed: int = 0
    elo: EloParameters = field(default_factory=EloParameters)
    threads: int | None = None  # change the time taken alone
    resample: str = "prompts"  # of RESAMPLE; prompts fall back to games
    tie_band: TieBand | None = None
    intervals: str = "bootstrap"
    adjust: tuple[str, ...] = ()  # covariates of the ordinal model, or "raters"
    pairwise: bool = False  # whether to give the probability of each being above each other
    robustness: bool = True  # whether to find the fewest games that decide who is first

    def __post_init__(self) -> None:
        _one_of("method", self.name, METHODS)
        _one_of("resample", self.resample, RESAMPLE)
        _one_of("intervals", self.intervals, INTERVALS)
        if self.rounds is not None:
            check_rounds(self.rounds)
        check_level(self.interval)
        check_seed(self.seed)
        self._check_ties()
        if self.name == "elo-study" and self.intervals == "sandwich":
            raise ParameterError("intervals is 'sandwich', but elo-study has no equations; choose bootstrap")
        if self.name == "elo":
            check_k(self.elo)
        if len(set(self.adjust)) < len(self.adjust):
            raise ParameterError(f"adjust is {','.join(self.adjust)}, which names something twice")
        if self.name != "ordinal" and self.adjust:
            raise ParameterError(f"adjust is {','.join(self.adjust)}, but only the method ordinal adjusts")

    def _check_ties(self) -> None:
        if self.tie_band is not None and not self.ties:
            raise ParameterError(f"tie-band is {self.tie_band}, but ties are off")
        if self.name == "ordinal" and not self.ties:
            raise ParameterError("ties is off, but ordinal takes every rating as it was given; leave ties on")
        if self.name == "ordinal" and self.tie_band is not None:
            raise ParameterError(
                f"tie-band is {self.tie_band}, but ordinal takes every rating as it was given"
            )

    @property
    def sandwich(self) -> bool:
        return self.intervals == "sandwich" and self.rounds is not None


def _one_of(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ParameterError(f"there is no {what} {value!r}; choose one of {', '.join(known)}")
