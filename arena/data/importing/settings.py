"""Imports the settings of a study that an export holds."""

import json
from functools import cached_property
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db.models import BooleanField, Field, JSONField, TextField

from arena.data.formats.records import StudyRecord
from arena.data.formats.values import json_type, unstorable
from arena.data.importing.import_report import ImportReport
from arena.models import Assignment, Study
from arena.pages.written import LinesField
from arena.texts.markdown import LONGEST_WRITTEN
from arena.texts.names import is_taken, why_not

STATES: Final = frozenset(
    {"id", "slug", "revision", "queue_of", "queue_lacks", "created_at"}
    | {"visibility", "sign_up_open", "takes_models", "is_draft", "paused_at", "closed_at"}
)
"""Columns of a study that whoever operates it decides anew."""


class Settings:
    """Takes over what a file says wherever a study without prompts and models still has the defaults."""

    def __init__(self, study: Study, report: ImportReport) -> None:
        self._study = study
        self._report = report
        self.are_told = False
        """True where a file says them, so that they are not guessed from what raters said."""
        self.taken: dict[str, Any] = {}

    @cached_property
    def _is_empty(self) -> bool:
        """True before the first record of anything else, where the study has nothing."""
        return not (self._study.prompts.exists() or self._study.contestants.exists())

    def take(self, records: list[StudyRecord]) -> None:
        for record in records:
            self.are_told = True
            told = self._read(record).items()
            other = [name for name, value in told if name != "name" and value != getattr(self._study, name)]
            found = {
                name: value
                for name, value in told
                if self._is_empty and self._may_change(name) and value != getattr(self._study, name)
            }
            if kept := [name.replace("_", " ") for name in other if name not in found]:
                self._report.note(record.place, f"this study keeps its own settings: {', '.join(kept)}")
            for name, value in found.items():
                setattr(self._study, name, value)
            try:
                self._study.validate_constraints()
            except ValidationError as error:
                self._report.refuse(record.place, "", " ".join(error.messages))
            self.taken |= found

    def _may_change(self, name: str) -> bool:
        """True for a setting that nobody has chosen, and for the name that a new study has of its address."""
        is_default = getattr(self._study, name) == getattr(Study(), name)
        return self._report.creates_study if name == "name" else is_default

    def _read(self, record: StudyRecord) -> dict[str, Any]:
        found = {}
        for field in Study._meta.concrete_fields:
            if field.name in STATES or field.name not in record.settings:
                continue
            try:
                found[field.name] = setting_value(field, record.settings[field.name])
            except ValidationError as error:
                self._report.refuse(record.place, field.name, " ".join(error.messages))
        if found.get("name") and is_taken(found["name"], Study.objects.values_list("name", flat=True)):
            del found["name"]
        return found


def setting_value(field: "Field[Any, Any]", said: Any) -> Any:
    """The value of a column. Raises ValidationError."""
    if isinstance(field, JSONField):
        return _texts(field.name, said)
    if said in (None, "") and field.null:
        return None
    if isinstance(said, list | dict):
        raise ValidationError(f"expected one value, found {json_type(said)}")
    if isinstance(field, BooleanField) and isinstance(said, str):
        said = said.capitalize()
    value = field.clean(said, None)
    if why := unstorable(value):
        raise ValidationError(why)
    if isinstance(field, TextField) and len(value) > LONGEST_WRITTEN:
        raise ValidationError(f"{len(value):,} characters; at most {LONGEST_WRITTEN:,} fit")
    if field.name in ("name", "licence") and value and (why := why_not(value)):
        raise ValidationError(why)
    return value


def _texts(name: str, said: Any) -> list[str]:
    try:
        said = json.loads(said) if isinstance(said, str) else said
    except ValueError:
        said = None
    if not isinstance(said, list) or not all(isinstance(one, str) for one in said):
        raise ValidationError("expected a list of texts")
    if name != "tasks":
        return list(LinesField().clean("\n".join(said)))
    if not said or len(set(said)) < len(said) or not set(said) <= set(Assignment.Kind.values):
        raise ValidationError(f"expected some of {', '.join(Assignment.Kind.values)}")
    return said
