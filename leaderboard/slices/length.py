"""What the length of completions has to do with winning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leaderboard.reading.games import Opinions
    from leaderboard.reading.measures import Texts
    from leaderboard.stats import TieBand


def length(
    chosen: Opinions, texts: Texts, level: float = 95.0, band: TieBand | None = None
) -> dict[str, Any]:
    """The effect of each measure of length on the verdicts, ties counting half.

    ``n`` scored comparisons of texts that are known, ``unknown`` others. Intervals are of the level in
    percent, over prompts; ``band`` holds the ties of its scale, if not the usual ones.
    """
    import numpy as np

    from leaderboard.stats.bias.flips import verdicts
    from leaderboard.stats.bias.length import length_effect
    from leaderboard.stats.text_size import MEASURES

    rows = chosen.rows[chosen.scored]
    first, second = texts.sizes(rows["first_text"]), texts.sizes(rows["second_text"])
    known = ~(np.isnan(first).any(axis=1) | np.isnan(second).any(axis=1))
    rows, first, second = rows[known], first[known], second[known]
    rating, points = rows["rating"].astype(np.int64), rows["points"].astype(np.int64)
    score = (1.0 - verdicts(rating, points, band)) / 2.0
    return {
        "n": len(rows),
        "unknown": int((~known).sum()),
        "level": level,
        "tokenizer": texts.tokenizer,
        "measures": [
            {"name": name} | length_effect(first[:, i], second[:, i], score, rows["prompt"], level).as_dict()
            for i, name in enumerate(MEASURES)
            if len(rows)
        ],
    }
