"""What an address asks of a plan. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from leaderboard.snapshots.settings import OF_PLANS, Counts, PairSetting, one_of, parse

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
