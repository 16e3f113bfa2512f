from functools import partial
from typing import Any

from django import forms


class CountField(forms.IntegerField):
    """A number of things: at least one, and no more than anybody needs."""

    def __init__(self, most: int = 1_000_000, **options: Any) -> None:
        super().__init__(**{**options, "min_value": 1, "max_value": most})


def is_number(text: str) -> bool:
    """Return True for a whole number that every database can look for, as an id is."""
    return text.isascii() and text.isdigit() and len(text) < 10


def up_to(most: int) -> Any:
    """A field for ``field_classes``, which Django calls as it does a class."""
    return partial(CountField, most)
