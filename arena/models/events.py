from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from arena.models.querysets import SIGNING_IN, EventQuerySet
from arena.models.raters import Rater
from arena.models.studies import Study


class StudyEvent(models.Model):
    """What an operator did: who, when, about what, and why. Rows are only added.

    ``arena.audit.recording.record`` writes them. Triggers refuse all changes, except that references are
    emptied when what they point at is deleted, and names of people when their details are removed.
    """

    class Kind(models.TextChoices):
        PAUSED = "paused", "Study paused"
        RESUMED = "resumed", "Study resumed"
        CLOSED = "closed", "Study closed"
        REOPENED = "reopened", "Study reopened"
        CREATED = "created", "Study created"
        DELETED = "deleted", "Study deleted"
        SETTING = "setting", "Setting changed"
        NAMING = "naming", "Answers that name their author"
        RELEASE = "release", "Release"
        PROPOSAL = "proposal", "Proposed model"
        IMPORTED = "imported", "Data imported"
        EXPORTED = "exported", "Data exported"
        DOWNLOADED = "downloaded", "Personal data downloaded"
        INVITATION = "invitation", "Invitation"
        ROLE = "role", "Role changed"
        TRAINED = "trained", "Training counted as passed"
        RATER_PAUSED = "rater_paused", "Rater paused"
        RATER_RESUMED = "rater_resumed", "Rater resumed"
        LEFT_OUT = "left_out", "Rater's ratings left out"
        TAKEN_BACK = "taken_back", "Rater's ratings counted again"
        GROUP = "group", "Group of raters"
        ANONYMISED = "anonymised", "Personal details removed"
        KEY = "key", "API key"
        JUDGE = "judge", "Judge or price"
        RUN = "run", "Judge run"
        SIGNED_IN = "signed_in", "Signed in"
        SIGN_IN_FAILED = "sign_in_failed", "Sign-in failed"
        LOCKED_OUT = "locked_out", "Locked out"
        SECOND_FACTOR = "second_factor", "Second factor"
        PASSWORD = "password", "Password changed"
        RIGHT = "right", "Right given or taken away"
        ADMIN = "admin", "Changed in the admin"
        BACKUP = "backup", "Backup"

    study = models.ForeignKey(Study, models.SET_NULL, null=True, blank=True, related_name="events")
    study_slug = models.CharField(
        max_length=80,
        blank=True,
        help_text="The address of the study at that time; it stays when the study is deleted.",
    )
    kind = models.CharField(max_length=20, choices=Kind)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    by_number = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="The number of that account; it stays when the account is deleted."
    )
    command = models.CharField(
        max_length=200,
        blank=True,
        help_text="The command that did it, and the account of the machine that gave it.",
    )
    rater = models.ForeignKey(Rater, models.SET_NULL, null=True, blank=True, related_name="events")
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Whose sign-in or right it is about.",
    )
    note = models.TextField(blank=True)
    request = models.CharField(max_length=100, blank=True, help_text="The id of the request, as in the log.")
    at = models.DateTimeField(default=timezone.now, db_index=True)

    objects = EventQuerySet.as_manager()

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [
            models.Index(fields=["id"], condition=~Q(kind__in=SIGNING_IN), name="studyevent_act"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}, {self.study_slug or 'the arena'}"

    @property
    def who(self) -> str:
        """Whose deed it was, as far as is known."""
        if self.by is not None:
            return self.by.get_username()
        if self.by_number is not None:
            return f"former account {self.by_number}"
        if self.command:
            return self.command
        if self.kind in (self.Kind.SIGN_IN_FAILED, self.Kind.LOCKED_OUT):
            return "somebody"
        return "the person" if self.kind == self.Kind.ANONYMISED else "the arena"
