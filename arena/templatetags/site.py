"""Facts about the installation that every page shows."""

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def arena_version() -> str:
    """The version of Likert Arena that is running."""
    return str(settings.VERSION)
