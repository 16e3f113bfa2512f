"""How raters agree with each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from leaderboard.slices.table import Table, canonical

if TYPE_CHECKING:
    from leaderboard.games import Opinions


def correlations(opinions: Opinions) -> Iterator[Table]:
    """Each judge with people, on the pairs both rated."""
    from leaderboard.stats import correlate

    choices = {choice.selector: choice for choice in opinions.raters}
    judges = [selector for selector in choices if selector.startswith("judge:")]
    if "people" not in choices or not judges:
        return
    people = _pair_means(opinions.by(choices["people"].ids))
    names, rows = opinions.categories, opinions.rows
    numbers = zip(rows["pair"].tolist(), rows["category"].tolist(), strict=True)
    category = {pair: names[number] for pair, number in numbers if names[number]}
    for judge in judges:
        found = correlate(people, _pair_means(opinions.by(choices[judge].ids)), category)
        yield Table("correlation", judge, canonical({"rows": [row.as_dict() for row in found]}))


def _pair_means(chosen: Opinions) -> Any:
    from leaderboard.stats import pair_means

    rows = chosen.rows[chosen.scored]
    return pair_means(rows["pair"].tolist(), rows["rating"], rows["points"], rows["swapped"])
