"""What stands out in a rater's figures, in words, and how much of it chance would bring. Pure."""

from dataclasses import dataclass
from typing import Final

from leaderboard.quality.figures import Compared, Figures
from leaderboard.stats.rater_quality.outliers import ALPHA
from leaderboard.stats.rater_quality.shares import Share

FEWEST: Final = 10
"""Comparisons, repeats or known pairs from which something may stand out."""

MUCH_TOO_FAST: Final = 0.1
"""Nobody is remarked on for a smaller share of comparisons in less time than anybody could read."""

_ONE_END: Final = 0.025
"""How often one end of a 95 % interval lies on the wrong side of the truth."""


@dataclass(frozen=True)
class Remark:
    """Something that stands out; ``key`` names it in files."""

    key: str
    words: str


def remarks(own: Figures, everybody: Figures) -> list[Remark]:
    """What stands out in a rater's figures against those of everybody."""
    return [remark for remark, found in _checked(own, everybody) if found]


def by_chance(compared: Compared) -> float:
    """How many remarks there would be about at most if all raters were alike: every check errs at times.

    Speed is not among the checks counted here: reading is either possible in the time or not.
    """
    rates = {
        "agreement": _ONE_END,
        "repeats": _ONE_END,
        "known": _ONE_END,
        "side": 2 * _ONE_END,
        "votes": ALPHA,
    }
    return sum(
        rates.get(remark.key, 0.0)
        for own in compared.raters.values()
        for remark, found in _checked(own, compared.everybody)
        if found is not None
    )


def _checked(own: Figures, everybody: Figures) -> list[tuple[Remark, bool | None]]:
    """Every check with what it found; None where there is too little to look at."""
    agreement, all_agree = own.agreement.share, everybody.agreement.share
    too_fast = own.speed.below
    less = None
    if agreement.n >= FEWEST and agreement.high is not None and all_agree.value is not None:
        less = agreement.high < all_agree.value
    side = None if own.first.n < FEWEST else _not_half(own.first)
    bets = own.outlier
    return [
        (Remark("agreement", "agrees less with others than people here do"), less),
        (
            Remark("repeats", "changes the verdict on repeats more often than others"),
            _below(own.consistency.same, everybody.consistency.same),
        ),
        (
            Remark("known", "is right on known pairs less often than others"),
            _below(own.known, everybody.known),
        ),
        (
            Remark("speed", f"often faster than {own.speed.floor:g} s"),
            None if too_fast.n < FEWEST else (too_fast.low or 0.0) > MUCH_TOO_FAST,
        ),
        (Remark("side", f"prefers the {'first' if (own.first.value or 0) > 0.5 else 'second'} answer"), side),
        (
            Remark("votes", "keeps voting against what others prefer"),
            None if bets is None or bets.votes < FEWEST else bets.flagged,
        ),
    ]


def _below(own: Share, everybody: Share) -> bool | None:
    """Whether the whole interval lies below the share of everybody."""
    if own.n < FEWEST or own.high is None or everybody.value is None:
        return None
    return own.high < everybody.value


def _not_half(share: Share) -> bool:
    return share.low is not None and share.high is not None and not share.low <= 0.5 <= share.high
