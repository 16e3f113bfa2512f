from typing import Final

from django.db import models
from django.db.models import Q

from arena.models import Contestant
from arena.rules.subsets import SIMILAR, WORSE
from judging.endpoints.costs import Prices

SIMULATED_ADDRESS: Final = "simulated:"
"""In place of an address, which no operator can enter."""


class Endpoint(models.Model):
    """A model at an address, asked with one key: shared by all who ask it. It never holds the key."""

    base_url = models.CharField(
        "address",
        max_length=500,
        help_text="Of an OpenAI-compatible endpoint, e.g. https://api.example.com/v1.",
    )
    api_key_env = models.CharField("key variable", max_length=100, blank=True)
    model = models.CharField(max_length=200, help_text="As the endpoint names it.")
    timeout = models.FloatField(default=120, help_text="Seconds to wait for a reply.")
    concurrency = models.PositiveSmallIntegerField(default=8, help_text="Calls at a time, over all workers.")
    requests_per_minute = models.PositiveIntegerField(
        null=True, blank=True, help_text="Leave empty for no limit."
    )
    tokens_per_minute = models.PositiveIntegerField(
        null=True, blank=True, help_text="Input and output together. Leave empty for no limit."
    )

    vocabulary = models.PositiveIntegerField(
        "tokens in the vocabulary",
        null=True,
        blank=True,
        help_text="That the model knows. Without it, entropy has no upper bound.",
    )
    gives = models.JSONField(
        default=dict,
        blank=True,
        help_text="What a probe found it tells about the probabilities of tokens, and when.",
    )

    class Meta:
        ordering = ["model", "base_url", "api_key_env"]
        constraints = [
            models.UniqueConstraint(fields=["base_url", "model", "api_key_env"], name="endpoint_once"),
            models.CheckConstraint(condition=Q(timeout__gt=0), name="endpoint_timeout_positive"),
            models.CheckConstraint(condition=~Q(base_url=""), name="endpoint_has_an_address"),
        ]

    IDENTITY = ("base_url", "model", "api_key_env")
    SHARED = ("timeout", "concurrency", "requests_per_minute", "tokens_per_minute", "vocabulary")
    """Columns that hold for all who share it."""

    def __str__(self) -> str:
        return f"{self.model} at {self.base_url}"

    @property
    def is_simulated(self) -> bool:
        """True of one that stands for no model: its answers are made here, for simulated studies only."""
        return self.base_url == SIMULATED_ADDRESS


class Author(models.Model):
    """A contestant as a model that can be asked: at which endpoint, and how its answers are sampled."""

    class Writes(models.TextChoices):
        ANSWER = "", "Answers"
        SIMILAR = SIMILAR, "For GPTInst: a similar prompt, and the answer to that"
        WORSE = WORSE, "For GPTOut: a worse answer that looks good"

    contestant = models.OneToOneField(Contestant, models.CASCADE, related_name="author")
    endpoint = models.ForeignKey(Endpoint, models.PROTECT, related_name="authors")
    temperature = models.FloatField(null=True, blank=True, help_text="Leave empty for the endpoint's own.")
    max_tokens = models.PositiveIntegerField(
        null=True, blank=True, default=1024, help_text="Longest answer in tokens, including thinking."
    )
    options = models.JSONField(
        default=dict, blank=True, help_text='Further fields of the request, e.g. {"top_p": 0.9, "seed": 1}.'
    )
    writes = models.CharField(max_length=20, choices=Writes, blank=True)
    second_to = models.OneToOneField(
        Contestant,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="second_author",
        help_text="The model to whose answers it writes second ones.",
    )

    def __str__(self) -> str:
        return f"{self.contestant} by {self.endpoint}"


class Price(models.Model):
    model = models.CharField(max_length=200, help_text="As judges name it.")
    base_url = models.CharField(
        "address", max_length=500, blank=True, help_text="Leave empty for any address."
    )
    prompt = models.DecimalField("input price", max_digits=12, decimal_places=6)
    completion = models.DecimalField("output price", max_digits=12, decimal_places=6)
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

    @property
    def prices(self) -> Prices:
        return Prices(self.prompt, self.completion, self.currency)
