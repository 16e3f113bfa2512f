"""How much better a judge likes its own family than others do."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from leaderboard.tables.wording import FEWEST_PAIRS

if TYPE_CHECKING:
    from leaderboard.reading.games import Choice, Opinions


def own_family(
    opinions: Opinions, judge: Choice, kin: Collection[str], level: float = 95.0
) -> dict[str, Any] | None:
    """A judge against people on the pairs with one contestant of its ``kin``, given by their names.

    Where it shares fewer than FEWEST_PAIRS such pairs with people, against all other judges; None where it
    shares as few with them.
    """
    people = frozenset().union(*(each.ids for each in opinions.raters if each.selector == "people"))
    judges = frozenset().union(*(each.ids for each in opinions.raters if each.selector.startswith("judge:")))
    for name, others in (("people", people), ("the other judges", judges - judge.ids)):
        found = _against(opinions, judge, kin, others, level)
        if found["n"] >= FEWEST_PAIRS:
            return {"against": name, "kin": sorted(kin), **found}
    return None


def _against(
    opinions: Opinions, judge: Choice, kin: Collection[str], others: frozenset[int], level: float
) -> dict[str, Any]:
    import numpy as np

    from leaderboard.stats.bias.orders import preference
    from leaderboard.stats.bias.own_family import own_family as measured

    numbers = [number for number, name in enumerate(opinions.names) if name in kin]
    rows = opinions.rows[opinions.scored & np.isin(opinions.rows["rater"], list(judge.ids | others))]
    first, second = (np.isin(rows[side], numbers) for side in ("first", "second"))
    rows, second = rows[first != second], second[first != second]
    lean = preference(rows["rating"], rows["points"])
    judged = np.isin(rows["rater"], list(judge.ids))
    toward = np.where(second, lean, -lean)
    return measured(rows["pair"], rows["prompt"], toward, judged, level).as_dict()
