"""What the public pages of a study share: how numbers are written, tables, and the tabs."""

from collections.abc import Iterable
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


def cell(value: Cell, places: int = 3) -> str:
    """A table cell: a dash for nothing, ``places`` decimals below 10, one below 100, else none."""
    if value is None:
        return "–"
    if isinstance(value, float):
        number = f"{value:.{places if abs(value) < 10 else 1 if abs(value) < 100 else 0}f}"
        return number.replace("-", "−")
    return f"{value:,}".replace("-", "−") if isinstance(value, int) else str(value)


def decimals(column: Iterable[Cell]) -> int:
    """How many decimals the numbers below 10 of a column need, from one to three, so that they line up."""
    most = 1
    for value in column:
        if isinstance(value, float) and abs(value) < 10:
            most = max(most, len(f"{abs(value):.3f}".rstrip("0")) - 2)
            if most == 3:
                break
    return most


@register.filter
def is_number(value: Cell) -> bool:
    """Whether a cell is set like a number."""
    return value is None or isinstance(value, int | float)


@register.filter
def table_rows(table: DataTable) -> SafeString:
    """The rows of a table's body. Written here because a template takes ten times as long for every cell."""
    places = [decimals(column) for column in zip(*table.rows, strict=True)]
    return mark_safe("\n".join(_row(row, places) for row in table.rows))  # noqa: S308 - every cell is escaped


def _row(row: tuple[Cell, ...], places: list[int]) -> str:
    cells = "".join(
        f'<td class="num">{cell(value, most)}</td>' if is_number(value) else f"<td>{escape(str(value))}</td>"
        for value, most in zip(row[1:], places[1:], strict=True)
    )
    return f'<tr><th scope="row">{escape(cell(row[0]))}</th>{cells}</tr>'


@register.inclusion_tag("leaderboard/_study_tabs.html", takes_context=True)
def study_tabs(context: Context, study: Study) -> dict[str, Any]:
    """The public pages of a study, with the one that is shown marked."""
    page, match = context.get("page"), getattr(context.get("request"), "resolver_match", None)
    here = getattr(page, "tab", None) or getattr(match, "url_name", None) or ""
    shown = _BELONGS.get(here, here)
    return {"tabs": [(reverse(name, args=[study.slug]), label, name == shown) for name, label in TABS]}
