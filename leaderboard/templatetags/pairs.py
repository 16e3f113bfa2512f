"""The scale of a rating and beginnings of texts, for the comparison browser."""

from functools import cache

from django import template
from django.utils.safestring import SafeString, mark_safe

from leaderboard.comparisons.pairs import Answer, Rated

register = template.Library()


@register.simple_tag
def scale(answer: Answer, rated: Rated) -> SafeString:
    """The points of the scale with the chosen one marked, between the letters of the texts as shown."""
    return _scale(rated.rating, rated.points, answer.first.letter, answer.second.letter)


@cache
def _scale(rating: int, points: int, first: str, second: str) -> SafeString:
    # Written here: as a template it would be half of the time of the page. Letters are A and B.
    steps = "".join(
        f'<span class="pair-step pair-step-chosen">{rating}</span>'
        if step == rating
        else '<span class="pair-step"></span>'
        for step in range(1, points + 1)
    )
    drawn = f'<span class="pair-scale" aria-hidden="true">{_letter(first)}{steps}{_letter(second)}</span>'
    return mark_safe(drawn)  # noqa: S308 - nothing but numbers and letters


def _letter(letter: str) -> str:
    return f'<span class="pair-letter pair-letter-{letter.lower()}">{letter}</span>'


@register.filter
def beginning(text: str, most: int) -> str:
    """At most ``most`` characters; Django's own filter reads all of the text to count marks."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
