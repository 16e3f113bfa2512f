"""The page on which staff see and set the budgets of studies and of the day."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from arena.models import Study
from arena.pages.operating import refuse
from arena.pages.permissions import Visitor, staff_only
from judging.judges.forms import AmountField, CurrencyField
from judging.judges.rights import may_ask_models
from judging.judges.services import JudgeError
from judging.models import BattleRules, Purse
from judging.spending.budgets import set_battles_budget, set_budget


class BudgetForm(forms.Form):
    """A budget to set, or to remove if it is left empty."""

    study = forms.ModelChoiceField(
        Study.objects.filter(closed_at=None),
        to_field_name="slug",
        required=False,
        empty_label="The whole arena, every day",
        label="For",
    )
    battles = forms.BooleanField(required=False, label="Only its battles, every day")
    budget = AmountField(label="Budget", help_text="Leave empty to remove it.")
    currency = CurrencyField(help_text="That of the prices, such as USD or EUR.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not BattleRules.objects.exists():
            del self.fields["battles"]

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        if given.get("battles") and not given.get("study"):
            raise forms.ValidationError({"battles": "Choose the study whose battles are meant."})
        return given

    def store(self, by: Visitor) -> None:
        """Raises JudgeError."""
        given: dict[str, Any] = self.cleaned_data
        change = set_battles_budget if given.get("battles") else set_budget
        change(given["study"], given["budget"], given["currency"], by)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def budgets(request: HttpRequest) -> HttpResponse:
    form = BudgetForm(request.POST or None, initial={"study": request.GET.get("study", "")})
    if request.method == "POST" and form.is_valid():
        try:
            form.store(request.user)
        except JudgeError as error:
            refuse(form, error.field, str(error))
        else:
            messages.success(
                request, "Budget removed." if form.cleaned_data["budget"] is None else "Budget set."
            )
            return redirect("judge_budgets")
    purses = Purse.objects.exclude(scope=Purse.Scope.RUN).exclude(budget=None)
    purses = purses.select_related("study", "battles").order_by("scope", "study", "battles")
    context = {"form": form, "purses": purses, "may_set": may_ask_models(request.user)}
    return render(request, "judging/budgets.html", context, status=422 if form.errors else 200)
