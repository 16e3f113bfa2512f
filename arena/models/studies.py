from typing import Any, Final

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from arena.models.querysets import (
    CompletionQuerySet,
    ContestantQuerySet,
    PairQuerySet,
    PromptQuerySet,
    StudyQuerySet,
)
from arena.rules import feature_names, scales, turns
from arena.rules.pairing import DEFAULT_STRATEGY, STRATEGIES, STRATEGY_CHOICES


def usual_tasks() -> list[str]:
    return ["compare"]


def usual_reasons() -> list[str]:
    return ["More helpful", "More accurate", "Clearer", "Follows the instructions better", "Safer"]


_UP_TO_A_MILLION: Final = [MinValueValidator(1), MaxValueValidator(1_000_000)]
_UP_TO_A_THOUSAND: Final = [MinValueValidator(1), MaxValueValidator(1_000)]


class Study(models.Model):
    """Its settings have their words, and what follows from a change, in arena/models/settings.py."""

    class Visibility(models.TextChoices):
        PRIVATE = "private", "Private: only operators and viewers see the leaderboard"
        PUBLIC = "public", "Public: everybody sees the leaderboard"

    class Naming(models.TextChoices):
        SHOW = "show", "Show them as they are"
        MASK = "mask", "Mask the words that give the author away"
        EXCLUDE = "exclude", "Leave them out: nobody rates them"

    class Thinking(models.TextChoices):
        HIDE = "hide", "Hide the thinking"
        EXCLUDE = "exclude", "Leave them out: nobody rates them"

    class Rated(models.TextChoices):
        WHOLE = turns.Rated.WHOLE.value, "Whole conversations"
        LAST = turns.Rated.LAST.value, "The last turn"
        EACH = turns.Rated.EACH.value, "Each turn"

    class ReferencesShown(models.TextChoices):
        HIDDEN = "hidden", "Not shown"
        DEMAND = "demand", "Folded below the answers"
        BESIDE = "beside", "Beside the answers"

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    guidelines = models.TextField(blank=True)
    consent = models.TextField(blank=True)
    goal = models.PositiveIntegerField(null=True, blank=True, validators=_UP_TO_A_MILLION)
    rater_limit = models.PositiveIntegerField(null=True, blank=True, validators=_UP_TO_A_MILLION)
    daily_limit = models.PositiveIntegerField(null=True, blank=True, validators=_UP_TO_A_MILLION)
    points = models.PositiveSmallIntegerField(
        choices=[(points, f"{points} points") for points in scales.POINTS], default=8
    )
    tasks = models.JSONField(default=usual_tasks)
    score_lowest = models.PositiveSmallIntegerField(default=1, validators=[MaxValueValidator(100)])
    score_highest = models.PositiveSmallIntegerField(default=5, validators=[MaxValueValidator(100)])
    rated_turns = models.CharField(max_length=10, choices=Rated, default=Rated.WHOLE)
    criteria = models.JSONField(default=list, blank=True)
    reasons = models.JSONField(default=usual_reasons, blank=True)
    reveal_names = models.BooleanField(default=False)
    show_references = models.CharField(max_length=10, choices=ReferencesShown, default=ReferencesShown.HIDDEN)
    training_threshold = models.FloatField(
        null=True, blank=True, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)]
    )
    pairing = models.CharField(max_length=20, choices=STRATEGY_CHOICES, default=DEFAULT_STRATEGY)
    pairing_feature = models.CharField(max_length=feature_names.LONGEST, blank=True)
    control_share = models.FloatField(
        default=0.2, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)]
    )
    repeat_share = models.FloatField(default=0.0, validators=[MinValueValidator(0.0), MaxValueValidator(0.5)])
    gold_share = models.FloatField(default=0.0, validators=[MinValueValidator(0.0), MaxValueValidator(0.5)])
    stop_margin = models.FloatField(
        null=True, blank=True, validators=[MinValueValidator(0.0), MaxValueValidator(1000.0)]
    )
    naming = models.CharField(max_length=10, choices=Naming, default=Naming.SHOW)
    thinking = models.CharField(max_length=10, choices=Thinking, default=Thinking.HIDE)
    paused_at = models.DateTimeField(
        null=True, blank=True, help_text="People get no new pairs while the study is paused."
    )
    is_draft = models.BooleanField(default=False)
    ratings_per_pair_people = models.PositiveSmallIntegerField(default=1, validators=_UP_TO_A_THOUSAND)
    ratings_per_pair_judges = models.PositiveSmallIntegerField(default=1, validators=_UP_TO_A_THOUSAND)
    visibility = models.CharField(max_length=10, choices=Visibility, default=Visibility.PRIVATE)
    sign_up_open = models.BooleanField(default=False)
    takes_models = models.BooleanField(default=False)
    closed_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Set when rating has ended. Only then do pages name who wrote an answer.",
    )
    simulated = models.BooleanField(default=False)
    licence = models.CharField(max_length=100, blank=True)
    revision = models.PositiveBigIntegerField(
        default=0, editable=False, help_text="Raised whenever something other than a rating changes figures."
    )
    queue_of = models.CharField(
        max_length=300, blank=True, editable=False, help_text="The state of the study that its queue is of."
    )
    queue_lacks = models.PositiveIntegerField(default=0, editable=False, help_text="Pairs without a row yet.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = StudyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "studies"
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=Q(points__in=scales.POINTS), name="study_points_is_a_scale"),
            models.CheckConstraint(
                condition=Q(ratings_per_pair_people__gte=1, ratings_per_pair_judges__gte=1),
                name="study_wants_at_least_one_rating",
            ),
            models.CheckConstraint(
                condition=(Q(rater_limit=None) | Q(rater_limit__gte=1))
                & (Q(daily_limit=None) | Q(daily_limit__gte=1)),
                name="study_limits_at_least_one",
            ),
            models.CheckConstraint(
                condition=Q(
                    control_share__range=(0, 1), repeat_share__range=(0, 0.5), gold_share__range=(0, 0.5)
                ),
                name="study_shares_within_bounds",
            ),
            models.CheckConstraint(
                condition=Q(training_threshold=None) | Q(training_threshold__range=(0, 1)),
                name="study_threshold_is_a_share",
            ),
            models.CheckConstraint(
                condition=Q(stop_margin=None) | Q(stop_margin__range=(0, 1000)),
                name="study_stop_margin_within_bounds",
            ),
            models.CheckConstraint(
                condition=Q(
                    pairing__in=list(STRATEGIES),
                    naming__in=["show", "mask", "exclude"],
                    thinking__in=["hide", "exclude"],
                    show_references__in=["hidden", "demand", "beside"],
                    rated_turns__in=[each.value for each in turns.Rated],
                ),
                name="study_choices_known",
            ),
            models.CheckConstraint(
                condition=Q(score_lowest__lt=F("score_highest")), name="study_score_has_two_ends"
            ),
            models.CheckConstraint(
                condition=Q(reveal_names=False) | ~Q(rated_turns="each"), name="study_turns_stay_blind"
            ),
            models.CheckConstraint(
                condition=Q(is_draft=False) | Q(visibility="private"), name="study_draft_is_private"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("study", args=[self.slug])

    @property
    def is_closed(self) -> bool:
        return self.closed_at is not None

    @property
    def is_public(self) -> bool:
        return self.visibility == self.Visibility.PUBLIC

    @property
    def compares(self) -> bool:
        """True if raters compare pairs; training is for them."""
        return "compare" in self.tasks

    @property
    def shows_references(self) -> bool:
        return self.show_references != self.ReferencesShown.HIDDEN

    def turns_of(self, prompt: "Prompt") -> tuple[int, ...]:
        """The turns of a prompt that raters compare, in order; 0 is the whole conversation."""
        return turns.asked(self.rated_turns, len(prompt.turns))

    def touch(self) -> None:
        """Have published figures computed again."""
        Study.objects.filter(pk=self.pk).update(revision=F("revision") + 1)


class Prompt(models.Model):
    study = models.ForeignKey(Study, models.CASCADE, related_name="prompts")
    external_id = models.CharField(max_length=200)
    subset = models.CharField(max_length=100, blank=True)
    category = models.CharField(max_length=100, blank=True)
    domain = models.CharField(max_length=100, blank=True)
    turns = models.JSONField(help_text="What the user says, turn by turn; empty when the text is unknown.")
    is_private = models.BooleanField(
        default=False, help_text="Typed by a visitor and not published: only operators and judges read it."
    )
    asides = models.JSONField(
        default=list, blank=True, help_text="System messages, tools and images, each before a turn."
    )
    input = models.TextField(
        blank=True, help_text="Material that the instruction is about, such as a text to summarise."
    )
    extra = models.JSONField(default=dict, blank=True)

    objects = PromptQuerySet.as_manager()

    class Meta:
        ordering = ["study", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "subset", "external_id"], name="prompt_external_id_unique"
            ),
        ]
        indexes = [models.Index(fields=["study", "category"])]

    def __str__(self) -> str:
        return self.external_id

    @property
    def instruction(self) -> str:
        """The first turn, or '' if the text is unknown."""
        return self.turns[0] if self.turns else ""

    @property
    def reference_turns(self) -> list[list[str]]:
        """Its reference answers that have a text, the first imported first."""
        references = sorted(self.references.all(), key=lambda reference: reference.pk)
        return [each.turns for each in references if any(turn.strip() for turn in each.turns)]


