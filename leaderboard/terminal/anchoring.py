"""Rankings by people and judges together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from arena.models import Study
from leaderboard.snapshots.presentation import aligned, printable
from leaderboard.snapshots.reading import opinions
from leaderboard.stats.anchored import anchor_pairs
from leaderboard.stats.anchored_pairs import RatedPairs, rated_pairs
from leaderboard.stats.anchored_result import Anchored, Estimate, anchored_cautions
from leaderboard.stats.ranking_method import METHODOLOGY
from leaderboard.terminal.votes import Votes


class AnchoringError(ValueError):
    """People and judges cannot be told apart; the message is for the operator."""


@dataclass(frozen=True, eq=False)
class AnchoringData:
    """Pairs of ``source`` rated by people and by ``judges``."""

    source: str
    judges: tuple[str, ...]
    names: tuple[str, ...]
    pairs: RatedPairs
    ties: bool
    simulated: bool = False

    def ranking(self, interval: float) -> AnchoredRanking:
        """The ranking with intervals of this level in percent. Raises StatsError."""
        return AnchoredRanking(self, anchor_pairs(self.pairs, interval=interval))


@dataclass(frozen=True, eq=False)
class AnchoredRanking:
    data: AnchoringData
    found: Anchored

    @property
    def warnings(self) -> tuple[str, ...]:
        return anchored_cautions(self.found, self.data.names)

    def as_dict(self) -> dict[str, Any]:
        data, values = self.data, self.found.as_dict(self.data.names)
        return {
            "method": "anchored",
            "source": data.source,
            "judges": list(data.judges),
            "simulated": data.simulated,
            "parameters": {
                "ties": "on" if data.ties else "off",
                **values.pop("parameters"),
                "methodology": METHODOLOGY,
            },
            "comparisons_left_out": data.pairs.left_out,
            **values,
            "warnings": list(self.warnings),
        }


def data_of_votes(
    source: str, votes: Votes, judges: Sequence[str], *, without: Sequence[str] = (), ties: bool
) -> AnchoringData:
    """The pairs of a vote file; all raters are people but ``judges`` and those left out by ``without``.

    Raises AnchoringError for an unknown rater or a file without raters, StatsError without prompts.
    """
    if votes.rater is None:
        raise AnchoringError("the votes name no raters, so the judge's cannot be told from people's")
    unknown = [name for name in (*judges, *without) if name not in votes.rater]
    if unknown:
        raise AnchoringError(f"no vote is by the rater {unknown[0]!r}")
    rater = np.array(votes.rater)
    judge = np.isin(rater, list(judges))
    people = ~judge & ~np.isin(rater, list(without))
    pairs = rated_pairs(votes.ratings(), people, judge, ties=ties)
    return AnchoringData(source, tuple(judges), votes.names, pairs, ties)


def data_of_study(study: Study, judges: Sequence[str], *, ties: bool) -> AnchoringData:
    """The pairs of a study; ``judges`` are slugs. Raises AnchoringError for judges without a comparison."""
    read = opinions(study)
    choices = {choice.selector: choice for choice in read.raters}
    selectors = [f"judge:{judge.removeprefix('judge:')}" for judge in judges]
    unknown = [selector for selector in selectors if selector not in choices]
    if unknown:
        known = ", ".join(name for name in choices if name.startswith("judge:")) or "none"
        raise AnchoringError(f"{unknown[0]} has no comparison in this study; judges that have: {known}")
    if "people" not in choices:
        raise AnchoringError("no person has rated a pair of this study")
    chosen = [choices[selector] for selector in selectors]
    judge_ids = frozenset().union(*(choice.ids for choice in chosen))
    seen = read.by(judge_ids | choices["people"].ids).present()
    rows = seen.rows[seen.scored & seen.ranked]
    judge = np.isin(rows["rater"], list(judge_ids))
    pairs = rated_pairs(seen.ratings(), ~judge, judge, ties=ties, category=rows["category"])
    simulated = any(choice.simulated for choice in (*chosen, choices["people"]))
    return AnchoringData(
        study.slug, tuple(choice.label for choice in chosen), seen.names, pairs, ties, simulated
    )


_LEFT = ("contestant",)
_NONE = "-"
_NOTE = (
    "rank ub: 1 + the contestants whose whole anchored interval lies above. judge's bias: judge alone minus "
    "anchored, positive where the judge is kind. worth: the pairs people alone would have to rate to know as "
    "much. A pair counts once, however many people rated it."
)


def anchored_table(ranking: AnchoredRanking) -> str:
    found, names = ranking.found, ranking.data.names
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


def _header(found: Anchored) -> tuple[str, ...]:
    level = f"{found.interval:g} %"
    estimates = ("anchored", "people alone", "judge alone", "judge's bias")
    return ("rank", "rank ub", "contestant", *(f"{name}, {level}" for name in estimates), "worth")


def _cells(found: Anchored, i: int) -> tuple[str, ...]:
    ratings = (_rating(estimate, i) for estimate in (found.best, found.human, found.judge))
    worth = found.effective_votes[i]
    return (*ratings, _rating(found.bias, i, "+.0f"), _NONE if np.isnan(worth) else f"{worth:.0f}")


def _rating(estimate: Estimate, i: int, style: str = ".0f") -> str:
    if np.isnan(estimate.value[i]):
        return _NONE
    value = f"{estimate.value[i]:{style}}"
    if np.isnan(estimate.low[i]):
        return value
    return f"{value} ({estimate.low[i]:{style}} to {estimate.high[i]:{style}})"


def _heading(ranking: AnchoredRanking) -> str:
    data, found, counts = ranking.data, ranking.found, ranking.found.counts
    note = " Simulated votes: a program made them up." if data.simulated else ""
    judged = f"{counts.judged_pairs} pairs of {counts.judged_prompts} prompts"
    ties = "count half" if data.ties else f"are off, {data.pairs.left_out} comparisons left out"
    worth = found.effective_votes_overall
    gained = "" if np.isnan(worth) else f", worth {worth:.0f} with the judge"
    return printable(
        f"{data.source}: people as the anchor of {', '.join(data.judges)}.{note} "
        "Bradley-Terry ratings, 1000 on average. "
        f"People rated {counts.human_pairs} pairs of {counts.human_prompts} prompts{gained}; the judge "
        f"{judged}, {counts.shared_pairs} of them rated by people too. Ties {ties}. The judge is used with "
        f"power {found.power:.2f}. {_intervals(found)} Methodology {METHODOLOGY}."
    )


def _intervals(found: Anchored) -> str:
    freedom = found.counts.human_prompts - 1
    if not freedom:
        return "No intervals."
    return (
        f"Intervals are central {found.interval:g} % by prompts: sandwich, Student's t with {freedom} "
        "degrees of freedom for people."
    )
