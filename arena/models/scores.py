"""Opinions about one text: a score, or whether it meets each requirement of its prompt."""

from django.db import models
from django.db.models import F, Q

from arena.models.comparisons import Opinion
from arena.models.querysets import AnswerQuerySet, QuestionQuerySet, ScoreQuerySet
from arena.models.studies import Completion, Prompt


class Score(Opinion):
    """A rater's score of one completion."""

    completion = models.ForeignKey(Completion, models.CASCADE, related_name="scores")
    turn = models.PositiveSmallIntegerField(default=0, help_text="Which turn, from 1; 0 is the whole answer.")
    lowest = models.FloatField(help_text="Lowest score of the scale.")
    highest = models.FloatField(help_text="Highest score of the scale.")
    value = models.FloatField(null=True, blank=True)
    expected = models.FloatField(
        null=True, blank=True, help_text="Expected score over the answer tokens of a judge."
    )

    objects = ScoreQuerySet.as_manager()

    class Meta(Opinion.Meta):
        constraints = [
            *Opinion.Meta.constraints,
            models.CheckConstraint(condition=Q(lowest__lt=F("highest")), name="score_scale_has_two_ends"),
            models.CheckConstraint(
                condition=(
                    Q(
                        status="scored",
                        value__isnull=False,
                        value__gte=F("lowest"),
                        value__lte=F("highest"),
                        reason="",
                    )
                    | (Q(status="unscored", value__isnull=True) & ~Q(reason=""))
                ),
                name="score_within_scale_or_reason",
            ),
            models.UniqueConstraint(
                fields=["rater", "completion", "turn", "repeat"],
                condition=Q(is_current=True),
                name="score_one_current",
            ),
            models.UniqueConstraint(
                fields=["assignment", "turn"],
                condition=Q(is_current=True, assignment__isnull=False),
                name="score_one_per_assignment_and_turn",
            ),
        ]


class Question(models.Model):
    """A requirement of a prompt, as a question that yes or no answers.

    A question with answers never changes: its new wording is a new row, and the old one no longer current.
    """

    prompt = models.ForeignKey(Prompt, models.CASCADE, related_name="questions")
    position = models.PositiveSmallIntegerField(help_text="Place among the questions of its prompt, from 1.")
    text = models.TextField()
    labels = models.JSONField(
        default=list, blank=True, help_text='Kinds of requirement, e.g. ["Content", "Format"].'
    )
    required = models.BooleanField(default=True, help_text="An answer that does not meet it is no good.")
    proposed_by = models.CharField(
        max_length=200, blank=True, help_text="The model that wrote it, if no person did."
    )
    is_accepted = models.BooleanField(default=True, help_text="Raters are asked only accepted ones.")
    is_current = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = QuestionQuerySet.as_manager()

    class Meta:
        ordering = ["prompt", "position", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["prompt", "position"],
                condition=Q(is_current=True, is_accepted=True),
                name="question_one_current_per_position",
            ),
            models.CheckConstraint(condition=Q(position__gte=1), name="question_position_from_one"),
            models.CheckConstraint(condition=~Q(text=""), name="question_has_a_text"),
            models.CheckConstraint(
                condition=Q(is_accepted=True) | ~Q(proposed_by=""), name="question_waits_if_proposed"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.prompt_id}/{self.position}"


class Answer(Opinion):
    """A rater's answer to one question about one completion."""

    class Value(models.TextChoices):
        YES = "yes", "Met"
        NO = "no", "Not met"
        UNKNOWN = "unknown", "Cannot tell"

    completion = models.ForeignKey(Completion, models.CASCADE, related_name="answers")
    question = models.ForeignKey(Question, models.RESTRICT, related_name="answers")
    value = models.CharField(max_length=10, choices=Value, null=True, blank=True)  # noqa: DJ001 - as a score

    objects = AnswerQuerySet.as_manager()

    class Meta(Opinion.Meta):
        constraints = [
            *Opinion.Meta.constraints,
            models.CheckConstraint(
                condition=(
                    Q(status="scored", value__isnull=False, value__in=["yes", "no", "unknown"], reason="")
                    | (Q(status="unscored", value__isnull=True) & ~Q(reason=""))
                ),
                name="answer_known_or_reason",
            ),
            models.UniqueConstraint(
                fields=["rater", "completion", "question", "repeat"],
                condition=Q(is_current=True),
                name="answer_one_current",
            ),
            models.UniqueConstraint(
                fields=["assignment", "question"],
                condition=Q(is_current=True, assignment__isnull=False),
                name="answer_one_per_assignment_and_question",
            ),
        ]
