"""Forms about runs."""

from decimal import Decimal
from typing import Any

from django import forms

from arena.models import Study
from judging.models import Judge, JudgeRun


class BudgetField(forms.DecimalField):
    """An amount that a run is never to pass; empty for no budget."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            **{"required": False, "max_digits": 12, "decimal_places": 6, "min_value": 0, **options}
        )

    def prepare_value(self, value: Any) -> Any:
        """Without the zeros that its column adds."""
        return format(value.normalize(), "f") if isinstance(value, Decimal) else value


class RunForm(forms.Form):
    """Which judge is to rate which study, and how much of it."""

    study = forms.ModelChoiceField(Study.objects.filter(closed_at=None), to_field_name="slug")
    judge = forms.ModelChoiceField(Judge.objects.filter(active=True).select_related("rater"))
    kind = forms.ChoiceField(label="What is asked", choices=JudgeRun.Kind, required=False)
    limit = forms.IntegerField(
        label="At most this many pairs",
        min_value=1,
        max_value=2**31 - 1,
        required=False,
        help_text="Empty: all.",
    )
    both_orders = forms.ChoiceField(
        label="Orders",
        choices=[
            ("", "as the judge is configured"),
            ("on", "every pair in both"),
            ("off", "every pair in one"),
        ],
        required=False,
        help_text="Both orders are twice the calls; they show how much the judge is swayed by the order.",
    )
    budget = BudgetField(
        help_text="The run pauses before it would pass it. In the currency of the prices; empty: no budget."
    )
    controls = forms.BooleanField(
        label="Ask about identical completions too",
        required=False,
        help_text="A test of the judge: which side does it take where both are the same? Never a game.",
    )
    remote = forms.ChoiceField(
        label="Asked by",
        choices=[("", "this arena's workers"), ("elsewhere", "judge workers on other machines")],
        required=False,
        help_text="On the other machine: python manage.py judge_worker --judge SLUG --arena-url URL.",
    )

    def clean_kind(self) -> str:
        """Whatever has no answer yet, unless something else is chosen."""
        return self.cleaned_data["kind"] or JudgeRun.Kind.ALL

    def clean_remote(self) -> bool:
        """Whether workers elsewhere are to ask."""
        return bool(self.cleaned_data["remote"])

    def clean(self) -> dict[str, Any]:
        """With both orders as the judge is configured, unless told otherwise."""
        found: dict[str, Any] = super().clean() or {}
        chosen, judge = found.get("both_orders"), found.get("judge")
        found["both_orders"] = chosen == "on" or (not chosen and judge is not None and judge.both_orders)
        return found


class ChangeBudgetForm(forms.Form):
    """Another budget for a run that goes on."""

    budget = BudgetField(
        label="Budget", help_text="In all, what is spent already included. Empty: no budget."
    )
