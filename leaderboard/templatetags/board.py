"""How public pages write numbers, tables and tabs."""

from collections.abc import Iterable
from html import escape
from typing import Any, Final

from django import template
from django.template.context import Context
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from arena.models import Study
from arena.texts import markdown
from leaderboard.models import Snapshot
from leaderboard.pages.switches import Option, Switch
from leaderboard.pages.table import Arranged, Cell, Column, DataTable
from leaderboard.pages.tabs import TABS, tabs
from leaderboard.pages.wording import counted, probability
from leaderboard.texts.presence import said_of_texts

register = template.Library()

register.filter("summary", markdown.summary)
register.simple_tag(said_of_texts)

_BELONGS: Final = {
    "study-contestant": "study",
    "study-plan": "study",
    "study-anchored": "study",
    "study-rater": "study-raters",
    "study-judges": "study-raters",
    "study-two": "study-agreement",
    "study-comparison": "study-comparisons",
    "study-requirement-text": "study-requirements",
    **dict.fromkeys(("study-releases", "study-release", "study-release-changes"), "study-results"),
}


def cell(value: Cell, places: int = 2) -> str:
    """A dash for None; else ``places`` decimals below 10, one below 100, none above."""
    if value is None:
        return "–"
    if isinstance(value, float):
        number = f"{value:.{places if abs(value) < 10 else 1 if abs(value) < 100 else 0}f}"
        return number.replace("-", "−")
    return f"{value:,}".replace("-", "−") if isinstance(value, int) else str(value)


def decimals(column: Iterable[Cell]) -> int:
    """Decimals that numbers below 10 of a column need to line up: one or two."""
    below = (value for value in column if isinstance(value, float) and abs(value) < 10)
    return 2 if any(not f"{value:.2f}".endswith("0") for value in below) else 1


@register.filter
def switch_options(switch: Switch) -> SafeString:
    """The options of a list as HTML, made here like ``table_rows``."""
    return mark_safe("".join(map(_option, switch.options)))  # noqa: S308 - every text is escaped


def _option(option: Option) -> str:
    chosen = " selected" if option.chosen else " disabled" if option.comparisons == 0 else ""
    return f'<option value="{escape(option.value)}"{chosen}>{escape(option.label)}</option>'


@register.filter
def switch_links(switch: Switch) -> SafeString:
    links = (_link(f"{switch.name}-{place}", option) for place, option in enumerate(switch.options, 1))
    return mark_safe("".join(links))  # noqa: S308 - every text is escaped


def _link(id: str, option: Option) -> str:
    without = option.comparisons == 0 and not option.chosen
    leads = 'role="link" aria-disabled="true"' if without else f'href="{escape(option.query)}" rel="nofollow"'
    title = "" if option.comparisons is None else f' title="{counted(option.comparisons, "rating")}"'
    current = ' aria-current="true"' if option.chosen else ""
    return f'<a id="{escape(id)}" {leads}{title}{current}>{escape(option.label)}</a>'


@register.filter
def arranged(table: DataTable) -> Arranged:
    return Arranged(table)


@register.filter
def table_rows(shown: Arranged) -> SafeString:
    """The rows as HTML, made here because a template takes ten times as long."""
    places = [decimals(column) for column in zip(*shown.table.rows, strict=True)]
    columns = [column for _, run in shown.columns for column in run]
    bodies = []
    for name, rows in shown.rows:
        head = _shared_name(name, len(columns) + 1) if name else ""
        lines = "\n".join(_row(row, shown.name_place, columns, places) for row in rows)
        bodies.append(f"<tbody>\n{head}{lines}\n</tbody>")
    return mark_safe("\n".join(bodies))  # noqa: S308 - every cell is escaped


def _shared_name(name: str, columns: int) -> str:
    return f'<tr><th scope="rowgroup" colspan="{columns}"><span>{escape(name)}</span></th></tr>\n'


def _row(row: tuple[Cell, ...], name: int, columns: list[Column], places: list[int]) -> str:
    cells = "".join(_data_cell(row, column, places) for column in columns)
    return f'<tr><th scope="row">{escape(cell(row[name]))}</th>{cells}</tr>'


def _data_cell(row: tuple[Cell, ...], column: Column, places: list[int]) -> str:
    at = column.place
    value = row[at]
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    if column.label.startswith("p (") and isinstance(value, float):
        return f'<td class="num">{escape(probability(value))}</td>'
    written = cell(value, places[at])
    low, high = row[at + 1 : at + 3] if column.has_ends else (None, None)
    if low is not None and high is not None:
        ends = cell(low, places[at]), cell(high, places[at])
        written += f" ({(' to ' if any('−' in end for end in ends) else '–').join(ends)})"
    return f'<td class="num">{written}</td>'


@register.inclusion_tag("leaderboard/_study_tabs.html", takes_context=True)
def study_tabs(context: Context, study: Study) -> dict[str, Any]:
    page, match = context.get("page"), getattr(context.get("request"), "resolver_match", None)
    here = getattr(page, "tab", None) or getattr(match, "url_name", None) or ""
    shown = _BELONGS.get(here, here)
    snapshot = context.get("snapshot") or Snapshot.objects.newest(study)
    offered = tabs(study, snapshot)
    offered += [shown] if shown in TABS.keys() - offered else []
    return {"tabs": [(reverse(name, args=[study.slug]), TABS[name], name == shown) for name in offered]}
