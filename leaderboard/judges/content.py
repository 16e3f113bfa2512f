"""Everything that stands side by side, as plain values: the content of the page, the table and the JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.agreement.content import agreement
from leaderboard.bias.content import own_family, ratings
from leaderboard.judges.beside import Beside
from leaderboard.judges.same_pairs import PEOPLE, NothingInCommonError, SamePairs, same_pairs
from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.opinions import Choice, Opinions
from leaderboard.standings.content import standings
from leaderboard.stats import Method, StatsError, TieBand
from leaderboard.stats.checks import IntArray
from leaderboard.stats.clustered_means import (
    Estimate,
    mean_estimate,
    prompt_numbers,
    rounded,
    share_estimate,
    sums,
)
from leaderboard.stats.flips import preference, repeats, shift, shift_in_both_orders
from leaderboard.stats.position_bias import place_worth
from leaderboard.stats.tie_bands import verdicts

# What is measured of one kind of raters, as plain values. Pure but for the types of what is read.


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


FORM: Final = 1
"""Of the content; raised when a key changes its meaning or goes."""


def judges_table(opinions: Opinions, beside: Beside, selectors: str, method: Method) -> Table:
    """The table of a page: selectors with commas in between; says so where there is nothing to show."""
    try:
        content = side_by_side(opinions, beside, selectors.split(","), method)
    except NothingInCommonError as error:
        content = {"nothing": str(error)}
    return Table("judges", selectors, canonical(content))


def side_by_side(
    opinions: Opinions, beside: Beside, selectors: Sequence[str], method: Method
) -> dict[str, Any]:
    """The selected raters on the pairs that all judges among them have rated.

    Standings are by Elo and all intervals at the level, rounds and seed of ``method``; those of shares and
    means take prompts as wholes. Raises NothingInCommonError.
    """
    same = same_pairs(opinions, selectors, beside.identical)
    correlated = _correlations(same, method)
    return {
        "form": FORM,
        "pairs": same.pairs,
        "prompts": same.prompts,
        "level": method.interval,
        "rounds": method.rounds,
        "seed": method.seed,
        "band": str(method.tie_band) if method.tie_band else None,
        "warnings": same.warnings(),
        "raters": [
            _of(choice, same, beside, method)
            | {
                "correlation": correlated.get(choice.selector, []),
                "own_family": _own_family(choice, same, beside.kin.get(choice.selector, ()), method.interval),
            }
            for choice in same.choices
        ],
    }


def _of(choice: Choice, same: SamePairs, beside: Beside, method: Method) -> dict[str, Any]:
    """One kind of raters."""
    own, level, band = same.rated.by(choice.ids), method.interval, method.tie_band
    judged = choice.selector != PEOPLE
    return {
        "selector": choice.selector,
        "label": choice.label,
        "simulated": choice.simulated,
        "pairs": len(set(own.rows["pair"].tolist())),
        "pairs_in_both_orders": same.in_both_orders(choice),
        "ratings": ratings(own, level, band),
        "unscored": unscored(same.asked.by(choice.ids), level) if judged else None,
        "place": places(own, level),
        "retest": retest(own, level, band),
        "controls": controls(beside.controls, choice.ids, level, band),
        "expected": expectation(own, beside.expected, level, band),
        "standings": {ties: _standings(own, method, ties) for ties in ("on", "off")},
    }


def _own_family(choice: Choice, same: SamePairs, kin: Collection[str], level: float) -> dict[str, Any] | None:
    return own_family(same.rated, choice, kin, level) if kin else None


def _standings(own: Opinions, method: Method, ties: str) -> dict[str, Any] | None:
    """Elo as ``rank`` computes it, None where there is no game."""
    players = own.present()
    band = method.tie_band if ties == "on" else None
    try:
        return standings(
            players, players.ratings(), replace(method, name="elo", ties=ties == "on", tie_band=band)
        )
    except StatsError:
        return None


def _correlations(same: SamePairs, method: Method) -> dict[str, list[dict[str, Any]]]:
    """The correlation of each judge with people by category, and of people with each other, by selector."""
    found = [table for table in agreement(same.rated, method) if table.kind == "correlation"]
    return {table.raters: json.loads(table.payload)["rows"] for table in found}
