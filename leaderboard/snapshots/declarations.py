"""What rooms declare to be computed when an address asks for tables that no snapshot holds.

A room says which scope it fills, how its address is read and how its tables are made; the maker in
leaderboard.refreshing goes through what all of them declare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from arena.models import Study
from leaderboard.models import ComputedView, Snapshot
from leaderboard.snapshots import columns, on_demand
from leaderboard.snapshots.canonical import Table
from leaderboard.snapshots.copying import Payloads
from leaderboard.snapshots.methods import method_at
from leaderboard.snapshots.reading import Opinions, opinions_of
from leaderboard.snapshots.settings import Counts, Scope
from leaderboard.stats.elo import EloParameters
from leaderboard.stats.ranking_method import METHODOLOGY, Method

THREADS: Final = 2


class SnapshotOutdatedError(Exception):
    """The data or methods of a snapshot are gone."""


def method_of(snapshot: Snapshot) -> Method:
    """The method of a snapshot. Raises SnapshotOutdatedError for an older methodology."""
    if snapshot.methodology != METHODOLOGY:
        raise SnapshotOutdatedError
    used = snapshot.parameters
    elo = EloParameters(**{name: used[name] for name in ("k", "scale", "base", "init")})
    return Method(
        rounds=used["rounds"], interval=used["interval"], seed=snapshot.seed, elo=elo, threads=THREADS
    )


@dataclass(frozen=True, eq=False)
class Request:
    """Tables wanted at a ``setting``, with the data and the method of the snapshot they are of.

    What is read raises SnapshotOutdatedError where it changed since the snapshot.
    """

    view: ComputedView
    setting: Any

    @property
    def snapshot(self) -> Snapshot:
        return self.view.snapshot

    @property
    def study(self) -> Study:
        return self.snapshot.study

    @cached_property
    def method(self) -> Method:
        """The snapshot's method with the parameters of the setting."""
        return method_at(self.setting, method_of(self.snapshot))

    @cached_property
    def opinions(self) -> Opinions:
        """The comparisons that the snapshot counts, on the prompts and by the raters of the setting."""
        read = opinions_of(self.snapshot)
        if read.mark != self.snapshot.data:
            raise SnapshotOutdatedError
        return read.at(getattr(self.setting, "prompts", ""), getattr(self.setting, "visitors", ""))

    @cached_property
    def rated(self) -> Opinions:
        """The comparisons, by the criterion and the turn of the setting."""
        name, read = self.setting.criterion, self.opinions.at_turn(self.setting.turn)
        return read.by_criterion(columns.of_criterion(self.study, name)) if name else read

    @cached_property
    def known(self) -> Payloads:
        """Standings of the snapshot by digest of their inputs: they are copied."""
        return on_demand.siblings(self.view)


@dataclass(frozen=True)
class OnDemand:
    """A scope, the setting that its address asks for, and its tables.

    ``parse`` gets the address and what the snapshot knows; None where there is nothing to show. It raises
    UnknownSettingError.
    """

    scope: Scope
    parse: Callable[[Mapping[str, str], Counts], Any]
    tables: Callable[[Request], Iterable[Table]]

    @classmethod
    def one(
        cls,
        scope: Scope,
        parse: Callable[[Mapping[str, str], Counts], Any],
        make: Callable[[Study, Opinions, Any, Method], Table],
    ) -> OnDemand:
        """A scope of one table, made from the comparisons by the setting's criterion."""
        return cls(scope, parse, lambda at: [make(at.study, at.rated, at.setting, at.method)])
