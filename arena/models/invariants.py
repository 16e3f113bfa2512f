"""Invariants that span tables, held by triggers.

They are put back after every migration: SQLite drops a table's triggers when it rebuilds the table, and
refuses to rebuild one that a trigger of another table reads.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate, pre_migrate

REMOVED: Final = "[removed]"
"""What replaces the names of people whose details are removed."""


class Rule(NamedTuple):
    """What must hold of the rows of a table, by the event before which it is looked at."""

    table: str
    message: str
    holds: Mapping[str, str]


def _of_rows(table: str, condition: str, message: str) -> Rule:
    """Return the rule that a condition holds for every row."""
    return Rule(table, message, dict.fromkeys(("INSERT", "UPDATE"), condition))


def _removed_in(note: str) -> str:
    return f"LENGTH({note}) - LENGTH(REPLACE({note}, '{REMOVED}', ''))"


_STUDY_OF_COMPLETION: Final = """(SELECT p.study_id FROM arena_prompt p
            JOIN arena_completion c ON c.prompt_id = p.id WHERE c.id = NEW.completion_id)"""

_ABOUT_ITS_PROMPT: Final = """(SELECT prompt_id FROM arena_question WHERE id = NEW.question_id)
            = (SELECT prompt_id FROM arena_completion WHERE id = NEW.completion_id)"""

_TURN_OF_PAIR: Final = """(NEW.turn = 0 OR EXISTS (SELECT 1 FROM arena_prompt p
            JOIN arena_pair ON arena_pair.prompt_id = p.id WHERE arena_pair.id = NEW.pair_id
            AND (json_array_length(p.turns) = 0 OR NEW.turn <= json_array_length(p.turns))))"""

_UNCHANGED: Final = ("id", "kind", "at", "study_slug", "command", "request")
_EMPTIED: Final = ("study_id", "rater_id", "by_id", "account_id")

RULES: Final = {
    "pair_answers_one_prompt": _of_rows(
        "arena_pair",
        """(SELECT COUNT(*) FROM arena_completion
            WHERE id IN (NEW.first_id, NEW.second_id) AND prompt_id = NEW.prompt_id) = 2""",
        "completions of a pair answer the same prompt",
    ),
    "completion_stays_in_study": _of_rows(
        "arena_completion",
        """NEW.contestant_id IS NULL OR
           (SELECT study_id FROM arena_contestant WHERE id = NEW.contestant_id)
           = (SELECT study_id FROM arena_prompt WHERE id = NEW.prompt_id)""",
        "contestant and prompt of a completion belong to the same study",
    ),
    "comparison_stays_in_study": _of_rows(
        "arena_comparison",
        """NEW.study_id = (SELECT p.study_id FROM arena_prompt p
            JOIN arena_pair ON arena_pair.prompt_id = p.id WHERE arena_pair.id = NEW.pair_id)""",
        "a comparison belongs to the study of its pair",
    ),
    "comparison_has_its_turn": _of_rows(
        "arena_comparison", _TURN_OF_PAIR, "the turn of a comparison is one of its prompt"
    ),
    "assignment_has_its_turn": _of_rows(
        "arena_assignment", _TURN_OF_PAIR, "the turn of an assignment is one of its prompt"
    ),
    "score_stays_in_study": _of_rows(
        "arena_score",
        f"NEW.study_id = {_STUDY_OF_COMPLETION}",
        "a score belongs to the study of its answer",
    ),
    "answer_stays_in_study": _of_rows(
        "arena_answer",
        f"NEW.study_id = {_STUDY_OF_COMPLETION} AND {_ABOUT_ITS_PROMPT}",
        "a question is answered about an answer to its own prompt",
    ),
    "event_append_only": Rule(
        "arena_studyevent",
        "what is in the log stays as it is",
        {
            "UPDATE": " AND ".join(
                [
                    *(f"NEW.{name} = OLD.{name}" for name in _UNCHANGED),
                    "COALESCE(NEW.by_number, 0) = COALESCE(OLD.by_number, 0)",
                    # What it points at may be deleted.
                    *(f"COALESCE(NEW.{name}, OLD.{name}, 0) = COALESCE(OLD.{name}, 0)" for name in _EMPTIED),
                    f"(NEW.note = OLD.note OR {_removed_in('NEW.note')} > {_removed_in('OLD.note')})",
                ]
            ),
            "DELETE": "FALSE",
        },
    ),
}


def connect() -> None:
    pre_migrate.connect(_before_migrate, dispatch_uid="arena.models.invariants")
    post_migrate.connect(_after_migrate, dispatch_uid="arena.models.invariants")


def _before_migrate(sender: AppConfig, using: str, plan: Sequence[Any] = (), **kwargs: Any) -> None:
    if sender.name == "arena" and plan and connections[using].vendor == "sqlite":
        _drop(using, RULES)


def _after_migrate(sender: AppConfig, using: str, **kwargs: Any) -> None:
    if sender.name == "arena":
        install(using)


@contextmanager
def deletable(using: str = "default") -> Iterator[None]:
    """Let rows of tables that only grow be deleted: for who empties the whole database in a transaction."""
    growing = [name for name, rule in RULES.items() if "DELETE" in rule.holds]
    _drop(using, growing)
    yield
    install(using, growing)


def install(using: str = "default", names: Iterable[str] = tuple(RULES)) -> None:
    """Make the triggers of these rules anew, where their tables exist."""
    connection = connections[using]
    existing = connection.introspection.table_names()
    make = _postgresql if connection.vendor == "postgresql" else _sqlite
    _drop(using, names)
    with connection.cursor() as cursor:
        for name in names:
            if RULES[name].table in existing:
                for statement in make(name, RULES[name]):
                    cursor.execute(statement)


def _drop(using: str, names: Iterable[str]) -> None:
    connection = connections[using]
    with connection.cursor() as cursor:
        for name in names:
            if connection.vendor == "postgresql":
                cursor.execute(f"DROP TRIGGER IF EXISTS {name} ON {RULES[name].table}")
                continue
            for event in RULES[name].holds:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}_{event.lower()}")


def _sqlite(name: str, rule: Rule) -> Iterator[str]:
    for event, condition in rule.holds.items():
        yield (
            f"CREATE TRIGGER {name}_{event.lower()} BEFORE {event} ON {rule.table} WHEN NOT ({condition}) "
            f"BEGIN SELECT RAISE(ABORT, '{rule.message}'); END"
        )


def _postgresql(name: str, rule: Rule) -> Iterator[str]:
    checks = "".join(
        f"""
                IF TG_OP = '{event}' THEN
                    IF NOT ({condition.replace("json_array_length", "jsonb_array_length")}) THEN
                        RAISE EXCEPTION '{rule.message}' USING ERRCODE = 'check_violation';
                    END IF;
                END IF;"""
        for event, condition in rule.holds.items()
    )
    yield f"""CREATE OR REPLACE FUNCTION {name}() RETURNS trigger AS $$
            BEGIN{checks}
                RETURN NEW;
            END $$ LANGUAGE plpgsql"""
    events = " OR ".join(rule.holds)
    yield f"CREATE TRIGGER {name} BEFORE {events} ON {rule.table} FOR EACH ROW EXECUTE FUNCTION {name}()"
