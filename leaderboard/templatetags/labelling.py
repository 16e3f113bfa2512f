"""Shares and chances on the operators' pages of battles."""

from typing import NamedTuple

from django import template

from arena.models import Study
from judging.battles.categories import by_hand, versions
from leaderboard.pages.format import number, percent, percent_range, probability
from leaderboard.stats.shares import Share, wilson_share

register = template.Library()

register.filter("in_percent", percent)
register.filter("chance", probability)


@register.filter
def points(change: float) -> str:
    """A change of a score, with its sign."""
    return number(round(change), "+d") if round(change) else "0"


class Accuracy(NamedTuple):
    """How often a version of categories is right, of the prompts that were checked by hand."""

    name: str
    model: str
    share: Share

    @property
    def value(self) -> str:
        return percent(self.share.value)

    @property
    def ends(self) -> str:
        return percent_range(self.share.low, self.share.high)


@register.simple_tag
def labelling_accuracy(study: Study) -> list[Accuracy]:
    """The versions of a study's categories of which something was checked, the newest first."""
    found = []
    for labelling in versions(study):
        both = by_hand(labelling)
        share = wilson_share(sum(said == checked for said, checked in both), len(both))
        found.append(Accuracy(str(labelling.version), labelling.model, share))
    return [each for each in found if each.share.n]
