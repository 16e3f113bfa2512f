"""The form that starts a run."""

from django import forms

from arena.models import Study
from judging.models import Judge


class RunForm(forms.Form):
    """Which judge is to rate which study, and how much of it."""

    study = forms.ModelChoiceField(Study.objects.filter(closed_at=None), to_field_name="slug")
    judge = forms.ModelChoiceField(Judge.objects.filter(active=True).select_related("rater"))
    limit = forms.IntegerField(
        label="At most this many pairs",
        min_value=1,
        max_value=2**31 - 1,
        required=False,
        help_text="Empty: all.",
    )
    both_orders = forms.BooleanField(
        label="Ask about every pair in both orders",
        required=False,
        help_text="Twice the calls; shows how much the judge is swayed by the order.",
    )
    remote = forms.ChoiceField(
        label="Asked by",
        choices=[("", "this arena's workers"), ("elsewhere", "judge workers on other machines")],
        required=False,
        help_text="On the other machine: python manage.py judge_worker --judge SLUG --arena-url URL.",
    )

    def clean_remote(self) -> bool:
        """Whether workers elsewhere are to ask."""
        return bool(self.cleaned_data["remote"])
