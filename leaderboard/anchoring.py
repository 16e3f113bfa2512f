"""From a vote file or a study to pairs rated by people and by judges, and the ranking they give together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leaderboard.stats.anchored.cautions import anchored_cautions
from leaderboard.stats.anchored.pairs import RatedPairs, rated_pairs
from leaderboard.stats.anchored.ranking import anchor_pairs
from leaderboard.stats.anchored.result import Anchored
from leaderboard.stats.ranking.method import METHODOLOGY

if TYPE_CHECKING:
    from arena.models import Study
    from leaderboard.votes import Votes


class AnchoringError(ValueError):
    """Why people and judges cannot be told apart here, in one sentence."""


@dataclass(frozen=True, eq=False)
class Panel:
    """Pairs of ``source`` rated by people and by ``judges``, with the names of the contestants."""

    source: str
    judges: tuple[str, ...]
    names: tuple[str, ...]
    pairs: RatedPairs
    ties: bool
    simulated: bool = False

    def ranking(self, interval: float) -> AnchoredRanking:
        """The human-anchored ratings, with intervals of the level in percent; raises a StatsError."""
        return AnchoredRanking(self, anchor_pairs(self.pairs, interval=interval))


@dataclass(frozen=True, eq=False)
class AnchoredRanking:
    """What a panel gives: the result, and what must be said with it."""

    panel: Panel
    found: Anchored

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences to be shown with the numbers."""
        return anchored_cautions(self.found, self.panel.names)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        values = self.found.as_dict(self.panel.names)
        ties = "on" if self.panel.ties else "off"
        parameters = {"ties": ties, **values.pop("parameters"), "methodology": METHODOLOGY}
        return {
            "method": "anchored",
            "source": self.panel.source,
            "judges": list(self.panel.judges),
            "simulated": self.panel.simulated,
            "parameters": parameters,
            "comparisons_left_out": self.panel.pairs.left_out,
            **values,
            "warnings": list(self.warnings),
        }


def panel_of_votes(
    source: str, votes: Votes, judges: Sequence[str], *, without: Sequence[str] = (), ties: bool
) -> Panel:
    """The pairs of a vote file: ``judges`` are raters of the file, those in ``without`` count for nothing.

    Every other rater is a person, and so is whoever gave a vote without a rater. Raises AnchoringError where
    a named rater is not in the file or the file does not say who rated, and a StatsError where it names no
    prompts.
    """
    import numpy as np

    if votes.rater is None:
        raise AnchoringError("the votes name no raters, so the judge's cannot be told from people's")
    unknown = [name for name in (*judges, *without) if name not in votes.rater]
    if unknown:
        raise AnchoringError(f"no vote is by the rater {unknown[0]!r}")
    rater = np.array(votes.rater)
    judge = np.isin(rater, list(judges))
    people = ~judge & ~np.isin(rater, list(without))
    pairs = rated_pairs(votes.ratings(), people, judge, ties=ties)
    return Panel(source, tuple(judges), votes.names, pairs, ties)


def panel_of_study(study: Study, judges: Sequence[str], *, ties: bool) -> Panel:
    """The pairs of a study: ``judges`` are the slugs of judges, people are its people.

    Raises AnchoringError where a judge has no comparison in the study.
    """
    import numpy as np

    from leaderboard.reading.games import opinions

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
    return Panel(study.slug, tuple(choice.label for choice in chosen), seen.names, pairs, ties, simulated)
