"""Human-anchored rankings as text for a terminal and as JSON."""

import json
from typing import TYPE_CHECKING

import numpy as np

from leaderboard.presentation import aligned, printable
from leaderboard.stats.ranking.method import METHODOLOGY

if TYPE_CHECKING:
    from leaderboard.anchoring import AnchoredRanking
    from leaderboard.stats.anchored.result import Anchored, Estimate

_LEFT = ("contestant",)
_NONE = "-"
_NOTE = (
    "rank ub: 1 + the contestants whose whole anchored interval lies above. judge's bias: judge alone minus "
    "anchored, positive where the judge is kind. worth: the pairs people alone would have to rate to know as "
    "much. A pair counts once, however many people rated it."
)


def anchored_json(ranking: "AnchoredRanking") -> str:
    """Indented JSON."""
    return json.dumps(ranking.as_dict(), indent=2, allow_nan=False)


def anchored_table(ranking: "AnchoredRanking") -> str:
    """A table for reading: what it rests on, the ranking by group, the warnings."""
    found, names = ranking.found, ranking.panel.names
    groups = int(found.component.max()) + 1
    rank, best_rank = found.ranks()
    lines = [_heading(ranking)]
    for group in range(groups):
        lines.append(f"\nGroup {group + 1} of {groups}" if groups > 1 else "")
        rows = [
            (str(rank[i]), str(best_rank[i]), printable(names[i]), *_cells(found, i))
            for i in found.order(names)
            if found.component[i] == group
        ]
        lines.extend(aligned([_header(found), *rows], left=_LEFT))
    lines.append(f"\n{_NOTE}")
    lines.extend(f"\nWarning: {printable(warning)}" for warning in ranking.warnings)
    return "\n".join(lines)


def _header(found: "Anchored") -> tuple[str, ...]:
    level = f"{found.interval:g} %"
    estimates = ("anchored", "people alone", "judge alone", "judge's bias")
    return ("rank", "rank ub", "contestant", *(f"{name}, {level}" for name in estimates), "worth")


def _cells(found: "Anchored", i: int) -> tuple[str, ...]:
    ratings = (_rating(estimate, i) for estimate in (found.best, found.human, found.judge))
    worth = found.effective_votes[i]
    return (*ratings, _rating(found.bias, i, "+.0f"), _NONE if np.isnan(worth) else f"{worth:.0f}")


def _rating(estimate: "Estimate", i: int, style: str = ".0f") -> str:
    if np.isnan(estimate.value[i]):
        return _NONE
    value = f"{estimate.value[i]:{style}}"
    if np.isnan(estimate.low[i]):
        return value
    return f"{value} ({estimate.low[i]:{style}} to {estimate.high[i]:{style}})"


def _heading(ranking: "AnchoredRanking") -> str:
    panel, found, counts = ranking.panel, ranking.found, ranking.found.counts
    note = " Simulated votes: a program made them up." if panel.simulated else ""
    judged = f"{counts.judged_pairs} pairs of {counts.judged_prompts} prompts"
    ties = "count half" if panel.ties else f"are off, {panel.pairs.left_out} comparisons left out"
    worth = found.effective_votes_overall
    gained = "" if np.isnan(worth) else f", worth {worth:.0f} with the judge"
    return printable(
        f"{panel.source}: people as the anchor of {', '.join(panel.judges)}.{note} "
        "Bradley-Terry ratings, 1000 on average. "
        f"People rated {counts.human_pairs} pairs of {counts.human_prompts} prompts{gained}; the judge "
        f"{judged}, {counts.shared_pairs} of them rated by people too. Ties {ties}. The judge is used with "
        f"power {found.power:.2f}. {_intervals(found)} Methodology {METHODOLOGY}."
    )


def _intervals(found: "Anchored") -> str:
    freedom = found.counts.human_prompts - 1
    if not freedom:
        return "No intervals."
    return (
        f"Intervals are central {found.interval:g} % by prompts: sandwich, Student's t with {freedom} "
        "degrees of freedom for people."
    )