class Reference(models.Model):
    prompt = models.ForeignKey(Prompt, models.CASCADE, related_name="references")
    author = models.CharField(max_length=200)
    turns = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["prompt", "author"], name="reference_author_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.prompt} by {self.author}"


class Contestant(models.Model):
    """A model, or people ("human demonstrations")."""

    class Kind(models.TextChoices):
        MODEL = "model", "Language model"
        PEOPLE = "people", "People"

    study = models.ForeignKey(Study, models.CASCADE, related_name="contestants")
    slug = models.SlugField(max_length=120)
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.MODEL)
    family = models.CharField(max_length=100, blank=True)
    organisation = models.CharField(max_length=200, blank=True)
    licence = models.CharField(max_length=100, blank=True)
    size = models.CharField(max_length=50, blank=True, help_text="For example 13B.")
    generation = models.JSONField("generation parameters", default=dict, blank=True)
    benchmarks = models.JSONField(
        "external benchmark scores",
        default=dict,
        blank=True,
        help_text='Names and numbers, e.g. {"MMLU": 69.8}: columns of the leaderboard, not part of scores.',
    )
    extra = models.JSONField(default=dict, blank=True)
    retired_at = models.DateTimeField(
        null=True, blank=True, help_text="Retired models get no new pairs; their ratings stay."
    )

    provisional = models.BooleanField(
        default=False, help_text="Proposed, and no operator has confirmed its place on the leaderboard yet."
    )

    objects = ContestantQuerySet.as_manager()

    class Meta:
        ordering = ["study", "name"]
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="contestant_name_unique"),
            models.UniqueConstraint(fields=["study", "slug"], name="contestant_slug_unique"),
            models.CheckConstraint(condition=Q(kind__in=["model", "people"]), name="contestant_kind_known"),
        ]

    def __str__(self) -> str:
        return self.name


