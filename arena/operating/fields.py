"""Inputs in plain words: lists as lines, shares as percent."""

from typing import Any

from django import forms

LONGEST_LINE = 100
"""Characters of one entry of a list."""


class LinesField(forms.CharField):
    """A list of short texts, one on each line, each once."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"required": False, "widget": forms.Textarea({"rows": 5}), **options})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(str(one) for one in value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        lines = [line.strip() for line in (super().to_python(value) or "").splitlines()]
        return [line for line in lines if line]

    def validate(self, value: Any) -> None:
        for number, line in enumerate(value, start=1):
            if "\0" in line:
                raise forms.ValidationError(f"Entry {number} holds a NUL character, which cannot be stored.")
            if len(line) > LONGEST_LINE:
                raise forms.ValidationError(
                    f"Entry {number} has {len(line)} characters; at most {LONGEST_LINE} are possible."
                )
            if line in value[: number - 1]:
                raise forms.ValidationError(f"“{line}” stands there twice; each entry is named once.")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool((initial or []) != self.to_python(data))


class PercentField(forms.FloatField):
    """A share, typed and shown as percent, kept as a number from 0 to 1."""

    def __init__(self, *, most: int = 100, **options: Any) -> None:
        super().__init__(min_value=0, max_value=most, **options)
        self.widget.attrs |= {"step": "any", "inputmode": "decimal"}

    def prepare_value(self, value: Any) -> Any:
        return f"{100 * value:.10g}" if isinstance(value, float | int) else value

    def clean(self, value: Any) -> Any:
        percent = super().clean(value)
        return None if percent is None else percent / 100

    def has_changed(self, initial: Any, data: Any) -> bool:
        return super().has_changed(self.prepare_value(initial), data)
