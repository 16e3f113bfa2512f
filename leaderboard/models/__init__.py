"""Published snapshots, and the state of computing the next one."""

import json
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from arena.models import Pair, Rater, Study
from leaderboard.models.querysets import (
    ComputedViewQuerySet,
    RefreshQuerySet,
    ReleaseQuerySet,
    SliceQuerySet,
    SnapshotQuerySet,
)


class SnapshotChangedError(ImproperlyConfigured):
    """Somebody tried to change a stored snapshot or release."""


class Immutable(models.Model):
    """A row that cannot be saved again."""

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise SnapshotChangedError(f"{self} is published and stays as it is")
        super().save(*args, **kwargs)


class Snapshot(Immutable):
    study = models.ForeignKey(Study, models.CASCADE, related_name="snapshots")
    created_at = models.DateTimeField(auto_now_add=True)
    revision = models.PositiveBigIntegerField(help_text="The study's revision when the data were read.")
    comparisons = models.PositiveBigIntegerField(help_text="Rows of comparisons read, revisions included.")
    last_comparison = models.PositiveBigIntegerField(help_text="The largest id among them.")
    methodology = models.CharField(max_length=20, help_text="Version of the way the numbers are made.")
    seed = models.PositiveBigIntegerField()
    parameters = models.JSONField()
    counts = models.JSONField()
    seconds = models.FloatField(help_text="Time the computation took.")
    is_opening = models.BooleanField(
        default=False,
        help_text="Holds only what the leaderboard opens with; one with all tables replaces it.",
    )

    objects = SnapshotQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["study", "-id"], name="snapshot_newest_of_study")]

    def __str__(self) -> str:
        return f"snapshot {self.pk} of {self.study_id}"

    @property
    def data(self) -> tuple[int, int, int]:
        """The data watermark, in an order in which later data are larger."""
        return self.revision, self.comparisons, self.last_comparison

    @property
    def watermark(self) -> str:
        return "{}.{}.{}".format(*self.data)

    @property
    def holds_back(self) -> bool:
        """Whether ratings wait to be counted until there are enough, as while a study is open."""
        return self.counts.get("waiting") is not None

    @property
    def texts(self) -> list[list[int]]:
        """Number and largest id of the scores, and of the answers, that it counts."""
        return list(self.counts.get("texts") or ([0, 0], [0, 0]))

    @property
    def known(self) -> dict[str, Any]:
        """What the settings of an address are read by: the counts, and whether the study is closed now."""
        return {**self.counts, "closed": self.study.is_closed}


class SnapshotSlice(Immutable):
    """One table of a snapshot as canonical JSON; fields that do not apply to its kind are empty."""

    class Kind(models.TextChoices):
        STANDINGS = "standings", "Standings"
        MATRICES = "matrices", "Win, tie and game-count matrices"
        RATINGS = "ratings", "Ratings as shown, with position statistics"
        CORRELATION = "correlation", "Correlation with people"
        AGREEMENT = "agreement", "Agreement with other raters, and among these"
        LENGTH = "length", "Effect of length"
        DATA = "data", "Lengths of the texts"
        TRUST = "trust", "How often judges are right"
        REQUIREMENTS = "requirements", "Requirements met"
        SCORES = "scores", "Text scores"
        FEATURES = "features", "Features of answers"

    snapshot = models.ForeignKey(Snapshot, models.CASCADE, related_name="slices")
    kind = models.CharField(max_length=20, choices=Kind)
    raters = models.CharField(max_length=140, help_text="people, group:NAME or judge:SLUG")
    ties = models.CharField(max_length=3, blank=True, help_text="on, off or empty")
    category = models.CharField(max_length=100, blank=True, help_text="Empty for all categories together.")
    method = models.CharField(max_length=20, blank=True)
    payload = models.TextField(help_text="Canonical JSON")
    inputs = models.CharField(
        max_length=64,
        blank=True,
        help_text="SHA-256 of what the table was computed from; empty if it is not copied.",
    )

    objects = SliceQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["snapshot", "kind", "raters", "ties", "category", "method"], name="slice_unique"
            ),
            models.CheckConstraint(condition=Q(ties__in=["on", "off", ""]), name="slice_ties_known"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.raters} {self.ties} {self.category} {self.method}".strip()

    @property
    def content(self) -> Any:
        return json.loads(self.payload)


