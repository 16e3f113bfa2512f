import secrets
from datetime import timedelta

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from arena.models.querysets import AssignmentQuerySet, ComparisonQuerySet
from arena.models.raters import Membership, Rater
from arena.models.studies import Completion, Pair, Study
from arena.rules import scales


def new_public_id() -> str:
    """An opaque name for an assignment (96 bits)."""
    return secrets.token_urlsafe(12)


def new_seed() -> int:
    return secrets.randbits(62)


class Purpose(models.TextChoices):
    """Why a pair is offered. Only STUDY counts on boards and as wanted."""

    STUDY = "study", "For the study"
    REPEAT = "repeat", "A repeat in the other order: is the rater consistent?"
    CHECK = "check", "A pair whose right answer is known: is the rater accurate?"
    ADJUDICATION = "adjudication", "Decides a disagreement"
    CHOSEN = "chosen", "A battle between models that its visitor chose"


class Assignment(models.Model):
    """A task offered to a rater in a fixed presentation order, leased for a while."""

    class Kind(models.TextChoices):
        COMPARE = "compare", "Rate a pair"
        SCORE = "score", "Score an answer"
        CHECK = "check", "Check an answer against its requirements"

    class State(models.TextChoices):
        OPEN = "open", "Planned, waiting for its rater"
        CLAIMED = "claimed", "Offered and leased"
        SUBMITTED = "submitted", "Rated"
        SKIPPED = "skipped", "Skipped by the rater"
        EXPIRED = "expired", "Abandoned: the lease ran out"
        FAILED = "failed", "No reply"

    public_id = models.CharField(max_length=24, unique=True, default=new_public_id, editable=False)
    study = models.ForeignKey(Study, models.CASCADE, related_name="assignments")
    rater = models.ForeignKey(Rater, models.CASCADE, related_name="assignments")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.COMPARE)
    pair = models.ForeignKey(Pair, models.CASCADE, null=True, blank=True, related_name="assignments")
    completion = models.ForeignKey(
        Completion, models.CASCADE, null=True, blank=True, related_name="assignments"
    )
    swapped = models.BooleanField(default=False, help_text="The pair's second answer is shown first.")
    turn = models.PositiveSmallIntegerField(
        default=0, help_text="Which turn is rated, from 1; 0 is the whole conversation."
    )
    seed = models.BigIntegerField(default=new_seed)
    repeat = models.PositiveSmallIntegerField(default=0, help_text="0, or the number of a deliberate repeat.")
    purpose = models.CharField(max_length=12, choices=Purpose, default=Purpose.STUDY)
    is_random = models.BooleanField(
        default=False, help_text="A random pair of a study that chooses the others."
    )
    state = models.CharField(max_length=10, choices=State, default=State.CLAIMED)
    leased_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    shown_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    skip_reason = models.CharField(max_length=500, blank=True)
    published_in = models.PositiveBigIntegerField(
        null=True,
        blank=True,
        editable=False,
        help_text="The first state of the leaderboard that counts its answer, which then no longer changes.",
    )

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=(
                    Q(kind="compare", pair__isnull=False, completion__isnull=True)
                    | Q(kind__in=["score", "check"], pair__isnull=True, completion__isnull=False, turn=0)
                ),
                name="assignment_kind_has_its_target",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["open", "claimed", "submitted", "skipped", "expired", "failed"]),
                name="assignment_state_known",
            ),
            models.CheckConstraint(
                condition=Q(purpose__in=["study", "repeat", "check", "adjudication", "chosen"]),
                name="assignment_purpose_known",
            ),
            models.CheckConstraint(
                condition=~Q(state="claimed") | Q(leased_until__isnull=False),
                name="assignment_claim_has_a_lease",
            ),
            models.UniqueConstraint(
                fields=["rater", "pair", "swapped", "repeat", "turn"],
                condition=~Q(state="expired") & Q(kind="compare"),
                name="assignment_offered_once",
            ),
            models.UniqueConstraint(
                fields=["rater", "completion", "kind", "repeat"],
                condition=~Q(state="expired") & Q(kind__in=["score", "check"]),
                name="assignment_text_offered_once",
            ),
        ]
        indexes = [
            models.Index(fields=["study", "rater", "state"]),
            models.Index(fields=["leased_until"], condition=Q(state="claimed"), name="assignment_live_lease"),
            # What waits for a judge, in the order of planning. By ids a planner may begin where the
            # table does.
            models.Index(
                fields=["rater", "study", "created_at"], condition=Q(state="open"), name="assignment_waiting"
            ),
        ]

    def __str__(self) -> str:
        return self.public_id

    @property
    def is_finished(self) -> bool:
        return self.state in (self.State.SUBMITTED, self.State.SKIPPED)

    def lease(self, lease: timedelta) -> None:
        """Claim it, or keep it claimed, for ``lease`` from now."""
        self.state, self.leased_until = self.State.CLAIMED, timezone.now() + lease
        self.save(update_fields=["state", "leased_until"])


