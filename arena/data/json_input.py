"""The form field for JSON, which refuses what some database cannot store."""

from typing import Any

from django import forms
from django.forms.fields import InvalidJSONInput

from arena.data.formats.values import unstorable


class JSONInput(forms.JSONField):
    """JSON without infinite numbers, NUL, halves of surrogate pairs and deep nesting."""

    def to_python(self, value: Any) -> Any:
        try:
            parsed = super().to_python(value)
        except (RecursionError, ValueError):  # nested too deeply, or a number of thousands of digits
            raise forms.ValidationError(
                self.error_messages["invalid"], code="invalid", params={"value": str(value)[:100]}
            ) from None
        if reason := unstorable(parsed):
            raise forms.ValidationError(f"This cannot be stored: {reason}.", code="unstorable")
        return parsed

    def bound_data(self, data: Any, initial: Any) -> Any:
        """The value to show again, as typed if it is refused."""
        try:
            self.to_python(data)
        except forms.ValidationError:
            return InvalidJSONInput(data)
        return super().bound_data(data, initial)
