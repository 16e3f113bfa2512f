from __future__ import annotations

import secrets
from typing import Final

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from arena.models import Comparison, Contestant, Prompt, Rater, Study
from judging.models.endpoints import Author, Endpoint
from judging.models.judges import Judge
from judging.models.purses import Payer
from judging.models.requests import StandingRequest, constraints_of, indexes_of

USUAL_CONSENT: Final = (
    "What you type is sent to two models. It is stored with their answers and your rating, and operators "
    "read it. Do not type names, addresses or other personal details."
)


def new_public_id() -> str:
    """An opaque name for a battle (128 bits)."""
    return secrets.token_urlsafe(16)


class BattleRules(models.Model):
    """How a study lets people battle: who may, between which models, and within which limits."""

    class OpenTo(models.TextChoices):
        NOBODY = "nobody", "Nobody: battles are off"
        MEMBERS = "members", "Members of the study"
        ACCOUNTS = "accounts", "Everybody who is signed in"
        EVERYBODY = "everybody", "Everybody, without an account"

    class Naming(models.TextChoices):
        HOLD = "hold", "Hold the sentence back"
        VOID = "void", "End the battle without a rating"

    class Thread(models.TextChoices):
        OWN = "own", "Each model goes on from its own answer"
        BETTER = "better", "Both models go on from the answer that was rated better"

    study = models.OneToOneField(Study, models.CASCADE, related_name="battle_rules")
    open_to = models.CharField(max_length=10, choices=OpenTo, default=OpenTo.NOBODY)
    authors = models.ManyToManyField(Author, blank=True, related_name="battles_of")
    system = models.TextField("system text", blank=True)
    temperature = models.FloatField(null=True, blank=True)
    max_tokens = models.PositiveIntegerField(default=1024, validators=[MinValueValidator(1)])
    random_share = models.FloatField(default=0.2, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)])
    warm_up = models.PositiveIntegerField(
        default=20, help_text="Battles that a model has before it counts as known."
    )
    most_characters = models.PositiveIntegerField(default=4000, validators=[MinValueValidator(1)])
    most_turns = models.PositiveSmallIntegerField(default=5, validators=[MinValueValidator(1)])
    visitor_daily = models.PositiveIntegerField(default=50, validators=[MinValueValidator(1)])
    address_daily = models.PositiveIntegerField(default=200, validators=[MinValueValidator(1)])
    most_waiting = models.PositiveIntegerField(
        default=50, validators=[MinValueValidator(1)], help_text="Battles that may wait for a free endpoint."
    )
    naming = models.CharField(max_length=4, choices=Naming, default=Naming.HOLD)
    thread = models.CharField(max_length=6, choices=Thread, default=Thread.OWN)
    lets_choose = models.BooleanField(
        default=False, help_text="People who are signed in may choose both models. Such ratings rank nobody."
    )
    consent = models.TextField(blank=True, default=USUAL_CONSENT)
    examples = models.JSONField(default=list, blank=True, help_text="Prompts that visitors can take.")
    blocked_words = models.TextField(blank=True, help_text="One word or phrase per line.")
    moderation_endpoint = models.ForeignKey(
        Endpoint, models.PROTECT, null=True, blank=True, related_name="moderates"
    )
    moderation_judge = models.ForeignKey(
        Judge, models.SET_NULL, null=True, blank=True, related_name="moderates"
    )
    fails_closed = models.BooleanField(
        default=True, help_text="A text that cannot be looked at is not let through."
    )
    salt = models.BinaryField(default=secrets.token_bytes, editable=False)
    salted_on = models.DateField(default=timezone.localdate, editable=False)

    class Meta:
        verbose_name_plural = "battle rules"
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    open_to__in=["nobody", "members", "accounts", "everybody"],
                    naming__in=["hold", "void"],
                    thread__in=["own", "better"],
                ),
                name="battle_choices_known",
            ),
            models.CheckConstraint(condition=Q(random_share__range=(0, 1)), name="battle_share_is_a_share"),
        ]

    def __str__(self) -> str:
        return f"battles of {self.study}"

    @property
    def is_open(self) -> bool:
        return self.open_to != self.OpenTo.NOBODY and not self.study.is_closed and not self.study.is_draft


