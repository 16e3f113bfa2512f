"""How raters use the scale: ratings as shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leaderboard.games import Opinions


def ratings(chosen: Opinions) -> dict[str, Any]:
    """Histograms of ratings as shown, one for each scale in use, with the unscored by reason."""
    import numpy as np

    from leaderboard.stats import rating_histogram

    rows, scored = chosen.rows, chosen.scored
    scales = []
    for points in np.unique(rows["points"]).tolist():
        own = rows["points"] == points
        reasons = [reason.decode() for reason in rows["reason"][own & ~scored].tolist()]
        scales.append(rating_histogram(rows["rating"][own & scored], points, reasons).as_dict())
    return {"comparisons": len(rows), "swapped": int(rows["swapped"].sum()), "scales": scales}
