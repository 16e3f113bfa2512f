"""Forms of the admin that check what a JSON column cannot: lists of texts."""

from typing import Any

from django import forms

from arena.addresses import AddressedForm
from arena.formats import benchmarks
from arena.models import Contestant, Prompt, Reference, Study


def _texts(value: Any, example: str) -> list[str]:
    """The value if it is a list of texts that are not blank; raises ValidationError otherwise."""
    if not isinstance(value, list) or not all(isinstance(text, str) and text.strip() for text in value):
        raise forms.ValidationError(f"Please give a list of texts, for example {example}")
    return value


class StudyForm(AddressedForm):
    class Meta:
        model = Study
        fields = "__all__"  # the admin chooses them

    def clean_criteria(self) -> list[str]:
        criteria = _texts(self.cleaned_data["criteria"] or [], '["helpfulness", "accuracy"].')
        if len(set(criteria)) < len(criteria) or any(len(name) > 100 for name in criteria):
            raise forms.ValidationError("Each criterion is named once, in at most 100 characters.")
        return criteria

    def clean_reasons(self) -> list[str]:
        reasons = _texts(self.cleaned_data["reasons"] or [], '["More accurate", "Clearer"].')
        if len(set(reasons)) < len(reasons) or any(len(reason) > 100 for reason in reasons):
            raise forms.ValidationError("Each reason stands once, in at most 100 characters.")
        return reasons


class ContestantForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Contestant
        fields = "__all__"  # noqa: DJ007 - the admin chooses the fields

    def clean_benchmarks(self) -> dict[str, float]:
        scores = self.cleaned_data["benchmarks"] or {}
        if not isinstance(scores, dict):
            raise forms.ValidationError('Please give names and numbers, for example {"MMLU": 69.8}.')
        if wrong := [": ".join(filter(None, fault)) for fault in benchmarks.faults(scores)]:
            raise forms.ValidationError(wrong)
        return scores


class TurnsForm(forms.ModelForm):  # type: ignore[type-arg]
    """For rows with turns, which are one or more texts."""

    def clean_turns(self) -> list[str]:
        return _texts(self.cleaned_data["turns"], '["Name three rivers."].')


class PromptForm(TurnsForm):
    class Meta:
        model = Prompt
        fields = "__all__"  # noqa: DJ007 - the admin chooses the fields


class ReferenceForm(TurnsForm):
    class Meta:
        model = Reference
        fields = "__all__"  # noqa: DJ007 - the admin chooses the fields
