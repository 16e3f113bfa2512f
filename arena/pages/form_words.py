"""The words of forms, in place of Django's own."""

from typing import Any, Final

from django import forms
from django.core import validators
from django.db import models

CHOOSE: Final = "Choose from the list."
WITH_CHOICES: Final[tuple[Any, ...]] = (
    *(forms.ChoiceField, forms.MultipleChoiceField, models.Field),
    *(forms.ModelChoiceField, forms.ModelMultipleChoiceField),
)


def use() -> None:
    """Have every form and model say it in our words."""
    validators.MinValueValidator.message = "Enter a number of at least %(limit_value)s."
    validators.MaxValueValidator.message = "Enter a number of at most %(limit_value)s."
    validators.MinLengthValidator.message = "Use at least %(limit_value)d characters."
    validators.MaxLengthValidator.message = (
        "Use at most %(limit_value)d characters; there are %(show_value)d."
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
