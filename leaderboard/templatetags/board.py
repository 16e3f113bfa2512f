"""How public pages write numbers, tables and tabs."""

from html import escape
from typing import Any, Final

from django import template
from django.template.context import Context
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from arena.models import Study
from arena.texts import markdown
from leaderboard.models import Snapshot
from leaderboard.pages.format import counted
from leaderboard.pages.switches import Option, Switch
from leaderboard.pages.table_html import data_table
from leaderboard.pages.tabs import TABS, tabs

register = template.Library()

register.filter("summary", markdown.summary)
register.simple_tag(data_table)

_BELONGS: Final = {
    "study-contestant": "study",
    "study-plan": "study",
    "study-anchored": "study",
    "study-rater": "study-raters",
    "study-judges": "study-raters",
    "study-two": "study-agreement",
    "study-comparison": "study-comparisons",
    "study-requirement-text": "study-requirements",
    **dict.fromkeys(("study-releases", "study-release", "study-release-changes"), "study-results"),
}


@register.filter
def switch_options(switch: Switch) -> SafeString:
    """The options of a list as HTML, made here like ``data_table``."""
    return mark_safe("".join(map(_option, switch.options)))  # noqa: S308 - every text is escaped


def _option(option: Option) -> str:
    chosen = " selected" if option.chosen else " disabled" if option.comparisons == 0 else ""
    return f'<option value="{escape(option.value)}"{chosen}>{escape(option.label)}</option>'


@register.filter
def switch_links(switch: Switch) -> SafeString:
    links = (_link(f"{switch.name}-{place}", option) for place, option in enumerate(switch.options, 1))
    return mark_safe("".join(links))  # noqa: S308 - every text is escaped


def _link(id: str, option: Option) -> str:
    without = option.comparisons == 0 and not option.chosen
    leads = 'role="link" aria-disabled="true"' if without else f'href="{escape(option.query)}" rel="nofollow"'
    title = "" if option.comparisons is None else f' title="{counted(option.comparisons, "rating")}"'
    current = ' aria-current="true"' if option.chosen else ""
    return f'<a id="{escape(id)}" {leads}{title}{current}>{escape(option.label)}</a>'


@register.inclusion_tag("leaderboard/_study_tabs.html", takes_context=True)
def study_tabs(context: Context, study: Study) -> dict[str, Any]:
    page, match = context.get("page"), getattr(context.get("request"), "resolver_match", None)
    here = getattr(page, "tab", None) or getattr(match, "url_name", None) or ""
    shown = _BELONGS.get(here, here)
    snapshot = context.get("snapshot") or Snapshot.objects.newest(study)
    offered = tabs(study, snapshot)
    offered += [shown] if shown in TABS.keys() - offered else []
    return {"tabs": [(reverse(name, args=[study.slug]), TABS[name], name == shown) for name in offered]}
