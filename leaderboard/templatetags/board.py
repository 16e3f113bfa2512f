"""What the public pages of a study share: how numbers are written, tables, and the tabs."""

from html import escape
from typing import Any, Final

from django import template
from django.template.context import Context
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from arena.models import Study
from leaderboard.tables import Cell, DataTable

register = template.Library()

TABS: Final = (
    ("study", "Leaderboard"),
    ("study-categories", "Categories"),
    ("study-raters", "Raters"),
    ("study-agreement", "Agreement"),
    ("study-comparisons", "Comparisons"),
    ("study-data", "Data"),
    ("study-results", "Download and cite"),
)

_BELONGS: Final = {
    "study-contestant": "study",
    "study-rater": "study-raters",
    "study-comparison": "study-comparisons",
}


@register.filter
def cell(value: Cell) -> str:
    """A table cell: a dash for nothing, three decimals below 10, one below 100, else none."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.{3 if abs(value) < 10 else 1 if abs(value) < 100 else 0}f}"
    return str(value)


@register.filter
def is_number(value: Cell) -> bool:
    """Whether a cell is set like a number."""
    return value is None or isinstance(value, int | float)


@register.filter
def table_rows(table: DataTable) -> SafeString:
    """The rows of a table's body. Written here because a template takes ten times as long for every cell."""
    return mark_safe("\n".join(map(_row, table.rows)))  # noqa: S308 - every cell is escaped


def _row(row: tuple[Cell, ...]) -> str:
    first, *others = row
    cells = "".join(
        f'<td class="num">{cell(value)}</td>' if is_number(value) else f"<td>{escape(str(value))}</td>"
        for value in others
    )
    return f'<tr><th scope="row">{escape(cell(first))}</th>{cells}</tr>'


@register.inclusion_tag("leaderboard/_study_tabs.html", takes_context=True)
def study_tabs(context: Context, study: Study) -> dict[str, Any]:
    """The public pages of a study, with the one that is shown marked."""
    page, match = context.get("page"), getattr(context.get("request"), "resolver_match", None)
    here = getattr(page, "tab", None) or getattr(match, "url_name", None) or ""
    shown = _BELONGS.get(here, here)
    return {"tabs": [(reverse(name, args=[study.slug]), label, name == shown) for name, label in TABS]}
