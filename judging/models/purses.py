from django.db import models
from django.db.models import Q

from arena.models import Study
from judging.models.limits import RateLimit


class Purse(models.Model):
    """Budget and cost of paid calls: those of a run, of a study's battles on a day, of a study, or of the
    whole arena on a day.

    It lies within another: a run's in its study's, a study's in the day's, where operators set these budgets.
    A call reserves from its own purse and all around it. Only judging.spending changes amounts.
    """

    class Scope(models.TextChoices):
        RUN = "run", "Run"
        STUDY = "study", "Study"
        BATTLES = "battles", "Battles of a study on a day"
        DAY = "day", "Day"

    scope = models.CharField(max_length=7, choices=Scope)
    run = models.OneToOneField(
        "judging.JudgeRun", models.CASCADE, null=True, blank=True, related_name="purse"
    )
    writing = models.OneToOneField(
        "judging.WritingRun", models.CASCADE, null=True, blank=True, related_name="purse"
    )
    battles = models.OneToOneField(
        Study,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="battles_purse",
        help_text="The study whose battles of a day it pays.",
    )
    study = models.OneToOneField(Study, models.CASCADE, null=True, blank=True, related_name="purse")
    day = models.DateField(
        null=True, blank=True, help_text="Whose costs it counts. The next day begins at 0."
    )
    within = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="inner")
    budget = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="No call is made that could pass it.",
    )
    spent = models.DecimalField(max_digits=20, decimal_places=8, default=0)
    reserved = models.DecimalField(
        max_digits=20, decimal_places=8, default=0, help_text="The most that calls in flight can still cost."
    )
    currency = models.CharField(
        max_length=3, blank=True, help_text="Of budget and cost. Empty while no price is known."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(scope="run", study=None, battles=None, day=None)
                & (Q(run=None, writing__isnull=False) | Q(run__isnull=False, writing=None))
                | Q(scope="battles", run=None, writing=None, study=None)
                & Q(battles__isnull=False, day__isnull=False)
                | Q(run=None, writing=None, battles=None, budget__isnull=False)
                & (
                    Q(scope="study", study__isnull=False, day=None)
                    | Q(scope="day", study=None, day__isnull=False)
                ),
                name="purse_has_its_scope",
            ),
            models.UniqueConstraint(fields=["scope"], condition=Q(scope="day"), name="purse_one_of_the_day"),
        ]

    def __str__(self) -> str:
        return str(self.run or self.writing or self.battles or self.study or self.day)


Payer = tuple[str, int]
"""Whose purse a call reserves from first: "run", "writing", "battles" or "study"; and the id of that."""


class PaidCall(models.Model):
    """Columns of all calls that cost money."""

    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    reasoning_tokens = models.PositiveIntegerField(
        null=True, blank=True, help_text="Those of the completion that were spent thinking."
    )
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
    rate_limit = models.ForeignKey(
        RateLimit,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,  # few are in flight, and those have an index
        help_text="Whose places it takes while it is in flight.",
    )

    class Meta:
        abstract = True

    state: "models.CharField[str, str]"
    messages: "models.JSONField[object, list[dict[str, str]]]"

    @property
    def payer(self) -> Payer:
        raise NotImplementedError
