from typing import Any

from django import forms
from django.contrib import admin

from arena.admin import ReadOnlyAdmin
from judging.judges.services import JudgeError, check_url
from judging.models import (
    Author,
    Endpoint,
    Judge,
    JudgeCall,
    JudgeRun,
    Price,
    ProposalCall,
    Purse,
    TrialCall,
    WritingCall,
    WritingRun,
)


class PriceForm(forms.ModelForm):  # type: ignore[type-arg]
    currency = forms.RegexField(
        r"^[A-Z]{3}$",
        initial="USD",
        help_text="Three capital letters, such as USD or EUR. All models of a judge need one currency.",
        error_messages={"invalid": "Enter three capital letters, such as USD."},
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

    def clean_model(self) -> str:
        """Without blanks around it, or no judge's model would match."""
        return str(self.cleaned_data["model"]).strip()

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


@admin.register(Judge)
class JudgeAdmin(ReadOnlyAdmin):
    list_display = ["rater", "provider", "endpoint", "protocol", "points", "active"]
    list_select_related = ["rater", "endpoint"]


@admin.register(Endpoint)
class EndpointAdmin(ReadOnlyAdmin):
    list_display = ["model", "base_url", "api_key_env", "concurrency"]


@admin.register(Author)
class AuthorAdmin(ReadOnlyAdmin):
    list_display = ["contestant", "endpoint", "temperature", "max_tokens"]
    list_select_related = ["contestant", "endpoint"]


@admin.register(Purse)
class PurseAdmin(ReadOnlyAdmin):
    list_display = [
        "pk",
        "scope",
        "run",
        "writing",
        "study",
        "day",
        "budget",
        "spent",
        "reserved",
        "currency",
    ]
    list_select_related = ["run", "writing__author__contestant", "study"]
    list_filter = ["scope"]


@admin.register(JudgeRun)
class JudgeRunAdmin(ReadOnlyAdmin):
    list_display = ["pk", "study", "judge", "state", "created_at", "finished_at"]
    list_select_related = ["study", "judge__rater"]
    list_filter = ["state"]


@admin.register(JudgeCall)
class JudgeCallAdmin(ReadOnlyAdmin):
    list_display = ["pk", "run", "attempt", "state", "status", "reason", "rating", "error_kind", "latency"]
    list_filter = ["state", "status", "reason", "error_kind"]
    list_select_related = ["run"]


@admin.register(Price)
class PriceAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    form = PriceForm
    list_display = ["model", "base_url", "prompt", "completion", "currency", "updated_at"]
    search_fields = ["model", "base_url"]
    list_filter = ["currency"]


@admin.register(ProposalCall)
class ProposalCallAdmin(ReadOnlyAdmin):
    list_display = ["pk", "prompt", "judge", "model", "state", "proposed", "cost", "created_at"]
    list_filter = ["state"]
    list_select_related = ["prompt", "judge__rater"]


@admin.register(TrialCall)
class TrialCallAdmin(ReadOnlyAdmin):
    list_display = ["pk", "study", "model", "state", "cost", "created_by", "created_at"]
    list_filter = ["state"]
    list_select_related = ["study", "created_by"]


@admin.register(WritingRun)
class WritingRunAdmin(ReadOnlyAdmin):
    list_display = ["pk", "study", "author", "kind", "wanted", "created_at", "cancelled_at"]
    list_select_related = ["study", "author__contestant", "author__endpoint"]
    list_filter = ["kind"]


@admin.register(WritingCall)
class WritingCallAdmin(ReadOnlyAdmin):
    list_display = ["pk", "run", "prompt", "turn", "text", "model", "state", "attempt", "cost"]
    list_filter = ["state", "text"]
    list_select_related = ["run__author__contestant", "prompt"]
