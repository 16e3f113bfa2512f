from django.conf import settings
from django.db import models
from django.utils import timezone

from arena.models import Study
from judging.models.purses import PaidCall, Payer


class TrialCall(PaidCall):
    """A call that somebody waits for: to test a judge, to probe an endpoint, to look at a text of a battle.

    It counts at the most it can cost until its reply is there, so one whose process died does, too. Texts of
    battles are not stored with it.
    """

    class State(models.TextChoices):
        IN_FLIGHT = "in_flight", "In flight"
        REPLIED = "replied", "Replied"
        FAILED = "failed", "Failed"

    study = models.ForeignKey(Study, models.CASCADE, null=True, blank=True, related_name="+")
    of_battles = models.BooleanField(default=False, help_text="Paid from what the study's battles may cost.")
    state = models.CharField(max_length=10, choices=State, default=State.IN_FLIGHT)
    model = models.CharField(max_length=200, help_text="The model that was asked.")
    messages = models.JSONField(default=list, help_text="Exactly what was sent.")
    currency = models.CharField(max_length=3, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=["in_flight", "replied", "failed"]),
                name="trial_call_state_known",
            )
        ]

    def __str__(self) -> str:
        return f"trial of {self.model}"

    @property
    def payer(self) -> Payer:
        return "battles" if self.of_battles else "study", self.study_id or 0
