"""Uploads by operators: jobs, files, and the files' bytes."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from arena.models.studies import Contestant, Study

_ENDED = ("applied", "failed", "cancelled")


class ImportJobQuerySet(models.QuerySet["ImportJob"]):
    def running(self) -> "ImportJobQuerySet":
        return self.filter(state__in=ImportJob.RUNNING)

    def unended(self) -> "ImportJobQuerySet":
        return self.exclude(state__in=_ENDED)


class ImportJob(models.Model):
    """Files uploaded for a study, to be checked, then applied or dropped."""

    class State(models.TextChoices):
        HELD = "held", "Proposed"
        UPLOADING = "uploading", "Uploading"
        CHECKING = "checking", "Being checked"
        CHECKED = "checked", "Checked"
        APPLYING = "applying", "Being applied"
        APPLIED = "applied", "Imported"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    # Nobody asks for a check of what is held, and no sweep ends it.
    RUNNING = (State.CHECKING, State.APPLYING)

    study = models.ForeignKey(Study, models.CASCADE, related_name="import_jobs")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    answers_of = models.ForeignKey(Contestant, models.CASCADE, null=True, related_name="+")
    """The only one whose answers the files may bring, and they may bring nothing else; None: anything."""
    state = models.CharField(max_length=10, choices=State, default=State.UPLOADING)
    attempts = models.PositiveSmallIntegerField(default=0)
    """How often a worker began the work that the state names."""
    leaves_out = models.BooleanField(default=False)  # rows that cannot be read, as many as the report says
    check_seconds = models.FloatField(null=True)
    report = models.JSONField(null=True)  # ``ImportReport.to_dict`` of the last check or of the import
    error = models.CharField(max_length=500, blank=True)  # why nothing was imported: a sentence
    created_at = models.DateTimeField(auto_now_add=True)
    touched_at = models.DateTimeField(auto_now_add=True)  # when somebody last asked for something
    ended_at = models.DateTimeField(null=True)

    objects = ImportJobQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=_ENDED, ended_at__isnull=False)
                | (~Q(state__in=_ENDED) & Q(ended_at__isnull=True)),
                name="import_job_ends_with_its_state",
            )
        ]

    def __str__(self) -> str:
        return f"import {self.pk}"

    @property
    def is_running(self) -> bool:
        return self.state in self.RUNNING

    @property
    def has_ended(self) -> bool:
        return self.state in _ENDED


class ImportFile(models.Model):
    """An uploaded file: what it is to be read as, and what the last check took it for."""

    job = models.ForeignKey(ImportJob, models.CASCADE, related_name="files")
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=255)
    size = models.PositiveBigIntegerField(default=0)
    format_name = models.CharField(max_length=40, blank=True)  # the chosen format; empty: told by content
    mapping = models.JSONField(null=True)
    found_format = models.CharField(max_length=40, blank=True)
    found_kind = models.CharField(max_length=20, blank=True)
    columns = models.JSONField(default=list)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="import_file_number_unique")]

    def __str__(self) -> str:
        return self.name


class ImportChunk(models.Model):
    """A piece of an uploaded file, in the database because workers may be on other machines."""

    file = models.ForeignKey(ImportFile, models.CASCADE, related_name="chunks")
    position = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["file", "position"], name="import_chunk_position_unique")
        ]

    def __str__(self) -> str:
        return f"piece {self.position} of {self.file_id}"


class LeftOutRows(models.Model):
    """Rows of an imported file that were not read, by reason; once for each content of a file."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="left_out_rows")
    file = models.CharField(max_length=255)
    digest = models.CharField(max_length=64)  # SHA-256 of the file
    reason = models.TextField()
    rows = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["study", "digest", "reason"], name="left_out_rows_counted_once")
        ]

    def __str__(self) -> str:
        return f"{self.rows} rows of {self.file}"
