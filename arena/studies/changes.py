"""Writing settings and rows of a study, each change on record with who made it."""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import Field, Model, Q, TextField
from django.template.defaultfilters import pluralize
from django.utils.text import capfirst

from arena.audit.recording import Kind, record
from arena.models import Answer, Assignment, Contestant, Pair, Prompt, Score, Study
from arena.models.settings import FIGURES, SETTINGS
from arena.models.signals import announce
from arena.pages.permissions import Visitor
from arena.rating.tasks import TASKS, names

ROW_WORDS: Final = {
    "retired_at": "Retired",
    "gold": "Right answer",
    "gold_source": "Source of the right answer",
}
"""Names of columns of rows in the history, where their own are not enough."""

HASH_LENGTH: Final = 12


class SettingError(Exception):
    """A setting cannot be as wanted; ``field`` names it, and the message says why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@transaction.atomic
def store(study: Study, by: Visitor, names: Collection[str]) -> list[str]:
    """Write these settings of a study, each change on record; the names of those that changed.

    Other columns are left alone, so two people on two pages do not undo each other. Raises SettingError.
    """
    for problem in problems(Study.objects.get(pk=study.pk), study, names):
        raise SettingError(*problem)
    found = _store(study, study, by, set(names) & SETTINGS.keys())
    if "rated_turns" in found:
        Pair.rows.filter(prompt__study=study).recount(study)
    if any(FIGURES in SETTINGS[name].affects for name in found):
        announce([study])
    return found


def problems(stored: Study, wanted: Study, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield those of the named settings that cannot be as wanted, each with the reason."""
    if wanted.reveal_names and wanted.rated_turns == Study.Rated.EACH:
        for name in {"reveal_names", "rated_turns"} & {*names}:
            yield name, "Raters who see names after a turn would know them at the next one."
    if "tasks" in names and (why := _why_kept(stored, wanted.tasks)):
        yield "tasks", why
    ends = ("score_lowest", "score_highest")
    if {*ends} & {*names}:
        if wanted.score_lowest >= wanted.score_highest:
            yield "score_highest", "The highest score must be above the lowest."
        elif any(getattr(stored, end) != getattr(wanted, end) for end in ends) and (
            why := _why_fixed(stored)
        ):
            yield "score_highest", why
    goal, limit, of_day = wanted.goal, wanted.rater_limit, wanted.daily_limit
    if "rater_limit" in names and limit is not None and goal is not None and limit < goal:
        yield "rater_limit", f"The limit must not be below the goal, which is {goal:,}."
    if "daily_limit" in names and limit is not None and of_day is not None and of_day > limit:
        yield "daily_limit", f"The limit of a day must not be above that in all, which is {limit:,}."


def _why_kept(study: Study, tasks: Sequence[str]) -> str:
    """Say why the study must keep a task that these leave out; "" if it need not."""
    for kind in study.tasks:
        task = TASKS[kind]
        stored = task.model._default_manager.filter(study=study, is_current=True)
        if kind not in tasks and (count := stored.count()):
            return f"Keep “{task.name}”: the study has {count:,} {task.said.format(pluralize(count))}."
    return ""


def _why_fixed(study: Study) -> str:
    """Say why the ends of the scale of scores must stay; "" if they may change."""
    ends = {"lowest": study.score_lowest, "highest": study.score_highest}
    count = Score.objects.current().filter(study=study, **ends).count()
    if not count:
        return ""
    scores = f"{count:,} score{pluralize(count, ' was,s were')}"
    return f"The scale must stay {ends['lowest']} to {ends['highest']}: {scores} given on it."


@transaction.atomic
def store_row(
    row: Contestant | Prompt | Pair, study: Study, by: Visitor, names: Collection[str]
) -> list[str]:
    """Write these columns of a row on which published figures rest, as ``store`` does."""
    found = store_rules(row, study, by, names)
    if found:
        announce([study])
    return found


@transaction.atomic
def store_rules(row: Model, study: Study, by: Visitor, names: Collection[str]) -> list[str]:
    """Write these columns of a row on which no published figure rests, each change on record."""
    return _store(row, study, by, names)


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
        kind = Kind.NAMING if field.name == "naming" else Kind.SETTING
        record(kind, by, f"{_about(stored)}{note}", study=study)
    return found


def _about(row: Any) -> str:
    """Name the row that a note is about; empty for the study."""
    if isinstance(row, Pair):
        return f"Pair {row.pk} of prompt {row.prompt}, "
    if isinstance(row, Study):
        return ""
    if isinstance(row, Contestant | Prompt):
        return f"{'Model' if isinstance(row, Contestant) else 'Prompt'} {row}, "
    return f"{capfirst(row._meta.verbose_name_plural)}, "


def _plain_lines(value: Any) -> Any:
    """The text with the line ends of files: that browsers send others is no change."""
    return value.replace("\r\n", "\n") if isinstance(value, str) else value


def _note(field: "Field[Any, Any]", before: Any, now: Any) -> str:
    if field.name == "is_draft":  # never again, once published
        return "Published."
    setting = SETTINGS.get(field.name) if field.model is Study else None
    unit = setting.unit if setting else ""
    said = f"{_words(field, now, unit)}. Before: {_words(field, before, unit)}."
    label = setting.name if setting else ROW_WORDS.get(field.name, str(field.verbose_name).capitalize())
    return said if field.name == "naming" else f"{label}: {said}"


def _words(field: "Field[Any, Any]", value: Any, unit: str) -> str:
    if isinstance(field, TextField):
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
        return names(value)
    if isinstance(value, list):
        return ", ".join(f"“{each}”" for each in value) or "none"
    if value is None or value == "":
        return "none"
    return f"{100 * value:.4g}%" if unit else str(value)


def _about_text(text: str) -> str:
    if not text:
        return "no text"
    name = hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]
    return f"a text of {len(text):,} character{pluralize(len(text))} ({name})"
