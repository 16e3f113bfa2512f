"""Several judges as one rater."""

from django.db import models

from arena.models import Rater
from judging.models.judges import Judge


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

    @property
    def is_simulated(self) -> bool:
        return self.rater.simulated
