from typing import Any, ClassVar

from django import forms


class CountField(forms.IntegerField):
    """How many of something: at least one, and no more than anybody needs."""

    most: ClassVar[int] = 1_000_000

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "min_value": 1, "max_value": self.most})


def up_to(most: int) -> type[CountField]:
    return type(f"CountUpTo{most}", (CountField,), {"most": most})
