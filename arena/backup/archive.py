"""The form of a backup: a zip with Django's serialization of each table, in their order, and a manifest."""

import json
import zipfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import partial
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, Final

from django.apps import apps
from django.conf import settings
from django.db import connection, models
from django.db.migrations.loader import MigrationLoader
from pydantic import TypeAdapter

from arena.data.formats.archives import DAMAGE

FORMAT: Final = "likert-arena-backup"
FORM: Final = 2
MANIFEST: Final = "manifest.json"
LEFT_OUT: Final = {"django_session"}
"""Whoever was signed in signs in again: a copy of a session would let its reader in."""
_DAMAGED: Final = (*DAMAGE, RuntimeError, LookupError, TypeError)
"""Errors of a file that is no zip, is cut off or damaged, or holds something else."""


class BackupError(Exception):
    """The backup cannot be made, read or restored, and nothing is changed; the message says why."""


@dataclass(frozen=True)
class Manifest:
    """Facts about a backup; ``tables`` has the number of rows by table."""

    version: str
    made_at: str
    migrations: list[str]
    tables: dict[str, int]

    def __str__(self) -> str:
        return f"{sum(self.tables.values()):,} rows of {len(self.tables)} tables as of {self.moment}"

    @property
    def moment(self) -> str:
        """When it was made, in words."""
        return f"{self.made_at[:19].replace('T', ' ')} UTC"

    def as_json(self) -> str:
        return json.dumps({"format": FORMAT, "form": FORM, **asdict(self)}, indent=1)


_SAID: Final = TypeAdapter(dict[str, Any])
_STATED: Final = TypeAdapter(Manifest)
_AT_ONCE: Final = 1024 * 1024  # bytes


def checked(path: Path) -> Manifest:
    """Read the whole file. Raises BackupError unless it holds the rows that its manifest counts."""
    no_backup = f"{path} is not a backup of an arena, or a part of it is missing or damaged"
    try:
        with zipfile.ZipFile(path) as file:
            said = _SAID.validate_json(file.read(MANIFEST))
            held = {name: _rows(file, name) for name in file.namelist() if name != MANIFEST}
        form = said.pop("form")
        if said.pop("format") != FORMAT or (form not in (1, FORM) and form < FORM):
            raise ValueError(form)
        if form == 1:
            raise BackupError(
                f"{path} was made by an earlier version of the arena. Install the code of "
                f"{said['made_at'][:10]}, restore, then upgrade."
            )
        if form > FORM:
            raise BackupError(f"{path} was made by a later version of the arena. Install that version.")
        manifest = _STATED.validate_python(said)
    except FileNotFoundError as error:
        raise BackupError(f"There is no file {path}.") from error
    except OSError as error:
        raise BackupError(f"{path} cannot be read ({error.strerror or error}).") from error
    except _DAMAGED as error:
        raise BackupError(f"{no_backup}.") from error
    counted = {member_of(table): rows for table, rows in manifest.tables.items()}
    for name in sorted(counted.keys() | held.keys()):
        if counted.get(name) != held.get(name):
            there, rows = (f"{each.get(name, 0):,}" for each in (held, counted))
            raise BackupError(f"{no_backup}: {name} has {there} of {rows} rows.")
    return manifest


def _rows(file: zipfile.ZipFile, member: str) -> int:
    """Count the lines of a member, which reads it to its end and holds its checksum."""
    with file.open(member) as lines:
        return sum(some.count(b"\n") for some in iter(partial(lines.read, _AT_ONCE), b""))


def member_of(table: str) -> str:
    return f"{table}.jsonl"


def tables() -> dict[str, type[models.Model]]:
    """Models by table, without those left out, each after the ones it refers to, which triggers look up."""
    there = {
        model._meta.db_table: model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and model._meta.db_table not in LEFT_OUT
    }
    refers: dict[str, set[str]] = {}
    for name, model in sorted(there.items()):
        others = {
            field.related_model._meta.db_table
            for field in model._meta.concrete_fields
            if field.is_relation and isinstance(field.related_model, type)
        }
        refers[name] = others - {name}
    return {name: there[name] for name in TopologicalSorter(refers).static_order() if name in there}


def migrations() -> list[str]:
    """The migrations that made the tables. Raises BackupError unless they are all of this version's."""
    loader = MigrationLoader(connection)
    if loader.disk_migrations.keys() - loader.applied_migrations.keys():
        raise BackupError(f"The database lacks tables of this version. Run: {settings.COMMAND} migrate")
    return sorted(map(".".join, loader.graph.nodes))


def named_as_here(made_of: Iterable[str]) -> set[str]:
    """The migrations of a backup, where one that replaces others stands for them if all are among them."""
    names = set(made_of)
    for key, migration in MigrationLoader(None).replacements.items():
        replaced = {".".join(each) for each in migration.replaces}
        if replaced <= names:
            names = names - replaced | {".".join(key)}
    return names
