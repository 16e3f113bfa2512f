"""The page on which staff see and set the budgets of studies and of the day."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from arena.models import Study
from arena.pages.operating import refuse
from arena.pages.permissions import staff_only
from judging.judges.forms import AmountField, CurrencyField
from judging.judges.rights import may_ask_models
from judging.judges.services import JudgeError
from judging.models import Purse
from judging.spending.budgets import set_budget


class BudgetForm(forms.Form):
    """A budget to set, or to remove if it is left empty."""

    study = forms.ModelChoiceField(
        Study.objects.filter(closed_at=None),
        to_field_name="slug",
        required=False,
        empty_label="The whole arena, every day",
        label="For",
    )
    budget = AmountField(label="Budget", help_text="Leave empty to remove it.")
    currency = CurrencyField(help_text="That of the prices, such as USD or EUR.")


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def budgets(request: HttpRequest) -> HttpResponse:
    form = BudgetForm(request.POST or None, initial={"study": request.GET.get("study", "")})
    if request.method == "POST" and form.is_valid():
        given: dict[str, Any] = form.cleaned_data
        try:
            set_budget(given["study"], given["budget"], given["currency"], request.user)
        except JudgeError as error:
            refuse(form, error.field, str(error))
        else:
            messages.success(request, "Budget removed." if given["budget"] is None else "Budget set.")
            return redirect("judge_budgets")
    purses = Purse.objects.exclude(scope=Purse.Scope.RUN).select_related("study").order_by("scope", "study")
    context = {"form": form, "purses": purses, "may_set": may_ask_models(request.user)}
    return render(request, "judging/budgets.html", context, status=422 if form.errors else 200)
