"""Standings at another level of intervals. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from leaderboard.snapshots.canonical import Content

_FEWEST_BEYOND: Final = 5
"""With fewer rounds beyond an end, an interval needs a caution."""


def at_level(content: Content, level: str) -> Content | None:
    """The standings with intervals, best ranks and groups of ``level`` percent.

    None where they do not hold it: too few rounds, not a usual level, or an older table.
    """
    parameters = content["parameters"]
    if parameters["interval"] is None or parameters["interval"] == float(level):
        return content
    if _few_rounds(parameters, float(level)) or _few_rounds(parameters, parameters["interval"]):
        return None
    tail = (100.0 - float(level)) / 2.0
    ends = f"{tail:g}", f"{100.0 - tail:g}"  # as they are named in quantiles
    if not all(_holds(row, level, ends) for row in content["standings"] if row["rating"] is not None):
        return None
    rows = [_row(row, level, ends) for row in content["standings"]]
    found = {
        **content,
        "parameters": {**parameters, "interval": float(level)},
        "standings": rows,
        "groups": None if content.get("groups") is None else list(_groups(rows)),
    }
    for name in ("position", "davidson"):
        if found.get(name):
            found[name] = _effect(found[name], ends)
    if found.get("effects"):
        found["effects"] = {name: _effect(effect, ends) for name, effect in found["effects"].items()}
    return found


def _few_rounds(parameters: Mapping[str, Any], level: float) -> bool:
    beyond = parameters["rounds"] * (100.0 - level) / 200.0
    return parameters.get("intervals") != "sandwich" and beyond < _FEWEST_BEYOND


def _holds(row: Content, level: str, ends: tuple[str, str]) -> bool:
    if row["low"] is None:  # a single prompt says nothing about uncertainty, at any level
        return True
    return level in (row.get("groups_at") or {}) and all(end in row["quantiles"] for end in ends)


def _row(row: Content, level: str, ends: tuple[str, str]) -> Content:
    if row["low"] is None:
        return row
    low, high = (row["quantiles"][end] for end in ends)
    chosen = {"low": low, "high": high, "rank_ub": row["rank_ub_at"][level], "group": row["groups_at"][level]}
    return {**row, **chosen}


def _effect(effect: Content, ends: tuple[str, str]) -> Content:
    kept = effect.get("quantiles")
    return {**effect, "low": kept[ends[0]], "high": kept[ends[1]]} if kept else effect


def _groups(rows: list[Content]) -> Iterator[list[str]]:
    members: dict[str, list[str]] = {}
    written = [row["group"] or "" for row in rows]
    spaced = any(" " in letters or letters == "aa" for letters in written)  # aa follows z
    for row, letters in zip(rows, written, strict=True):
        for letter in letters.split() if spaced else letters:
            members.setdefault(letter, []).append(row["contestant"])
    for letter in sorted(members, key=lambda name: (len(name), name)):
        yield members[letter]
