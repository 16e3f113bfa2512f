"""Reads of the leaderboard, named after what needs them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce

from arena.models import Answer, Comparison, Score, Study
from arena.models.querysets import MAY_COME_LATE
from arena.rating.publication import may_count
from arena.rating.recorders import batches

if TYPE_CHECKING:
    from leaderboard.models import (  # noqa: F401 - named in the bases below
        ComputedView,
        Refresh,
        Release,
        Snapshot,
        SnapshotSlice,
    )


class SnapshotQuerySet(models.QuerySet["Snapshot"]):
    def complete(self) -> SnapshotQuerySet:
        """Those with all tables."""
        return self.filter(is_opening=False)

    def newest(self, study: Study) -> Snapshot | None:
        """The newest with all tables."""
        return self.complete()._last(study)

    def opened(self, study: Study) -> Snapshot | None:
        """The newest, which may hold no more than what the leaderboard opens with."""
        return self._last(study)

    def _last(self, study: Study) -> Snapshot | None:
        found = self.filter(study=study).order_by("-pk").first()
        if found is not None:
            found.study = study
        return found

    def newest_of(self, studies: Iterable[Study]) -> dict[int, Snapshot]:
        """The newest snapshot of each study, by study id."""
        ids = (
            self.complete()
            .filter(study__in=studies)
            .order_by()
            .values("study")
            .annotate(newest=models.Max("pk"))
        )
        found = self.filter(pk__in=list(ids.values_list("newest", flat=True)))
        return {snapshot.study_id: snapshot for snapshot in found}


class SliceQuerySet(models.QuerySet["SnapshotSlice"]):
    def for_board(self, raters: str, ties: str, category: str, method: str, beside: str) -> SliceQuerySet:
        """Standings of the raters under both tie rules and by the method ``beside``, and of all others.

        Nothing else, because reading tables takes time.
        """
        own = Q(raters=raters) & (Q(method=method) | Q(ties=ties, method=beside))
        others = Q(ties=ties, method=method) & ~Q(raters__startswith="group:")
        return self.filter(
            Q(kind="standings", category=category) & (own | others)
            | Q(kind="matrices", raters=raters, ties=ties, category=category)
        )

    def for_categories(self, raters: str, ties: str, method: str) -> SliceQuerySet:
        return self.filter(kind="standings", raters=raters, ties=ties, method=method)

    def ranking(self, raters: str, ties: str, category: str, method: str) -> list[str]:
        """The contestants' names in standings of one snapshot, best first; none where there are none."""
        board = self.for_categories(raters, ties, method).filter(category=category).first()
        return [row["contestant"] for row in board.content["standings"]] if board else []

    def for_raters(self, category: str) -> SliceQuerySet:
        """Leanings of all raters in one category, and agreement in all."""
        leanings = Q(kind__in=("ratings", "length"), category=category)
        return self.filter(leanings | Q(kind__in=("agreement", "correlation")))

    def known(self, study: Study) -> dict[str, str]:
        """Payloads of tables since the newest snapshot with all tables, by digest of their inputs."""
        own = self.filter(snapshot__study=study)
        last = own.filter(snapshot__is_opening=False).aggregate(last=models.Max("snapshot"))["last"]
        copied = own.filter(snapshot__gte=last or 0).exclude(inputs="")
        return dict(copied.values_list("inputs", "payload"))


class RefreshQuerySet(models.QuerySet["Refresh"]):
    def claim(self, study_id: int, now: datetime, until: datetime) -> bool:
        free = Q(running_until__isnull=True) | Q(running_until__lte=now)
        return self.filter(free, study_id=study_id).update(running_until=until) == 1

    def renew(self, study_id: int, held_until: datetime, until: datetime) -> bool:
        return self.filter(study_id=study_id, running_until=held_until).update(running_until=until) == 1

    def release(self, study_id: int, until: datetime) -> None:
        self.filter(study_id=study_id, running_until=until).update(running_until=None)

    def want(self, study_id: int, now: datetime, overdue: datetime) -> bool:
        """Note that a computation is wanted; False where one was asked for after ``overdue``."""
        unwanted = Q(wanted_at__isnull=True) | Q(wanted_at__lte=overdue)
        return self.filter(unwanted, study_id=study_id).update(wanted_at=now) == 1


