"""Finds a page's tables in the snapshot or on demand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from django.db.models import Q

from leaderboard.models import Snapshot
from leaderboard.models.querysets import SliceQuerySet
from leaderboard.snapshots import on_demand
from leaderboard.snapshots.holding import holds, holds_standings
from leaderboard.snapshots.method_names import method_beside
from leaderboard.snapshots.on_demand import Askable, Pending
from leaderboard.snapshots.settings import Scope, Setting
from leaderboard.snapshots.stored import Place, Stored, rows_of
from leaderboard.snapshots.visible_lengths import shown

_HELD: Final[Mapping[Scope, Callable[[SliceQuerySet, Setting], SliceQuerySet]]] = {
    Scope.BOARD: lambda rows, at: rows.for_board(
        at.raters, at.ties, at.category, at.method, method_beside(at.method)
    ),
    Scope.CATEGORIES: lambda rows, at: rows.for_categories(at.raters, at.ties, at.method),
    Scope.RATERS: lambda rows, at: rows.for_raters(at.category),
}
"""What snapshots hold of each scope; other scopes are always computed."""


@dataclass(frozen=True)
class Found:
    stored: Stored
    pending: Pending | None = None


def find(snapshot: Snapshot, setting: Setting, *scopes: Scope, also: Q | None = None) -> Found:
    """What scopes show at a setting, and the tables that ``also`` selects."""
    general = Stored.read(snapshot, also) if also else Stored({})
    asked = [setting.computed, setting] if all(scope.has_levels for scope in scopes) else [setting]
    if all(is_held(snapshot, setting, scope) for scope in scopes):
        stored = Stored({**general.payloads, **_held(snapshot, setting, scopes)}, setting.level)
        if _at_its_level(stored, setting):
            return Found(stored)
        asked = [setting]  # a level that this snapshot does not hold
    for each in dict.fromkeys(asked):
        found = computed(snapshot, each, *scopes)
        if found.pending:
            return Found(general, found.pending)
        stored = Stored({**general.payloads, **found.stored.payloads}, setting.level)
        if _at_its_level(stored, setting):
            return Found(stored)
    return Found(general)


def _held(snapshot: Snapshot, asked: Setting, scopes: Sequence[Scope]) -> Mapping[Place, str]:
    rows = chain.from_iterable(_HELD[scope](rows_of(snapshot), asked) for scope in scopes)
    return shown(snapshot.study, Stored.of(rows).payloads)


def is_held(snapshot: Snapshot, setting: Setting, scope: Scope) -> bool:
    """Whether the snapshot has every table that the scope shows at the setting."""
    if scope not in _HELD:
        return False
    counts = snapshot.counts
    one_level = scope is not Scope.RATERS or float(setting.level) == snapshot.parameters["interval"]
    return one_level and setting.is_stored(counts["categories"]) and holds(counts, setting, scope)


def find_about_raters(snapshot: Snapshot, setting: Setting, board: Setting | None) -> Found:
    """What pages about raters show at a setting, with the standings of a board by each kind of raters."""
    if board is None:
        return find(snapshot, setting, Scope.RATERS)
    place = {"category": board.category, "ties": board.ties, "method": board.method}
    usual = not (setting.prompts or setting.visitors)
    found = find(snapshot, setting, Scope.RATERS, also=Q(kind="standings", **place) if usual else None)
    raters = [one["selector"] for one in snapshot.counts["raters"]]
    if usual and all(holds_standings(snapshot.counts, one, **place) for one in raters):
        return found
    shown = {"prompts": setting.prompts, "visitors": setting.visitors}
    boards = computed(snapshot, replace(board, raters=raters[0], **shown), Scope.BOARD)
    more = {place: payload for place, payload in boards.stored.payloads.items() if place[0] == "standings"}
    stored = Stored({**more, **found.stored.payloads}, found.stored.level)
    return Found(stored, found.pending or boards.pending)


def computed(snapshot: Snapshot, setting: Askable, *scopes: Scope) -> Found:
    """What is computed on demand for the scopes at a setting; what is not there yet is asked for."""
    there: dict[Place, str] = {}
    missing: list[Pending] = []
    for scope in scopes:
        answer = on_demand.contents(snapshot, setting, scope)
        if isinstance(answer, Pending):
            missing.append(answer)
        else:
            there |= shown(snapshot.study, answer)
    return Found(Stored(there), min(missing, key=lambda one: not one.is_coming, default=None))


def _at_its_level(stored: Stored, setting: Setting) -> bool:
    own = ("standings", setting.raters, setting.ties, setting.method)
    return all(
        stored.get(*place) is not None
        for place in stored.payloads
        if (place[0], place[1], place[3], place[4]) == own
    )
