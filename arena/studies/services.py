"""Making a study, and writing its settings from values that no form has read."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction

from arena.audit.recording import Kind, record
from arena.data.importing.settings import setting_value
from arena.models import Study
from arena.models.settings import SETTINGS
from arena.pages.addresses import OTHER_STUDY, why_not
from arena.pages.names import check_name
from arena.pages.permissions import Visitor, is_staff
from arena.studies import changes
from arena.studies.changes import SettingError
from arena.studies.forms import free_address

OF_OPERATORS = tuple(name for name in SETTINGS if name != "is_draft")
COLUMNS = {column.name: column for column in Study._meta.concrete_fields}
DRAFT = "The study is a draft, which is private. Publish it with this visibility."


@transaction.atomic
def create(study: Study, by: Visitor) -> Study:
    """Store a new study as a draft, on record."""
    study.is_draft = True
    study.save()
    record(Kind.CREATED, by, f"With the address {study.slug}.", study=study)
    return study


@transaction.atomic
def create_with(given: Mapping[str, Any], by: Visitor) -> Study:
    """A new draft with these settings. Raises SettingError."""
    study = Study(is_draft=True)
    first = {name: given[name] for name in ("name", "slug", "description") if given.get(name)}
    if not first.get("name"):
        raise SettingError("name", "A study needs a name.")
    first.setdefault("slug", free_address(first["name"]))
    _set(study, first)
    with _taken():
        create(study, by)
    configure(study, {name: value for name, value in given.items() if name not in first}, by)
    return study


@transaction.atomic
def configure(study: Study, given: Mapping[str, Any], by: Visitor | None) -> list[str]:
    """Write these settings, on record; the names of those that changed.

    Raises SettingError, or PermissionDenied for another address, which only staff accounts may give.
    """
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if by is not None and not is_staff(by) and given.get("slug", locked.slug) != locked.slug:
        raise PermissionDenied
    if locked.is_draft and given.get("visibility", locked.visibility) != locked.visibility:
        raise SettingError("visibility", DRAFT)
    return _store(locked, given, by)


@transaction.atomic
def publish(study: Study, given: Mapping[str, Any], by: Visitor | None) -> bool:
    """Publish a draft, with settings of that step; False if it is published. Raises SettingError."""
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if not locked.is_draft:
        return False
    locked.is_draft = False
    _store(locked, given, by, "is_draft")
    return True


def _store(study: Study, given: Mapping[str, Any], by: Visitor | None, *also: str) -> list[str]:
    _set(study, given)
    with _taken():
        return changes.store(study, by, {*given, *also})


def _set(study: Study, given: Mapping[str, Any]) -> None:
    """Give a study these values, checked one by one and together. Raises SettingError."""
    before = study.name
    for name, value in given.items():
        try:
            setattr(study, name, setting_value(COLUMNS[name], value))
        except ValidationError as error:
            raise SettingError(name, " ".join(error.messages)) from error
    stored = Study.objects.filter(pk=study.pk).first()
    for problem in changes.problems(stored, study, given) if stored else ():
        raise SettingError(*problem)
    if "slug" in given and (why := why_not(study.slug, stored)):
        raise SettingError("slug", why)
    try:
        if "name" in given:
            check_name(study.name, Study.objects.exclude(pk=study.pk), before)
        study.validate_constraints(exclude={"slug"})
    except ValidationError as error:
        raise SettingError("name" if "name" in given else "", " ".join(error.messages)) from error


@contextmanager
def _taken() -> Iterator[None]:
    """Raises SettingError if somebody took the address at this moment."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise SettingError("slug", OTHER_STUDY) from error
