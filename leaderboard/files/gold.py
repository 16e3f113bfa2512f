"""A new gold study from the people of another: the pairs on which all of them prefer the same answer."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from arena.data import export
from arena.data.interchange import By
from arena.files.writing import WRITERS, Row
from arena.models import Study
from leaderboard.files.interchange import CHANGED, labelled
from leaderboard.files.selection import ExportError, Selection, check_form

LEAST: Final = 2
"""People who rated a pair."""

_SIDED: Final = ("first", "second")


def gold_study(
    study: Study, form: str, asked: Mapping[str, Any], least: int = LEAST
) -> tuple[dict[str, Iterable[bytes]], Counter[str]]:
    """The files of the gold study, and how many pairs were left out for what. Raises ExportError.

    ``asked`` has raters (people or group:NAME), ties and category.
    """
    check_form(form)
    wanted = Selection.read(study, {"raters": "people", **asked})
    if wanted.raters != "people" and not wanted.raters.startswith("group:"):
        raise ExportError("Gold labels come from people: give people or group:NAME as raters.")
    pairs, left_out = _unanimous(study, wanted, least)
    if not pairs:
        raise ExportError(
            f'In "{study.slug}" no pair was rated by {least} or more who all prefer the same answer.'
        )
    prompts = {(row["prompt"], row["subset"]) for row in pairs}
    answers = {
        (row["prompt"], row["subset"], row[side] or row[f"{side}_id"]) for row in pairs for side in _SIDED
    }
    names = {row[side] for row in pairs for side in _SIDED} - {None}
    kept: dict[str, Callable[[Row], bool]] = {
        "prompts": lambda row: (row["id"], row["subset"]) in prompts,
        "completions": lambda row: (row["prompt"], row["subset"], row["contestant"] or row["id"]) in answers,
    }
    if names:
        kept["contestants"] = lambda row: row["name"] in names
    files = {what: filter(keep, export.rows(study, what)) for what, keep in kept.items()}
    tables = {**files, "pairs": iter(pairs)}
    return {
        f"{what}.{form}": WRITERS[form](export.TABLES[what], rows) for what, rows in tables.items()
    }, left_out


def _unanimous(study: Study, wanted: Selection, least: int) -> tuple[list[Row], Counter[str]]:
    """The gold labels."""
    left_out: Counter[str] = Counter()
    labels = {}
    for row in labelled(study, wanted):
        found = row["consensus"]
        people = found.first + found.ties + found.second
        if found.by is By.ADJUDICATED:
            left_out["settled by an operator"] += 1
        elif people < least:
            left_out[f"rated by fewer than {least}"] += 1
        elif found.by is not By.UNANIMOUS:
            left_out["not unanimous"] += 1
        elif found.label == "tie":
            left_out["all said tie"] += 1
        else:
            simulated = ", simulated" if row["simulated"] else ""
            labels[row["pair"]] = (found.label, f"people (unanimous of {people}{simulated})")
    sides = export.pair_sides(labels)
    left_out[CHANGED] = len(labels) - len(sides)
    rows: list[Row] = [
        {**sides[pair], "gold": gold, "gold_source": source}
        for pair, (gold, source) in labels.items()
        if pair in sides
    ]
    return rows, left_out
