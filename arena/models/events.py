from django.conf import settings
from django.db import models
from django.utils import timezone

from arena.models.raters import Rater
from arena.models.studies import Study


class StudyEvent(models.Model):
    """What an operator decided: who, when, about whom, and why."""

    class Kind(models.TextChoices):
        PAUSED = "paused", "Study paused"
        RESUMED = "resumed", "Study resumed"
        CLOSED = "closed", "Study closed"
        REOPENED = "reopened", "Study reopened"
        RATER_PAUSED = "rater_paused", "Rater paused"
        RATER_RESUMED = "rater_resumed", "Rater resumed"
        LEFT_OUT = "left_out", "Rater's ratings left out"
        TAKEN_BACK = "taken_back", "Rater's ratings counted again"
        ROLE = "role", "Role changed"
        ANONYMISED = "anonymised", "Personal details removed"
        NAMING = "naming", "Answers that name their author"
        SETTING = "setting", "Setting changed"

    study = models.ForeignKey(Study, models.CASCADE, related_name="events")
    kind = models.CharField(max_length=20, choices=Kind)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    rater = models.ForeignKey(Rater, models.SET_NULL, null=True, blank=True, related_name="events")
    note = models.TextField(blank=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.kind} in {self.study_id}"
