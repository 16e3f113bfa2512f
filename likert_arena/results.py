"""Results of an analysis: as text, plain values, a DataFrame, a figure, and as a notebook shows them."""

import html
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from leaderboard.anchoring.ranking import AnchoredRanking
from leaderboard.anchoring.table import boards
from leaderboard.pages.standings.figure import intervals
from leaderboard.stats.planning import Plan
from leaderboard.stats.ranking import Standings
from leaderboard.terminal.anchoring import anchored_line, anchored_notes, anchored_rows, anchored_table
from leaderboard.terminal.plan_text import plan_notes, plan_rows, plan_table
from leaderboard.terminal.side_by_side import (
    ORDER,
    as_table,
    compared_line,
    compared_notes,
    compared_rows,
    compared_values,
)
from leaderboard.terminal.standings_text import (
    method_line,
    standings_notes,
    standings_rows,
    standings_table,
)
from likert_arena.figures import drawn

_NESTED = ("quantiles", "groups_at", "rank_ub_at")


class Result(ABC):
    """Numbers with their intervals. ``print`` shows what the command of the same name prints."""

    notes: tuple[str, ...]
    """How the ratings were read, where there was a choice."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain values, as the command gives them with ``--format json``."""

    @abstractmethod
    def to_frame(self) -> pd.DataFrame:
        """One row for each model, or of a plan for each number of raters."""

    @abstractmethod
    def figure(self) -> go.Figure:
        """The figure that the arena's page draws of such a result."""

    @abstractmethod
    def __str__(self) -> str:
        """The text that the command prints."""

    @abstractmethod
    def _cells(self) -> Sequence[Sequence[str]]:
        """The table of the text, its headings first."""

    @abstractmethod
    def _said(self) -> Sequence[str]:
        """What the text says: first above the table, then below it."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        headings, *rows = self._cells()
        table = _row("th", headings) + "".join(_row("td", row) for row in rows)
        above, *below = (f"<p>{html.escape(line)}</p>" for line in self._said())
        return f"{above}<table>{table}</table>{''.join(below)}"


def _row(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"


@dataclass(frozen=True, repr=False)
class Ranking(Result):
    """Models by score; what ``rank`` returns."""

    standings: Standings
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return self.standings.as_dict()

    def to_frame(self) -> pd.DataFrame:
        return pd.DataFrame([flat(row) for row in self.to_dict()["standings"]])

    def figure(self) -> go.Figure:
        return drawn_standings([("Score", self.to_dict())])

    def __str__(self) -> str:
        return standings_table(self.standings)

    def _cells(self) -> Sequence[Sequence[str]]:
        return standings_rows(self.standings)

    def _said(self) -> Sequence[str]:
        return [method_line(self.standings, {}), *standings_notes(self.standings)]


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Models by every method; what ``compare`` returns. Rows follow Bradley-Terry's ranking."""

    by_method: Mapping[str, Standings]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return compared_values(self.by_method)

    def to_frame(self) -> pd.DataFrame:
        """One row for each model and method."""
        methods = self.to_dict()["methods"].items()
        return pd.DataFrame(
            [{"variant": label, **flat(row)} for label, found in methods for row in found["standings"]]
        )

    def figure(self) -> go.Figure:
        methods = self.to_dict()["methods"]
        first = {ORDER: methods[ORDER]}
        return drawn_standings([*(first | methods).items()])

    def __str__(self) -> str:
        return as_table(self.by_method)

    def _cells(self) -> Sequence[Sequence[str]]:
        return compared_rows(self.by_method)

    def _said(self) -> Sequence[str]:
        return [compared_line(self.by_method, {}), *compared_notes(self.by_method)]


@dataclass(frozen=True, repr=False)
class PromptPlan(Result):
    """Prompts that show a gap, by raters of each pair; what ``plan`` returns."""

    plan: Plan
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return self.plan.as_dict(self.names)

    def to_frame(self) -> pd.DataFrame:
        return pd.DataFrame(self.to_dict()["needs"])

    def figure(self) -> go.Figure:
        needs = self.to_frame()
        return drawn(
            {
                "data": [{"type": "bar", "x": needs["raters"].tolist(), "y": needs["prompts"].tolist()}],
                "layout": {
                    "xaxis": {"title": {"text": "Raters of each pair"}, "dtick": 1},
                    "yaxis": {"title": {"text": "Prompts"}},
                },
            }
        )

    def __str__(self) -> str:
        return plan_table(self.plan, self.names)

    def _cells(self) -> Sequence[Sequence[str]]:
        return plan_rows(self.plan)

    def _said(self) -> Sequence[str]:
        return [self.plan.sentence(self.names), *plan_notes(self.plan, self.names)]


@dataclass(frozen=True, repr=False)
class Anchoring(Result):
    """Models by people's ratings with a judge's help; what ``anchor`` returns."""

    ranking: AnchoredRanking
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return self.ranking.as_dict()

    def to_frame(self) -> pd.DataFrame:
        """One row for each model; estimates by people or the judge alone are columns such as human.rating."""
        return pd.json_normalize(self.to_dict()["standings"])

    def figure(self) -> go.Figure:
        return drawn_standings(boards(self.to_dict()))

    def __str__(self) -> str:
        return anchored_table(self.ranking)

    def _cells(self) -> Sequence[Sequence[str]]:
        return anchored_rows(self.ranking)

    def _said(self) -> Sequence[str]:
        return [anchored_line(self.ranking), *anchored_notes(self.ranking)]


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in _NESTED}


def drawn_standings(boards: Sequence[tuple[str, Mapping[str, Any]]]) -> go.Figure:
    """Scores with intervals in the order of the first of some standings, best on top."""
    order = [row["contestant"] for row in boards[0][1]["standings"] if row["rating"] is not None]
    return drawn(intervals(order, boards))
