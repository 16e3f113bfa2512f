"""Standings as text for a terminal and as JSON, the same for a vote file and for a study."""

import json
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from leaderboard.stats import Standing, Standings

METHOD_NAMES: Final = {
    "elo": "Elo",
    "bradley-terry": "Bradley-Terry",
    "davidson": "Davidson",
    "ordinal": "Ordinal",
}
_CERTAINTY: Final = ("rank ub", "first", "groups")
_COUNTS: Final = ("games", "wins", "losses", "ties")
_NONE: Final = "-"
_DECIMALS_OF_ONE_PASS: Final = 9
_MOST_LETTERS: Final = 4


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
    """A table for reading: what it is about, the method in a line, the ranking by group, notes, warnings."""
    groups = len(standings.components)
    sure = standings.groups is not None
    interval = f"{standings.parameters['interval']:g} % interval" if sure else "interval"
    header, left = _header(interval, sure), {"contestant", "groups", interval}
    lines = [*([about.line()] if about else []), method_line(standings)]
    for number in range(groups):
        rows = [row for row in standings.standings if row.component == number]
        lines.append(f"\nGroup {number + 1} of {groups}" if groups > 1 else "")
        lines.extend(aligned([header, *(_cells(row, sure) for row in rows)], left))
    notes = [rank_note(standings)] if sure else []
    lines.extend(f"\n{printable(note)}" for note in (*notes, *findings(standings.details)))
    lines.extend(f"\nWarning: {printable(warning)}" for warning in standings.warnings)
    return "\n".join(lines)


def method_line(standings: "Standings") -> str:
    """The method, its parameters, the interval and n in one paragraph."""
    used = standings.parameters
    name = METHOD_NAMES[standings.method]
    k = f" with K={used['k']:g}" if "k" in used else ""
    return (
        f"{name}{k}, scale {used['scale']:g}, base {used['base']:g}, centre {used['init']:g}; "
        f"{ties_phrase(standings.method, used)}. {_intervals(standings.method, used)} "
        f"{_counted(standings.games, 'games')}, {standings.left_out} left out. "
        f"Methodology {used['methodology']}."
    )


def interval_line(used: Mapping[str, Any]) -> str:
    """What an interval is and what it rests on, for all who show one: level, percentiles, rounds, units.

    ``used`` are the parameters of the standings (a snapshot of methodology 1 lacks some); empty where there
    are no intervals.
    """
    if used["rounds"] is None:
        return ""
    units = _units(used)
    level = f"{used['interval']:g} % interval"
    if used.get("intervals") == "sandwich":
        return f"{level}: Student's t, from the robust covariance over {units}"
    low, high = (100 - used["interval"]) / 2, (100 + used["interval"]) / 2
    return (
        f"{level}: percentiles {low:.6g} to {high:.6g} of {_counted(used['rounds'], 'rounds')} "
        f"resampling {units}"
    )


def _units(used: Mapping[str, Any]) -> str:
    """What is drawn, and whose opinions stay as they are where that matters."""
    if "raters_drawn" in used:
        return f"{_counted(used['clusters'], 'prompts')} and {_counted(used['raters_drawn'], 'raters')}"
    units = _counted(used.get("units") or used["clusters"], used["resample"])
    same = used.get("same_raters")
    return units if same is None else f"{units}, so for other prompts and these same {same} raters"


