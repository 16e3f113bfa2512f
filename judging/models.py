"""LLM raters, their runs over studies, and every single call they make."""

import json

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from arena import scales
from arena.models import Assignment, Comparison, Rater, Study
from judging.answer_scales import FORMS, answer_scale
from judging.protocol import Manner
from judging.protocols import PROTOCOLS
from judging.querysets import JudgeCallQuerySet, JudgeRunQuerySet

_manners: dict[tuple[object, ...], Manner] = {}
"""How the judges of this process ask. A manner keeps its protocol, so the protocol's id stays its own."""


class Judge(models.Model):
    """An LLM rater: model, endpoint, protocol, answer scale and sampling options. It never holds a key."""

    class Provider(models.TextChoices):
        OPENAI = "openai", "OpenAI-compatible endpoint"
        SIMULATED = "simulated", "Simulated (demo study only)"

    rater = models.OneToOneField(Rater, models.PROTECT, related_name="judge")
    provider = models.CharField(max_length=10, choices=Provider, default=Provider.OPENAI)
    model = models.CharField(max_length=200, help_text="Name of the model as the endpoint knows it.")
    base_url = models.CharField(
        "base URL",
        max_length=500,
        blank=True,
        help_text="Of the endpoint, e.g. https://api.example.com/v1.",
    )
    api_key_env = models.CharField(
        "key variable",
        max_length=100,
        blank=True,
        help_text="Name of the environment variable that holds the key. Leave empty where none is needed.",
    )
    protocol = models.CharField(max_length=50, default="likert")
    form = models.CharField(
        "answer scale",
        max_length=10,
        choices=list(FORMS.items()),
        default="likert",
        help_text="In what form the judge gives its verdict.",
    )
    points = models.PositiveSmallIntegerField(
        "points of the rating scale",
        choices=[(points, f"{points} points") for points in scales.POINTS],
        default=8,
    )
    parameters = models.JSONField(
        default=dict, blank=True, help_text="Of the protocol, where they differ from its defaults."
    )
    wording = models.JSONField(
        default=dict, blank=True, help_text="Prompt texts that replace the protocol's, by name."
    )
    samples = models.PositiveSmallIntegerField(
        default=1, help_text="How often each pair is asked in the same order; the majority decides."
    )
    logprobs = models.BooleanField(
        "ask for logprobs",
        default=False,
        help_text="Store the expected rating over the answer tokens beside the rating, where the endpoint "
        "returns their probabilities.",
    )
    temperature = models.FloatField(
        null=True, blank=True, default=0, help_text="Empty: what the endpoint takes by itself."
    )
    max_tokens = models.PositiveIntegerField(
        null=True, blank=True, default=1024, help_text="Longest reply in tokens, reasoning included."
    )
    timeout = models.FloatField(default=120, help_text="Seconds to wait for a reply.")
    options = models.JSONField(
        default=dict, blank=True, help_text='Further fields of the request, e.g. {"top_p": 0.9}.'
    )
    simulation = models.JSONField(
        default=dict, blank=True, help_text="Of a simulated judge: noise, position_bias, strengths."
    )
    both_orders = models.BooleanField(
        default=False, help_text="Its runs ask about every pair in both orders, unless told otherwise."
    )
    concurrency = models.PositiveSmallIntegerField(
        default=8, help_text="Calls in flight at a time, over all workers."
    )
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: no limit.")
    tokens_per_minute = models.PositiveIntegerField(
        null=True, blank=True, help_text="Prompt and reply together. Empty: no limit."
    )
    active = models.BooleanField(default=True, help_text="An inactive judge starts no runs.")
    prompt_hash = models.CharField(
        max_length=64, editable=False, help_text="Wording this judge was asked with; fixed by its first run."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["rater__name"]
        constraints = [
            models.CheckConstraint(condition=Q(points__in=scales.POINTS), name="judge_points_is_a_scale"),
            models.CheckConstraint(condition=Q(timeout__gt=0), name="judge_timeout_positive"),
            models.CheckConstraint(
                condition=Q(provider="simulated") | (Q(provider="openai") & ~Q(base_url="")),
                name="judge_has_an_endpoint",
            ),
        ]

    IDENTITY = (
        "provider",
        "model",
        "protocol",
        "form",
        "points",
        "parameters",
        "wording",
        "samples",
        "temperature",
        "options",
        "simulation",
    )
    """What makes two judges different; none of it changes once the judge has replied."""

    def __str__(self) -> str:
        return self.rater.name

    @property
    def slug(self) -> str:
        return self.rater.slug

    @property
    def name(self) -> str:
        return self.rater.name

    @property
    def is_simulated(self) -> bool:
        return self.provider == self.Provider.SIMULATED

    @property
    def manner(self) -> Manner:
        """How it asks: protocol, answer scale, parameters, wording, samples.

        Equal judges share one object in a process, so that its prompt hash is computed once.
        """
        protocol = PROTOCOLS.named(self.protocol)
        texts = json.dumps([self.parameters, self.wording], sort_keys=True)
        key = (id(protocol), self.form, self.points, texts, self.samples)
        if key not in _manners:
            parameters = {
                name: tuple(value) if isinstance(value, list) else value
                for name, value in self.parameters.items()
            }
            scale = answer_scale(self.form, self.points)
            _manners[key] = Manner(protocol, scale, parameters, self.wording, self.samples)
        return _manners[key]

    def current_prompt_hash(self) -> str:
        """The hash of the wording it would be asked with now."""
        return self.manner.prompt_hash


class JudgeRun(models.Model):
    """One judge over one study; its size and progress are counts of rows (judging.querysets)."""

    class State(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        PAUSED = "paused", "Paused"
        FINISHED = "finished", "Finished"
        CANCELLED = "cancelled", "Cancelled"

    class Kind(models.TextChoices):
        ALL = "all", "Whatever has no answer yet"
        EXTEND = "extend", "Pairs that were never asked"
        FAILURES = "failures", "What failed"
        UNSCORED = "unscored", "What has no rating, anew"

    study = models.ForeignKey(Study, models.CASCADE, related_name="judge_runs")
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="runs")
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.ALL)
    limit = models.PositiveIntegerField(null=True, blank=True, help_text="At most so many pairs.")
    both_orders = models.BooleanField(default=False, help_text="Ask about every pair in both orders.")
    controls = models.BooleanField(
        default=False, help_text="Ask about pairs of identical completions too, as a control of the judge."
    )
    identical = models.PositiveIntegerField(
        default=0, help_text="Assignments recorded as identical without asking, when it was planned."
    )
    budget = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True, help_text="Never to be passed."
    )
    spent = models.DecimalField(max_digits=20, decimal_places=8, default=0)
    reserved = models.DecimalField(
        max_digits=20, decimal_places=8, default=0, help_text="The most that calls in flight can still cost."
    )
    currency = models.CharField(
        max_length=3, blank=True, help_text="Of budget and cost; empty while no price is known."
    )
    remote = models.BooleanField(
        default=False,
        help_text="Judge workers on other machines ask, through the API; this arena's own workers do not.",
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    error = models.CharField(max_length=500, blank=True, help_text="Why it ended early, or paused.")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = JudgeRunQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "judge"],
                condition=Q(state__in=["queued", "running", "paused"]),
                name="judge_run_one_active",
            ),
            models.CheckConstraint(
                condition=Q(limit__isnull=True) | Q(limit__gt=0), name="judge_run_limit_positive"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["queued", "running", "paused", "finished", "cancelled"]),
                name="judge_run_state_known",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"

    @property
    def is_active(self) -> bool:
        return self.state in (self.State.QUEUED, self.State.RUNNING, self.State.PAUSED)


