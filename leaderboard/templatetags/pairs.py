"""The scale of a rating and beginnings of texts, for the comparison browser."""

from functools import cache
from typing import Final

from django import template
from django.utils.safestring import SafeString, mark_safe

from leaderboard.comparisons.pairs import Rated

register = template.Library()

_WIDTH: Final = 200
_EDGE: Final = 11


@register.simple_tag
def scale(rated: Rated, of_people: float | None) -> SafeString:
    """The points from A, on the left, to B, with the rating marked, and a line at the mean of people."""
    return _scale(rated.rating, rated.points, None if of_people is None else round(of_people, 3))


@cache
def _scale(rating: int, points: int, of_people: float | None) -> SafeString:
    # Written here: as a template it would be half of the time of the page.
    side = "a" if 2 * rating < points + 1 else "b" if 2 * rating > points + 1 else "tie"
    dots = "".join(
        f'<circle class="pair-dot" cx="{_across(step, points)}" cy="19" r="3"/>'
        for step in range(1, points + 1)
        if step != rating
    )
    mean = ""
    if of_people is not None:
        across = _WIDTH / 2 + of_people * (_WIDTH / 2 - _EDGE)
        mean = f'<path class="pair-mean" d="M{across:.1f} 0V38"/>'
    here = _across(rating, points)
    drawn = (
        f'<svg class="pair-scale" viewBox="0 0 {_WIDTH} 38" aria-hidden="true">{dots}{mean}'
        f'<circle class="pair-given pair-given-{side}" cx="{here}" cy="19" r="9.5"/>'
        f'<text class="pair-number" x="{here}" y="23.5">{rating}</text></svg>'
    )
    return mark_safe(drawn)  # noqa: S308 - nothing but numbers


def _across(step: int, points: int) -> str:
    return f"{_EDGE + (step - 1) / (points - 1) * (_WIDTH - 2 * _EDGE):.1f}"


@register.filter
def beginning(text: str, most: int) -> str:
    """At most ``most`` characters; Django's own filter reads all of the text to count marks."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
