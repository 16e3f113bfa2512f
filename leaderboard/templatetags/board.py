"""How numbers of the board are written."""

from django import template

from leaderboard.tables import Cell

register = template.Library()


@register.filter
def cell(value: Cell) -> str:
    """A table cell: a dash for nothing, three decimals below 10, one above, whole numbers as they are."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"
    return str(value)


@register.filter
def is_number(value: Cell) -> bool:
    """Whether a cell is set like a number."""
    return value is None or isinstance(value, int | float)
