"""Standings of a vote file or a study as text and JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from leaderboard.pages.aligned_text import aligned, counted, printable
from leaderboard.pages.standings.sentences import (
    all_ratings,
    drawn,
    findings,
    interval_line,
    letters_shown,
    not_used_words,
    ranks_written,
    ties_phrase,
)
from leaderboard.snapshots.method_names import METHOD_NAMES
from leaderboard.snapshots.settings import prompt_words, visitor_words
from leaderboard.stats.ranking import Standings
from leaderboard.stats.ranking_rows import Standing

_CERTAINTY: Final = ("rank ub", "first", "groups")
_COUNTS: Final = ("ratings", "wins", "losses", "ties")
_NONE: Final = "-"
_DECIMALS_OF_ONE_PASS: Final = 9
_RATINGS: Final = {"elo": "mean over random orders of the ratings", "elo-study": "median of the resamples"}
_ONCE: Final = {"elo-study": "the ratings once, in their order"}


@dataclass(frozen=True)
class About:
    study: str
    raters: str
    label: str
    category: str
    simulated: bool
    not_used: Mapping[str, int] = field(default_factory=dict)
    prompts: str = ""
    visitors: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {
            "study": self.study,
            "raters": self.raters,
            "category": self.category or None,
            **({"prompts": self.prompts} if self.prompts else {}),
            **({"visitors": self.visitors} if self.visitors else {}),
            "simulated": self.simulated,
            "not_used": dict(self.not_used),
        }

    def line(self) -> str:
        where = f"category {self.category}" if self.category else "all categories"
        note = " Simulated ratings." if self.simulated else ""
        which = (prompt_words(self.prompts), visitor_words(self.visitors))
        said = ", ".join(filter(None, (self.label, where, *which)))
        return printable(f"{self.study}: {said}.{note}")


def standings_json(standings: Standings, about: About | None = None) -> str:
    """JSON that is equal for equal games and parameters on any machine.

    Without a bootstrap numbers have nine decimals, to be compared with other programs.
    """
    once = standings.parameters["rounds"] is None
    values = standings.as_dict(decimals=_DECIMALS_OF_ONE_PASS) if once else standings.as_dict()
    return json.dumps((about.as_dict() if about else {}) | values, indent=2, allow_nan=False)


def standings_table(standings: Standings, about: About | None = None) -> str:
    groups = len(standings.components)
    sure = standings.groups is not None
    header = _header(standings)
    left = {"model", "groups", header[4 if sure else 3]}
    lines = [*([about.line()] if about else []), method_line(standings, about.not_used if about else {})]
    for number in range(groups):
        lines.append(f"\nGroup {number + 1} of {groups}" if groups > 1 else "")
        lines.extend(aligned([header, *_rows(standings, number)], left))
    lines.extend(f"\n{note}" for note in standings_notes(standings))
    return "\n".join(lines)


def standings_notes(standings: Standings) -> list[str]:
    """What is said below the table."""
    found = findings(standings.details, standings.parameters["interval"])
    notes = [rank_note(standings)] if standings.groups is not None else []
    return list(map(printable, (*notes, *found, *(f"Warning: {each}" for each in standings.warnings))))


def standings_rows(standings: Standings) -> list[Sequence[str]]:
    """The cells of the table under their headings, models of one group after those of another."""
    groups = range(len(standings.components))
    return [_header(standings), *(row for number in groups for row in _rows(standings, number))]


def _rows(standings: Standings, group: int) -> list[Sequence[str]]:
    rows = [row for row in standings.standings if row.component == group]
    ranks = ranks_written((row.component, row.rank) for row in rows)
    return [_cells(*each, standings.groups is not None) for each in zip(ranks, rows, strict=True)]


def method_line(standings: Standings, not_used: Mapping[str, int]) -> str:
    used = standings.parameters
    name = METHOD_NAMES[standings.method]
    k = f" with K={used['k']:g}" if "k" in used else ""
    return (
        f"{name}{k}, scale {used['scale']:g}, base {used['base']:g}, centre {used['init']:g}; "
        f"{ties_phrase(standings.method, used)}. {_intervals(standings)} "
        f"{ratings_line(standings.games, standings.left_out, not_used)} "
        f"Methodology {used['methodology']}."
    )


def ratings_line(games: int, left_out: int, not_used: Mapping[str, int]) -> str:
    """How many ratings count, and which do not."""
    found = {"games": games, "left_out": left_out, "not_used": not_used}
    some = f"{games} of " if all_ratings(found) != games else ""
    others = "; ".join(not_used_words(found))
    return (
        f"{some}{counted(all_ratings(found), 'ratings')} counted.{f' Not used: {others}.' if others else ''}"
    )


def _intervals(standings: Standings) -> str:
    method, used = standings.method, standings.parameters
    rating = _RATINGS.get(method, "maximum likelihood")
    if used["rounds"] is None:
        return f"Score: {_ONCE.get(method, rating)}. No intervals."
    if standings.groups is None:
        return f"Score: {rating}. No intervals; seed {used['seed']}."
    draws = f"; first and groups from {used['rounds']} draws" if used["intervals"] == "sandwich" else ""
    return f"Score: {rating}. {interval_line(used)}{draws}; seed {used['seed']}."


def _header(standings: Standings) -> tuple[str, ...]:
    sure = standings.groups is not None
    interval = f"{standings.parameters['interval']:g}% interval" if sure else "interval"
    certainty = _CERTAINTY if sure else ()
    return ("rank", *certainty[:1], "model", "score", interval, *certainty[1:], *_COUNTS)


def _cells(rank: str, row: Standing, sure: bool) -> tuple[str, ...]:
    interval = _NONE if row.low is None or row.high is None else f"{row.low:.1f} to {row.high:.1f}"
    rating = _NONE if row.rating is None else f"{row.rating:.1f}"
    best = (str(row.rank_ub or _NONE),) if sure else ()
    first = _NONE if row.p_first is None else f"{100 * row.p_first:.0f}%"
    more = (first, letters_shown(row.group) or _NONE) if sure else ()
    counts = (str(count) for count in (row.games, row.wins, row.losses, row.ties))
    return (rank or _NONE, *best, printable(row.contestant), rating, interval, *more, *counts)


def rank_note(standings: Standings) -> str:
    used = standings.parameters
    cut = any(letters_shown(row.group) != (row.group or "") for row in standings.standings)
    more = "; +3 means three more letters, which --format json has" if cut else ""
    return (
        "rank ub: the best rank by intervals, 1 + the models whose whole interval is above. first: share of "
        f"the {counted(used['rounds'], drawn(used))} in which it is first. groups: models that share a "
        f"letter cannot be told apart at {used['interval']:g}%{more}."
    )