class Release(Immutable):
    """A snapshot kept for good, with who made it, what it came from and its bundle.

    Of a stored release only DOI and changelog change, by leaderboard.releases.services.correct.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="releases")
    snapshot = models.ForeignKey(Snapshot, models.RESTRICT, related_name="releases")
    number = models.PositiveIntegerField(help_text="1, 2, ... in the study.")
    version = models.CharField(max_length=50)
    name = models.CharField(max_length=200, help_text="Of the study, as it was.")
    slug = models.CharField(max_length=80, help_text="Of the study, as it was.")
    authors = models.JSONField(help_text="People in order: name, orcid, affiliation.")
    licence = models.CharField(max_length=100, blank=True)
    doi = models.CharField("DOI", max_length=200, blank=True)
    changelog = models.TextField(blank=True)
    simulated = models.BooleanField()
    provenance = models.JSONField(help_text="Comparisons by people and judges, by where they come from.")
    judges = models.JSONField(help_text="As in the bundle.")
    flags = models.JSONField(help_text="Sentences that must stand beside the standings.")
    sha256 = models.CharField(max_length=64, help_text="Of the bundle.")
    size = models.PositiveBigIntegerField(help_text="Of the bundle in bytes.")
    created_at = models.DateTimeField(auto_now_add=True)
    corrected_at = models.DateTimeField(null=True, blank=True, help_text="When DOI or changelog changed.")

    objects = ReleaseQuerySet.as_manager()

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="release_number_unique"),
            models.UniqueConstraint(fields=["study", "version"], name="release_version_unique"),
        ]

    def __str__(self) -> str:
        return f"release {self.number} of {self.study_id}"

    def get_absolute_url(self) -> str:
        return reverse("study-release", args=[self.study.slug, self.number])

    def is_behind(self, snapshot: Snapshot) -> bool:
        """Whether a snapshot may hold other numbers than the release."""
        own = self.snapshot
        return (own.data, own.methodology) != (snapshot.data, snapshot.methodology)


class ReleaseBundle(Immutable):
    """The bundle of a release, apart from it because it is large."""

    release = models.OneToOneField(Release, models.CASCADE, related_name="bundle")
    content = models.BinaryField()

    def __str__(self) -> str:
        return f"bundle of {self.release_id}"


class ComputedView(models.Model):
    """Tables that no snapshot holds, computed from its data on demand."""

    class State(models.TextChoices):
        WANTED = "wanted", "Waiting for a worker"
        RUNNING = "running", "Being computed"
        READY = "ready", "Ready"
        FAILED = "failed", "Could not be computed"

    snapshot = models.ForeignKey(Snapshot, models.CASCADE, related_name="computed_views")
    setting = models.CharField(max_length=2000, help_text="The setting as the end of an address.")
    state = models.CharField(max_length=10, choices=State, default=State.WANTED)
    wanted_at = models.DateTimeField(default=timezone.now)
    attempts = models.PositiveSmallIntegerField(
        default=0, help_text="How often a computation of it was started since it was wanted."
    )
    running_until = models.DateTimeField(null=True, blank=True)
    computed_at = models.DateTimeField(null=True, blank=True, help_text="When it was ready, or failed.")
    read_at = models.DateTimeField(null=True, blank=True, help_text="When somebody last looked at it.")
    seconds = models.FloatField(null=True, blank=True)
    error = models.TextField(blank=True)
    payload = models.TextField(blank=True, help_text="Canonical JSON: a list of tables.")

    objects = ComputedViewQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["snapshot", "setting"], name="computed_view_unique"),
            models.CheckConstraint(
                condition=Q(state__in=["wanted", "running", "ready", "failed"]),
                name="computed_view_state_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.setting} of snapshot {self.snapshot_id}"


class TextMeasure(models.Model):
    digest = models.CharField(max_length=64, help_text="SHA-256 of the turns as canonical JSON.")
    version = models.PositiveSmallIntegerField()
    characters = models.PositiveIntegerField()
    words = models.PositiveIntegerField()
    unique_words = models.PositiveIntegerField()
    tokens = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest", "version"], name="text_measure_unique")]

    def __str__(self) -> str:
        return self.digest


class ComparisonIndex(models.Model):
    """What the comparison browser of a study searches; replaced with every snapshot."""

    study = models.OneToOneField(Study, models.CASCADE, related_name="comparison_index")
    version = models.CharField(max_length=40, help_text="Another one for every index that is made.")
    payload = models.BinaryField(help_text="As packed by leaderboard.snapshots.comparison_index.")

    class Meta:
        verbose_name_plural = "comparison indexes"

    def __str__(self) -> str:
        return f"comparison index of {self.study_id}"


class Refresh(models.Model):
    """At most one computation of a study is wanted and one running."""

    study = models.OneToOneField(Study, models.CASCADE, related_name="refresh")
    wanted_at = models.DateTimeField(null=True, blank=True, help_text="When a task was last asked for.")
    running_until = models.DateTimeField(
        null=True, blank=True, help_text="A computation holds the study until then at the latest."
    )
    failed_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True, help_text="Why the last computation failed; empty when it did not.")

    objects = RefreshQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "refreshes"

    def __str__(self) -> str:
        return f"refresh of {self.study_id}"

    @classmethod
    def of(cls, study_id: int) -> "Refresh":
        return cls.objects.get_or_create(study_id=study_id)[0]


class ErrorTags(models.Model):
    """The kinds of errors that operators of a study can tag; without a row the usual ones."""

    study = models.OneToOneField(Study, models.CASCADE, related_name="error_tags")
    names = models.JSONField()

    class Meta:
        verbose_name_plural = "error tags"

    def __str__(self) -> str:
        return f"error tags of {self.study_id}"


class InstanceTag(models.Model):
    """The kind of a judge's error on a pair. A name that is offered no more stays."""

    rater = models.ForeignKey(Rater, models.CASCADE, related_name="instance_tags")
    pair = models.ForeignKey(Pair, models.CASCADE, related_name="instance_tags")
    name = models.CharField(max_length=50)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["rater", "pair"], name="instance_tagged_once")]

    def __str__(self) -> str:
        return f"{self.name}: judge {self.rater_id} on pair {self.pair_id}"
