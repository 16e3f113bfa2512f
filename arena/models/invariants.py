"""Invariants that span tables, held by triggers.

They are put back after every migration: SQLite drops a table's triggers when it rebuilds the table, and
refuses to rebuild one that a trigger of another table reads.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate, pre_migrate

_STUDY_OF_COMPLETION: Final = """(SELECT p.study_id FROM arena_prompt p
            JOIN arena_completion c ON c.prompt_id = p.id WHERE c.id = NEW.completion_id)"""

_ABOUT_ITS_PROMPT: Final = """(SELECT prompt_id FROM arena_question WHERE id = NEW.question_id)
            = (SELECT prompt_id FROM arena_completion WHERE id = NEW.completion_id)"""

RULES: dict[str, tuple[str, str, str]] = {
    # name: (table, what must hold for NEW, message)
    "pair_answers_one_prompt": (
        "arena_pair",
        """(SELECT COUNT(*) FROM arena_completion
            WHERE id IN (NEW.first_id, NEW.second_id) AND prompt_id = NEW.prompt_id) = 2""",
        "completions of a pair answer the same prompt",
    ),
    "completion_stays_in_study": (
        "arena_completion",
        """NEW.contestant_id IS NULL OR
           (SELECT study_id FROM arena_contestant WHERE id = NEW.contestant_id)
           = (SELECT study_id FROM arena_prompt WHERE id = NEW.prompt_id)""",
        "contestant and prompt of a completion belong to the same study",
    ),
    "comparison_stays_in_study": (
        "arena_comparison",
        """NEW.study_id = (SELECT p.study_id FROM arena_prompt p
            JOIN arena_pair ON arena_pair.prompt_id = p.id WHERE arena_pair.id = NEW.pair_id)""",
        "a comparison belongs to the study of its pair",
    ),
    "score_stays_in_study": (
        "arena_score",
        f"NEW.study_id = {_STUDY_OF_COMPLETION}",
        "a score belongs to the study of its answer",
    ),
    "answer_stays_in_study": (
        "arena_answer",
        f"NEW.study_id = {_STUDY_OF_COMPLETION} AND {_ABOUT_ITS_PROMPT}",
        "a question is answered about an answer to its own prompt",
    ),
}

_EVENTS: Final = ("INSERT", "UPDATE")

REMOVED: Final = "[removed]"
"""What replaces the names of people whose details are removed."""


def _removed_in(note: str) -> str:
    return f"LENGTH({note}) - LENGTH(REPLACE({note}, '{REMOVED}', ''))"


_UNCHANGED: Final = ("id", "kind", "at", "study_slug", "command", "request")
_EMPTIED: Final = ("study_id", "rater_id", "by_id", "account_id")

APPEND_ONLY: dict[str, tuple[str, str, str]] = {
    # name: (table, what an update may be, message); no row is deleted
    "event_append_only": (
        "arena_studyevent",
        " AND ".join(
            [
                *(f"NEW.{name} = OLD.{name}" for name in _UNCHANGED),
                "COALESCE(NEW.by_number, 0) = COALESCE(OLD.by_number, 0)",
                # What it points at may be deleted.
                *(f"COALESCE(NEW.{name}, OLD.{name}, 0) = COALESCE(OLD.{name}, 0)" for name in _EMPTIED),
                f"(NEW.note = OLD.note OR {_removed_in('NEW.note')} > {_removed_in('OLD.note')})",
            ]
        ),
        "what is in the log stays as it is",
    ),
}


def connect() -> None:
    pre_migrate.connect(_before_migrate, dispatch_uid="arena.models.invariants")
    post_migrate.connect(_after_migrate, dispatch_uid="arena.models.invariants")


def _before_migrate(sender: AppConfig, using: str, plan: Sequence[Any] = (), **kwargs: Any) -> None:
    if sender.name == "arena" and plan and connections[using].vendor == "sqlite":
        with connections[using].cursor() as cursor:
            for name in RULES:
                for event in _EVENTS:
                    cursor.execute(f"DROP TRIGGER IF EXISTS {name}_{event.lower()}")
        _drop_append_only(using)


def _after_migrate(sender: AppConfig, using: str, **kwargs: Any) -> None:
    if sender.name == "arena":
        install(using)


def install(using: str = "default") -> None:
    connection = connections[using]
    existing = connection.introspection.table_names()
    make = _postgresql if connection.vendor == "postgresql" else _sqlite
    with connection.cursor() as cursor:
        for name, (table, condition, message) in RULES.items():
            if table in existing:
                for statement in make(name, table, condition, message):
                    cursor.execute(statement)
    _install_append_only(using)


@contextmanager
def deletable(using: str = "default") -> Iterator[None]:
    """Let rows of tables that only grow be deleted: for who empties the whole database in a transaction."""
    _drop_append_only(using)
    yield
    _install_append_only(using)


def _install_append_only(using: str) -> None:
    connection = connections[using]
    existing = connection.introspection.table_names()
    make = _append_only_postgresql if connection.vendor == "postgresql" else _append_only_sqlite
    _drop_append_only(using)
    with connection.cursor() as cursor:
        for name, (table, condition, message) in APPEND_ONLY.items():
            if table in existing:
                for statement in make(name, table, condition, message):
                    cursor.execute(statement)


def _drop_append_only(using: str) -> None:
    connection = connections[using]
    with connection.cursor() as cursor:
        for name, (table, _, _) in APPEND_ONLY.items():
            if connection.vendor == "postgresql":
                cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON {table}")
            else:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}_update")
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}_delete")


def _append_only_sqlite(name: str, table: str, condition: str, message: str) -> list[str]:
    refuse = f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
    return [
        f"CREATE TRIGGER {name}_update BEFORE UPDATE ON {table} WHEN NOT ({condition}) {refuse}",
        f"CREATE TRIGGER {name}_delete BEFORE DELETE ON {table} {refuse}",
    ]


def _append_only_postgresql(name: str, table: str, condition: str, message: str) -> list[str]:
    return [
        f"""CREATE OR REPLACE FUNCTION {name}() RETURNS trigger AS $$
            BEGIN
                IF TG_OP = 'UPDATE' THEN
                    IF {condition} THEN
                        RETURN NEW;
                    END IF;
                END IF;
                RAISE EXCEPTION '{message}' USING ERRCODE = 'check_violation';
            END $$ LANGUAGE plpgsql""",
        f"CREATE TRIGGER {name} BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()",
    ]


def _sqlite(name: str, table: str, condition: str, message: str) -> list[str]:
    statements = []
    for event in _EVENTS:
        trigger = f"{name}_{event.lower()}"
        statements.append(f"DROP TRIGGER IF EXISTS {trigger}")
        statements.append(
            f"CREATE TRIGGER {trigger} BEFORE {event} ON {table} WHEN NOT ({condition}) "
            f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
        )
    return statements


def _postgresql(name: str, table: str, condition: str, message: str) -> list[str]:
    return [
        f"""CREATE OR REPLACE FUNCTION {name}() RETURNS trigger AS $$
            BEGIN
                IF NOT ({condition}) THEN
                    RAISE EXCEPTION '{message}' USING ERRCODE = 'check_violation';
                END IF;
                RETURN NEW;
            END $$ LANGUAGE plpgsql""",
        f"DROP TRIGGER IF EXISTS {name} ON {table}",
        f"CREATE TRIGGER {name} BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION {name}()",
    ]
