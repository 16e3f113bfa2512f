"""Rankings by people and judges together, of vote files and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from arena.texts.model_names import looks_like_model
from leaderboard.anchoring.ranking import AnchoredRanking, AnchoringData, AnchoringError
from leaderboard.pages.aligned_text import aligned, counted, printable
from leaderboard.stats.anchored_pairs import rated_pairs
from leaderboard.stats.anchored_result import Anchored, Points
from leaderboard.stats.ranking_method import METHODOLOGY
from leaderboard.terminal.votes import Votes

_MOST_NAMED: Final = 5


def data_of_votes(
    source: str, votes: Votes, judges: Sequence[str], *, without: Sequence[str] = (), ties: bool
) -> AnchoringData:
    """The pairs of a vote file; all raters are people but ``judges`` and those left out by ``without``.

    A rater whom the file calls a judge is no person either. Raises AnchoringError for an unknown rater or a
    file without raters, StatsError without prompts.
    """
    if votes.rater is None:
        raise AnchoringError("the ratings name no raters, so it is unknown which are the judge's")
    unknown = [name for name in (*judges, *without) if name not in votes.rater]
    if unknown:
        raise AnchoringError(f"no rating is by the rater {unknown[0]!r}")
    rater = np.array(votes.rater)
    judge = np.isin(rater, list(judges))
    further = sorted(votes.judges - {*judges, *without})
    named = sorted(set(votes.rater) - {*judges, *without, *further})
    people = np.isin(rater, named)
    pairs = rated_pairs(votes.ratings(), people, judge, ties=ties)
    notes = tuple(_about_raters(further, list(filter(looks_like_model, named))))
    return AnchoringData(source, tuple(judges), votes.names, pairs, ties, notes=notes)


def _about_raters(judges: Sequence[str], people: Sequence[str]) -> Iterator[str]:
    """Warnings about judges of the file that nobody named, and people who may be judges."""
    if judges:
        yield (
            f"{_some(judges)}: judges by the column rater_kind, whose ratings are left out. Name them with "
            "--judges to use them."
        )
    if people:
        yield (
            f"{_some(people)}: counted as people, though by their names they may be judges. Name judges with "
            "--judges or --without."
        )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


_LEFT = ("model",)
_NONE = "-"
_NOTE = (
    "rank ub: the best rank by intervals, 1 + the models whose whole anchored interval is above. judge's "
    "bias: the judge minus anchored, above 0 if the judge favours the model. worth: pairs that people "
    "would have to rate without the judge for the same certainty. A pair counts once, however many people"
    " rated it."
)


def anchored_table(ranking: AnchoredRanking) -> str:
    groups = int(ranking.found.component.max()) + 1
    lines = [anchored_line(ranking)]
    for group in range(groups):
        lines.append(f"\nGroup {group + 1} of {groups}" if groups > 1 else "")
        lines.extend(aligned([_header(ranking.found), *_rows(ranking, group)], left=_LEFT))
    lines.extend(f"\n{note}" for note in anchored_notes(ranking))
    return "\n".join(lines)


def anchored_notes(ranking: AnchoredRanking) -> list[str]:
    """What is said below the table."""
    return [_NOTE, *(f"Warning: {printable(warning)}" for warning in ranking.warnings)]


def anchored_rows(ranking: AnchoredRanking) -> list[Sequence[str]]:
    """The cells of the table under their headings, models of one group after those of another."""
    groups = range(int(ranking.found.component.max()) + 1)
    return [_header(ranking.found), *(row for group in groups for row in _rows(ranking, group))]


def _rows(ranking: AnchoredRanking, group: int) -> list[Sequence[str]]:
    found, names = ranking.found, ranking.data.names
    rank, best_rank = found.ranks()
    return [
        (str(rank[i]), str(best_rank[i]), printable(names[i]), *_cells(found, i))
        for i in found.order(names)
        if found.component[i] == group
    ]


def _header(found: Anchored) -> tuple[str, ...]:
    level = f"{found.interval:g}%"
    estimates = ("anchored", "people only", "judge only", "judge's bias")
    return ("rank", "rank ub", "model", *(f"{name}, {level}" for name in estimates), "worth")


def _cells(found: Anchored, i: int) -> tuple[str, ...]:
    ratings = (_rating(estimate, i) for estimate in (found.best, found.human, found.judge))
    worth = found.effective_votes[i]
    return (*ratings, _rating(found.bias, i, "+.0f"), _NONE if np.isnan(worth) else f"{worth:.0f}")


def _rating(estimate: Points, i: int, style: str = ".0f") -> str:
    if np.isnan(estimate.value[i]):
        return _NONE
    value = f"{estimate.value[i]:{style}}"
    if np.isnan(estimate.low[i]):
        return value
    return f"{value} ({estimate.low[i]:{style}} to {estimate.high[i]:{style}})"


def anchored_line(ranking: AnchoredRanking) -> str:
    """What is ranked by whom, and what the judge is worth."""
    data, found, counts = ranking.data, ranking.found, ranking.found.counts
    note = " Some ratings are simulated." if data.simulated else ""
    rated, judged = (
        f"{counted(pairs, 'pairs')} of {counted(prompts, 'prompts')}"
        for pairs, prompts in (
            (counts.human_pairs, counts.human_prompts),
            (counts.judged_pairs, counts.judged_prompts),
        )
    )
    ties = "count half" if data.ties else f"are off, {counted(data.pairs.left_out, 'ratings')} left out"
    worth = found.effective_votes_overall
    sure = ", which may be chance" if found.gain_may_be_chance else ""
    gained = "" if np.isnan(worth) else f", worth {worth:.0f} with the judge{sure}"
    return printable(
        f"{data.source}: people's ranking with the help of {', '.join(data.judges)}.{note} "
        "Scores by Bradley-Terry, 1000 on average. "
        f"People rated {rated}{gained}; the judge "
        f"{judged}, {counts.shared_pairs} of them also rated by people. Ties {ties}. The weight of the "
        f"judge is {found.power:.2f}. {_intervals(found)} Methodology {METHODOLOGY}."
    )


def _intervals(found: Anchored) -> str:
    freedom = found.counts.human_prompts - 1
    if not freedom:
        return "No intervals."
    return f"Intervals are {found.interval:g}% over prompts (Student's t, {freedom} df for people)."
