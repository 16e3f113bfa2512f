from __future__ import annotations

import json
from typing import Final

from django.db import models
from django.db.models import Q

from arena.models import Assignment, Rater, Study
from arena.rules import scales
from judging.models.endpoints import Endpoint
from judging.protocols.answer_scales import FORMS, TEXT_FORMS
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.protocol import ConfiguredProtocol

SIMULATED: Final = Endpoint(model="simulated")

_configured_protocols: dict[tuple[object, ...], ConfiguredProtocol] = {}
"""By protocol and settings. Values keep their protocol alive, so its id in the key stays unique."""


class JudgeQuerySet(models.QuerySet["Judge"]):
    def whole(self) -> JudgeQuerySet:
        """With rater and endpoint."""
        return self.select_related("rater", "endpoint")


class Judge(models.Model):
    """An LLM rater: endpoint with its model, protocol, answer scale and sampling options."""

    class Provider(models.TextChoices):
        OPENAI = "openai", "OpenAI-compatible endpoint"
        SIMULATED = "simulated", "Simulated (demo study only)"

    class Replies(models.TextChoices):
        WORDS = "text", "Words, as the protocol asks for them"
        JSON = "json", "JSON"

    rater = models.OneToOneField(Rater, models.PROTECT, related_name="judge")
    provider = models.CharField(max_length=10, choices=Provider, default=Provider.OPENAI)
    endpoint = models.ForeignKey(
        Endpoint, models.PROTECT, null=True, blank=True, related_name="judges", help_text="Not if simulated."
    )
    protocol = models.CharField(max_length=50, default="likert")
    form = models.CharField(
        "answer scale",
        max_length=10,
        choices=list((FORMS | TEXT_FORMS).items()),
        default="likert",
        help_text="How the judge states its verdict.",
    )
    points = models.PositiveSmallIntegerField(
        "points of the rating scale",
        choices=[(points, f"{points} points") for points in scales.POINTS],
        default=8,
        help_text="For a verdict that is one number. Other answer scales have their own.",
    )
    parameters = models.JSONField(
        default=dict, blank=True, help_text="Those that differ from the protocol's defaults."
    )
    wording = models.JSONField(
        default=dict, blank=True, help_text="Prompt texts that replace the protocol's, by name."
    )
    samples = models.PositiveSmallIntegerField(
        default=1,
        help_text="Times each pair or answer is asked in the same order. The majority decides, of scores "
        "their mean or median.",
    )
    rates_criteria = models.BooleanField(
        "rate each criterion",
        default=False,
        help_text="In studies with criteria. The judge is asked about each criterion separately, which "
        "takes as "
        "many calls again.",
    )
    logprobs = models.BooleanField(
        "ask for logprobs",
        default=False,
        help_text="Stores the expected rating beside the rating, if the endpoint returns probabilities "
        "of tokens.",
    )
    replies = models.CharField(
        "form of replies",
        max_length=4,
        choices=Replies,
        default=Replies.WORDS,
        help_text="JSON: an object with the verdict in it, by a schema where the endpoint takes one.",
    )
    temperature = models.FloatField(
        null=True, blank=True, default=0, help_text="Leave empty for the endpoint's own."
    )
    max_tokens = models.PositiveIntegerField(
        null=True, blank=True, default=1024, help_text="Longest reply in tokens, including thinking."
    )
    options = models.JSONField(
        default=dict, blank=True, help_text='Further fields of the request, e.g. {"top_p": 0.9}.'
    )
    simulation = models.JSONField(
        default=dict, blank=True, help_text="Of a simulated judge: noise, position_bias, strengths."
    )
    both_orders = models.BooleanField(
        default=False, help_text="Runs ask about every pair in both orders unless you choose otherwise."
    )
    active = models.BooleanField(default=True, help_text="An inactive judge starts no runs.")
    prompt_hash = models.CharField(
        max_length=64, editable=False, help_text="Wording this judge was asked with, fixed by its first run."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = JudgeQuerySet.as_manager()

    class Meta:
        ordering = ["rater__name"]
        constraints = [
            models.CheckConstraint(condition=Q(points__in=scales.POINTS), name="judge_points_is_a_scale"),
            models.CheckConstraint(
                condition=Q(provider="simulated", endpoint=None)
                | Q(provider="openai", endpoint__isnull=False),
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
        "rates_criteria",
        "replies",
        "temperature",
        "options",
        "simulation",
    )
    """Fields that tell judges apart; fixed once the judge has replied."""

    def __str__(self) -> str:
        return self.rater.name

    @property
    def slug(self) -> str:
        return self.rater.slug

    @property
    def name(self) -> str:
        return self.rater.name

    @property
    def asks(self) -> Endpoint:
        """Its endpoint; for a simulated judge, which asks nobody, one that stands for it."""
        return self.endpoint or SIMULATED

    @property
    def model(self) -> str:
        return self.asks.model

    @property
    def base_url(self) -> str:
        return self.asks.base_url

    @property
    def timeout(self) -> float:
        return self.asks.timeout

    @property
    def is_simulated(self) -> bool:
        return self.provider == self.Provider.SIMULATED

    @property
    def task(self) -> str:
        """Kind of its assignments, by its protocol, if there still is one."""
        protocol = PROTOCOLS.get(self.protocol)
        return str(protocol.task) if protocol else str(Assignment.Kind.COMPARE)

    @property
    def compares(self) -> bool:
        return self.task == Assignment.Kind.COMPARE

    @property
    def configured_protocol(self) -> ConfiguredProtocol:
        """Protocol as it asks in a study without criteria."""
        return self._configured(() if self.rates_criteria else None)

    def configured_for(self, study: Study) -> ConfiguredProtocol:
        return self._configured(tuple(map(str, study.criteria)) if self.rates_criteria else None)

    def _configured(self, criteria: tuple[str, ...] | None) -> ConfiguredProtocol:
        # Equal judges share one object, so that its prompt hash is computed once.
        protocol = PROTOCOLS.named(self.protocol)
        texts = json.dumps([self.parameters, self.wording], sort_keys=True)
        key = (id(protocol), self.form, self.points, texts, self.samples, criteria)
        if key not in _configured_protocols:
            _configured_protocols[key] = ConfiguredProtocol.of(
                protocol, self.form, self.points, self.parameters, self.wording, self.samples, criteria
            )
        return _configured_protocols[key]

    def current_prompt_hash(self) -> str:
        return self.configured_protocol.prompt_hash


class Panel(models.Model):
    """Several judges as one rater: its comparisons follow from theirs, and nothing is asked for it."""

    class Rule(models.TextChoices):
        MAJORITY = "majority", "Majority: the side that most judges prefer"
        MEAN = "mean", "Mean of the judges' ratings"

    rater = models.OneToOneField(Rater, models.PROTECT, related_name="panel")
    members = models.ManyToManyField(Judge, related_name="panels")
    rule = models.CharField(max_length=10, choices=Rule, default=Rule.MAJORITY)
    active = models.BooleanField(default=True, help_text="An inactive panel rates no more pairs.")
    seen = models.BigIntegerField(
        default=0, help_text="The newest comparison of its members when it last gave verdicts."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["rater__name"]

    def __str__(self) -> str:
        return self.rater.name

    @property
    def is_simulated(self) -> bool:
        return self.rater.simulated