class Opinion(models.Model):
    """What a rater said about an assignment, or in a file. A revision is a new row."""

    class Status(models.TextChoices):
        SCORED = "scored", "Scored"
        UNSCORED = "unscored", "Unscored"
        IDENTICAL = "identical", "Identical completions"

    class Reason(models.TextChoices):
        EMPTY = "empty", "The reply was empty"
        OUT_OF_RANGE = "out_of_range", "The number was outside the scale"
        UNPARSABLE = "unparsable", "No rating could be read"
        TRUNCATED = "truncated", "The reply was cut off before the verdict"
        REFUSED = "refused", "The rater refused to answer"
        UNDECIDED = "undecided", "Several answers of the rater contradict each other"
        NEITHER = "neither", "Neither answer is acceptable, and none was said to be better"

    class Source(models.TextChoices):
        WEB = "web", "Rating page"
        API = "api", "API"
        IMPORT = "import", "Import"
        PANEL = "panel", "Panel of judges"
        PLAN = "plan", "Planning"
        BATTLE = "battle", "Battle"

    study = models.ForeignKey(Study, models.CASCADE, related_name="%(class)ss")
    assignment = models.ForeignKey(
        Assignment, models.RESTRICT, null=True, blank=True, related_name="%(class)ss"
    )
    rater = models.ForeignKey(Rater, models.CASCADE, related_name="%(class)ss")
    repeat = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=10, choices=Status)
    reason = models.CharField(max_length=20, choices=Reason, blank=True)
    raw_reply = models.TextField(blank=True)
    rationale = models.TextField(blank=True)
    purpose = models.CharField(
        max_length=12, choices=Purpose, default=Purpose.STUDY, help_text="As that of the assignment."
    )
    is_late = models.BooleanField(
        default=False, help_text="It came after its lease, when the assignment had all its ratings."
    )
    seconds = models.FloatField(null=True, blank=True, help_text="Time the rater took.")
    source = models.CharField(max_length=10, choices=Source)
    external_id = models.CharField(max_length=200, blank=True, help_text="Id in the file it came from.")
    extra = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    is_dated = models.BooleanField(
        default=True, help_text="created_at is when it was rated, not when it was imported."
    )
    is_current = models.BooleanField(default=True)
    revises = models.OneToOneField("self", models.SET_NULL, null=True, blank=True, related_name="revised_by")

    class Meta:
        abstract = True
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(purpose__in=["study", "repeat", "check", "adjudication", "chosen"]),
                name="%(class)s_purpose_known",
            ),
            models.CheckConstraint(
                condition=Q(seconds__isnull=True) | Q(seconds__gte=0), name="%(class)s_seconds_not_negative"
            ),
            models.UniqueConstraint(
                fields=["study", "rater", "external_id"],
                condition=Q(is_current=True) & ~Q(external_id=""),
                name="%(class)s_external_id_unique",
            ),
        ]
        indexes = [
            models.Index(fields=["study", "is_current"]),
            # The newest of a study, and how many came after one: looked up at every view of its board.
            models.Index(fields=["study", "id"], name="%(class)s_newest_of_study"),
        ]

    def __str__(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"

    @property
    def verdict(self) -> float | str | None:
        """The rating, score or answer; None if there is a reason why there is none."""
        value: float | str | None = getattr(self, "rating" if isinstance(self, Comparison) else "value")
        return value

    @property
    def in_words(self) -> str:
        """The verdict, or the reason why there is none."""
        return f"{self.verdict:g}" if isinstance(self.verdict, int | float) else self.verdict or self.reason


class Comparison(Opinion):
    """A rater's opinion of a pair, in presentation order."""

    pair = models.ForeignKey(Pair, models.CASCADE, related_name="comparisons")
    swapped = models.BooleanField(help_text="The pair's second answer was shown first.")
    turn = models.PositiveSmallIntegerField(
        default=0, help_text="Which turn is rated, from 1; 0 is the whole conversation."
    )
    points = models.PositiveSmallIntegerField(help_text="Points of the scale this rating was given on.")
    rating = models.PositiveSmallIntegerField(null=True, blank=True)
    first_score = models.FloatField(null=True, blank=True)
    second_score = models.FloatField(null=True, blank=True)
    expected = models.FloatField(
        null=True, blank=True, help_text="Expected rating over the answer tokens of a judge."
    )
    reasons = models.JSONField(default=list, blank=True, help_text="The study's reasons that were chosen.")
    neither = models.BooleanField(default=False, help_text="The rater accepts neither answer.")

    objects = ComparisonQuerySet.as_manager()

    class Meta(Opinion.Meta):
        constraints = [
            *Opinion.Meta.constraints,
            models.CheckConstraint(
                condition=Q(points__in=scales.POINTS), name="comparison_points_is_a_scale"
            ),
            models.CheckConstraint(
                condition=(
                    Q(
                        status="scored",
                        rating__isnull=False,
                        rating__gte=1,
                        rating__lte=F("points"),
                        reason="",
                    )
                    | (Q(status="unscored", rating__isnull=True) & ~Q(reason=""))
                    # Of two identical completions; a rating is the rater's answer as a control, never a game.
                    | Q(status="identical", rating__isnull=True)
                    | Q(status="identical", rating__gte=1, rating__lte=F("points"), reason="")
                ),
                name="comparison_rating_within_scale_or_reason",
            ),
            models.CheckConstraint(
                condition=~Q(reason="neither") | Q(neither=True), name="comparison_neither_is_said"
            ),
            models.CheckConstraint(
                condition=Q(first_score__isnull=True, second_score__isnull=True)
                | Q(first_score__isnull=False, second_score__isnull=False),
                name="comparison_both_scores_or_none",
            ),
            models.UniqueConstraint(
                fields=["rater", "pair", "swapped", "repeat", "turn"],
                condition=Q(is_current=True),
                name="comparison_one_current",
            ),
            models.UniqueConstraint(
                fields=["assignment"],
                condition=Q(is_current=True, assignment__isnull=False),
                name="comparison_one_per_assignment",
            ),
        ]


class CriterionRating(models.Model):
    """A rating by one criterion, in the order of the comparison, or the reason why there is none."""

    comparison = models.ForeignKey(Comparison, models.CASCADE, related_name="criterion_ratings")
    criterion = models.CharField(max_length=100)
    points = models.PositiveSmallIntegerField()
    rating = models.PositiveSmallIntegerField(null=True, blank=True)
    reason = models.CharField(max_length=20, choices=Comparison.Reason, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["comparison", "criterion"], name="criterion_rated_once"),
            models.CheckConstraint(
                condition=Q(points__in=scales.POINTS)
                & (
                    Q(rating__isnull=False, rating__gte=1, rating__lte=F("points"), reason="")
                    | (Q(rating__isnull=True) & ~Q(reason=""))
                ),
                name="criterion_rating_within_scale_or_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.criterion}: {self.said}"

    @property
    def said(self) -> int | str:
        """The rating, or the reason why there is none."""
        return self.reason if self.rating is None else self.rating


class Flag(models.Model):
    """Something is wrong with what a rater was shown."""

    class Reason(models.TextChoices):
        PROMPT = "prompt", "The prompt makes no sense or lacks something"
        DISPLAY = "display", "An answer is not shown properly"
        NAMES = "names", "An answer tells who wrote it"
        HARM = "harm", "The content is harmful or upsetting"
        OTHER = "other", "Something else"

    assignment = models.OneToOneField(Assignment, models.CASCADE, related_name="flag")
    reason = models.CharField(max_length=10, choices=Reason)
    comment = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(reason__in=["prompt", "display", "names", "harm", "other"]),
                name="flag_reason_known",
            )
        ]

    def __str__(self) -> str:
        return f"{self.reason}: {self.assignment_id}"


class TrainingAnswer(models.Model):
    """An answer about a training pair, which counts nowhere."""

    membership = models.ForeignKey(Membership, models.CASCADE, related_name="training_answers")
    pair = models.ForeignKey(Pair, models.CASCADE, related_name="training_answers")
    attempt = models.PositiveSmallIntegerField(default=1)
    swapped = models.BooleanField()
    points = models.PositiveSmallIntegerField()
    rating = models.PositiveSmallIntegerField()
    is_right = models.BooleanField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["membership", "pair", "attempt"], name="training_answered_once"),
            models.CheckConstraint(
                condition=Q(points__in=scales.POINTS, rating__gte=1, rating__lte=F("points")),
                name="training_rating_within_scale",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.membership_id}/{self.pair_id}"
