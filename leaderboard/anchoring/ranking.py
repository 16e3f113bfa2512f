"""People's ranking made more certain by a judge's ratings, and what is to be said of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from leaderboard.stats.anchored import anchor_pairs
from leaderboard.stats.anchored_pairs import RatedPairs
from leaderboard.stats.anchored_result import Anchored, anchored_cautions
from leaderboard.stats.checks import StatsError
from leaderboard.stats.ranking_method import METHODOLOGY


class AnchoringError(StatsError):
    """People and judges cannot be told apart; the message is for the operator."""


@dataclass(frozen=True, eq=False)
class AnchoringData:
    """Pairs of ``source`` rated by people and by ``judges``."""

    source: str
    judges: tuple[str, ...]
    names: tuple[str, ...]
    pairs: RatedPairs
    ties: bool
    simulated: bool = False
    notes: tuple[str, ...] = ()
    """Warnings about who counts as a person."""

    def ranking(self, interval: float) -> AnchoredRanking:
        """The ranking with intervals of this level in percent. Raises StatsError."""
        return AnchoredRanking(self, anchor_pairs(self.pairs, interval=interval))


@dataclass(frozen=True, eq=False)
class AnchoredRanking:
    data: AnchoringData
    found: Anchored

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*self.data.notes, *anchored_cautions(self.found, self.data.names))

    def as_dict(self) -> dict[str, Any]:
        data, values = self.data, self.found.as_dict(self.data.names)
        return {
            "method": "anchored",
            "source": data.source,
            "judges": list(data.judges),
            "simulated": data.simulated,
            "parameters": {
                "ties": "on" if data.ties else "off",
                **values.pop("parameters"),
                "methodology": METHODOLOGY,
            },
            "comparisons_left_out": data.pairs.left_out,
            **values,
            "warnings": list(self.warnings),
        }
