"""Ratings, names and beginnings of texts, for the comparison browser.

Written here: as templates they would be half of the time of the page.
"""

from functools import cache
from html import escape
from typing import Final

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from arena.models import Study
from leaderboard.comparisons.pairs import Rated, Side
from leaderboard.templatetags.standings import by_people

register = template.Library()

_WIDTH: Final = 200
_EDGE: Final = 11


@register.simple_tag
def pair_rating(rated: Rated, of_people: float | None, label: str = "") -> SafeString:
    """The scale with the rating, and what it says in words; ``label`` names its criterion."""
    scale = _scale(rated.rating, rated.points, None if of_people is None else round(of_people, 3))
    named = f'<span class="muted">{escape(label)}:</span> ' if label else ""
    made = (
        f'<div class="pair-rating">{scale}<span class="pair-words">{named}<span class="visually-hidden">'
        f"{rated.rating} of {rated.points}: </span>{escape(rated.words)}</span></div>"
    )
    return mark_safe(made)  # noqa: S308 - every text is escaped


@register.simple_tag
def side_name(study: Study, side: Side, linked: bool = False) -> SafeString:
    """Letter and name of who wrote one of the two answers, with the mark of people."""
    author, name = side.contestant, f"<span>{escape(side.name)}</span>"
    if linked and author:
        address = reverse("study-contestant", args=[study.slug, author.slug])
        name = f'<a href="{escape(address)}">{escape(side.name)}</a>'
    made = (
        f'<span class="pair-letter pair-letter-{side.letter.lower()}" aria-hidden="true">{side.letter}</span>'
        f"{name}{f' {by_people()}' if author and author.kind == 'people' else ''}"
    )
    return mark_safe(made)  # noqa: S308 - every text is escaped


@cache
def _scale(rating: int, points: int, of_people: float | None) -> SafeString:
    """The points from A, on the left, to B, with the rating marked, and a line at the mean of people."""
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
