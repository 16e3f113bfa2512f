"""What readers of a study can choose from, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from leaderboard.snapshots import pair_turns
from leaderboard.snapshots.reading import Opinions


def counts(opinions: Opinions, criteria: Mapping[str, Opinions]) -> dict[str, Any]:
    """What readers choose from; ``criteria`` are the opinions by each criterion."""
    in_play = opinions.in_play
    total, scored, ranked = len(opinions), opinions.scored, opinions.ranked
    return {
        "prompts": opinions.prompts,
        "contestants": len(opinions.names),
        "in_play": len(in_play),
        "pairs": len(np.unique(opinions.rows["pair"])),
        "comparisons": total,
        "unscored": int(opinions.unscored.sum()),
        "identical": int(opinions.identical.sum()),
        "not_ranked": int((scored & ~ranked).sum()),
        "kinds": dict(sorted(Counter(opinions.kinds[number] for number in in_play).items())),
        "uncounted": asdict(opinions.uncounted),
        "categories": [name for name in opinions.categories if name],
        **({"turns": list(map(str, opinions.turns))} if any(opinions.turns) else {}),
        "criteria": [name for name, rated in criteria.items() if len(rated)],
        "raters": [
            {
                "selector": choice.selector,
                "label": choice.label,
                "raters": len(choice.ids),
                **_used(opinions.by(choice.ids)),
                "by_criterion": {name: _used(rated.by(choice.ids)) for name, rated in criteria.items()},
                "simulated": choice.simulated,
                "panel": choice.panel,
                "same_as": next(
                    (one.selector for one in opinions.raters[:number] if one.ids == choice.ids), None
                ),
            }
            for number, choice in enumerate(opinions.raters)
        ],
    }


def _used(own: Opinions) -> dict[str, Any]:
    asked = ~own.identical
    numbers = np.bincount(own.rows["category"][asked], minlength=len(own.categories)).tolist()
    by_name = zip(own.categories, numbers, strict=True)
    turns = pair_turns.turns(own.rows["pair"][asked])
    return {
        "comparisons": int(asked.sum()),
        "unscored": int(own.unscored.sum()),
        "by_category": {name: number for name, number in by_name if name},
        "points": np.unique(own.rows["points"][asked]).tolist(),
        **(
            {"by_turn": {str(turn): int((turns == turn).sum()) for turn in own.turns}}
            if any(own.turns)
            else {}
        ),
    }
