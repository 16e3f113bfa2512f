"""Django's admin: rows to look up, and the prices of models."""

from typing import Any

from django import forms
from django.contrib import admin

from arena.admin import look_up
from judging.judges.forms import CurrencyField
from judging.judges.services import JudgeError, check_url
from judging.models import (
    Author,
    Endpoint,
    Judge,
    JudgeCall,
    JudgeRun,
    LabelCall,
    Price,
    ProposalCall,
    Purse,
    TrialCall,
    WritingCall,
    WritingRun,
)


class PriceForm(forms.ModelForm):  # type: ignore[type-arg]
    currency = CurrencyField(
        help_text="Three capital letters, such as USD or EUR. All models of a judge need one currency."
    )

    class Meta:
        model = Price
        fields = ["model", "base_url", "prompt", "completion", "currency"]
        help_texts = {
            "model": "As judges name it.",
            "base_url": "Of the endpoint. Leave empty for any address without a price of its own.",
            "prompt": "Per million input tokens, e.g. 2.50.",
            "completion": "Per million output tokens, including thinking. The arena knows no discounts.",
        }

    def clean_base_url(self) -> str:
        url = str(self.cleaned_data["base_url"]).rstrip("/")
        if url:
            try:
                check_url(url)
            except JudgeError as error:
                raise forms.ValidationError(str(error)) from error
        return url

    def clean(self) -> dict[str, Any]:
        """Prices of 0 are allowed: one's own model costs no money."""
        cleaned: dict[str, Any] = super().clean() or {}
        for name in ("prompt", "completion"):
            if cleaned.get(name) is not None and cleaned[name] < 0:
                self.add_error(name, "A price cannot be negative.")
        return cleaned


@admin.register(Price)
class PriceAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    form = PriceForm
    list_display = ["model", "base_url", "prompt", "completion", "currency", "updated_at"]
    search_fields = ["model", "base_url"]
    list_filter = ["currency"]


look_up(Author, "contestant endpoint temperature max_tokens")
look_up(Endpoint, "model base_url api_key_env concurrency")
look_up(Judge, "rater provider endpoint protocol points active")
look_up(
    JudgeCall,
    "pk run attempt state status reason rating error_kind latency",
    "state status reason error_kind",
)
look_up(JudgeRun, "pk study judge state created_at finished_at", "state", related="judge__rater")
look_up(
    ProposalCall,
    "pk prompt judge model state proposed cost created_at",
    "state",
    related="judge__rater",
)
look_up(
    LabelCall,
    "pk prompt labelling model state category cost created_at",
    "state",
    related="labelling__study",
)
look_up(
    Purse,
    "pk scope run writing study day budget spent reserved currency",
    "scope",
    related="writing__author__contestant",
)
look_up(TrialCall, "pk study model state cost created_by created_at", "state")
look_up(
    WritingCall,
    "pk run prompt turn text model state attempt cost",
    "state text",
    related="run__author__contestant",
)
look_up(
    WritingRun,
    "pk study author kind wanted created_at cancelled_at",
    "kind",
    related="author__contestant author__endpoint",
)
