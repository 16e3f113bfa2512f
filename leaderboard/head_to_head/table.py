"""Tables of two contestants head to head."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.head_to_head.verdict import Decision
from leaderboard.pages.format import number
from leaderboard.pages.guessed import guessed
from leaderboard.pages.table import DataTable
from leaderboard.pages.units import percent_cell
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
    def cells() -> Iterator[dict[str, Any]]:
        for row in rows:
            low, high = row.share_ends(every_look)
            ends = (row.decision and row.decision.ends) or (None, None)
            yield {
                heading: row.label,
                "Verdict": str(row.decision.verdict).capitalize() if row.decision else "Not comparable",
                "Difference: points": round(row.decision.points, 2) if row.decision else None,
                f"Difference: low ({level:g} %)": None if ends[0] is None else round(ends[0], 2),
                f"Difference: high ({level:g} %)": None if ends[1] is None else round(ends[1], 2),
                "Against each other: games": row.own.get("games"),
                "Against each other: wins": row.own.get("wins"),
                "Against each other: ties": row.own.get("ties"),
                "Against each other: losses": row.own.get("losses"),
                "Share of points: %": percent_cell(row.share.get("value")),
                f"Share of points: low ({level:g} %)": percent_cell(low),
                f"Share of points: high ({level:g} %)": percent_cell(high),
            }

    return guessed(caption, cells(), {"Difference: points": "Score difference"})


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
        low, high = self.apart["low"], self.apart["high"]
        return low is not None and (low > 0 or high < 0)

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
    return guessed(
        caption,
        (
            {
                "What": WHAT[row.what],
                "Part": row.one,
                "Games": row.split["one"]["n"],
                "Share %": percent_cell(row.split["one"]["value"]),
                "Other part": row.other,
                "Other games": row.split["other"]["n"],
                "Other share %": percent_cell(row.split["other"]["value"]),
                "Difference: %": percent_cell(row.apart["value"]),
                f"Difference: low ({level:g} %)": percent_cell(row.apart["low"]),
                f"Difference: high ({level:g} %)": percent_cell(row.apart["high"]),
            }
            for row in rows
        ),
        {"Difference: %": "Difference of win shares (points)"},
    )
