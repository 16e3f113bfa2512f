"""A table as HTML, written here because a template takes ten times as long."""

from html import escape
from typing import Final

from django.utils.safestring import SafeString, mark_safe

from leaderboard.pages.format import NONE, number
from leaderboard.pages.page import Panel
from leaderboard.pages.table import Arranged, Shown
from leaderboard.pages.units import Cell

_TWO_ROWS: Final = ' rowspan="2"'


def data_table(panel: Panel) -> SafeString:
    """A panel's table in a region that scrolls."""
    shown = Arranged(panel.table)
    made = (
        f'<div class="table-scroll table-tall" role="region" aria-label="{escape(panel.title)}: table"'
        ' tabindex="0">\n'
        f'  <table class="table table-compact">\n    <caption>{escape(panel.table.caption)}</caption>\n'
        f"    {table_head(shown)}\n    {table_rows(shown)}\n  </table>\n</div>"
    )
    return mark_safe(made)  # noqa: S308 - every text is escaped


def table_head(shown: Arranged) -> str:
    """One row of headings, or two where neighbours share one."""
    columns = [column for _, run in shown.columns for column in run]
    if not any(heading for heading, _ in shown.columns):
        return f"<thead><tr>{_head(shown.name)}{''.join(map(_column_head, columns))}</tr></thead>"
    over = "".join(
        f'<th scope="colgroup" colspan="{len(run)}">{escape(heading)}</th>'
        if heading
        else "".join(_column_head(column, _TWO_ROWS) for column in run)
        for heading, run in shown.columns
    )
    under = "".join(_column_head(column) for heading, run in shown.columns if heading for column in run)
    return (
        f"<thead>\n      <tr>{_head(shown.name, _TWO_ROWS)}{over}</tr>\n      <tr>{under}</tr>\n    </thead>"
    )


def _column_head(column: Shown, more: str = "") -> str:
    return _head(column.label, more + (' class="num"' if column.numeric else ""))


def _head(label: str, more: str = "") -> str:
    return f'<th scope="col"{more}>{escape(label)}</th>'


def table_rows(shown: Arranged) -> str:
    columns = [column for _, run in shown.columns for column in run]
    bodies = []
    for name, places in shown.rows:
        head = _shared_name(name, len(columns) + 1) if name else ""
        lines = "\n".join(_row(shown.names[at], columns, at) for at in places)
        bodies.append(f"<tbody>\n{head}{lines}\n</tbody>")
    return "\n".join(bodies)


def _shared_name(name: str, columns: int) -> str:
    return f'<tr><th scope="rowgroup" colspan="{columns}"><span>{escape(name)}</span></th></tr>\n'


def _row(name: Cell, columns: list[Shown], at: int) -> str:
    cells = "".join([_data_cell(column, at) for column in columns])
    return f'<tr><th scope="row">{escape(cell(name))}</th>{cells}</tr>'


def _data_cell(column: Shown, at: int) -> str:
    value, *ends = column.cells[at]
    unit = column.column.unit
    if isinstance(value, str):
        return f"<td>{escape(value)}</td>"
    if value is not None and unit.shown:
        return f'<td class="num">{escape(unit.shown(value))}</td>'
    written, *between = (cell(_times(each, unit.times), column.places) for each in (value, *ends))
    if between and NONE not in between:
        written += f" ({(' to ' if any('−' in end for end in between) else '–').join(between)})"
    return f'<td class="num">{written}</td>'


def _times(value: Cell, times: int) -> Cell:
    return value if times == 1 or value is None or isinstance(value, str) else times * value


def cell(value: Cell, places: int = 2) -> str:
    """A dash for None; else ``places`` decimals below 10, one below 100, none above."""
    if value is None:
        return NONE
    if isinstance(value, float):
        return number(value, f".{places if abs(value) < 10 else 1 if abs(value) < 100 else 0}f")
    return number(value, ",") if isinstance(value, int) else str(value)
