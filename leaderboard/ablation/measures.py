"""What is measured of one kind of raters, as plain values. Pure but for the types of what is read."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from leaderboard.stats.bias.clustered import (
    Estimate,
    mean_estimate,
    prompt_numbers,
    rounded,
    share_estimate,
    sums,
)
from leaderboard.stats.bias.flips import verdicts
from leaderboard.stats.bias.orders import preference, shift, shift_in_both_orders
from leaderboard.stats.bias.place import place_worth
from leaderboard.stats.bias.repeats import repeats

if TYPE_CHECKING:
    import numpy.typing as npt

    from leaderboard.reading.games import Opinions
    from leaderboard.stats import TieBand
    from leaderboard.stats.games import IntArray


def unscored(asked: Opinions, level: float) -> dict[str, Any]:
    """How many of the answers have no rating, by reason, and their share."""
    rows = asked.rows
    without = ~asked.scored
    reasons = Counter(reason.decode() for reason in rows["reason"][without].tolist())
    share = _share(without, rows["prompt"], level)
    return {
        "answers": len(rows),
        "unscored": int(without.sum()),
        "reasons": dict(sorted(reasons.items())),
        **_with_ends("share", share),
    }


def places(own: Opinions, level: float) -> dict[str, Any]:
    """How far the order moves ratings: shift from both orders and from all ratings; worth of the place."""
    rows = own.rows[own.scored]
    return {
        "both_orders": shift_in_both_orders(*_columns(rows), level).as_dict(),
        "every_rating": shift(preference(rows["rating"], rows["points"]), rows["prompt"], level).as_dict(),
        "worth": place_worth(own.present().ratings(), level).as_dict(),
    }


def retest(own: Opinions, level: float, band: TieBand | None) -> dict[str, Any] | None:
    """How alike answers are that were given twice in the same order; None where none was."""
    found = repeats(*_columns(own.rows[own.scored]), level, band)
    return found.as_dict() if found.n else None


def controls(
    rows: npt.NDArray[Any], raters: frozenset[int], level: float, band: TieBand | None
) -> dict[str, Any] | None:
    """What was answered about pairs of identical texts, where nothing is better; None without any.

    ``shift`` is the mean preference on [-1, 1], ``distance`` the mean of its size, ``sided`` the share that
    takes a side and is no tie.
    """
    own = rows[np.isin(rows["rater"], list(raters))]
    if not len(own):
        return None
    lean = preference(own["rating"], own["points"])
    sided = verdicts(own["rating"], own["points"], band) != 0
    return {
        "n": len(own),
        "prompts": len(np.unique(own["prompt"])),
        **_with_ends("shift", _mean(lean, own["prompt"], level), -1.0),
        **_with_ends("distance", _mean(np.abs(lean), own["prompt"], level), 0.0),
        **_with_ends("sided", _share(sided, own["prompt"], level)),
    }


def expectation(
    own: Opinions, expected: npt.NDArray[Any], level: float, band: TieBand | None
) -> dict[str, Any] | None:
    """Expected ratings over the answer tokens beside the ratings that were sampled; None without any.

    ``difference`` is the mean of expected minus sampled preference on [-1, 1], ``distance`` the mean of its
    size, ``shift`` the mean expected preference, ``same_side`` the share of sampled ratings beside a tie
    whose side the expected rating has, too.
    """
    rows = own.rows[own.scored & np.isin(own.rows["id"], expected["id"])]
    if not len(rows):
        return None
    given = expected["expected"][np.searchsorted(expected["id"], rows["id"])]
    sampled, wanted = (preference(each, rows["points"]) for each in (rows["rating"], given))
    lean = verdicts(rows["rating"].astype(np.int64), rows["points"].astype(np.int64), band)
    sided = lean != 0
    agree, prompt = (np.sign(wanted) == lean)[sided], rows["prompt"]
    return {
        "n": len(rows),
        "prompts": len(np.unique(prompt)),
        **_with_ends("difference", _mean(wanted - sampled, prompt, level)),
        **_with_ends("distance", _mean(np.abs(wanted - sampled), prompt, level), 0.0),
        **_with_ends("shift", _mean(wanted, prompt, level), -1.0),
        **_with_ends("same_side", _share(agree, prompt[sided], level)),
    }


def _columns(
    rows: npt.NDArray[Any],
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray, IntArray]:
    """Pair, rater, prompt, swapped, rating and points of each row."""
    pair, rater, prompt, swapped, rating, points = (
        rows[name].astype(np.int64) for name in ("pair", "rater", "prompt", "swapped", "rating", "points")
    )
    return pair, rater, prompt, swapped, rating, points


def _mean(values: npt.NDArray[Any], prompt: npt.NDArray[Any], level: float) -> Estimate:
    numbers = prompt_numbers(prompt, len(values))
    return mean_estimate(sums(numbers, values), sums(numbers, np.ones(len(values))), level)


def _share(yes: npt.NDArray[Any], prompt: npt.NDArray[Any], level: float) -> Estimate:
    numbers = prompt_numbers(prompt, len(yes))
    return share_estimate(sums(numbers, yes.astype(np.float64)), sums(numbers, np.ones(len(yes))), level)


def _with_ends(name: str, found: Estimate, least: float | None = None) -> dict[str, Any]:
    """An estimate under a name, with its ends; none of them below ``least`` or above 1."""
    low, high = found.low, found.high
    if least is not None and low is not None and high is not None:
        low, high = max(low, least), min(high, 1.0)
    return rounded({name: found.value, f"{name}_low": low, f"{name}_high": high})