class Completion(models.Model):
    """A contestant's answer to a prompt. A changed answer is a new version; pairs keep the old one."""

    prompt = models.ForeignKey(Prompt, models.CASCADE, related_name="completions")
    contestant = models.ForeignKey(
        Contestant,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="completions",
        help_text="Empty if the author is unknown.",
    )
    external_id = models.CharField(max_length=200, blank=True)
    turns = models.JSONField(help_text="The answer, turn by turn; an empty list if the text is unknown.")
    asides = models.JSONField(
        default=list, blank=True, help_text="System messages, tools and images, each before a turn."
    )
    is_empty = models.BooleanField(default=False, help_text="The text is known to be empty.")
    version = models.PositiveIntegerField(default=1)
    is_current = models.BooleanField(default=True)
    digest = models.CharField(max_length=64, help_text="SHA-256 of the turns as canonical JSON.")
    extra = models.JSONField(default=dict, blank=True)
    telling = models.JSONField(
        default=list, blank=True, help_text="Words in the text that tell who wrote it."
    )
    thinking = models.JSONField(
        default=list, blank=True, help_text="The model's thinking before each turn, which no rater sees."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CompletionQuerySet.as_manager()

    class Meta:
        ordering = ["prompt", "contestant", "version"]
        constraints = [
            models.UniqueConstraint(
                fields=["prompt", "contestant"],
                condition=Q(is_current=True, contestant__isnull=False),
                name="completion_one_current_per_contestant_and_prompt",
            ),
            models.UniqueConstraint(
                fields=["prompt", "contestant", "version"], name="completion_version_unique"
            ),
            models.CheckConstraint(condition=Q(version__gte=1), name="completion_version_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.prompt_id}/{self.contestant_id} v{self.version}"

    @property
    def text(self) -> str:
        return "\n\n".join(self.turns)

    def until(self, turn: int) -> tuple[list[str], list[Any]]:
        """What is said up to a turn, and what stands before it."""
        return self.turns[:turn], [each for each in self.asides if each["turn"] <= turn]


AllPairs = models.Manager.from_queryset(PairQuerySet)


class UsedPairs(AllPairs["Pair"]):
    """The pairs that somebody was offered, or that were planned or imported."""

    def get_queryset(self) -> Any:
        return super().get_queryset().filter(is_waiting=False)


class Pair(models.Model):
    """Two completions of one prompt; ``first`` has the smaller id.

    A trigger ensures that the prompt is the same.
    """

    class Gold(models.TextChoices):
        FIRST = "first", "The first is better"
        TIE = "tie", "Equally good"
        SECOND = "second", "The second is better"

    class Use(models.TextChoices):
        RATE = "rate", "Rated"
        CHECK = "check", "Hidden check: its right answer is known"
        TRAIN = "train", "Training, with an explanation"

    prompt = models.ForeignKey(Prompt, models.CASCADE, related_name="pairs", db_index=False)
    first = models.ForeignKey(Completion, models.CASCADE, related_name="pairs_as_first")
    second = models.ForeignKey(Completion, models.CASCADE, related_name="pairs_as_second")
    gold = models.CharField(max_length=10, choices=Gold, blank=True)
    gold_source = models.CharField(max_length=200, blank=True)
    use = models.CharField(max_length=10, choices=Use, default=Use.RATE)
    explanation = models.TextField(blank=True, help_text="Why the gold answer is right; shown in training.")
    # Current comparisons by each kind of rater, kept by arena.rating.recording and recounted after imports:
    # choosing the next pair then costs the number of pairs, not of comparisons.
    people_ratings = models.PositiveIntegerField(default=0, editable=False)
    judge_ratings = models.PositiveIntegerField(default=0, editable=False)
    # Kept by arena.rating.pair_queue.
    queued_in = models.ForeignKey(
        Study, models.CASCADE, null=True, blank=True, editable=False, related_name="+", db_index=False
    )
    turn = models.FloatField(null=True, blank=True, editable=False, help_text="Its place in the queue.")
    is_waiting = models.BooleanField(
        default=False, editable=False, help_text="In the queue, and never offered, planned or imported."
    )

    objects = UsedPairs()
    rows = PairQuerySet.as_manager()
    """With those that wait."""

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(fields=["prompt", "is_waiting"], name="pair_of_prompt"),
            models.Index(
                fields=["queued_in", "people_ratings", "turn"],
                condition=Q(queued_in__isnull=False),
                name="pair_next",
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["first", "second"], name="pair_unique"),
            models.CheckConstraint(condition=Q(first__lt=F("second")), name="pair_first_before_second"),
            models.CheckConstraint(
                condition=Q(gold="", gold_source="") | (~Q(gold="") & ~Q(gold_source="")),
                name="pair_gold_has_a_source",
            ),
            models.CheckConstraint(
                condition=Q(use="rate") | (Q(use__in=["check", "train"]) & ~Q(gold="")),
                name="pair_to_check_by_has_gold",
            ),
        ]

    def __str__(self) -> str:
        return f"pair {self.pk}"

    @property
    def is_identical(self) -> bool:
        return self.is_identical_at(turns.WHOLE)

    def is_identical_at(self, turn: int) -> bool:
        """Return whether both answers are the same, or the same up to a turn."""
        same = self.first.digest == self.second.digest
        return same or (turn > 0 and self.first.until(turn) == self.second.until(turn))

    def shown(self, swapped: bool) -> tuple[Completion, Completion]:
        return (self.second, self.first) if swapped else (self.first, self.second)


class Rendering(models.Model):
    """A text as sanitised HTML, by its digest and the renderer's version."""

    digest = models.CharField(max_length=64)
    renderer = models.PositiveSmallIntegerField(help_text="Version of the renderer that made it.")
    html = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["digest", "renderer"], name="rendering_unique")]

    def __str__(self) -> str:
        return self.digest
