from typing import Final

from django.apps import apps
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from judging.models.purses import PaidCall

LIVE: Final = Q(state__in=["waiting", "in_flight"])


def constraints_of(name: str) -> list[models.BaseConstraint]:
    """Those of a table of standing requests, whose name theirs begin with."""
    return [
        models.CheckConstraint(
            condition=Q(state__in=["waiting", "in_flight", "replied", "failed"]), name=f"{name}_state_known"
        ),
        models.CheckConstraint(
            condition=~Q(state="in_flight") | Q(deadline__isnull=False),
            name=f"{name}_in_flight_has_a_deadline",
        ),
    ]


def indexes_of(name: str) -> list[models.Index]:
    """Those by which such a table is looked through for what is due, and for what is in flight."""
    return [
        models.Index(fields=["due_at"], condition=LIVE, name=f"{name}_live"),
        models.Index(fields=["deadline"], condition=Q(state="in_flight"), name=f"{name}_in_flight"),
    ]


class StandingRequest(PaidCall):
    """A request to a model that stands for itself: a row is one, however often it is tried."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        IN_FLIGHT = "in_flight", "In flight"
        REPLIED = "replied", "Replied"
        FAILED = "failed", "Failed"

    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    attempt = models.PositiveSmallIntegerField(default=0, help_text="How often it was asked.")
    failures = models.PositiveSmallIntegerField(default=0, help_text="Attempts that count towards giving up.")
    abandoned = models.PositiveSmallIntegerField(
        default=0, help_text="Attempts whose process died before the reply came. Each may have been charged."
    )
    due_at = models.DateTimeField(default=timezone.now)
    worker = models.CharField(max_length=200, blank=True, help_text="The process that asks.")
    deadline = models.DateTimeField(
        null=True, blank=True, help_text="After this the process that asked is taken for dead."
    )
    finished_at = models.DateTimeField(null=True, blank=True)

    messages = models.JSONField(default=list, help_text="Exactly what was sent.")
    raw_reply = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=50, blank=True)
    model = models.CharField(max_length=200, help_text="The model that was asked.")
    currency = models.CharField(max_length=3, blank=True)
    error = models.CharField(max_length=600, blank=True)

    class Meta:
        abstract = True


def standing() -> list[type[StandingRequest]]:
    """Every table of requests that stand for themselves."""
    return [model for model in apps.get_models() if issubclass(model, StandingRequest)]
