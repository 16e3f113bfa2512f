"""Standings as text for a terminal and as JSON, the same for a vote file and for a study."""

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from leaderboard.stats import Standing, Standings

METHOD_NAMES: Final = {"elo": "Elo", "bradley-terry": "Bradley-Terry"}
_HEADER: Final = ("rank", "contestant", "rating", "interval", "games", "wins", "losses", "ties")
_LEFT: Final = {"contestant", "interval"}
_NONE: Final = "-"
_DECIMALS_OF_ONE_PASS: Final = 9


@dataclass(frozen=True)
class About:
    """Whose comparisons of which study standings rest on; an empty category means all of them."""

    study: str
    raters: str
    label: str
    category: str
    simulated: bool

    def as_dict(self) -> dict[str, Any]:
        """What the JSON of standings begins with."""
        return {
            "study": self.study,
            "raters": self.raters,
            "category": self.category or None,
            "simulated": self.simulated,
        }

    def line(self) -> str:
        """The same in words."""
        where = f"category {self.category}" if self.category else "all categories"
        note = " Simulated votes: a program made them up." if self.simulated else ""
        return printable(f"{self.study}: {self.label}, {where}.{note}")


def standings_json(standings: "Standings", about: About | None = None) -> str:
    """Indented JSON, the same text for the same games and parameters on any machine.

    One pass or one fit, without a bootstrap, is given to nine decimals, to be compared with other programs.
    """
    once = standings.parameters["rounds"] is None
    values = standings.as_dict(decimals=_DECIMALS_OF_ONE_PASS) if once else standings.as_dict()
    return json.dumps((about.as_dict() if about else {}) | values, indent=2, allow_nan=False)


def standings_table(standings: "Standings", about: About | None = None) -> str:
    """A table for reading: what it is about, the method in a line, the ranking by group, the warnings."""
    groups = len(standings.components)
    lines = [*([about.line()] if about else []), method_line(standings)]
    for number in range(groups):
        rows = [row for row in standings.standings if row.component == number]
        lines.append(f"\nGroup {number + 1} of {groups}" if groups > 1 else "")
        lines.extend(_aligned([_HEADER, *(_cells(row) for row in rows)]))
    lines.extend(f"\nWarning: {printable(warning)}" for warning in standings.warnings)
    return "\n".join(lines)


def method_line(standings: "Standings") -> str:
    """The method, its parameters, the interval and n in one paragraph."""
    used = standings.parameters
    name = METHOD_NAMES[standings.method]
    k = f" with K={used['k']:g}" if "k" in used else ""
    ties = "count half" if used["ties"] == "on" else "off"
    return (
        f"{name}{k}, scale {used['scale']:g}, base {used['base']:g}, centre {used['init']:g}; ties {ties}. "
        f"{_resampling(standings.method, used)} "
        f"{_counted(standings.games, 'games')}, {standings.left_out} left out. "
        f"Methodology {used['methodology']}."
    )


def printable(text: str) -> str:
    """The text with every control character and lone surrogate as a question mark: names are not trusted."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _resampling(method: str, used: Any) -> str:
    if used["rounds"] is None:
        return "One pass in the order of the games, no intervals." if method == "elo" else "No intervals."
    unit = "games" if used["clusters"] is None else _counted(used["clusters"], used["resample"])
    rating = "Median and" if method == "elo" else "Maximum likelihood and"
    return (
        f"{rating} central {used['interval']:g} % interval of {used['rounds']} rounds resampling {unit}, "
        f"seed {used['seed']}."
    )


def _counted(number: int, plural: str) -> str:
    return f"{number} {plural.removesuffix('s') if number == 1 else plural}"


def _cells(row: "Standing") -> tuple[str, ...]:
    interval = _NONE if row.low is None or row.high is None else f"{row.low:.1f} to {row.high:.1f}"
    rating = _NONE if row.rating is None else f"{row.rating:.1f}"
    counts = (str(count) for count in (row.games, row.wins, row.losses, row.ties))
    return (str(row.rank or _NONE), printable(row.contestant), rating, interval, *counts)


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(_width(row[column]) for row in rows) for column in range(len(_HEADER))]
    return ["  ".join(map(_padded, row, widths, _HEADER)).rstrip() for row in rows]


def _padded(cell: str, width: int, column: str) -> str:
    space = " " * (width - _width(cell))
    return cell + space if column in _LEFT else space + cell


def _width(text: str) -> int:
    """Columns the text takes on a terminal: wide East Asian characters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )
