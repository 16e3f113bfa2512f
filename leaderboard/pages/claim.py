"""What a coefficient of agreement shows, by its interval: the one rule of all sentences on agreement. Pure.

Raters agree where the interval lies above 0, and contradict each other where it lies below. Without an
interval, or over fewer than FEWEST_PAIRS pairs, nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from leaderboard.pages.format import counted, number_range, signed
from leaderboard.pages.units import Estimate
from leaderboard.pages.wording import FEWEST_PAIRS, agreement_word, verb

FEWEST_ALIKE: Final = 6
"""Prompts that are enough where all resamples give the same: with five a sign test has p = 2 / 2⁵ > 0.05."""


class Claim(Enum):
    """``EMPTY``: nothing is rated by both; ``UNDEFINED``: a rater always gave the middle of the scale."""

    AGREES = "agrees"
    NOT_SHOWN = "no agreement shown"
    CONTRADICTS = "contradicts"
    TOO_FEW = "too few pairs"
    NO_INTERVAL = "no interval"
    UNDEFINED = "undefined"
    EMPTY = "no pairs"


def claim(row: Mapping[str, Any] | None, name: str = "pearson") -> Claim:
    """From the row of a table, with the coefficient of this name, its ends, and its pairs."""
    pairs = pairs_of(row)
    if row is None or not pairs:
        return Claim.EMPTY
    if pairs < FEWEST_PAIRS:
        return Claim.TOO_FEW
    found = estimate(row, name)
    if found.value is None:
        return Claim.UNDEFINED
    if found.low is None:
        return Claim.NO_INTERVAL
    return {1: Claim.AGREES, 0: Claim.NOT_SHOWN, -1: Claim.CONTRADICTS}[found.side()]


def pairs_of(row: Mapping[str, Any] | None) -> int:
    return int(row.get("pairs", row.get("n", 0))) if row else 0


def estimate(row: Mapping[str, Any], name: str) -> Estimate:
    """A coefficient; its value at both ends where every resample has it, and prompts are enough."""
    found = Estimate.of(row, name)
    alike = row.get(f"{name}_alike") and row["prompts"] >= FEWEST_ALIKE
    return Estimate(*[found.value] * 3) if found.low is None and alike else found


def said(found: Claim, who: str, whom: str, number: int) -> str:
    """A claim about ``number`` raters, without its numbers; empty where nothing is claimed."""
    agree = f"{who} {verb('agree', number)} with {whom}"
    return {
        Claim.AGREES: agree,
        Claim.NOT_SHOWN: f"nothing shows that {agree}",
        Claim.CONTRADICTS: f"{who} {verb('contradict', number)} {whom}",
    }.get(found, "")


def unsaid(found: Claim, who: str, whom: str, row: Mapping[str, Any]) -> str:
    """Why nothing is claimed of these raters."""
    pairs = counted(pairs_of(row), "pair")
    return {
        Claim.TOO_FEW: f"{who} and {whom} both rated only {pairs}, {_FEW} to compare them "
        f"({FEWEST_PAIRS} are needed)",
        Claim.NO_INTERVAL: f"the agreement of {who} with {whom} has {_NO_INTERVAL}",
        Claim.UNDEFINED: f"{who} or {whom} gave {_MIDDLE}",
    }.get(found, "")


def people_said(row: Mapping[str, Any] | None) -> str:
    """How far people agree with each other, or why that is not known."""
    found, far = claim(row), "how far people agree with each other"
    if row is None or found is Claim.EMPTY:
        return f"no two people rated the same pairs, so nothing shows {far}"
    unknown = {
        Claim.TOO_FEW: f"only {_rated_twice(pairs_of(row))} by two people or more, {_FEW} to tell {far} "
        f"({FEWEST_PAIRS} are needed)",
        Claim.NO_INTERVAL: f"the agreement of people with each other has {_NO_INTERVAL}",
        Claim.UNDEFINED: f"people gave {_MIDDLE}",
    }
    return unknown.get(found) or f"{said(found, 'people', 'each other', 2)} ({measured(row)})"


def _rated_twice(pairs: int) -> str:
    return f"{counted(pairs, 'pair')} {'was' if pairs == 1 else 'were'} rated"


_FEW: Final = "too few"
_NO_INTERVAL: Final = "no interval, so nothing is said of it"
_MIDDLE: Final = "every pair the middle of the scale, so nothing shows whether they agree"


def measured(row: Mapping[str, Any], name: str = "pearson", called: str = "r") -> str:
    """As "r 0.23, interval −0.16 to 0.56"."""
    between = number_range(*Estimate.of(row, name)[1:])
    return f"{called}\u00a0{signed(row[name])}{f', interval {between}' if between else ''}"


def strength(row: Mapping[str, Any], name: str) -> str:
    """The strength of a kappa or an alpha in a word, where it is shown."""
    found = claim(row, name)
    return {
        Claim.AGREES: agreement_word(row.get(name)),
        Claim.NOT_SHOWN: "none shown",
        Claim.CONTRADICTS: "opposite",
    }.get(found, "")