class RunAssignment(models.Model):
    """An assignment as part of a run: when it is due and until when the queue is believed to know of it."""

    run = models.ForeignKey(JudgeRun, models.CASCADE, related_name="run_assignments")
    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="run_assignments")
    round = models.PositiveSmallIntegerField(
        default=0, help_text="Of the calls that this run makes about it (JudgeCall.round)."
    )
    due_at = models.DateTimeField(default=timezone.now, help_text="Not to be asked before.")
    queued_until = models.DateTimeField(null=True, blank=True)
    waiting_for = models.CharField(
        max_length=64, blank=True, help_text="The hash of a request that somebody else has in flight."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "assignment"], name="run_assignment_unique"),
        ]
        indexes = [
            models.Index(
                fields=["run", "queued_until"],
                condition=Q(queued_until__isnull=False),
                name="run_assignment_queued",
            ),
            models.Index(fields=["waiting_for"], condition=~Q(waiting_for=""), name="run_assignment_waiting"),
        ]

    def __str__(self) -> str:
        return f"{self.run_id}/{self.assignment_id}"


class JudgeCall(models.Model):
    """One question to a model. A reply is committed here before anything else happens to it."""

    class State(models.TextChoices):
        IN_FLIGHT = "in_flight", "In flight"
        REPLIED = "replied", "Replied"
        FAILED = "failed", "Failed"
        ABANDONED = "abandoned", "Abandoned"

    run = models.ForeignKey(JudgeRun, models.CASCADE, related_name="calls")
    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="judge_calls")
    key = models.CharField(max_length=120, help_text="Names the question (judging.runner).")
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


class Price(models.Model):
    """What a model costs, as an operator wrote it down from its provider's list."""

    model = models.CharField(max_length=200, help_text="As judges name it.")
    base_url = models.CharField(
        "base URL", max_length=500, blank=True, help_text="Empty: wherever the model is asked."
    )
    prompt = models.DecimalField(
        "per million prompt tokens", max_digits=12, decimal_places=6, help_text="In the currency below."
    )
    completion = models.DecimalField("per million reply tokens", max_digits=12, decimal_places=6)
    currency = models.CharField(max_length=3, default="USD")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["model", "base_url"]
        constraints = [
            models.UniqueConstraint(fields=["model", "base_url"], name="price_once"),
            models.CheckConstraint(condition=Q(prompt__gte=0, completion__gte=0), name="price_not_negative"),
        ]

    def __str__(self) -> str:
        return self.model


class Panel(models.Model):
    """Several judges as one rater: its comparisons are made of theirs, and nothing is asked for it."""

    class Rule(models.TextChoices):
        MAJORITY = "majority", "Majority: the side most of them take"
        MEAN = "mean", "Mean of their ratings"

    rater = models.OneToOneField(Rater, models.PROTECT, related_name="panel")
    members = models.ManyToManyField(Judge, related_name="panels")
    rule = models.CharField(max_length=10, choices=Rule, default=Rule.MAJORITY)
    active = models.BooleanField(default=True, help_text="An inactive panel gives no further verdicts.")
    seen = models.BigIntegerField(
        default=0, help_text="The newest comparison of its members when it last gave verdicts."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["rater__name"]

    def __str__(self) -> str:
        return self.rater.name
