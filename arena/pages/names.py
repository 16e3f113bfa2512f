"""Rules for all names that people see and choose: of studies, judges, models, groups and accounts."""

from typing import Any, Final
from zlib import crc32

from django import forms
from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import QuerySet

from arena.texts.names import is_taken, why_not

NAME_TAKEN: Final = "This name is taken. Choose another one."


def check_name(
    name: str, others: "QuerySet[Any]", before: str | None = None, *, column: str = "name"
) -> None:
    """Raise ValidationError for a name that cannot be, or that readers take for that of one of the others.

    A name that is as it was ``before`` may stay. In a transaction, nobody else takes it until its end.
    """
    if name == before:
        return
    if why := why_not(name):
        raise ValidationError(f"The name {why}.")
    _wait_for_turn(others.model._meta.label)
    if is_taken(name, others.values_list(column, flat=True)):
        raise ValidationError(NAME_TAKEN)


def _wait_for_turn(kind: str) -> None:
    """On SQLite there is one transaction that writes at a time."""
    if connection.vendor == "postgresql" and connection.in_atomic_block:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_advisory_xact_lock(%s, %s)", [crc32(b"names") >> 1, crc32(kind.encode()) >> 1]
            )


class NamedForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form of a row whose name has to be new."""

    def others(self) -> "QuerySet[Any]":
        """Return the rows that must not have the same name."""
        rows: QuerySet[Any] = type(self.instance)._default_manager.exclude(pk=self.instance.pk)
        return rows

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        check_name(name, self.others(), self.initial.get("name"))
        return name
