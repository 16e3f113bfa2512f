"""Forms filled in by programs, which are held to the rules of the page."""

from collections.abc import Mapping
from typing import Any, TypeVar

from django.forms import BaseForm

FormT = TypeVar("FormT", bound=BaseForm)


class FormError(Exception):
    """A form refuses a value; ``field`` names it, or is empty, and the message says why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def filled(blank: BaseForm, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a browser would send of a form as shown, with these fields changed. Raises FormError."""
    if other := next((name for name in given if name not in blank.fields), ""):
        raise FormError(other, "There is no such choice here.")
    values = {field.name: field.value() for field in blank}
    values |= {name: blank.fields[name].prepare_value(value) for name, value in given.items()}
    return {blank[name].html_name: value for name, value in values.items() if value is not None}


def valid(form: FormT) -> FormT:
    """Return the form if it is valid. Raises FormError with its first error."""
    for name, said in form.errors.items():
        raise FormError("" if name == "__all__" else name, str(said[0]))
    return form
