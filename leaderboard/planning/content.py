"""How many more prompts would tell two contestants apart, as a page shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from arena.models import Contestant, Study
from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.declarations import OnDemand
from leaderboard.snapshots.reading import Opinions
from leaderboard.snapshots.settings import OF_PLANS, Counts, PairSetting, Scope, one_of, parse
from leaderboard.stats import Method, StatsError, plan_from_data
from leaderboard.stats.planning import SMALLEST_GAP

GAPS: Final = (10.0, 20.0, 30.0, 50.0, 100.0)
"""Points; plans for these stand beside that for the measured gap."""


POWERS: Final = ("50", "80", "90", "95")
"""Percent, of plans."""


@dataclass(frozen=True)
class PlanSetting(PairSetting):
    """What a plan is for; the first two where no contestants are named, and the power in percent."""

    method: str = "bradley-terry"
    power: str = "80"


def parse_for_plan(wanted: Mapping[str, str], counts: Counts) -> PlanSetting | None:
    """The setting of a plan, its contestants as they are named. Raises UnknownSettingError."""
    found = parse({name: wanted[name] for name in OF_PLANS if name in wanted}, counts)
    two = {name: wanted.get(name) or "" for name in ("contestant", "against")}
    power = one_of("power", wanted.get("power") or PlanSetting.power, POWERS)
    if found is None:
        return None
    return PlanSetting(**vars(found) | two | {"method": PlanSetting.method, "power": power})


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
