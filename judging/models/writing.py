from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from django.conf import settings
from django.db import models
from django.db.models import Count, Max, Q, Sum
from django.db.models.functions import Lower
from django.utils import timezone

from arena.models import Completion, Prompt, Study
from judging.models.endpoints import Author
from judging.models.purses import Payer, Purse
from judging.models.requests import LIVE, StandingRequest, constraints_of, indexes_of
from judging.models.traces import Trace
from judging.protocols.replies import KNOWN_ENDS

UNKNOWN_END: Final = "Kept, but the endpoint ended it with “{}”: see whether it is whole."

NO_TRACE: Final = (
    "Kept, but without a trace: the endpoint sent no probabilities of tokens that spell the answer."
)

UNANSWERED: Final = Q(state="replied") & ~Q(error_kind="")
"""Of calls whose reply was no answer: refused, filtered, empty."""


@dataclass(frozen=True)
class WritingProgress:
    """What became of the answers that a run is to write: wanted is the sum of six."""

    wanted: int
    written: int = 0
    left_out: int = 0  # the prompt had another answer by then
    unanswered: int = 0  # the reply was no answer
    failed: int = 0
    left: int = 0
    in_flight: int = 0
    cut: int = 0  # written answers that were cut at the token limit
    replies: int = 0
    abandoned: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    finished_at: datetime | None = None
    cost: Decimal | None = None  # None if no price is known
    reserved: Decimal = Decimal(0)
    budget: Decimal | None = None
    currency: str = ""

    @property
    def ended(self) -> int:
        return self.wanted - self.left

    @property
    def dropped(self) -> int:
        """What the run was cancelled before, or lost its prompt."""
        ended = self.written + self.left_out + self.unanswered + self.failed
        return self.wanted - ended - self.left

    @property
    def is_well(self) -> bool:
        """Whether it came to its end, and some replies were answers if any was asked for."""
        return not (self.failed or self.dropped or (self.unanswered and not self.written))


class WritingRun(models.Model):
    """A contestant's model writes answers that are missing, or reads texts; counted from its calls."""

    class Kind(models.TextChoices):
        WRITE = "write", "Writes answers"
        READ = "read", "Reads texts"

    kind = models.CharField(max_length=5, choices=Kind, default=Kind.WRITE)
    study = models.ForeignKey(Study, models.CASCADE, related_name="writing_runs")
    author = models.ForeignKey(Author, models.CASCADE, related_name="runs")
    limit = models.PositiveIntegerField(null=True, blank=True, help_text="Most answers to write or read.")
    wanted = models.PositiveIntegerField(default=0, help_text="Answers to write, or texts to read.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    cancelled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(limit__isnull=True) | Q(limit__gt=0), name="writing_run_limit_positive"
            )
        ]

    def __str__(self) -> str:
        return f"answers of {self.author.contestant}, run {self.pk}"

    @property
    def progress(self) -> WritingProgress:
        return progress_of([self])[self.pk]


class WritingCall(StandingRequest):
    """A request to a contestant's model for its answer to one turn of a prompt, or to read a text.

    ``messages`` hold its answers to the turns before; the answer is stored with the reply to the last turn.
    """

    run = models.ForeignKey(WritingRun, models.CASCADE, related_name="calls")
    author = models.ForeignKey(Author, models.CASCADE, related_name="calls", help_text="That of the run.")
    prompt = models.ForeignKey(Prompt, models.CASCADE, related_name="writing_calls")
    turn = models.PositiveSmallIntegerField(default=1, help_text="From 1.")
    text = models.CharField(
        max_length=12, choices=Trace.Text, blank=True, help_text="What is read. Empty: an answer is written."
    )
    is_last = models.BooleanField(default=False, help_text="Its reply completes the answer.")
    sampling = models.JSONField(default=dict, help_text="The model and the options it was asked with.")
    cut = models.JSONField(
        default=list, help_text="Turns up to this whose answer was cut at the token limit."
    )
    completion = models.ForeignKey(
        Completion,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="writing_calls",
        help_text="That it has written, or reads.",
    )
    tokens = models.PositiveIntegerField(null=True, blank=True, help_text="Those that packed tells of.")
    packed = models.BinaryField(
        null=True, help_text="As of a trace, until the last turn is there and the completion has one."
    )

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["author", "prompt"], condition=LIVE & Q(text=""), name="writing_call_one_live"
            ),
            models.UniqueConstraint(
                fields=["author", "completion", "turn", "text"],
                condition=LIVE & ~Q(text=""),
                name="reading_call_one_live",
            ),
            *constraints_of("writing_call"),
        ]
        indexes = indexes_of("writing_call")

    def __str__(self) -> str:
        return f"turn {self.turn} of {self.prompt}"

    @property
    def payer(self) -> Payer:
        return "writing", self.run_id


def progress_of(runs: Sequence[WritingRun]) -> dict[int, WritingProgress]:
    """The progress of runs by id, in two queries."""
    of_runs = WritingCall.objects.filter(run__in=runs).order_by().values("run")
    replied = Q(state="replied")
    last = replied & Q(is_last=True, error_kind="")
    counted: Iterable[Mapping[str, Any]] = of_runs.annotate(
        written=Count("pk", filter=last & Q(error="")),
        left_out=Count("pk", filter=last & ~Q(error="")),
        unanswered=Count("pk", filter=UNANSWERED),
        failed=Count("pk", filter=Q(state="failed")),
        left=Count("pk", filter=LIVE),
        in_flight=Count("pk", filter=Q(state="in_flight")),
        cut=Count("pk", filter=last & Q(error="") & ~Q(cut=[])),
        replies=Count("pk", filter=replied),
        abandoned=Sum("abandoned"),
        prompt_tokens=Sum("prompt_tokens", default=0),
        completion_tokens=Sum("completion_tokens", default=0),
        finished_at=Max("finished_at"),
    )
    found = {row["run"]: {name: row[name] for name in row if name != "run"} for row in counted}
    purses = {purse.writing_id: purse for purse in Purse.objects.filter(writing__in=runs)}
    return {run.pk: _progress(run, found.get(run.pk, {}), purses[run.pk]) for run in runs}


def errors_of(run: WritingRun) -> list[tuple[str, int]]:
    """What went wrong, or may have, and how often, most often first."""
    calls = WritingCall.objects.filter(run=run).order_by()
    said = list(calls.exclude(error="").values_list("error").annotate(count=Count("pk")))
    kept = calls.filter(state="replied", error="", text="").annotate(end=Lower("finish_reason"))
    unknown = kept.exclude(end__in=KNOWN_ENDS).values_list("finish_reason").annotate(count=Count("pk"))
    if run.kind == WritingRun.Kind.WRITE and run.author.endpoint.gives.get("logprobs"):
        without = calls.filter(state="replied", error_kind="", packed=None).count()
        said = [*said, (NO_TRACE, without)] if without else said
    told = [*said, *((UNKNOWN_END.format(end), count) for end, count in unknown)]
    return sorted(told, key=lambda each: -each[1])


def _progress(run: WritingRun, counted: dict[str, Any], purse: Purse) -> WritingProgress:
    return WritingProgress(
        wanted=run.wanted,
        cost=purse.spent if purse.currency else None,
        reserved=purse.reserved,
        budget=purse.budget,
        currency=purse.currency,
        **counted,
    )
