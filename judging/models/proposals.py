from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from arena.models import Prompt
from judging.models.judges import Judge
from judging.models.purses import PaidCall, Payer


class ProposalCall(PaidCall):
    """A request to a judge's model for the requirements of a prompt, with its reply."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        IN_FLIGHT = "in_flight", "In flight"
        REPLIED = "replied", "Replied"
        FAILED = "failed", "Failed"
        ABANDONED = "abandoned", "Abandoned"

    prompt = models.ForeignKey(Prompt, models.CASCADE, related_name="proposal_calls")
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="proposal_calls")
    batch = models.UUIDField(help_text="Of the page on which it was asked for: sent twice, it is asked once.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    attempt = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(default=timezone.now)
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
    proposed = models.PositiveSmallIntegerField(default=0, help_text="Requirements that are new.")

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["prompt", "batch"], name="proposal_call_once_in_batch"),
            models.UniqueConstraint(
                fields=["prompt"],
                condition=Q(state__in=["waiting", "in_flight"]),
                name="proposal_call_one_live",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "in_flight", "replied", "failed", "abandoned"]),
                name="proposal_call_state_known",
            ),
            models.CheckConstraint(
                condition=~Q(state="in_flight") | Q(deadline__isnull=False),
                name="proposal_call_in_flight_has_a_deadline",
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at"],
                condition=Q(state__in=["waiting", "in_flight"]),
                name="proposal_call_live",
            )
        ]

    def __str__(self) -> str:
        return f"proposals for {self.prompt}"

    @property
    def payer(self) -> Payer:
        return "study", self.prompt.study_id
