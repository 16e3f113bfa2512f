"""Fields of texts that operators write."""

from typing import Any

from django import forms

from arena.texts.markdown import LONGEST_WRITTEN
from arena.texts.names import is_taken, why_not

LONGEST_LINE = 100
MOST_LINES = 20  # a rater sees them all beside each pair


class LineField(forms.CharField):
    """A short text that is seen as it is, as a name is."""

    def validate(self, value: str) -> None:
        super().validate(value)
        if value and (why := why_not(value)):
            raise forms.ValidationError(f"This text {why}.")


class LinesField(forms.CharField):
    """A list of short texts, one on each line, which readers can tell apart as they do names."""

    def __init__(self, *, longest: int = LONGEST_LINE, **options: Any) -> None:
        super().__init__(**{"required": False, "widget": forms.Textarea({"rows": 5}), **options})
        self._longest = longest

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(str(one) for one in value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        lines = [line.strip() for line in (super().to_python(value) or "").splitlines()]
        return [line for line in lines if line]

    def validate(self, value: Any) -> None:
        if len(value) > MOST_LINES:
            raise forms.ValidationError(f"There are {len(value)} entries; the limit is {MOST_LINES}.")
        for number, line in enumerate(value, start=1):
            if why := why_not(line):
                raise forms.ValidationError(f"Entry {number} {why}.")
            if len(line) > self._longest:
                raise forms.ValidationError(
                    f"Entry {number} has {len(line)} characters; the limit is {self._longest}."
                )
            if is_taken(line, value[: number - 1]):
                raise forms.ValidationError(f"“{line}” is listed twice.")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool((initial or []) != self.to_python(data))


class MarkdownField(forms.CharField):
    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "max_length": LONGEST_WRITTEN})

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        return {}  # with a maxlength, browsers cut what is pasted without a word
