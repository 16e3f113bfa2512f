"""Tables of two contestants head to head."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.head_to_head.verdict import Decision
from leaderboard.pages.columns import Column, bare
from leaderboard.pages.format import number
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import POINTS, SHARE, Estimate
from leaderboard.snapshots.canonical import Content


@dataclass(frozen=True)
class Line:
    """One kind of raters, people with a judge, or a category."""

    label: str
    own: Mapping[str, Any]
    decision: Decision | None  # None where no chain of games connects the two
    simulated: bool = False

    @property
    def share(self) -> Mapping[str, Any]:
        """Of points the first won; empty where people and a judge are taken together."""
        found: Mapping[str, Any] = self.own.get("share") or {}
        return found

    def share_ends(self, every_look: bool) -> tuple[float | None, float | None]:
        if every_look:
            low, high = self.own.get("share_every_look") or (None, None)
            return low, high
        return self.share.get("low"), self.share.get("high")


def lines(content: Content, rows: Sequence[Mapping[str, Any]], margin: float, every_look: bool) -> list[Line]:
    found = []
    for row in rows:
        decision = None
        if row["difference"]:
            decision = Decision(
                content["first"],
                content["second"],
                row["difference"],
                row["all_games"],
                content["level"],
                margin,
                every_look,
            )
        found.append(Line(row["label"], row, decision, row.get("simulated", False)))
    return found


def lines_table(
    caption: str, heading: str, rows: Sequence[Line], level: float, every_look: bool
) -> DataTable:
    against = "Against each other"
    columns: list[Column[Line]] = [
        Column(heading, "label"),
        Column("Verdict", lambda row: _verdict(row.decision)),
        Column(
            "Difference: points",
            lambda row: _points(row.decision),
            label="Score difference",
            ends=_ends("Difference", level),
        ),
        Column(f"{against}: games", "own.games", label="ratings", over=against),
        Column(f"{against}: wins", "own.wins", over=against),
        Column(f"{against}: ties", "own.ties", over=against),
        Column(f"{against}: losses", "own.losses", over=against),
        Column(
            "Share of points: %",
            lambda row: Estimate(row.share.get("value"), *row.share_ends(every_look)),
            SHARE,
            label="Win share",
            ends=_ends("Share of points", level),
        ),
    ]
    return DataTable.of(caption, columns, rows)


def _ends(name: str, level: float) -> tuple[str, str]:
    return f"{name}: low ({level:g} %)", f"{name}: high ({level:g} %)"


def _verdict(decision: Decision | None) -> str:
    return str(decision.verdict).capitalize() if decision else "Not comparable"


def _points(decision: Decision | None) -> Estimate:
    if decision is None:
        return Estimate()
    return Estimate(*(round(each, 2) for each in (decision.points, *(decision.ends or ()))))


WHAT = {"position": "Position", "length": "Length", "category": "Category"}


@dataclass(frozen=True)
class Driver:
    """How the share of points of the first differs between two parts of its games."""

    what: str
    one: str
    other: str
    split: Mapping[str, Mapping[str, Any]]

    @property
    def apart(self) -> Mapping[str, Any]:
        return self.split["apart"]

    @property
    def tells(self) -> bool:
        """Whether the interval of the difference leaves 0 out."""
        return bool(Estimate.bare(self.apart).side())

    def sentence(self, first: str, level: float) -> str:
        """What moves the result, where it does."""
        one, other = (f"{100 * self.split[part]['value']:.0f}%" for part in ("one", "other"))
        where = {
            "position": f"where it is shown first, {other} where it is shown second",
            "length": f"where its text is the longer one, {other} where it is the shorter one",
            "category": f"in {self.one}, {other} elsewhere",
        }[self.what]
        value, low, high = (number(100 * self.apart[key], "+.0f") for key in ("value", "low", "high"))
        apart = f"{value} percentage points ({level:g}% interval {low} to {high})"
        return f"{first} has a win share of {one} {where}: {apart}."


def drivers(content: Content) -> list[Driver]:
    return [Driver(**each) for each in content["drivers"]]


def drivers_table(caption: str, rows: Sequence[Driver], level: float) -> DataTable:
    columns: list[Column[Driver]] = [
        Column("What", lambda row: WHAT[row.what]),
        Column("Part", "one"),
        Column("Games", "split.one.n", label="Ratings"),
        Column("Share %", "split.one.value", SHARE, label="Win share"),
        Column("Other part", "other"),
        Column("Other games", "split.other.n", label="Other ratings"),
        Column("Other share %", "split.other.value", SHARE, label="Other win share"),
        Column(
            "Difference: %",
            bare("apart.value"),
            POINTS,
            label="Difference of win shares",
            ends=_ends("Difference", level),
        ),
    ]
    return DataTable.of(caption, columns, rows)
