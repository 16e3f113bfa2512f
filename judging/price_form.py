"""The admin's form of a price: what no column can check."""

from typing import Any

from django import forms

from judging.models import Price
from judging.services.judges import JudgeError, check_url


class PriceForm(forms.ModelForm):  # type: ignore[type-arg]
    """What a model costs. Nothing is filled in: prices are the provider's to say."""

    currency = forms.RegexField(
        r"^[A-Z]{3}$",
        initial="USD",
        help_text="Its code of three capital letters, such as USD or EUR. The models that one judge asks "
        "need prices in one currency.",
        error_messages={"invalid": "Give a code of three capital letters, such as USD."},
    )

    class Meta:
        model = Price
        fields = ["model", "base_url", "prompt", "completion", "currency"]
        help_texts = {
            "model": "As judges name it: with another name at another place it is another price.",
            "base_url": "Of the endpoint, as judges name it, if this price holds there alone. Empty: "
            "wherever the model is asked and no price of that place is known.",
            "prompt": "From your provider's list, for a million tokens of what is sent, e.g. 2.50.",
            "completion": "For a million tokens of what comes back; thinking counts as reply. Discounts, for "
            "cached prompts say, are not known to the arena: it counts the full price.",
        }

    def clean_model(self) -> str:
        """Without blanks around it, or no judge's model would match."""
        return str(self.cleaned_data["model"]).strip()

    def clean_base_url(self) -> str:
        """An address like that of a judge; a slash at its end says nothing."""
        url = str(self.cleaned_data["base_url"]).rstrip("/")
        if url:
            try:
                check_url(url)
            except JudgeError as error:
                raise forms.ValidationError(str(error)) from error
        return url

    def clean(self) -> dict[str, Any]:
        """Prices of nothing at all are allowed: a model of one's own costs no money."""
        cleaned: dict[str, Any] = super().clean() or {}
        for name in ("prompt", "completion"):
            if cleaned.get(name) is not None and cleaned[name] < 0:
                self.add_error(name, "A price is not negative.")
        return cleaned
