"""The worker's part of numbers on demand: claim a setting, compute its tables, store them."""

import json
import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from arena.models import Study
from leaderboard import on_demand
from leaderboard.board.scope import Scope
from leaderboard.board.setting import Setting, parse, parse_for_all, parse_for_judges
from leaderboard.holding import Hold
from leaderboard.models import ComputedView, Snapshot

if TYPE_CHECKING:
    from leaderboard.stats import Method

logger = logging.getLogger(__name__)

THREADS: Final = 2

_PARSERS: Final = {Scope.RATERS: parse_for_all, Scope.JUDGES: parse_for_judges}


class SnapshotOutdatedError(Exception):
    """The data of a snapshot, or the methods it was made by, are no longer there to compute from."""


def compute_next(study_id: int) -> bool:
    """Compute what has waited longest of a study; False where there was nothing to do.

    Asks for the rest in a message of its own, so that other work of the queue has its turn in between.
    """
    view = on_demand.claim(study_id)
    if view is None or view.running_until is None:
        return False
    with Hold(f"view {view.pk}", view.running_until, partial(ComputedView.objects.renew, view.pk)):
        started = time.perf_counter()
        try:
            payload = tables_of(view)
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
    """The tables of a setting as JSON. Raises SnapshotOutdatedError."""
    from leaderboard.ablation.beside import beside
    from leaderboard.ablation.content import judges_table
    from leaderboard.reading.games import opinions
    from leaderboard.reading.measures import texts
    from leaderboard.slices.any_setting import any_tables

    snapshot, method = view.snapshot, method_of(view.snapshot)
    setting, scope = wanted_of(view)
    read = opinions(snapshot.study, snapshot.last_comparison)
    more = beside(snapshot.study, read, snapshot.last_comparison) if scope is Scope.JUDGES else None
    measured = texts(snapshot.study) if scope is Scope.RATERS else None
    # Read again, because a change may have come in between.
    revision = Study.objects.values_list("revision", flat=True).get(pk=snapshot.study_id)
    if read.mark != snapshot.data or revision != snapshot.revision:
        raise SnapshotOutdatedError
    if more is not None:
        found = [judges_table(read, more, setting.raters, method)]
    else:
        found = [*any_tables(read, setting, scope, method, on_demand.siblings(view), measured)]
    return json.dumps([vars(table) for table in found], sort_keys=True, separators=(",", ":"))


def wanted_of(view: ComputedView) -> tuple[Setting, Scope]:
    """The setting that a row is about, and which of its tables. Raises SnapshotOutdatedError."""
    address, _, query = view.setting.partition("?")
    scope = Scope(address)
    read = _PARSERS.get(scope, parse)
    found = read(dict(parse_qsl(query)), view.snapshot.counts)
    if found is None:
        raise SnapshotOutdatedError
    return found, scope


def method_of(snapshot: Snapshot) -> "Method":
    """The parameters a snapshot was made with. Raises SnapshotOutdatedError for those of an older version."""
    from leaderboard.stats import METHODOLOGY, EloParameters, Method

    if snapshot.methodology != METHODOLOGY:
        raise SnapshotOutdatedError
    used = snapshot.parameters
    elo = EloParameters(**{name: used[name] for name in ("k", "scale", "base", "init")})
    return Method(
        rounds=used["rounds"], interval=used["interval"], seed=snapshot.seed, elo=elo, threads=THREADS
    )