def printable(text: str) -> str:
    """The text with every control character and lone surrogate as a question mark: names are not trusted."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def ties_phrase(method: str, used: Mapping[str, Any]) -> str:
    """What a method with these parameters makes of ties."""
    if method == "ordinal":
        return "every rating as given"
    if used["ties"] == "off":
        return "ties off"
    what = "are outcomes of their own" if method == "davidson" else "count half"
    return f"ties ({used['tie_band']}) {what}" if used.get("tie_band") else f"ties {what}"


def _intervals(method: str, used: Mapping[str, Any]) -> str:
    if used["rounds"] is None:
        return "One pass in the order of the games, no intervals." if method == "elo" else "No intervals."
    rating = "median of the rounds" if method == "elo" else "maximum likelihood"
    draws = f"; first and groups from {used['rounds']} draws" if used["intervals"] == "sandwich" else ""
    return f"Rating: {rating}. {interval_line(used)}{draws}; seed {used['seed']}."


def _counted(number: int, plural: str) -> str:
    return f"{number} {plural.removesuffix('s') if number == 1 else plural}"


def _header(interval: str, sure: bool) -> tuple[str, ...]:
    certainty = _CERTAINTY if sure else ()
    return ("rank", *certainty[:1], "contestant", "rating", interval, *certainty[1:], *_COUNTS)


def _cells(row: "Standing", sure: bool) -> tuple[str, ...]:
    interval = _NONE if row.low is None or row.high is None else f"{row.low:.1f} to {row.high:.1f}"
    rating = _NONE if row.rating is None else f"{row.rating:.1f}"
    best = (str(row.rank_ub or _NONE),) if sure else ()
    first = _NONE if row.p_first is None else f"{100 * row.p_first:.0f} %"
    more = (first, letters_shown(row.group) or _NONE) if sure else ()
    counts = (str(count) for count in (row.games, row.wins, row.losses, row.ties))
    return (str(row.rank or _NONE), *best, printable(row.contestant), rating, interval, *more, *counts)


def letters_shown(group: str | None) -> str:
    """The letters of a contestant's groups, cut where they are so many that nobody would compare them."""
    between = " " if group and " " in group else ""
    letters = group.split() if group and between else list(group or "")
    if len(letters) <= _MOST_LETTERS:
        return group or ""
    return f"{between.join(letters[:_MOST_LETTERS])} +{len(letters) - _MOST_LETTERS}"


def rank_note(standings: "Standings") -> str:
    """What the columns about certainty mean."""
    used = standings.parameters
    cut = any(letters_shown(row.group) != (row.group or "") for row in standings.standings)
    more = "; +3 means three more letters, which --format json has" if cut else ""
    return (
        "rank ub: 1 + the contestants whose whole interval lies above. first: share of the "
        f"{_counted(used['rounds'], drawn(used))} in which it is first. groups: contestants that share a "
        f"letter cannot be told apart at {used['interval']:g} %{more}."
    )


def drawn(used: Mapping[str, Any]) -> str:
    """What ranks and probabilities are counted in: draws with sandwich intervals, else rounds."""
    return "draws" if used.get("intervals") == "sandwich" else "rounds"


def findings(content: Mapping[str, Any]) -> Iterator[str]:
    """What the method found beside the ratings, in sentences; ``content`` are standings as plain values."""
    if content.get("robustness"):
        yield content["robustness"]["sentence"]
    if content.get("davidson"):
        ties = content["davidson"]
        equals = 100 * ties["nu"] / (2 + ties["nu"])
        yield f"nu {ties['nu']:.3f}{_between(ties, '.3f')}: equals tie in {equals:.0f} % of their games."
    if content.get("position"):
        place = content["position"]
        yield f"Standing first is worth {place['points']:+.1f} points{_between(place, '+.1f')}."
    for name, effect in content.get("effects", {}).items():
        yield (
            f"{name}: one standard deviation more ({effect['sd']:.3g}) is worth {effect['points']:+.1f} "
            f"points{_between(effect, '+.1f')}."
        )
    if content.get("rater_lean_sd") is not None:
        yield f"Raters' leans towards the first spread by {content['rater_lean_sd']:.3f} (log-odds)."


def _between(found: Mapping[str, Any], form: str) -> str:
    if found.get("low") is None:
        return ""
    return f" ({found['low']:{form}} to {found['high']:{form}})"


def aligned(rows: Sequence[Sequence[str]], left: Collection[str]) -> list[str]:
    """Lines with the cells of each column below each other; the first row names the columns.

    Columns are set right but for those named in ``left``.
    """
    header = rows[0]
    widths = [max(_width(row[column]) for row in rows) for column in range(len(header))]
    sides = [name in left for name in header]
    return ["  ".join(map(_padded, row, widths, sides)).rstrip() for row in rows]


def _padded(cell: str, width: int, left: bool) -> str:
    space = " " * (width - _width(cell))
    return cell + space if left else space + cell


def _width(text: str) -> int:
    """Columns the text takes on a terminal: wide East Asian characters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def beside(method: str) -> str:
    """The method whose ratings stand beside those of another."""
    return "elo" if method == "bradley-terry" else "bradley-terry"
