from django.db import models

from arena.models import Completion


class Trace(models.Model):
    """What a model's endpoint said about the tokens of a text: an answer, or a reference in its place.

    Features are made of it once, so it never changes.
    """

    class Text(models.TextChoices):
        ANSWER = "answer", "The answer after its prompt"
        ILLUSTRATED = (
            "illustrated",
            "The answer after its prompt with a reference answer, and the prompt again",
        )
        REFERENCE = "reference", "The reference answer after the prompt"

    completion = models.ForeignKey(Completion, models.CASCADE, related_name="traces")
    turn = models.PositiveSmallIntegerField(help_text="From 1.")
    text = models.CharField(max_length=12, choices=Text, default=Text.ANSWER)
    source = models.CharField(max_length=200, help_text="The model, its address, and how it was taken.")
    tokens = models.PositiveIntegerField(help_text="Those of the prompt, too, where they are known.")
    before = models.PositiveIntegerField(default=0, help_text="How many of these come before the answer.")
    packed = models.BinaryField(help_text="See judging.endpoints.traces.")
    vocabulary = models.PositiveIntegerField(
        null=True, help_text="Tokens that the model knows: without it entropy has no upper bound."
    )
    is_measured = models.BooleanField(default=False, help_text="Features were made of it.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["completion", "turn", "text", "source"], name="trace_once"),
            models.CheckConstraint(condition=models.Q(turn__gte=1), name="trace_of_a_turn"),
            models.CheckConstraint(
                condition=models.Q(text__in=["answer", "illustrated", "reference"]), name="trace_text_known"
            ),
        ]
        indexes = [
            models.Index(
                fields=["completion"], condition=models.Q(is_measured=False), name="trace_not_measured"
            )
        ]

    def __str__(self) -> str:
        return f"{self.text} of {self.completion_id}/{self.turn}"
