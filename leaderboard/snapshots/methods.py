"""The method of statistics that a setting asks for."""

from __future__ import annotations

from dataclasses import replace

from leaderboard.snapshots.settings import Setting
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.verdicts import TieBand


def method_at(setting: Setting, method: Method) -> Method:
    """The method with the ties, level and resampling of a setting."""
    return replace(
        method,
        ties=setting.ties == "on",
        tie_band=TieBand.parse(setting.band) if setting.band else None,
        resample=setting.resample,
        interval=float(setting.level),
    )