class Battle(models.Model):
    """A visitor's prompt, two models that answer it unnamed, and the vote. ``first`` is shown as A.

    A battle of several turns is one conversation; ``turns`` holds what the visitor has said.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "Waits for its models"
        ANSWERING = "answering", "Its models answer"
        READY = "ready", "Answered"
        VOTED = "voted", "Rated"
        VOID = "void", "Ended without a rating"

    class Void(models.TextChoices):
        PROMPT = "prompt", "The prompt was not let through"
        FLAGGED = "flagged", "An answer was not let through"
        FAILED = "failed", "A model gave no answer"
        CUT = "cut", "An answer was cut off"
        HUNG = "hung", "An answer stopped coming"
        NAMED = "named", "An answer told who wrote it"
        BUDGET = "budget", "The budget is used up"
        LEFT = "left", "The visitor left"
        REMOVED = "removed", "The visitor had it removed"

    public_id = models.CharField(max_length=24, unique=True, default=new_public_id, editable=False)
    study = models.ForeignKey(Study, models.CASCADE, related_name="battles")
    rater = models.ForeignKey(Rater, models.CASCADE, related_name="battles")
    first = models.ForeignKey(Contestant, models.CASCADE, related_name="battles_as_first")
    second = models.ForeignKey(Contestant, models.CASCADE, related_name="battles_as_second")
    turns = models.JSONField(default=list)
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    is_chosen = models.BooleanField(default=False, help_text="The visitor chose the models.")
    is_random = models.BooleanField(default=False, help_text="Of the random share.")
    is_redrawn = models.BooleanField(default=False, help_text="A model was replaced before it was seen.")
    address = models.CharField(max_length=64, blank=True, help_text="A digest that changes every day.")
    created_at = models.DateTimeField(default=timezone.now)

    void = models.CharField(max_length=10, choices=Void, blank=True)
    void_by = models.ForeignKey(
        Contestant, models.SET_NULL, null=True, blank=True, related_name="+", help_text="Whose answer it was."
    )
    begun_at = models.DateTimeField(null=True, blank=True, help_text="When both had begun this turn.")
    released = models.PositiveIntegerField(
        default=0, help_text="Characters of each answer to this turn that could be seen at released_at."
    )
    released_at = models.DateTimeField(null=True, blank=True)
    pace = models.FloatField(
        null=True, blank=True, help_text="Characters a second, of each answer from released_at on."
    )

    voted_at = models.DateTimeField(null=True, blank=True)
    is_early = models.BooleanField(default=False, help_text="Rated before both answers were complete.")
    is_fast = models.BooleanField(default=False, help_text="Rated in less time than reading takes.")
    first_reasons = models.JSONField(
        default=list, blank=True, help_text="What was said of A after the rating."
    )
    second_reasons = models.JSONField(
        default=list, blank=True, help_text="What was said of B after the rating."
    )
    comment = models.TextField(blank=True)
    told_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When the names were told. Until then a rating may close a turn alone.",
    )
    prompt = models.OneToOneField(Prompt, models.SET_NULL, null=True, blank=True, related_name="battle")
    comparison = models.OneToOneField(
        Comparison, models.SET_NULL, null=True, blank=True, related_name="battle"
    )

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "answering", "ready", "voted", "void"]),
                name="battle_state_known",
            ),
            models.CheckConstraint(
                condition=Q(state="void") & ~Q(void="") | ~Q(state="void") & Q(void=""),
                name="battle_void_has_a_reason",
            ),
            models.UniqueConstraint(
                fields=["study", "rater"],
                condition=Q(state__in=["waiting", "answering", "ready"]),
                name="battle_one_open_per_visitor",
            ),
        ]
        indexes = [
            models.Index(fields=["study", "created_at"], name="battle_of_study"),
            models.Index(
                fields=["study", "state"],
                condition=Q(state__in=["waiting", "answering", "ready"]),
                name="battle_open",
            ),
        ]

    def __str__(self) -> str:
        return f"battle {self.pk}"

    def get_absolute_url(self) -> str:
        """Return where its visitor sees it; the open one stands where the next one will."""
        address = reverse("battle", args=[self.study.slug])
        return address if self.is_open else f"{address}?battle={self.public_id}"

    @property
    def turn(self) -> int:
        """The number of the turn that is answered or voted on, from 1."""
        return len(self.turns)

    @property
    def is_open(self) -> bool:
        return self.state in (self.State.WAITING, self.State.ANSWERING, self.State.READY)


class BattleCall(StandingRequest):
    """A request to one side of a battle for its answer to one turn.

    ``text`` is what has come so far; ``shown`` is the part of it that may be released. One that was drawn
    again, and whose answer nobody saw, is not current.
    """

    class Side(models.IntegerChoices):
        FIRST = 0, "A"
        SECOND = 1, "B"

    battle = models.ForeignKey(Battle, models.CASCADE, related_name="calls")
    author = models.ForeignKey(Author, models.CASCADE, related_name="battle_calls")
    side = models.PositiveSmallIntegerField(choices=Side)
    turn = models.PositiveSmallIntegerField(default=1)
    is_current = models.BooleanField(default=True)
    text = models.TextField(blank=True)
    shown = models.TextField(blank=True)
    begun_at = models.DateTimeField(null=True, blank=True, help_text="When the first words came.")
    ends_early = models.BooleanField(default=False, help_text="The visitor has stopped it, or rated.")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["battle", "turn", "side"],
                condition=Q(is_current=True),
                name="battle_call_one_current",
            ),
            *constraints_of("battle_call"),
        ]
        indexes = indexes_of("battle_call")

    def __str__(self) -> str:
        return f"turn {self.turn} of {self.battle}, {self.get_side_display()}"

    @property
    def payer(self) -> Payer:
        return "battles", self.battle.study_id
