"""The words of forms, in place of Django's own."""

from typing import Any, Final

from django import forms
from django.core import validators
from django.db import models


class Words(str):
    """A sentence that shows the numbers put into it as pages do: 1,000 for 1000.0."""

    def __mod__(self, values: Any) -> str:
        return super().__mod__({name: _shown(value) for name, value in values.items()})


def _shown(value: object) -> object:
    return f"{value:,.10g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value


CHOOSE: Final = "Choose from the list."
WITH_CHOICES: Final[tuple[Any, ...]] = (
    *(forms.ChoiceField, forms.MultipleChoiceField, models.Field),
    *(forms.ModelChoiceField, forms.ModelMultipleChoiceField),
)


def use() -> None:
    """Have every form and model say it in our words."""
    validators.MinValueValidator.message = Words("Enter a number of at least %(limit_value)s.")
    validators.MaxValueValidator.message = Words("Enter a number of at most %(limit_value)s.")
    validators.MinLengthValidator.message = Words("Use at least %(limit_value)s characters.")
    validators.MaxLengthValidator.message = Words(
        "Use at most %(limit_value)s characters; there are %(show_value)s."
    )
    validators.DecimalValidator.messages |= {
        "max_digits": "Enter a number of at most %(max)s digits.",
        "max_decimal_places": "Enter a number of at most %(max)s decimals.",
        "max_whole_digits": "Enter a number of at most %(max)s digits before the point.",
    }
    validators.validate_slug.message = "Use only letters, digits, hyphens and underscores."
    validators.ProhibitNullCharactersValidator.message = "Remove the NUL character, which cannot be stored."
    forms.ModelMultipleChoiceField.default_error_messages["invalid_pk_value"] = CHOOSE
    for field in WITH_CHOICES:
        field.default_error_messages["invalid_choice"] = CHOOSE
