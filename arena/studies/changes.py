"""Writing settings and rows of a study, each change on record with who made it."""

import hashlib
from collections.abc import Collection
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import Field, Q
from django.template.defaultfilters import pluralize

from arena.audit.recording import Kind, record
from arena.models import Answer, Assignment, Contestant, Pair, Prompt, Score, Study
from arena.models.signals import announce
from arena.pages.permissions import Visitor
from arena.studies import tasks

NO_SETTINGS: Final = {"id", "paused_at", "closed_at", "revision", "created_at"}
"""Columns of a study that are recorded otherwise, or chosen by nobody."""

UNSEEN: Final = {
    *(
        "guidelines",
        "consent",
        "goal",
        "rater_limit",
        "daily_limit",
        "criteria",
        "reasons",
        "reveal_names",
        "show_references",
        "training_threshold",
    ),
    *("pairing", "pairing_feature", "control_share", "repeat_share", "gold_share", "naming", "thinking"),
}
"""Settings on which no published figure rests."""

TEXTS: Final = {"guidelines", "consent", "description", "explanation"}
"""Settings whose text is recorded by its length and a hash."""

SHARES: Final = {"training_threshold", "control_share", "repeat_share", "gold_share"}

WORDS: Final = {
    "slug": "Address",
    "reveal_names": "Raters see who wrote the answers",
    "training_threshold": "Training pairs to get right",
    "control_share": "Random share",
    "repeat_share": "Hidden repeats",
    "gold_share": "Hidden checks",
    "stop_margin": "Stopping rule",
    "sign_up_open": "Anyone may sign up and rate",
    "simulated": "Contains simulated ratings",
    "retired_at": "Retired",
    "gold": "Right answer",
    "gold_source": "Source of the right answer",
}
"""Labels of settings where the column's name is not enough."""

HASH_LENGTH: Final = 12


@transaction.atomic
def store(study: Study, by: Visitor, names: Collection[str]) -> list[str]:
    """Write these settings of a study, each change on record; the names of those that changed.

    Other columns are left alone, so two people on two pages do not undo each other.
    """
    found = _store(study, study, by, set(names) - NO_SETTINGS)
    if any(name not in UNSEEN for name in found):
        announce([study])
    return found


@transaction.atomic
def store_row(
    row: Contestant | Prompt | Pair, study: Study, by: Visitor, names: Collection[str]
) -> list[str]:
    """Like ``store`` for a row of the study, on which published figures rest."""
    found = _store(row, study, by, names)
    if found:
        announce([study])
    return found


@transaction.atomic
def remove_row(row: Contestant | Prompt, study: Study, by: Visitor) -> bool:
    """Delete a row with its answers, on record; False if one was offered to raters or has opinions."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)  # the lock under which answers are offered
    if is_used(row):
        return False
    answers = row.completions.count()
    note = f"{_about(row)}removed, with {answers:,} answer{pluralize(answers)}."
    row.delete()
    record(Kind.SETTING, by, note, study=study)
    announce([study])
    return True


def is_used(row: Contestant | Prompt) -> bool:
    answers = row.completions.values("pk")
    alone = (Assignment, Score, Answer)
    return Pair.objects.filter(Q(first__in=answers) | Q(second__in=answers)).exists() or any(
        model._default_manager.filter(completion__in=answers).exists() for model in alone
    )


def _store(row: Any, study: Study, by: Visitor, names: Collection[str]) -> list[str]:
    stored = type(row).objects.select_for_update(no_key=True).get(pk=row.pk)
    asked = [each for each in row._meta.concrete_fields if each.name in names]
    for field in asked:
        setattr(row, field.name, _plain_lines(getattr(row, field.name)))
    changed = [
        field for field in asked if _plain_lines(getattr(stored, field.name)) != getattr(row, field.name)
    ]
    if not changed:
        return []
    found = [field.name for field in changed]
    row.save(update_fields=found)
    for field in changed:
        note = _note(field, getattr(stored, field.name), getattr(row, field.name))
        record(kind_of(field.name), by, f"{_about(stored)}{note}", study=study)
    return found


def _about(row: Any) -> str:
    """Which row a note is about; empty for the study."""
    if isinstance(row, Pair):
        return f"Pair {row.pk} of prompt {row.prompt}, "
    if isinstance(row, Study):
        return ""
    return f"{'Model' if isinstance(row, Contestant) else 'Prompt'} {row}, "


def _plain_lines(value: Any) -> Any:
    """The text with the line ends of files: that browsers send others is no change."""
    return value.replace("\r\n", "\n") if isinstance(value, str) else value


def kind_of(name: str) -> Kind:
    return Kind.NAMING if name == "naming" else Kind.SETTING


def _note(field: "Field[Any, Any]", before: Any, now: Any) -> str:
    if field.name == "is_draft":  # never again, once published
        return "Published."
    label = WORDS.get(field.name, str(field.verbose_name).capitalize())
    said = f"{_words(field, now)}. Before: {_words(field, before)}."
    return said if field.name == "naming" else f"{label}: {said}"


def _words(field: "Field[Any, Any]", value: Any) -> str:
    if field.name in TEXTS:
        return _about_text(value)
    if field.choices:
        return str(dict(field.flatchoices).get(value, value)).partition(":")[0]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return f"{value.day} {value:%b %Y, %H:%M} UTC"
    if isinstance(value, dict):
        return ", ".join(f"{name} {each}" for name, each in value.items()) or "none"
    if field.name == "tasks":
        return tasks.in_words(value)
    if isinstance(value, list):
        return ", ".join(f"“{each}”" for each in value) or "none"
    if value is None or value == "":
        return "none"
    return f"{100 * value:.4g}%" if field.name in SHARES else str(value)


def _about_text(text: str) -> str:
    if not text:
        return "no text"
    name = hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]
    return f"a text of {len(text):,} character{pluralize(len(text))} ({name})"
