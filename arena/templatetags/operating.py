"""The tab bar of the operators' pages."""

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
    "operate-releases": "Releases",
    "operate-state": "Pause and close",
    "operate-export": "Rater data",
}
"""By URL name. A page belongs to the tab whose address its own begins with."""


STAFF_TABS: Final = {
    "operate": "Studies",
    "operate-all-raters": "Raters",
    "operate-groups": "Groups of raters",
    "operate-keys": "API keys",
}


class Tab(NamedTuple):
    address: str
    label: str
    here: bool


@register.simple_tag(takes_context=True)
def operate_tabs(context: Context, study: Study) -> list[Tab]:
    return _bar(context, TABS, [study.slug])


@register.simple_tag(takes_context=True)
def staff_tabs(context: Context) -> list[Tab]:
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
    return "" if share is None else f"{100 * share:.0f} %"
