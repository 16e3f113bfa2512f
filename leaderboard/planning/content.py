"""How many more prompts would tell two contestants apart, as a page shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from arena.models import Contestant, Study
from leaderboard.planning.settings import PlanSetting, parse_for_plan
from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.declarations import OnDemand
from leaderboard.snapshots.reading import Opinions
from leaderboard.snapshots.settings import Scope
from leaderboard.stats.checks import StatsError
from leaderboard.stats.planning import SMALLEST_GAP, plan_from_data
from leaderboard.stats.ranking_method import Method

GAPS: Final = (10.0, 20.0, 30.0, 50.0, 100.0)
"""Points; plans for these stand beside that for the measured gap."""


def plan_table(study: Study, opinions: Opinions, setting: PlanSetting, method: Method) -> Table:
    """The table of a page. Its key ``nothing`` says why there is no plan."""
    slugs = (setting.contestant, setting.against)
    named = dict(Contestant.objects.filter(study=study, slug__in=slugs).values_list("slug", "name"))
    own = next(choice for choice in opinions.raters if choice.selector == setting.raters)
    players = opinions.by(own.ids).within(setting.category).present()
    without = [named.get(slug, slug) for slug in slugs if named.get(slug) not in players.names]
    try:
        content = (
            {"nothing": f"no rating here is of {' and of '.join(without)}"}
            if without
            else planned(players, [named[slug] for slug in slugs], float(setting.power), method)
        )
    except StatsError as error:
        content = {"nothing": str(error)}
    return Table("plan", setting.raters, canonical(content))


def planned(players: Opinions, two: Sequence[str], power: float, method: Method) -> dict[str, Any]:
    """What it takes to tell two contestants apart, and to see other gaps between them. Raises StatsError."""
    names = players.names
    plan = plan_from_data(
        players.ratings(),
        between=(names.index(two[0]), names.index(two[1])),
        gap=GAPS[0],
        level=method.interval,
        power=power,
        ties=method.ties,
        tie_band=method.tie_band,
    )
    measured = abs(plan.evidence.gap) if plan.evidence else 0.0
    alike = measured < SMALLEST_GAP
    plans = {gap: plan.at(gap).as_dict(names) for gap in sorted({*GAPS, *([] if alike else [measured])})}
    asked = plans[GAPS[0] if alike else measured]
    same = f"{two[0]} and {two[1]} have the same score so far. " if alike else ""
    return {
        **asked,
        "sentence": same + asked["sentence"],
        "warnings": list(dict.fromkeys(each for own in plans.values() for each in own["warnings"])),
        "gaps": [
            {"gap": own["gap"], "measured": gap == measured, "needs": own["needs"]}
            for gap, own in plans.items()
        ],
    }


PLAN: Final = OnDemand.one(Scope.PLAN, parse_for_plan, plan_table)
