"""How public pages write numbers, tables and tabs."""

from collections.abc import Iterable
from html import escape
from typing import Any, Final

from django import template
from django.template.context import Context
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from arena.models import Study
from leaderboard.pages.table import Arranged, Cell, DataTable

register = template.Library()

TABS: Final = (
    ("study", "Leaderboard"),
    ("study-categories", "Categories"),
    ("study-raters", "Raters"),
    ("study-agreement", "Agreement"),
    ("study-comparisons", "Pairs"),
    ("study-data", "Data"),
    ("study-results", "Download and cite"),
)

_BELONGS: Final = {
    "study-contestant": "study",
    "study-plan": "study",
    "study-anchored": "study",
    "study-rater": "study-raters",
    "study-judges": "study-raters",
    "study-two": "study-agreement",
    "study-comparison": "study-comparisons",
    **dict.fromkeys(("study-releases", "study-release", "study-release-changes"), "study-results"),
}


def cell(value: Cell, places: int = 3) -> str:
    """A dash for None; else ``places`` decimals below 10, one below 100, none above."""
    if value is None:
        return "–"
    if isinstance(value, float):
        number = f"{value:.{places if abs(value) < 10 else 1 if abs(value) < 100 else 0}f}"
        return number.replace("-", "−")
    return f"{value:,}".replace("-", "−") if isinstance(value, int) else str(value)


def decimals(column: Iterable[Cell]) -> int:
    """Decimals that numbers below 10 of a column need to line up, from one to three."""
    most = 1
    for value in column:
        if isinstance(value, float) and abs(value) < 10:
            most = max(most, len(f"{abs(value):.3f}".rstrip("0")) - 2)
            if most == 3:
                break
    return most


@register.filter
def arranged(table: DataTable) -> Arranged:
    return Arranged(table)


@register.filter
def table_rows(shown: Arranged) -> SafeString:
    """The rows as HTML, made here because a template takes ten times as long."""
    places = [decimals(column) for column in zip(*shown.table.rows, strict=True)]
    columns = [column.place for _, run in shown.columns for column in run]
    bodies = []
    for name, rows in shown.rows:
        head = _shared_name(name, len(columns) + 1) if name else ""
        lines = "\n".join(_row(row, shown.name_place, columns, places) for row in rows)
        bodies.append(f"<tbody>\n{head}{lines}\n</tbody>")
    return mark_safe("\n".join(bodies))  # noqa: S308 - every cell is escaped


def _shared_name(name: str, columns: int) -> str:
    return f'<tr><th scope="rowgroup" colspan="{columns}"><span>{escape(name)}</span></th></tr>\n'


def _row(row: tuple[Cell, ...], name: int, columns: list[int], places: list[int]) -> str:
    cells = "".join(_data_cell(row[place], places[place]) for place in columns)
    return f'<tr><th scope="row">{escape(cell(row[name]))}</th>{cells}</tr>'


def _data_cell(value: Cell, places: int) -> str:
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    return f'<td class="num">{cell(value, places)}</td>'


@register.inclusion_tag("leaderboard/_study_tabs.html", takes_context=True)
def study_tabs(context: Context, study: Study) -> dict[str, Any]:
    page, match = context.get("page"), getattr(context.get("request"), "resolver_match", None)
    here = getattr(page, "tab", None) or getattr(match, "url_name", None) or ""
    shown = _BELONGS.get(here, here)
    return {"tabs": [(reverse(name, args=[study.slug]), label, name == shown) for name, label in TABS]}
