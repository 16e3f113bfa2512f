"""Rows of all models, written here because a template takes ten times as long."""

from collections.abc import Iterable
from html import escape

from django import template
from django.utils.safestring import SafeString, mark_safe

from leaderboard.pages.format import NONE
from leaderboard.pages.standings.rows import WINS, Entry, Line, StandingsView
from leaderboard.pages.standings.table import RankCell, RankTable
from leaderboard.standings.categories import page as categories

register = template.Library()

_PEOPLE = '<span class="badge badge-info" title="Written by people">People</span>'
_PROVISIONAL = (
    ' <span class="badge badge-warn">Provisional</span> <span class="provisional-reason">{reason}</span>'
)
_LEADS = '<span class="visually-hidden">, cannot be told apart from the first</span>'
_MARKS = {
    tint: f' <span class="mark" role="img" aria-label="clearly {tint} than overall">{sign}</span>'
    for tint, sign in (("better", "+"), ("worse", "−"))
}
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


@register.filter
def rank_rows(shown: RankTable) -> SafeString:
    """Ranks by each kind of raters."""
    rows = (
        f'<tr><th scope="row"><bdi>{escape(name)}</bdi></th>{"".join(map(_rank, cells))}</tr>'
        for name, cells in shown.rows
    )
    return mark_safe("\n".join(rows))  # noqa: S308 - every text is escaped


def _rank(cell: RankCell) -> str:
    tone = f" rank-{cell.tone}" if cell.tone else ""
    title = f' title="Score {cell.interval}"' if cell.interval else ""
    return f'<td class="num{tone}"{title}>{cell.text}</td>'


@register.filter
def category_rows(lines: Iterable[categories.Line]) -> SafeString:
    """Ranks and scores in each category."""
    rows = (
        '<tr role="row"><th scope="row" role="rowheader" class="name">'
        f"{_linked(line.contestant, line.address)}</th>{''.join(map(_place, line.places))}</tr>"
        for line in lines
    )
    return mark_safe("\n".join(rows))  # noqa: S308 - every text is escaped


def _place(place: categories.Place) -> str:
    shown = NONE
    if place.rank:
        mark = _MARKS.get(place.tint, "")
        shown = f'<b>{place.score}</b>{mark}<span class="place-note">rank {place.rank}</span>'
    return f'<td role="cell" class="{place.tint}" data-name="{escape(place.category)}">{shown}</td>'


def _linked(name: str, address: str) -> str:
    named = f"<bdi>{escape(name)}</bdi>"
    return f'<a href="{escape(address)}">{named}</a>' if address else named


def _row(line: Line, *, drawn: bool, ends: bool) -> str:
    kinds = "provisional " * bool(line.entry.row.provisional) + "leads" * line.entry.leads
    marks = (f' class="{kinds.strip()}"' if kinds else "") + ("" if line.found else " hidden")
    cells = (
        f'<td role="cell" class="num nowrap"><span class="place">{line.rank}</span>{_possible(line)}'
        f"{_LEADS * (line.entry.leads and line.entry.row.rank > 1)}</td>",
        f'<th scope="row" role="rowheader" class="name">{_name(line.entry)}</th>',
        f'<td role="cell" class="num score">{line.rating}{_share(line.entry)}</td>',
        f'<td role="cell" class="dots-cell">{_ends(line)}{line.dots}</td>' if drawn else "",
        f'<td role="cell" class="num">{line.arms or NONE}</td>' if ends else "",
        *(f'<td role="cell" class="{kind}">{escape(text)}</td>' for kind, text in line.cells),
    )
    return f'<tr role="row"{marks}>{"".join(cells)}</tr>'


def _name(entry: Entry) -> str:
    row = entry.row
    maker = (_PEOPLE if row.kind == "people" else "") + escape(entry.about.organisation)
    return (
        _linked(row.contestant, entry.about.address)
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
