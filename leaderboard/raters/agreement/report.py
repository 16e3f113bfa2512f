"""How the raters of a study agree, as JSON and as text for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arena.models import Study
from leaderboard.pages.aligned_text import aligned, printable
from leaderboard.pages.format import NONE
from leaderboard.pages.table import NUMBERS, DataTable
from leaderboard.pages.units import Cell
from leaderboard.pages.wording import on_intervals
from leaderboard.raters.agreement.coefficients import agreement, arrange
from leaderboard.raters.agreement.table import (
    COEFFICIENTS,
    beside_people_table,
    correlation_table,
    difference_sentence,
    differences_table,
    kappa_table,
    same_category,
    stand_in_sentence,
    stand_in_table,
    two_notes,
    two_sentence,
    two_tables,
    within_table,
    without_pools,
)
from leaderboard.raters.agreement.two import (
    compared,
    judge_differences,
    parameters,
    parse_for_two,
    single_people,
)
from leaderboard.snapshots import columns
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.counts import counts
from leaderboard.snapshots.methods import method_at
from leaderboard.snapshots.reading import Opinions, opinions
from leaderboard.stats.ranking_method import Method


def report(study: Study, wanted: Mapping[str, str], method: Method) -> dict[str, Any]:
    """How all raters agree, or the two named, from the comparisons as they are now.

    ``wanted`` is as in the address of a page. Raises UnknownSettingError.
    """
    read = opinions(study).at()
    criteria = {name: read.by_criterion(rows) for name, rows in columns.criteria(study).items()}
    people = [each.selector for each in single_people(study, read)]
    setting = parse_for_two(wanted, counts(read, criteria) | {"people": people})
    method, read = method_at(setting, method), criteria.get(setting.criterion, read)
    if setting.raters:
        found = compared(study, read, setting.raters.split(","), setting.category, method)
    else:
        found = overview(read, setting.category, method)
    return {"study": study.slug, "criterion": setting.criterion or None} | found


def overview(read: Opinions, category: str, method: Method) -> dict[str, Any]:
    """The tables of the agreement page, of one category or of all."""
    contents: dict[str, dict[str, Any]] = {"correlation": {}, "agreement": {}}
    for table in agreement(read, method):
        contents[table.kind][table.raters] = json.loads(table.payload)

    def rows(content: Content | None) -> list[Content] | None:
        if not content:
            return None
        return [row for row in content["rows"] if not category or same_category(row, category)]

    kinds = []
    for choice in read.raters:
        own = contents["agreement"].get(choice.selector, {"within": None, "others": []})
        correlated = contents["correlation"].get(choice.selector, {})
        kinds.append(
            {
                "selector": choice.selector,
                "label": choice.label,
                "simulated": choice.simulated,
                "members": len(choice.ids),
                "correlation": rows(correlated),
                "ceiling": rows({"rows": correlated["ceiling"]}) if "ceiling" in correlated else None,
                "stand_in": None if category else correlated.get("stand_in"),
                "within": rows(own["within"]),
                "others": [{**other, "rows": rows(other)} for other in own["others"]],
            }
        )
    arranged = arrange(read, method.tie_band, ties=method.ties).about(category)
    return parameters(category, method) | {"kinds": kinds, "differences": judge_differences(arranged, method)}


def as_json(found: Content) -> str:
    """Indented JSON; the keys are those of docs/api.md."""
    return json.dumps(found, indent=2, allow_nan=False, ensure_ascii=False)


def as_text(found: Content, *, unmirrored: bool = False) -> str:
    """The tables of the pages; ``unmirrored`` adds kappa and alpha with each pair entered once."""
    criterion = f"rating of {found['criterion']}, " if found["criterion"] else ""
    ties = f"ratings {found['band']} are ties" if found["band"] else f"ties {found['ties']}"
    kinds = found.get("kinds")
    simulated = any(own["simulated"] for own in kinds or found.get("raters", ()))
    intervals = on_intervals(
        f"Intervals of {found['level']:g}% over prompts; {found['rounds']} resamples, seed {found['seed']}.",
        found,
    )
    parts = [
        f"{found['study']}: agreement in {found['category'] or 'all categories'}, {criterion}{ties}. "
        f"{intervals}{' Some ratings are simulated.' if simulated else ''}"
    ]
    if kinds is None:
        said = (two_sentence(found), difference_sentence(found), *two_notes(found))
        parts += [printable(sentence) for sentence in said if sentence]
    else:
        parts += [
            printable(stand_in_sentence(own["label"], own, "pearson", found["level"]))
            for own in kinds
            if own["stand_in"]
        ]
    tables = two_tables(found) if kinds is None else _overview_tables(kinds, found["differences"])
    parts += [text for table in tables if (text := _text(table, unmirrored))]
    return "\n\n".join(parts)


def _overview_tables(kinds: Sequence[Content], differences: Sequence[Content]) -> Iterator[DataTable]:
    labels = {own["selector"]: own["label"] for own in kinds}
    yield correlation_table(
        (own["label"], without_pools({"rows": own["correlation"]})) for own in kinds if own["correlation"]
    )
    judges = [own for own in kinds if own["ceiling"]]
    for coefficient in COEFFICIENTS:
        yield beside_people_table(
            [(own["label"], without_pools({"rows": own["ceiling"]})["rows"]) for own in judges], coefficient
        )
    yield stand_in_table((own["label"], own["stand_in"]) for own in judges if own["stand_in"])
    yield differences_table(differences)
    yield kappa_table(
        (own["label"], labels[other["raters"]], other) for own in kinds for other in own["others"]
    )
    yield within_table((own["label"], {"within": {"rows": own["within"]}}) for own in kinds if own["within"])


def _text(table: DataTable, unmirrored: bool) -> str:
    """The columns of a table that hold something, aligned under its caption; empty without rows."""
    shown = {
        name: cells
        for name, *cells in zip(table.columns, *table.rows, strict=True)
        if (unmirrored or not name.startswith("Unmirrored")) and any(cell not in (None, "") for cell in cells)
    }
    left = {name for name, cells in shown.items() if not any(isinstance(cell, NUMBERS) for cell in cells)}
    rows = [list(map(_cell, row)) for row in zip(*shown.values(), strict=True)]
    return "\n".join([f"{table.caption}.", *aligned([list(shown), *rows], left)]) if rows else ""


def _cell(value: Cell) -> str:
    if value is None:
        return NONE
    return f"{value:.3f}" if isinstance(value, float) else printable(str(value))
