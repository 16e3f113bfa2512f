"""How raters use the scale: ratings as shown, position statistics, flips and differences of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leaderboard.reading.games import Opinions
    from leaderboard.stats import TieBand


def ratings(chosen: Opinions, level: float = 95.0, band: TieBand | None = None) -> dict[str, Any]:
    """Histograms of ratings as shown, one for each scale in use, with the unscored by reason.

    With them: position statistics of each scale, flips where one rater was asked in both orders, and the
    differences of two scores where raters gave them; intervals of the level in percent, over prompts.
    ``band`` holds the ties of its scale, if not the usual ones.
    """
    import numpy as np

    from leaderboard.stats import rating_histogram
    from leaderboard.stats.bias.flips import flips
    from leaderboard.stats.bias.position import position
    from leaderboard.stats.bias.scores import score_differences

    rows, scored, unscored = chosen.rows, chosen.scored, chosen.unscored
    scales = []
    for points in np.unique(rows["points"]).tolist():
        own = rows["points"] == points
        reasons = [reason.decode() for reason in rows["reason"][own & unscored].tolist()]
        given = rows[own & scored]
        scale = rating_histogram(given["rating"], points, reasons).as_dict()
        leaning = position(given["rating"], points, given["prompt"], level)
        scales.append(scale | {"position": leaning.as_dict()})
    given = rows[scored]
    turned = flips(
        given["pair"],
        given["rater"],
        given["prompt"],
        given["swapped"],
        given["rating"],
        given["points"],
        level,
        band,
    )
    scores = score_differences(rows["score_difference"], rows["prompt"], level)
    return ({"band": str(band)} if band else {}) | {
        "comparisons": len(rows),
        "swapped": int(rows["swapped"].sum()),
        "level": level,
        "scales": scales,
        "flips": turned and turned.as_dict(),
        "scores": scores and scores.as_dict(),
    }
