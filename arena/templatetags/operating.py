"""The tab bars of the operators' pages."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from django import template
from django.template import Context
from django.urls import reverse

from arena.models import Study
from arena.studies import steps

register = template.Library()

PROPOSED: Final = "operate-submissions"
"""A page for studies that take proposals only."""

TABS: Final[dict[str, dict[str, str]]] = {
    "Set-up": {
        "operate-study": "",
        "operate-import": "Import",
        "operate-prompts": "Prompts",
        "operate-requirements": "Requirements",
        "operate-contestants": "Models",
        PROPOSED: "Proposed models",
        "operate-completions": "Answers",
        "operate-pairs": "Pairs",
        "operate-names": "Names in answers",
    },
    "People": {"operate-people": "People"},
    "Judges": {
        "operate-judges": "Judges",
        "operate-tags": "Error tags",
        "operate-adversarial": "Adversarial pairs",
    },
    "Battles": {
        "operate-battles": "Settings",
        "operate-battles-watch": "Watch",
        "operate-battles-prompts": "Prompts",
        "operate-battles-categories": "Categories",
    },
    "Progress": {
        "operate-progress": "Overview",
        "operate-progress-pairs": "Pairs",
        "operate-flags": "Flags",
    },
    "Quality": {"operate-raters": "Raters", "operate-disagreements": "Disagreements"},
    "Results": {"operate-export": "Files", "operate-releases": "Releases"},
    "Close": {"operate-state": "Close"},
}
"""The pages of each tab by URL name; a tab leads to its first. A page without a label is in no bar below."""

OF_TASKS: Final = {
    "operate-requirements": "check",
    "operate-pairs": "compare",
    "operate-progress-pairs": "compare",
    "operate-disagreements": "compare",
    "operate-adversarial": "compare",
}
"""Pages for studies with this task only."""

STAFF_TABS: Final = {
    "operate": "Studies",
    "operate-all-raters": "Raters",
    "operate-groups": "Groups of raters",
    "operate-keys": "API keys",
    "operate-audit": "Audit log",
}


class Tab(NamedTuple):
    address: str
    label: str
    here: bool


@register.simple_tag(takes_context=True)
def operate_tabs(context: Context, study: Study) -> list[Tab]:
    """The tabs of a study."""
    here = _here(context, study)
    return [
        Tab(reverse(next(iter(names)), args=[study.slug]), label, here in names)
        for label, names in TABS.items()
    ]


@register.simple_tag(takes_context=True)
def operate_parts(context: Context, study: Study) -> list[Tab]:
    """The pages of the present tab, if it has several and the present page is one of them."""
    here = _here(context, study)
    parts: Mapping[str, str] = next((names for names in TABS.values() if names.get(here)), {})
    found = [
        Tab(reverse(name, args=[study.slug]), label, name == here)
        for name, label in parts.items()
        if label and OF_TASKS.get(name) in (None, *study.tasks) and (study.takes_models or name != PROPOSED)
    ]
    return found if len(found) > 1 else []


@register.simple_tag(takes_context=True)
def operate_place(context: Context, study: Study) -> steps.Place | None:
    """Return the place of the present page in the set-up."""
    return steps.place_of(study, context.get("request"))


@register.simple_tag(takes_context=True)
def staff_tabs(context: Context) -> list[Tab]:
    addresses = {name: reverse(name) for name in STAFF_TABS}
    here = _nearest(context, addresses)
    return [Tab(addresses[name], label, name == here) for name, label in STAFF_TABS.items()]


def _here(context: Context, study: Study) -> str:
    addresses = {name: reverse(name, args=[study.slug]) for names in TABS.values() for name in names}
    return _nearest(context, addresses)


def _nearest(context: Context, addresses: Mapping[str, str]) -> str:
    """The page whose address the present one begins with, the longest of them."""
    request = context.get("request")
    path = request.path if request else ""
    fits = [name for name, address in addresses.items() if path.startswith(address)]
    return max(fits, key=lambda name: len(addresses[name]), default="")
