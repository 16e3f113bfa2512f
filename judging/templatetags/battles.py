from django import template

from arena.models import Study
from judging.battles.visitors import open_to_strangers

register = template.Library()


@register.simple_tag
def has_battles(study: Study) -> bool:
    """True if a page can lead everybody who reads it to the study's battles."""
    return open_to_strangers([study]) == {study.pk}
