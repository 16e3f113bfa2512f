"""The rows of the standings, written here because a template takes ten times as long."""

from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe

from leaderboard.standings.rows import NOTHING, WINS, Entry, Line, StandingsView

register = template.Library()

_PEOPLE = '<span class="badge badge-info">People</span>'
_PROVISIONAL = (
    ' <span class="badge badge-warn">Provisional</span> <span class="provisional-reason">{reason}</span>'
)
_ORGANISATION = '<span class="organisation">{name}</span>'


@register.filter
def standing_rows(view: StandingsView) -> SafeString:
    """The rows in the table's order; those that a search leaves out are hidden."""
    rows = (_row(line, drawn=view.axis is not None, every=view.every) for line in view.lines)
    return mark_safe("\n".join(rows))  # noqa: S308 - every text is escaped


def _row(line: Line, *, drawn: bool, every: bool) -> str:
    marks = (' class="provisional"' if line.entry.row.provisional else "") + ("" if line.found else " hidden")
    cells = (
        f'<td role="cell" class="num nowrap">{line.rank}{_possible(line)}</td>',
        f'<th scope="row" role="rowheader" class="name">{_name(line.entry)}</th>',
        f'<td role="cell" class="num score">{line.rating}{_share(line.entry)}</td>',
        f'<td role="cell" class="dots-cell">{_ends(line)}{line.dots}</td>' if drawn else "",
        f'<td role="cell" class="num">{line.arms or NOTHING}</td>' if every else "",
        *(f'<td role="cell" class="{kind}">{escape(text)}</td>' for kind, text in line.cells),
    )
    return f'<tr role="row"{marks}>{"".join(cells)}</tr>'


def _name(entry: Entry) -> str:
    row, address = entry.row, escape(entry.about.address)
    name = f"<bdi>{escape(row.contestant)}</bdi>"
    maker = (_PEOPLE if row.kind == "people" else "") + escape(entry.about.organisation)
    return (
        (f'<a href="{address}">{name}</a>' if address else name)
        + (_PROVISIONAL.format(reason=escape(row.provisional)) if row.provisional else "")
        + (_ORGANISATION.format(name=maker) if maker else "")
    )


def _possible(line: Line) -> str:
    if not line.possible:
        return ""
    return f'<span class="possible"><span class="visually-hidden">possible: </span>{line.possible}</span>'


def _share(entry: Entry) -> str:
    return f'<span class="share">win share {WINS.text(entry)}</span>'


def _ends(line: Line) -> str:
    return f'<span class="visually-hidden">{line.low} to {line.high}</span>' if line.low else ""
