"""What models cost."""

from django.db import models
from django.db.models import Q


class Price(models.Model):
    """What a model costs, as an operator wrote it down from its provider's list."""

    model = models.CharField(max_length=200, help_text="As judges name it.")
    base_url = models.CharField(
        "base URL", max_length=500, blank=True, help_text="Empty: wherever the model is asked."
    )
    prompt = models.DecimalField(
        "per million prompt tokens", max_digits=12, decimal_places=6, help_text="In the currency below."
    )
    completion = models.DecimalField("per million reply tokens", max_digits=12, decimal_places=6)
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
