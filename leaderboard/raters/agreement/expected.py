"""Correlation of a judge's expected ratings with people's, beside that of the ratings it gave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.raters.agreement.coefficients import FEWEST_PAIRS, PEOPLE, arrange
from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.reading import Choice, Opinions
from leaderboard.stats.agreement_estimates import Wanted, estimates
from leaderboard.stats.agreement_opinions import STEPS, Beside, PairSums
from leaderboard.stats.choices import COEFFICIENTS
from leaderboard.stats.correlation import correlation, shared_entries
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.verdicts import preference

KINDS = ("expected", "given", "difference")


def expected_table(
    opinions: Opinions, judge: Choice, expected: npt.NDArray[Any], method: Method
) -> Iterator[Table]:
    """A table, where people rated enough of the pairs; ``expected`` is of ``columns.expected``."""
    people = next((choice for choice in opinions.raters if choice.selector == PEOPLE), None)
    if people is None:
        return
    has_one = np.isin(opinions.rows["id"], expected["id"])
    known = np.isin(opinions.rows["rater"], list(judge.ids)) & has_one
    known |= np.isin(opinions.rows["rater"], list(people.ids - judge.ids))
    chosen = replace(opinions, rows=opinions.rows[known])
    arranged = arrange(chosen).about("")
    theirs, own = arranged.kind(people, judge.ids), arranged.kind(judge)
    sums = _sums(chosen, judge, arranged.rows.pair, expected, arranged.pairs)
    entries = [shared_entries(theirs.sums, each) for each in (sums, own.sums)]
    pairs = len(entries[0].pair)
    if pairs < FEWEST_PAIRS:
        return
    (measure, values), (other, others) = (correlation(arranged.topics, each) for each in entries)
    found = np.concatenate((values, others, values - others), axis=1)
    wanted = Wanted(Beside(measure, other), entries[0].pair, found, differences=tuple(range(6, 9)))
    (estimate,) = estimates([wanted], level=method.interval, rounds=method.rounds or 1, seed=method.seed)
    ends = np.stack((estimate.value, estimate.low, estimate.high))[:, 0].reshape(3, len(KINDS), -1)
    content = {
        "pairs": pairs,
        "prompts": int(estimate.prompts[0]),
        "level": method.interval,
        **{
            name: {
                kind: dict(zip(("value", "low", "high"), ends[:, i, j].tolist(), strict=True))
                for i, kind in enumerate(KINDS)
            }
            for j, name in enumerate(COEFFICIENTS)
        },
    }
    yield Table("expected", judge.selector, canonical(rounded(content)))


def _sums(
    opinions: Opinions, judge: Choice, pair: npt.NDArray[Any], expected: npt.NDArray[Any], pairs: int
) -> PairSums:
    """The sums of expected preferences, in the orientation of the pairs; ``pair`` is that of each opinion."""
    rows = opinions.rows[opinions.scored]
    own = np.isin(rows["rater"], list(judge.ids))
    rows, pair = rows[own], pair[own]
    given = expected["expected"][np.searchsorted(expected["id"], rows["id"])]
    lean = preference(given, rows["points"]) * np.where(rows["swapped"], -1.0, 1.0) * STEPS
    return PairSums(
        np.bincount(pair, minlength=pairs).astype(np.float64),
        np.round(np.bincount(pair, lean, pairs), 9),  # sums that are equal but for rounding are ties
        np.zeros(pairs),
        np.zeros((pairs, 3)),
    )
