"""The rows of the standings, written here because a template takes ten times as long."""

from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe

from leaderboard.standings.rows import NOTHING, WINS, Entry, Line, StandingsView

register = template.Library()

_PEOPLE = '<span class="badge badge-info" title="Written by people">People</span>'
_PROVISIONAL = (
    ' <span class="badge badge-warn">Provisional</span> <span class="provisional-reason">{reason}</span>'
)
_LEADS = '<span class="visually-hidden">, cannot be told apart from the leader</span>'
_ORGANISATION = '<span class="organisation">{name}</span>'


@register.simple_tag
def by_people() -> SafeString:
    """The mark of answers that people wrote."""
    return mark_safe(_PEOPLE)  # noqa: S308 - a constant


@register.filter
def standing_rows(view: StandingsView) -> SafeString:
    """The rows in the table's order; those that a search leaves out are hidden."""
    rows = (_row(line, drawn=view.axis is not None, ends=view.ends) for line in view.lines)
    return mark_safe("\n".join(rows))  # noqa: S308 - every text is escaped


def _row(line: Line, *, drawn: bool, ends: bool) -> str:
    kinds = "provisional " * bool(line.entry.row.provisional) + "leads" * line.entry.leads
    marks = (f' class="{kinds.strip()}"' if kinds else "") + ("" if line.found else " hidden")
    cells = (
        f'<td role="cell" class="num nowrap"><span class="place">{line.rank}</span>{_possible(line)}'
        f"{_LEADS * line.entry.leads}</td>",
        f'<th scope="row" role="rowheader" class="name">{_name(line.entry)}</th>',
        f'<td role="cell" class="num score">{line.rating}{_share(line.entry)}</td>',
        f'<td role="cell" class="dots-cell">{_ends(line)}{line.dots}</td>' if drawn else "",
        f'<td role="cell" class="num">{line.arms or NOTHING}</td>' if ends else "",
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
