"""What the header of a page counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leaderboard.reading.games import Choice, Opinions


def counts(opinions: Opinions) -> dict[str, Any]:
    """What the header of a board counts; ``raters`` lists the selectors in the order of the switch."""
    import numpy as np

    players = opinions.present()
    total, scored, ranked = len(opinions), opinions.scored, opinions.ranked
    return {
        "prompts": opinions.prompts,
        "contestants": len(opinions.names),
        "in_play": len(players.names),
        "pairs": len(np.unique(opinions.rows["pair"])),
        "comparisons": total,
        "unscored": int(opinions.unscored.sum()),
        "identical": int(opinions.identical.sum()),
        "not_ranked": int((scored & ~ranked).sum()),
        "kinds": dict(sorted(Counter(players.kinds).items())),
        "uncounted": asdict(opinions.uncounted),
        "categories": [name for name in opinions.categories if name],
        "raters": [
            {
                "selector": choice.selector,
                "label": choice.label,
                "raters": len(choice.ids),
                **_used(opinions.by(choice.ids)),
                "simulated": choice.simulated,
                "same_as": _first_with(choice.ids, opinions.raters[:number]),
            }
            for number, choice in enumerate(opinions.raters)
        ],
    }


def _used(own: Opinions) -> dict[str, Any]:
    """How many comparisons some raters gave, in each named category, and on which scales."""
    import numpy as np

    rows = own.rows[~own.identical]
    numbers = np.bincount(rows["category"], minlength=len(own.categories)).tolist()
    by_name = zip(own.categories, numbers, strict=True)
    return {
        "comparisons": len(rows),
        "unscored": int(own.unscored.sum()),
        "by_category": {name: number for name, number in by_name if name},
        "points": np.unique(rows["points"]).tolist(),
    }


def _first_with(ids: frozenset[int], choices: Sequence[Choice]) -> str | None:
    """The selector of the first choice that holds exactly these raters."""
    return next((choice.selector for choice in choices if choice.ids == ids), None)
