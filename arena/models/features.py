"""What a model's own probabilities say about its answers."""

from django.db import models
from django.db.models import Q

from arena.models.querysets import FeatureQuerySet
from arena.models.studies import Completion
from arena.rules.feature_names import LARGEST, LONGEST, Variant


class CompletionFeature(models.Model):
    """A number about a completion; of a bound the variant is ``bounds``, and another row has the other."""

    completion = models.ForeignKey(Completion, models.CASCADE, related_name="features")
    turn = models.PositiveSmallIntegerField(default=0, help_text="Which turn, from 1; 0 is the whole answer.")
    name = models.CharField(max_length=LONGEST)
    variant = models.CharField(max_length=10, choices=[(one.value, one.label) for one in Variant])
    value = models.FloatField()
    source = models.CharField(max_length=200, blank=True, help_text="Where the probabilities come from.")

    objects = FeatureQuerySet.as_manager()

    class Meta:
        ordering = ["completion", "turn", "name", "variant", "source"]
        constraints = [
            models.UniqueConstraint(
                fields=["completion", "turn", "name", "variant", "source"], name="completion_feature_unique"
            ),
            models.CheckConstraint(
                condition=Q(variant__in=[one.value for one in Variant]),
                name="completion_feature_variant_known",
            ),
            models.CheckConstraint(
                condition=Q(value__gte=-LARGEST, value__lte=LARGEST),
                name="completion_feature_finite",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.completion_id}/{self.turn} {self.name} ({self.variant})"
