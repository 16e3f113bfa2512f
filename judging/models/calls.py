"""Every single call of a run."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from arena.models import Assignment, Comparison
from judging.models.querysets import JudgeCallQuerySet
from judging.models.runs import JudgeRun


class JudgeCall(models.Model):
    """One question to a model. A reply is committed here before anything else happens to it."""

    class State(models.TextChoices):
        IN_FLIGHT = "in_flight", "In flight"
        REPLIED = "replied", "Replied"
        FAILED = "failed", "Failed"
        ABANDONED = "abandoned", "Abandoned"

    run = models.ForeignKey(JudgeRun, models.CASCADE, related_name="calls")
    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="judge_calls")
    key = models.CharField(max_length=120, help_text="Names the question (judging.protocols.runner).")
    round = models.PositiveSmallIntegerField(
        default=0, help_text="Raised each time the assignment is asked anew although it has its answer."
    )
    attempt = models.PositiveIntegerField(help_text="Counted from 1 over all runs.")
    state = models.CharField(max_length=10, choices=State, default=State.IN_FLIGHT)
    worker = models.CharField(max_length=200, help_text="The process that asked.")
    prompt_hash = models.CharField(max_length=64)
    model = models.CharField(max_length=200, blank=True, help_text="The model that was asked.")
    sample = models.PositiveIntegerField(
        default=0, help_text="Tells calls apart that are made although their messages are the same."
    )
    request_hash = models.CharField(
        max_length=64, blank=True, help_text="Of all that shapes the reply: equal hashes share one."
    )
    cached_from = models.ForeignKey(
        "self",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="The call whose reply this is; nothing was asked.",
    )
    messages = models.JSONField(help_text="Exactly what was sent.")
    started_at = models.DateTimeField(default=timezone.now)
    deadline = models.DateTimeField(help_text="After this the process that asked is taken for dead.")
    finished_at = models.DateTimeField(null=True, blank=True)
    latency = models.FloatField(null=True, blank=True, help_text="Seconds from sending to the reply.")

    raw_reply = models.TextField(blank=True)
    refusal = models.TextField(blank=True, help_text="Text of a separate refusal field.")
    finish_reason = models.CharField(max_length=50, blank=True)
    model_returned = models.CharField(max_length=200, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    reasoning_tokens = models.PositiveIntegerField(
        null=True, blank=True, help_text="Those of the completion that were spent thinking."
    )
    logprobs = models.JSONField(
        null=True, blank=True, help_text="Log-probabilities of the tokens that could stand for the verdict."
    )
    expected = models.FloatField(null=True, blank=True, help_text="Expected rating over the answer tokens.")
    reserved = models.DecimalField(
        max_digits=20, decimal_places=8, default=0, help_text="The most that it can cost while in flight."
    )
    cost = models.DecimalField(
        max_digits=20, decimal_places=8, null=True, blank=True, help_text="Empty: no price is known."
    )
    prompt_price = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="Of a million tokens, when it was asked.",
    )
    completion_price = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)

    error_kind = models.CharField(max_length=50, blank=True)
    error = models.CharField(max_length=600, blank=True)
    retry_at = models.DateTimeField(null=True, blank=True)
    in_outage = models.BooleanField(
        default=False, help_text="It failed while its endpoint did not answer at all: no attempt is used up."
    )
    given_up = models.BooleanField(
        default=False,
        help_text="The last call of this run about the assignment, which ends without an answer.",
    )

    status = models.CharField(max_length=10, choices=Comparison.Status, blank=True)
    reason = models.CharField(max_length=20, choices=Comparison.Reason, blank=True)
    rating = models.PositiveSmallIntegerField(null=True, blank=True)
    submit_attempts = models.PositiveIntegerField(default=0)
    submit_due_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)

    objects = JudgeCallQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "key", "round", "attempt"], name="judge_call_attempt_once"
            ),
            models.UniqueConstraint(
                fields=["assignment", "key", "round"],
                condition=Q(state__in=["in_flight", "replied"]),
                name="judge_call_one_live",
            ),
            models.UniqueConstraint(
                fields=["request_hash"],
                condition=Q(state="in_flight") & ~Q(request_hash=""),
                name="judge_call_request_in_flight_once",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["in_flight", "replied", "failed", "abandoned"]),
                name="judge_call_state_known",
            ),
            models.CheckConstraint(
                condition=Q(state="in_flight", finished_at__isnull=True)
                | (~Q(state="in_flight") & Q(finished_at__isnull=False)),
                name="judge_call_finished_unless_in_flight",
            ),
            models.CheckConstraint(
                condition=(Q(state="failed") & ~Q(error_kind="")) | (~Q(state="failed")),
                name="judge_call_failed_with_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(submitted_at__isnull=True) | (Q(state="replied") & ~Q(status="")),
                name="judge_call_submitted_with_outcome",
            ),
        ]
        indexes = [
            # Everything that the progress of a run is counted from, so that no call itself is read for it.
            models.Index(
                fields=[
                    "run",
                    "state",
                    "status",
                    "reason",
                    "given_up",
                    "model_returned",
                    "cached_from",
                    "attempt",
                    "finished_at",
                    "prompt_tokens",
                    "completion_tokens",
                    "reasoning_tokens",
                ],
                name="judge_call_progress",
            ),
            models.Index(fields=["deadline"], condition=Q(state="in_flight"), name="judge_call_in_flight"),
            models.Index(
                fields=["submit_due_at"],
                condition=Q(submit_due_at__isnull=False),
                name="judge_call_unsubmitted",
            ),
            models.Index(
                fields=["request_hash"],
                condition=Q(state="replied", cached_from__isnull=True) & ~Q(request_hash=""),
                name="judge_call_cache",
            ),
        ]

    def __str__(self) -> str:
        return f"call {self.pk}"

    @property
    def is_in_flight(self) -> bool:
        return self.state == self.State.IN_FLIGHT

    @property
    def has_replied(self) -> bool:
        return self.state == self.State.REPLIED
