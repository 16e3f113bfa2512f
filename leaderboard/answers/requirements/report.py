"""Shares of requirements met, as text for a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from leaderboard.pages.aligned_text import aligned, printable
from leaderboard.pages.format import NONE
from leaderboard.pages.wording import on_intervals
from leaderboard.snapshots.canonical import Content

RULES: Final = {
    "exclude": "missing answers left out",
    "no": "missing answers count as not met",
    "script": "as InFoBench's script: unreadable answers not met, those never asked for left out",
}
_HEADER: Final = ("", "", "met", "of", "missing", "DRFR", "interval", "if missing are no to yes", "all met")


def as_text(found: Content) -> str:
    used = found["parameters"]
    intervals = on_intervals(f"Intervals of {used['level']:g}% over prompts.", found["raters"])
    what = f"{found['study']}: share of requirements met (DRFR) in percent"
    about = f"{what}; {RULES[used['missing']]}. {intervals}"
    return "\n\n".join([about, *(_raters(each) for each in found["raters"])])


def _raters(entry: Content) -> str:
    header: tuple[str, ...] = (
        "",
        "",
        "met",
        "of",
        "missing",
        "DRFR",
        "interval",
        "if all missing were no to yes",
        "all met",
    )
    lines = [header, *(line for each in entry["contestants"] for line in _rows(each))]
    # The column of bounds says something only where answers are missing.
    if not any(own["unanswered"] for each in entry["contestants"] for own in each["sets"].values()):
        lines = [(*line[:4], *line[5:7], line[8]) for line in lines]
    return f"{printable(entry['rater'])}\n" + "\n".join(aligned(lines, {""}))


def _rows(each: Content) -> Iterator[tuple[str, ...]]:
    whole = each["sets"][""]
    yield _row(printable(each["contestant"]), "all", whole, _percent(each["all_met"], 1))
    sets = {name: own for name, own in each["sets"].items() if name}
    parts: tuple[tuple[str, Mapping[str, Any]], ...] = (
        ("set ", sets if len(sets) > 1 else {}),
        ("", each["labels"]),
        ("domain ", each["domains"] if len(each["domains"]) > 1 else {}),
    )
    for kind, found in parts:
        for name, own in found.items():
            yield _row("", printable(f"{kind}{name}"), own, "")


def _row(name: str, part: str, own: Content, all_met: str) -> tuple[str, ...]:
    asked, met, lost = own["questions"], own["met"], own["unanswered"]
    ends = "" if own["low"] is None else f"{_percent(own['low'], 1)} to {_percent(own['high'], 1)}"
    bounds = f"{_percent(met / asked, 2)} to {_percent((met + lost) / asked, 2)}" if lost and asked else ""
    return name, part, str(met), str(asked), str(lost), _percent(own["drfr"], 4), ends, bounds, all_met


def _percent(value: float | None, places: int) -> str:
    return NONE if value is None else f"{100 * value:.{places}f}"
