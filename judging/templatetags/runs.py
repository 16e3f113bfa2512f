from decimal import Decimal

from django import template

from judging.endpoints.costs import in_words
from judging.runs.summary import REASONS, duration

register = template.Library()
register.filter("duration", duration)


@register.filter
def outcome(reason: str) -> str:
    """Why there is no rating, in words."""
    return REASONS.get(reason, reason)


@register.filter
def money(amount: Decimal, currency: str) -> str:
    return in_words(amount, currency)
