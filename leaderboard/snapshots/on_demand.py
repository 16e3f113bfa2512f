"""Tables of settings that no snapshot holds, computed by a worker when somebody asks.

The rows are the queue; Celery messages only nudge workers.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from django.db import transaction
from django.db.models import F, Max, Q
from django.utils import timezone

from arena.process import nudging
from leaderboard.models import ComputedView, Refresh, Snapshot, SnapshotSlice
from leaderboard.models.querysets import ComputedViewQuerySet
from leaderboard.snapshots.canonical import FORM
from leaderboard.snapshots.freshness import LOST_AFTER, RETRY_FAILED_AFTER
from leaderboard.snapshots.settings import Scope
from leaderboard.snapshots.stored import Place
from leaderboard.snapshots.study_lock import HELD_FOR

MOST_WAITING: Final = 8
"""Settings of one study that may wait at a time, since anybody may ask."""

MOST_KEPT: Final = 200
"""Settings of one study that are kept; the least recently read go first."""

MOST_ATTEMPTS: Final = 3
READ_NOTED_EVERY: Final = timedelta(minutes=10)
"""How often the time of a read is written: pages should not write each time."""

CHANGED: Final = "The study changed since the snapshot was made."

_SENTENCES: Final = {
    "wanted": "These numbers are waiting to be computed.",
    "running": "These numbers are being computed now.",
    "changed": "The study changed. The new numbers come in a moment.",
    "crowded": "Too many other settings of this study are waiting. Try again in half a minute.",
    "failed": "These numbers could not be computed. The server tries again in a few minutes.",
}


@dataclass(frozen=True)
class Pending:
    """Tables that are not there; ``state`` is wanted, running, changed, crowded or failed.

    changed: they are made for the study's next snapshot. crowded: too many others wait. ``error`` is for
    operators.
    """

    state: str
    error: str = ""
    again_at: datetime | None = None

    @property
    def sentence(self) -> str:
        return _SENTENCES[self.state]

    @property
    def is_coming(self) -> bool:
        """Whether the tables come without anybody asking again."""
        return self.state not in ("crowded", "failed")

    @property
    def retry_after(self) -> int:
        """Seconds until it is worth asking again."""
        if self.again_at:
            return max(1, round((self.again_at - timezone.now()).total_seconds()))
        return 2 if self.is_coming else 30


class Askable(Protocol):
    """What an address asks for."""

    def query(self, **changes: str) -> str: ...


def key_of(setting: Askable, scope: Scope) -> str:
    """The address of a scope at a setting, and the form of its tables."""
    query = setting.query(category="") if scope.has_every_category else setting.query()
    return f"{scope}{query}#{FORM}"


def contents(
    snapshot: Snapshot, setting: Askable, scope: Scope = Scope.BOARD
) -> Mapping[Place, str] | Pending:
    """The tables of a setting; asks for them if nobody has yet."""
    now, key = timezone.now(), key_of(setting, scope)
    view = ComputedView.objects.filter(snapshot=snapshot, setting=key).first()
    if view is None or (view.state == ComputedView.State.FAILED and _may_try_again(view, now)):
        view = _want(snapshot, key, now)
    if view is None:
        return Pending("crowded")
    if view.state == ComputedView.State.READY:
        if view.read_at is None or view.read_at + READ_NOTED_EVERY <= now:
            ComputedView.objects.filter(pk=view.pk).update(read_at=now)
        return {
            (row["kind"], row["raters"], row["category"], row["ties"], row["method"]): row["payload"]
            for row in json.loads(view.payload)
        }
    if view.state == ComputedView.State.FAILED:
        if view.error == CHANGED:
            return Pending("changed")
        return Pending("failed", view.error, _failed_at(view) + RETRY_FAILED_AFTER)
    return Pending(view.state)


def _failed_at(view: ComputedView) -> datetime:
    return view.computed_at or view.wanted_at


def _may_try_again(view: ComputedView, now: datetime) -> bool:
    after = LOST_AFTER if view.error == CHANGED else RETRY_FAILED_AFTER
    return _failed_at(view) + after <= now


@transaction.atomic
def _want(snapshot: Snapshot, key: str, now: datetime) -> ComputedView | None:
    """The row of a setting, wanted if new or failed; None where too many wait."""
    study_id = snapshot.study_id
    _lock(study_id)
    found = ComputedView.objects.filter(snapshot=snapshot, setting=key).first()
    if found is not None and not (found.state == ComputedView.State.FAILED and _may_try_again(found, now)):
        return found  # another request was faster
    others = ComputedView.objects.of(study_id)
    others.superseded(snapshot.pk).delete()
    if others.unfinished().count() >= MOST_WAITING:
        return None
    if found is None:
        _make_room(others)
        found = ComputedView(snapshot=snapshot, setting=key)
    found.state, found.wanted_at, found.read_at = ComputedView.State.WANTED, now, now
    found.attempts, found.error = 0, ""
    found.save()
    transaction.on_commit(lambda: nudge(study_id))
    return found


def _lock(study_id: int) -> None:
    """Keep others from asking for or beginning a computation of the study in this transaction."""
    Refresh.objects.get_or_create(study_id=study_id)
    Refresh.objects.select_for_update().get(study_id=study_id)


def _make_room(views: ComputedViewQuerySet) -> None:
    done = views.exclude(pk__in=views.unfinished().values("pk")).order_by(F("read_at").asc(nulls_first=True))
    surplus = views.count() - (MOST_KEPT - 1)
    if surplus > 0:
        ComputedView.objects.filter(pk__in=list(done.values_list("pk", flat=True)[:surplus])).delete()


def nudge(study_id: int) -> None:
    """Ask a worker to compute."""
    nudging.nudge("leaderboard.compute_view", [study_id])


def sweep() -> int:
    """Nudge workers for tables nobody computes; returns how many."""
    now = timezone.now()
    lost = Q(state="wanted", wanted_at__lte=now - LOST_AFTER) | Q(state="running", running_until__lte=now)
    studies = set(ComputedView.objects.filter(lost).values_list("snapshot__study", flat=True))
    busy = set(ComputedView.objects.being_computed(now).values_list("snapshot__study", flat=True))
    for study_id in studies - busy:
        nudge(study_id)
    return len(studies - busy)


def abandon_runs() -> None:
    """Free what is marked as running, when the only process starts."""
    ComputedView.objects.filter(state="running").update(running_until=timezone.now())


@transaction.atomic
def claim(study_id: int) -> ComputedView | None:
    """Take what has waited longest; None where nothing waits or the study is being computed.

    Gives up what was begun too often, and deletes what is wanted of older snapshots.
    """
    _lock(study_id)
    now, views = timezone.now(), ComputedView.objects.of(study_id)
    newest = Snapshot.objects.complete().filter(study=study_id).aggregate(newest=Max("pk"))["newest"]
    views.superseded(newest or 0).delete()
    if views.being_computed(now).exists():
        return None
    for view in views.unfinished().select_related("snapshot__study").order_by("wanted_at", "pk"):
        if view.attempts < MOST_ATTEMPTS:
            view.state, view.running_until = ComputedView.State.RUNNING, now + HELD_FOR
            view.attempts += 1
            view.save(update_fields=["state", "running_until", "attempts"])
            return view
        fail(view, f"The process that computed it ended {view.attempts} times without a result.")
    return None


def fail(view: ComputedView, error: str) -> None:
    ComputedView.objects.filter(pk=view.pk).update(
        state=ComputedView.State.FAILED, error=error[:1000], computed_at=timezone.now(), running_until=None
    )


def succeed(view: ComputedView, payload: str, seconds: float) -> None:
    ComputedView.objects.filter(pk=view.pk).update(
        state=ComputedView.State.READY,
        error="",
        payload=payload,
        computed_at=timezone.now(),
        seconds=round(seconds, 3),
        running_until=None,
    )


def siblings(view: ComputedView) -> dict[str, str]:
    """Payloads of standings of the same snapshot by digest of their inputs."""
    stored = SnapshotSlice.objects.filter(snapshot=view.snapshot).exclude(inputs="")
    found = dict(stored.values_list("inputs", "payload"))
    ready = ComputedView.objects.filter(snapshot=view.snapshot, state="ready").order_by("-computed_at")
    for payload in ready.values_list("payload", flat=True)[:MOST_WAITING]:
        found |= {row["inputs"]: row["payload"] for row in json.loads(payload) if row["inputs"]}
    return found
