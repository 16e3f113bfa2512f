"""Makes tables of settings that no snapshot holds, by what the rooms declare."""

from __future__ import annotations

import json
import logging
import time
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl

from arena.models import Study
from leaderboard.anchoring.content import ANCHORED
from leaderboard.answers.stored.features import FEATURES_ON_DEMAND
from leaderboard.answers.stored.texts import CHECKS_ON_DEMAND, SCORES_ON_DEMAND
from leaderboard.head_to_head.measuring import HEAD_TO_HEAD
from leaderboard.judges.measuring import JUDGES
from leaderboard.models import ComputedView
from leaderboard.planning.content import PLAN
from leaderboard.raters.agreement.two import TWO
from leaderboard.raters.content import RATERS
from leaderboard.snapshots import on_demand
from leaderboard.snapshots.declarations import OnDemand, Request, SnapshotOutdatedError, method_of
from leaderboard.snapshots.settings import Scope
from leaderboard.snapshots.study_lock import DeletedError, Hold, still_there
from leaderboard.standings.content import BOARD, CATEGORIES
from leaderboard.trust.content import TRUST

logger = logging.getLogger(__name__)

DECLARED: Final = {
    each.scope: each
    for each in (
        BOARD,
        CATEGORIES,
        RATERS,
        JUDGES,
        TWO,
        ANCHORED,
        PLAN,
        HEAD_TO_HEAD,
        TRUST,
        CHECKS_ON_DEMAND,
        SCORES_ON_DEMAND,
        FEATURES_ON_DEMAND,
    )
}


def compute_next(study_id: int) -> bool:
    """Compute what has waited longest; False where nothing waits.

    The rest is asked for in another message, so that other tasks have their turn.
    """
    view = on_demand.claim(study_id)
    if view is None or view.running_until is None:
        return False
    with Hold(f"view {view.pk}", view.running_until, partial(ComputedView.objects.renew, view.pk)):
        started = time.perf_counter()
        try:
            with still_there(study_id, str(view)):
                payload = tables_of(view)
        except DeletedError:
            return False
        except SnapshotOutdatedError:
            on_demand.fail(view, on_demand.CHANGED)
        except Exception as error:
            logger.exception("%s could not be computed", view)
            on_demand.fail(view, f"{type(error).__name__}: {error}")
        else:
            on_demand.succeed(view, payload, time.perf_counter() - started)
    if ComputedView.objects.of(study_id).unfinished().exists():
        on_demand.nudge(study_id)
    return True


def tables_of(view: ComputedView) -> str:
    """The tables of a view as JSON. Raises SnapshotOutdatedError."""
    snapshot = view.snapshot
    method_of(snapshot)
    declared, setting = wanted_of(view)
    found = list(declared.tables(Request(view, setting)))
    # Asked last, because a change may have come while the data were read.
    if Study.objects.values_list("revision", flat=True).get(pk=snapshot.study_id) != snapshot.revision:
        raise SnapshotOutdatedError
    return json.dumps([vars(table) for table in found], sort_keys=True, separators=(",", ":"))


def wanted_of(view: ComputedView) -> tuple[OnDemand, Any]:
    """What makes the tables of a view, and the setting they are wanted at. Raises SnapshotOutdatedError."""
    address, _, query = view.setting.partition("#")[0].partition("?")
    declared = DECLARED[Scope(address)]
    setting = declared.parse(dict(parse_qsl(query)), view.snapshot.known)
    if setting is None:
        raise SnapshotOutdatedError
    return declared, setting
