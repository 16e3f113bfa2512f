"""What raters said, names and beginnings of texts, for the comparison browser.

Written here: as templates they would be half of the time of the page.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from html import escape
from typing import Final

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from arena.models import Study
from leaderboard.pages.pairs import Answer, Entry, Rated, Side
from leaderboard.templatetags.standings import by_people

register = template.Library()

_NOT_RATED: Final = '<span class="badge badge-bad">Not rated</span>'
_WIDTH: Final = 200
_EDGE: Final = 11


@register.simple_tag
def pair_answers(answers: Iterable[Answer], entry: Entry, whole: bool) -> SafeString:
    """A list of what raters said of a pair; ``whole``: with what they wrote unfolded."""
    of_people, plain = entry.of_people, entry.all_simulated
    made = "\n".join(_answer(answer, of_people, plain, whole) for answer in answers)
    return mark_safe(f'<ul class="plain pair-answers">\n{made}\n</ul>')  # noqa: S308 - every text is escaped


def _answer(answer: Answer, of_people: float | None, plain: bool, whole: bool) -> str:
    comparison = answer.comparison
    judge = ' <span class="badge">Judge</span>' if answer.by_judge else ""
    if comparison.rater.simulated and not plain:
        judge += ' <span class="badge badge-simulated">Simulated</span>'
    turn = f", turn {comparison.turn}" if comparison.turn else ""
    return (
        f'<li class="pair-answer" id="answer-{comparison.pk}">\n'
        f'<div class="pair-rater"><strong>{escape(answer.rater)}</strong>{judge}'
        f' <span class="pair-order">{"B" if comparison.swapped else "A"} shown first{turn}</span></div>\n'
        f'<div class="pair-said">\n{"".join(_said(answer, of_people, whole))}\n</div>\n</li>'
    )


def _said(answer: Answer, of_people: float | None, whole: bool) -> Iterator[str]:
    comparison = answer.comparison
    if answer.identical:
        yield '<span class="badge">Identical answers</span>'
    if answer.overall:
        yield _rating(answer.overall, of_people)
    elif answer.reason or not answer.identical:
        yield f"<span>{_NOT_RATED} {escape(answer.reason)}</span>"
    if answer.scores:
        yield f'<span class="small muted">Points given: {escape(answer.scores)}</span>'
    for criterion, rated, reason in answer.criteria:
        named = escape(criterion)
        if rated:
            yield _rating(rated, None, f'<span class="muted">{named}:</span> ')
        else:
            yield f"<span>{named}: {_NOT_RATED} {escape(reason)}</span>"
    if comparison.rationale:
        yield _folded("Rationale", comparison.rationale, opened=whole)
    if comparison.raw_reply and (whole or not comparison.rationale):
        opened = whole and not comparison.rationale
        yield _folded("Raw reply", comparison.raw_reply, " mono pair-reply", opened=opened)
    judge = getattr(comparison.rater, "judge", None) if whole else None
    if judge:
        yield f'<p class="small muted">Model {escape(judge.model)}, protocol {escape(judge.protocol)}</p>'


def _rating(rated: Rated, of_people: float | None, named: str = "") -> str:
    """The scale with the rating, and what it says in words."""
    scale = _scale(rated.rating, rated.points, None if of_people is None else round(of_people, 3))
    return (
        f'<div class="pair-rating">{scale}<span class="pair-words">{named}<span class="visually-hidden">'
        f"{rated.rating} of {rated.points}: </span>{escape(rated.words)}</span></div>"
    )


def _folded(title: str, text: str, kind: str = "", *, opened: bool) -> str:
    return (
        f"<details{' open' if opened else ''}><summary>{title}</summary>"
        f'<div class="verbatim small{kind}" dir="auto">{escape(text)}</div></details>'
    )


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


@lru_cache(maxsize=1000)
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
        f'<circle class="pair-given-{side}" cx="{here}" cy="19" r="9.5"/>'
        f'<text class="pair-number" x="{here}" y="23.5">{rating}</text></svg>'
    )
    return mark_safe(drawn)  # noqa: S308 - nothing but numbers


def _across(step: int, points: int) -> str:
    return f"{_EDGE + (step - 1) / (points - 1) * (_WIDTH - 2 * _EDGE):.1f}"


@register.filter
def beginning(text: str, most: int) -> str:
    """At most ``most`` characters; Django's own filter reads all of the text to count marks."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
