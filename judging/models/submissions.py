from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse

from arena.models import Contestant, ImportJob, Study


class Submission(models.Model):
    """A model that somebody proposes for a study: at an address, or by the files of a held import."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        ACCEPTED = "accepted", "Accepted"
        DECLINED = "declined", "Declined"

    study = models.ForeignKey(Study, models.CASCADE, related_name="submissions")
    token = models.UUIDField(unique=True, help_text="Of the form: sent twice, it is one proposal.")
    name = models.CharField(max_length=200)
    base_url = models.CharField(max_length=500, blank=True)
    model = models.CharField(max_length=200, blank=True, help_text="As the endpoint names it.")
    job = models.OneToOneField(ImportJob, models.SET_NULL, null=True, related_name="submission")
    licence = models.CharField(max_length=100)
    contact = models.EmailField(blank=True, help_text="Empty once the account of who proposed it is deleted.")
    consent = models.TextField(help_text="The text that was agreed to.")
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", help_text="Who proposed it."
    )
    origin = models.CharField(max_length=64, blank=True, help_text="A keyed digest of the sender's address.")
    created_at = models.DateTimeField(auto_now_add=True)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    reason = models.TextField(blank=True)
    contestant = models.OneToOneField(Contestant, models.SET_NULL, null=True, related_name="submission")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "name"], condition=Q(state="waiting"), name="submission_name_once"
            ),
            models.UniqueConstraint(
                fields=["study", "base_url", "model"],
                condition=Q(state="waiting") & ~Q(base_url=""),
                name="submission_model_once",
            ),
            models.CheckConstraint(
                condition=Q(state="waiting", decided_at=None)
                | Q(state__in=["accepted", "declined"], decided_at__isnull=False),
                name="submission_decided_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"proposal {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("operate-submission", args=[self.study.slug, self.pk])
