"""Numbers on the pages about how people rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from leaderboard.pages.format import seconds

if TYPE_CHECKING:  # it needs SciPy, which the web process loads on demand
    from leaderboard.quality.table import Shown

register = template.Library()

register.filter("seconds", seconds)


@register.filter
def shown(cell: Shown) -> SafeString:
    """A figure, and below it what it rests on."""
    note = format_html('<span class="quality-note">{}</span>', cell.note) if cell.note else ""
    return format_html('<span class="quality-value">{}</span>{}', cell.value, note)


@register.filter
def bet(product: float) -> str:
    """What a bet of 1 became at most."""
    return f"{product:.1f}" if product < 1000 else "over 1,000"
