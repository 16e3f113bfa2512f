"""The tab bar of the operators' pages, wherever the page lives."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from django import template
from django.template import Context
from django.urls import NoReverseMatch, reverse

from arena.models import Study

register = template.Library()

TABS: Final = {
    "operate-study": "Set-up",
    "operate-names": "Names in answers",
    "operate-people": "People",
    "operate-progress": "Progress",
    "operate-raters": "Rating quality",
    "operate-disagreements": "Disagreements",
    "operate-state": "Pause and close",
    "operate-export": "Rater data",
}
"""The pages of a study by the names of their addresses. A page belongs to the tab its address begins with."""


STAFF_TABS: Final = {
    "operate": "Studies",
    "operate-all-raters": "Raters",
    "operate-groups": "Groups of raters",
    "operate-keys": "API keys",
}
"""Pages about no study, for staff accounts."""


class Tab(NamedTuple):
    """A page of the bar; ``here``: the page shown belongs to it."""

    address: str
    label: str
    here: bool


@register.simple_tag(takes_context=True)
def operate_tabs(context: Context, study: Study) -> list[Tab]:
    """The tabs of a study's pages for operators."""
    return _bar(context, TABS, [study.slug])


@register.simple_tag(takes_context=True)
def staff_tabs(context: Context) -> list[Tab]:
    """The tabs of the pages about all studies."""
    return _bar(context, STAFF_TABS, [])


def _bar(context: Context, tabs: Mapping[str, str], arguments: list[str]) -> list[Tab]:
    request = context.get("request")
    path = request.path if request else ""
    found = {}
    for name, label in tabs.items():
        try:
            found[reverse(name, args=arguments)] = label
        except NoReverseMatch:  # the page of an app that is not installed
            continue
    here = max((address for address in found if path.startswith(address)), key=len, default="")
    return [Tab(address, label, address == here) for address, label in found.items()]


@register.filter
def percent(share: float | None) -> str:
    """A share as whole percent."""
    return "" if share is None else f"{100 * share:.0f} %"
