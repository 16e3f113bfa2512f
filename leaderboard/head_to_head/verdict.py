"""The verdict on two contestants in a sentence. Pure, for pages load neither NumPy nor SciPy."""

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist
from typing import Any, Final

from leaderboard.pages.format import counted, number

POWER: Final = 80.0
"""Chance in percent that the prompts said to be needed decide, if the difference is what it seems."""

Ends = tuple[float | None, float | None]

_MOST_UNITS: Final = 10**6
_MOST_MARGIN: Final = 10**6


class MarginError(ValueError):
    """The margin is no number of points; the message is a sentence."""


def margin_of(text: str) -> float:
    """The points that the first may be worse, 0 for an empty text. Raises MarginError."""
    try:
        margin = float(text or 0)
    except ValueError:
        margin = math.nan
    if not 0 <= margin <= _MOST_MARGIN:
        raise MarginError(f"The margin is {text[:20]!r}; it must be a number of points, 0 or more.")
    return margin


class Verdict(StrEnum):
    BETTER = "better"
    NOT_WORSE = "not worse"
    WORSE = "worse"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Decision:
    """What a difference says of the first.

    Better where its interval lies above 0, not worse where it lies above -margin (non-inferiority), worse
    where it lies below. ``found`` is a difference as measuring describes it, ``games`` what it rests on.
    """

    first: str
    second: str
    found: Mapping[str, Any]
    games: int
    level: float
    margin: float = 0.0
    every_look: bool = False

    @property
    def points(self) -> float:
        return float(self.found["points"])

    @property
    def _reach(self) -> list[float]:
        """Half the width of the interval in standard errors, also with 2, 4, 8 ... times the units.

        Empty where there is a single prompt.
        """
        reach: list[float] = self.found["reach_at_every_look" if self.every_look else "reach"]
        return reach

    @property
    def ends(self) -> tuple[float, float] | None:
        if not self._reach:
            return None
        half = self._reach[0] * float(self.found["standard_error"])
        return self.points - half, self.points + half

    @property
    def verdict(self) -> Verdict:
        if self.ends is None:
            return Verdict.UNDECIDED
        low, high = self.ends
        if low > 0.0:
            return Verdict.BETTER
        if low > -self.margin:
            return Verdict.NOT_WORSE
        return Verdict.WORSE if high < -self.margin else Verdict.UNDECIDED

    @property
    def more_units(self) -> int | None:
        """How many more prompts (or games) like those at hand decide; None where no number would."""
        apart = abs(self.points + self.margin)
        if apart == 0.0 or self.verdict is not Verdict.UNDECIDED:
            return None
        had, power = self.found["units"], NormalDist().inv_cdf(POWER / 100.0)

        def decides(units: int) -> bool:
            error = self.found["standard_error"] * math.sqrt(had / units)
            return bool((self._reach_with(units) + power) * error <= apart)

        tried = range(had + 1, _MOST_UNITS)
        more = 1 + bisect_left(tried, True, key=decides)
        return more if more <= len(tried) else None

    def _reach_with(self, units: int) -> float:
        """What an interval reaches with so many units: linear in 1 / units between those known."""
        had, reach, last = self.found["units"], self._reach, len(self._reach) - 1
        step = min(int(math.log2(units / had)), last)
        part = 2.0 - 2.0 * had * 2**step / units
        return reach[step] if step == last else reach[step] + part * (reach[step + 1] - reach[step])

    @property
    def more_ratings(self) -> int | None:
        """The ratings that so many more prompts get, if they are like those at hand."""
        return None if self.more_units is None else round(self.more_units * self.games / self.found["units"])

    @property
    def sentence(self) -> str:
        return f"{self.finding} {self.outlook}".strip()

    @property
    def finding(self) -> str:
        if self.ends is None:
            return f"{self._said}. One prompt says nothing about others."
        interval = f"{self.level:g}% interval{' for repeated looks' if self.every_look else ''}"
        low, high = self.ends
        if self.verdict is Verdict.BETTER or (self.verdict is Verdict.WORSE and not self.margin):
            near, far = sorted((abs(low), abs(high)))
            return f"{self._said} by {near:.0f} to {far:.0f} points ({interval})."
        apart = f"the scores differ by {number(low, '+.0f')} to {number(high, '+.0f')} points ({interval})"
        return f"{self._said}: {apart}."

    @property
    def _by(self) -> str:
        return f" by more than {self.margin:g} points" if self.margin else ""

    @property
    def _said(self) -> str:
        return {
            Verdict.BETTER: f"{self.first} is better than {self.second}",
            Verdict.NOT_WORSE: f"{self.first} is not worse than {self.second}{self._by}",
            Verdict.WORSE: f"{self.first} is worse than {self.second}{self._by}",
            Verdict.UNDECIDED: (
                f"It is not clear whether {self.first} is {'worse' if self._by else 'better'} than "
                f"{self.second}{self._by}"
            ),
        }[self.verdict]

    @property
    def outlook(self) -> str:
        """What would decide; empty where that is known or one prompt says nothing."""
        if self.ends is None or self.verdict is not Verdict.UNDECIDED:
            return ""
        if self.more_units is None or self.more_ratings is None:
            return "They are too close for more ratings to decide."
        ratings = about(self.more_ratings)
        of_ratings = "rating" if self.more_ratings == 1 else "ratings"
        of_prompts = "prompt" if self.more_units == 1 else "prompts"
        more = f"{about(self.more_units)} more {of_prompts} ({ratings} {of_ratings})"
        wanted = more if self.found["of_prompts"] else f"{ratings} more {of_ratings}"
        return f"About {wanted} would settle it with {POWER:.0f}% probability."

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        low, high = self.ends or (None, None)
        return {
            "first": self.first,
            "second": self.second,
            "verdict": str(self.verdict),
            "sentence": self.sentence,
            "difference": self.points,
            "standard_error": self.found["standard_error"],
            "low": None if low is None else round(low, 6),
            "high": None if high is None else round(high, 6),
            "level": self.level,
            "every_look": self.every_look,
            "margin": self.margin,
            "games": self.games,
            "units": self.found["units"],
            "more_prompts": self.more_units if self.found["of_prompts"] else None,
            "more_ratings": self.more_ratings,
        }


def result(first: str, second: str, own: Mapping[str, Any], ends: Ends = (None, None)) -> str:
    """What came of the games of the two, with the ends of the share of points, where they are known."""
    if not own.get("games"):
        return f"No rating compares {first} with {second} directly."
    share = (own["wins"] + own["ties"] / 2) / own["games"]
    low, high = (None if end is None else f"{100 * end:.0f}" for end in ends)
    interval = f" ({low}–{high}%)" if low and high else ""
    counts = counted(own["games"], "rating")
    return f"{first} has a win share of {share:.0%}{interval} against {second} in {counts}."


def about(number: int) -> str:
    """A number to two digits."""
    return f"{float(f'{number:.2g}'):,.0f}"
