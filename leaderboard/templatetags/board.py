"""How numbers of the board are written."""

from django import template

from leaderboard.tables import Cell

register = template.Library()


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
