"""Writes: the settings of a study, each change recorded with who made it, what it was and what it is now.

The pages of operators and the admin both store through here. What is not a setting has its own door: a study
is paused and closed in arena.studies.lifecycle.
"""

import hashlib
from collections.abc import Collection
from typing import Any, Final

from django.db import transaction
from django.db.models import Field

from arena.models import Study, StudyEvent
from arena.models.signals import announce
from arena.people.permissions import Visitor

NO_SETTINGS: Final = {"id", "paused_at", "closed_at", "revision", "created_at"}
"""Columns of a study that are recorded otherwise, or that nobody chooses."""

UNSEEN: Final = {
    *("guidelines", "criteria", "reasons", "reveal_names", "training_threshold"),
    *("pairing", "control_share", "repeat_share", "gold_share", "naming"),
}
"""Settings on which no published figure rests: what was rated stays rated, as it was shown then."""

TEXTS: Final = {"guidelines", "description"}
"""Settings whose text is too long for a record: it names their length, and a hash that tells texts apart."""

SHARES: Final = {"training_threshold", "control_share", "repeat_share", "gold_share"}

WORDS: Final = {
    "slug": "Address",
    "reveal_names": "Raters are told who wrote the answers",
    "training_threshold": "Training to pass",
    "control_share": "Pairs chosen at random all the same",
    "repeat_share": "Hidden repeats",
    "gold_share": "Hidden checks",
    "sign_up_open": "Anyone may sign up and rate",
    "simulated": "Holds simulated votes",
}
"""What settings are called whose column does not say it."""

HASH_LENGTH: Final = 12


@transaction.atomic
def store(study: Study, by: Visitor, names: Collection[str]) -> list[str]:
    """Write these settings of a study that is there already; the names of those that differ from the stored.

    Each is put on record, and figures that may rest on one are computed anew. Nothing else is written, so two
    people on two pages do not undo each other.
    """
    stored = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    asked = [each for each in Study._meta.concrete_fields if each.name in set(names) - NO_SETTINGS]
    for field in asked:
        setattr(study, field.name, _plain_lines(getattr(study, field.name)))
    changed = [
        field for field in asked if _plain_lines(getattr(stored, field.name)) != getattr(study, field.name)
    ]
    if not changed:
        return []
    found = [field.name for field in changed]
    study.save(update_fields=found)
    StudyEvent.objects.bulk_create(
        StudyEvent(study=study, kind=kind_of(field.name), by=by if by and by.pk else None, note=note)
        for field in changed
        for note in [_note(field, getattr(stored, field.name), getattr(study, field.name))]
    )
    if any(name not in UNSEEN for name in found):
        announce([study])
    return found


def _plain_lines(value: Any) -> Any:
    """A text with the ends of lines that files have: that browsers send others is no change."""
    return value.replace("\r\n", "\n") if isinstance(value, str) else value


def kind_of(name: str) -> StudyEvent.Kind:
    """As what the change of a setting is recorded."""
    return StudyEvent.Kind.NAMING if name == "naming" else StudyEvent.Kind.SETTING


def _note(field: "Field[Any, Any]", before: Any, now: Any) -> str:
    label = WORDS.get(field.name, str(field.verbose_name).capitalize())
    said = f"{_words(field, now)}. Before: {_words(field, before)}."
    return said if field.name == "naming" else f"{label}: {said}"


def _words(field: "Field[Any, Any]", value: Any) -> str:
    """The value of a setting for people."""
    if field.name in TEXTS:
        return _about_text(value)
    if field.choices:
        return str(dict(field.flatchoices).get(value, value)).partition(":")[0]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(f"“{each}”" for each in value) or "none"
    if value is None or value == "":
        return "none"
    return f"{100 * value:.4g} %" if field.name in SHARES else str(value)


def _about_text(text: str) -> str:
    if not text:
        return "no text"
    name = hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]
    return f"a text of {len(text):,} character{'' if len(text) == 1 else 's'} ({name})"