class ReleaseQuerySet(models.QuerySet["Release"]):
    def listed(self) -> ReleaseQuerySet:
        """With their snapshots, the newest first; without what lists do not show."""
        return self.select_related("snapshot").defer("provenance", "judges", "flags").order_by("-number")


class ComputedViewQuerySet(models.QuerySet["ComputedView"]):
    def of(self, study_id: int) -> ComputedViewQuerySet:
        return self.filter(snapshot__study=study_id)

    def unfinished(self) -> ComputedViewQuerySet:
        return self.filter(state__in=["wanted", "running"])

    def being_computed(self, now: datetime) -> ComputedViewQuerySet:
        return self.filter(state="running", running_until__gt=now)

    def superseded(self, snapshot_id: int) -> ComputedViewQuerySet:
        """Those wanted of older snapshots, which no page shows any more."""
        return self.filter(state="wanted", snapshot__lt=snapshot_id)

    def renew(self, pk: int, held_until: datetime, until: datetime) -> bool:
        return self.filter(pk=pk, state="running", running_until=held_until).update(running_until=until) == 1


def tails() -> dict[int, tuple[int, int, int]]:
    """Revision, largest comparison id, and how many of the last MAY_COME_LATE ids are there, by study."""
    own = Comparison.objects.filter(study=models.OuterRef("pk")).order_by()
    last = Coalesce(models.Subquery(own.order_by("-pk").values("pk")[:1]), 0)
    near = own.filter(pk__gt=models.OuterRef("last") - MAY_COME_LATE).values("study")
    number = Coalesce(models.Subquery(near.annotate(n=models.Count("pk")).values("n")), 0)
    rows = Study.objects.order_by().annotate(last=last, near=number)
    found = rows.values_list("pk", "revision", "last", "near")
    return {pk: (revision, last, near) for pk, revision, last, near in found}


def tail(study: Study) -> tuple[int, int, int]:
    """What ``tails`` says of a study, of the comparisons that count. It reads no more than wait."""
    revision = Study.objects.values_list("revision", flat=True).get(pk=study.pk)
    counted = Comparison.objects.filter(may_count(study), study=study)
    last = counted.order_by("-pk").values_list("pk", flat=True).first() or 0
    return revision, last, counted.filter(pk__gt=last - MAY_COME_LATE).count()


def newest_texts() -> dict[int, tuple[int, int]]:
    """Largest id of a score and of an answer of every study."""
    own = (kind.objects.filter(study=models.OuterRef("pk")) for kind in (Score, Answer))
    last = (Coalesce(models.Subquery(rows.order_by("-pk").values("pk")[:1]), 0) for rows in own)
    rows = Study.objects.order_by().values_list("pk", *last)
    return {pk: (score, answer) for pk, score, answer in rows}


def data_mark(study: Study) -> tuple[int, int, int]:
    """Revision, number of comparisons that count and largest id."""
    revision = Study.objects.values_list("revision", flat=True).get(pk=study.pk)
    return (revision, *Comparison.objects.filter(may_count(study), study=study).watermark())


def texts_mark(study: Study, due: Collection[int] = ()) -> list[list[int]]:
    """Number and largest id of the scores and of the answers that count, or will with those ``due``."""
    parts = [may_count(study), *(Q(assignment__in=some) for some in batches(sorted(due)))]
    found = []
    for rows in (Score.objects.filter(study=study), Answer.objects.filter(study=study)):
        marks = [rows.filter(part).watermark() for part in parts]
        found.append([sum(n for n, _ in marks), max(last for _, last in marks)])
    return found
