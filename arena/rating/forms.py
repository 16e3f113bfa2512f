"""What a rater sends: an answer to an assignment, or a new account."""

import math
from typing import Any

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.utils import timezone

from arena.models import Assignment, Comparison, Flag, Study
from arena.rating.answers import Answer

LONGEST_COMMENT = 5000
"""Characters of a comment."""


class RatingForm(forms.Form):
    """The answer to one pair on the study's scale, with a rating for each of its criteria."""

    assignment = forms.CharField(max_length=24, widget=forms.HiddenInput)
    seconds = forms.CharField(required=False, max_length=40)
    rationale = forms.CharField(
        required=False,
        max_length=LONGEST_COMMENT,
        error_messages={"max_length": f"Please keep the comment under {LONGEST_COMMENT:,} characters."},
    )

    def __init__(self, study: Study, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        self.fields["rating"] = self._choice("Choose a rating first.")
        for name, criterion in self.criterion_fields().items():
            self.fields[name] = self._choice(f"Choose a rating for {criterion}.")
        self.fields["reasons"] = forms.MultipleChoiceField(
            required=False,
            choices=[(reason, reason) for reason in map(str, study.reasons)],
            error_messages={"invalid_choice": "This study does not offer the reason “%(value)s”."},
        )

    def criterion_fields(self) -> dict[str, str]:
        """Criterion by the name of its field."""
        return {f"criterion-{number}": str(name) for number, name in enumerate(self.study.criteria)}

    def _choice(self, message: str) -> forms.TypedChoiceField:
        points = [(str(point), str(point)) for point in range(1, self.study.points + 1)]
        return forms.TypedChoiceField(
            choices=points,
            coerce=int,
            error_messages={"required": message, "invalid_choice": "Choose one of the buttons."},
        )

    def answer(self, assignment: Assignment | None) -> Answer:
        """The valid answer; the time is bounded by how long ago the pair was first shown."""
        data = self.cleaned_data
        return Answer(
            points=self.study.points,
            rating=data["rating"],
            criteria={criterion: data[name] for name, criterion in self.criterion_fields().items()},
            rationale=data["rationale"],
            reasons=tuple(data["reasons"]),
            seconds=believable_seconds(data["seconds"], assignment),
            source=Comparison.Source.WEB,
        )


class FlagForm(forms.Form):
    """What is wrong with a pair."""

    assignment = forms.CharField(max_length=24, widget=forms.HiddenInput)
    reason = forms.ChoiceField(
        choices=Flag.Reason.choices,
        error_messages={
            "required": "Choose what is wrong with the pair first.",
            "invalid_choice": "Choose one of the reasons.",
        },
    )
    comment = forms.CharField(
        required=False,
        max_length=LONGEST_COMMENT,
        error_messages={"max_length": f"Please keep the comment under {LONGEST_COMMENT:,} characters."},
    )


def said_seconds(sent: str) -> float | None:
    """A time as the page says it; None for what is none."""
    try:
        seconds = float(sent)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def believable_seconds(sent: str, assignment: Assignment | None) -> float | None:
    """The time the page says the rater took, at most the time since it was shown; None if it cannot be so.

    A pair that was fetched ahead and read without a connection was never reported as shown: then the time is
    bounded by how long ago it was handed out.
    """
    seconds = said_seconds(sent)
    if seconds is None or assignment is None:
        return None
    since = assignment.shown_at or assignment.created_at
    return round(min(seconds, (timezone.now() - since).total_seconds()), 1)


class NewAccountForm(UserCreationForm):  # type: ignore[type-arg]  # not subscriptable when run
    """A user name and a password for a new rater."""

    class Meta(UserCreationForm.Meta):
        model = User
        fields = ("username",)
