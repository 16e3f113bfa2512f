"""Where a board finds its tables: in the snapshot at the level asked for, or computed when it is asked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from leaderboard import on_demand
from leaderboard.board.levels import at_level
from leaderboard.board.setting import EVERYONE, Setting
from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.on_demand import Failed, Place, Ready, Waiting
from leaderboard.tables import Content, beside

_OF_STANDINGS: Final = ("standings", EVERYONE)


@dataclass(frozen=True)
class Found:
    """The tables of a setting; ``pending`` says why those that depend on all of it are not there yet."""

    contents: Mapping[Place, Content]
    pending: Waiting | Failed | None = None


def find(snapshot: Snapshot, setting: Setting) -> Found:
    """Everything a board shows for a setting: one query where the snapshot holds it, else two."""
    stored = _stored(snapshot, setting)
    asked = [setting.computed, setting]
    if setting.is_stored(snapshot.counts["categories"]):
        picked = _picked(stored, setting)
        if picked is not None:
            return Found(picked)
        asked = [setting]  # a level that this snapshot does not hold
    general = {
        place: content for place, content in stored.items() if place[0] not in ("standings", "matrices")
    }
    for each in dict.fromkeys(asked):
        answer = on_demand.contents(snapshot, each)
        if not isinstance(answer, Ready):
            return Found(general, answer)
        picked = _picked({**general, **answer.contents}, setting)
        if picked is not None:
            return Found(picked)
    return Found(general)


def _stored(snapshot: Snapshot, setting: Setting) -> dict[Place, Any]:
    rows = SnapshotSlice.objects.filter(snapshot=snapshot).for_board(
        setting.raters, setting.ties, setting.category, setting.method, beside(setting.method)
    )
    return {(row.kind, row.raters, row.ties, row.method): row.content for row in rows}


def _picked(contents: Mapping[Place, Content], setting: Setting) -> dict[Place, Content] | None:
    """The tables at the level of the setting; None where the standings it is about do not hold that level.

    Standings beside them that do not hold it are left out.
    """
    found = {}
    for place, content in contents.items():
        chosen = at_level(content, setting.level) if place[0] in _OF_STANDINGS else content
        if chosen is not None:
            found[place] = chosen
    own = ("standings", setting.raters, setting.ties, setting.method)
    return None if own in contents and own not in found else found
