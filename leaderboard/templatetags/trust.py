"""The rows of the table of judges, written here because a template takes ten times as long."""

from html import escape

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from leaderboard.pages.columns import Column
from leaderboard.trust.page import TrustPage
from leaderboard.trust.table import RIGHT, Row

register = template.Library()


@register.filter
def judge_rows(page: TrustPage) -> SafeString:
    return mark_safe("\n".join(_row(page, row) for row in page.view.rows))  # noqa: S308 - every text is escaped


def _row(page: TrustPage, row: Row) -> str:
    cells = (f'<td class="{column.kind}">{_cell(page, column, row)}</td>' for column in page.view.columns)
    leads = row.slug in page.in_front
    kind = ' class="leads"' if leads else "" if row.slug else ' class="provisional"'
    hidden = '<span class="visually-hidden">, not told apart from the first</span>' if leads else ""
    return (
        f"<tr{kind}>"
        f'<th scope="row" class="name">{_name(page, row)}{hidden}</th>'
        f'<td class="num score">{escape(RIGHT.text(row))}</td>'
        f'<td class="dots-cell">{_interval(page, row)}</td>{"".join(cells)}</tr>'
    )


def _cell(page: TrustPage, column: Column[Row], row: Row) -> str:
    """With all columns, each has its interval."""
    ends = column.range(row) if page.asked.columns else ""
    return escape(column.text(row)) + (f'<span class="organisation">{escape(ends)}</span>' if ends else "")


def _name(page: TrustPage, row: Row) -> str:
    name = f"<bdi>{escape(row.name)}</bdi>"
    if not row.slug:
        return name
    address = reverse("study-rater", args=[page.study.slug, f"judge:{row.slug}"])
    about = f'<span class="organisation">{escape(row.about)}</span>' if row.about else ""
    return f'<a href="{escape(address)}">{name}</a>{about}'


def _interval(page: TrustPage, row: Row) -> str:
    found = RIGHT.estimate(row)
    if page.axis is None:
        return ""
    said = f'<span class="visually-hidden">{RIGHT.range(row)}</span>' if found.low is not None else ""
    return said + page.axis.row(*found.times(100))
