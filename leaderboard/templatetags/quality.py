"""Numbers on the pages about how people rate."""

from django import template

from leaderboard.pages.format import seconds

register = template.Library()

register.filter("seconds", seconds)


@register.filter
def bet(product: float) -> str:
    """What a bet of 1 became at most."""
    return f"{product:.1f}" if product < 1000 else "over 1,000"
