from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from arena.models import Prompt, Study
from judging.models.judges import Judge
from judging.models.purses import Payer
from judging.models.requests import LIVE, StandingRequest, constraints_of, indexes_of


class Publication(models.Model):
    """Says who published a live prompt, and when. Without one it is private, unless a file says otherwise."""

    prompt = models.OneToOneField(Prompt, models.CASCADE, related_name="publication")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"publication of {self.prompt}"


class Labelling(models.Model):
    """Categories for the live prompts of a study, and the judge whose model chooses among them."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="labellings")
    version = models.PositiveIntegerField(help_text="From 1. Other categories or another judge: a new one.")
    categories = models.JSONField(help_text="Their names, in the order in which they are offered.")
    judge = models.ForeignKey(Judge, models.PROTECT, related_name="labellings")
    model = models.CharField(max_length=200, help_text="That of the judge when it was made.")
    wording = models.CharField(max_length=12, help_text="A digest of what the model is asked.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(fields=["study", "version"], name="labelling_version_once"),
            models.CheckConstraint(condition=Q(version__gte=1), name="labelling_version_from_one"),
        ]

    def __str__(self) -> str:
        return f"categories of {self.study}, version {self.version}"


class LabelCall(StandingRequest):
    """A request to a judge's model for the category of a live prompt, with its reply."""

    labelling = models.ForeignKey(Labelling, models.CASCADE, related_name="calls")
    prompt = models.ForeignKey(Prompt, models.CASCADE, related_name="label_calls")
    category = models.CharField(max_length=100, blank=True, help_text="Empty: the reply names none of them.")
    is_stopped = models.BooleanField(
        default=False, help_text="It is not asked again, whatever comes of what is in flight."
    )

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["labelling", "prompt"], condition=LIVE, name="label_call_one_live"
            ),
            *constraints_of("label_call"),
        ]
        indexes = indexes_of("label_call")

    def __str__(self) -> str:
        return f"category of {self.prompt}"

    @property
    def payer(self) -> Payer:
        return "study", self.prompt.study_id


class HandLabel(models.Model):
    """The category that an operator gave to a live prompt, which no model's label replaces."""

    prompt = models.OneToOneField(Prompt, models.CASCADE, related_name="hand_label")
    category = models.CharField(
        max_length=100, blank=True, help_text="Empty: none of those that were offered."
    )
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"category of {self.prompt} by hand"
