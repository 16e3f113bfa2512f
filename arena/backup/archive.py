"""The file of a backup: a zip with Django's serialization of each table, and a manifest. Pure."""

import json
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from arena.data.formats.archives import DAMAGE

FORMAT: Final = "likert-arena-backup"
FORM: Final = 2
MANIFEST: Final = "manifest.json"
_DAMAGED: Final = (*DAMAGE, RuntimeError, LookupError, TypeError)
"""Errors of a file that is no zip, is cut off or damaged, or holds something else."""


class ArchiveError(Exception):
    """The file is no whole backup; the message says what is wrong with it, in one sentence."""


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


_STATED: Final = TypeAdapter(Manifest)


def checked(path: Path) -> Manifest:
    """Read the whole file. Raises ArchiveError unless it is a backup whose checksums are right."""
    no_backup = f"{path} is not a backup of an arena, or a part of it is missing or damaged"
    try:
        with zipfile.ZipFile(path) as file:
            damaged = file.testzip()
            said = json.loads(file.read(MANIFEST))
            form, names = said.pop("form"), set(file.namelist())
        if damaged or said.pop("format") != FORMAT:
            raise ValueError(damaged)
        if form == 1:
            raise ArchiveError(
                f"{path} was made by an earlier version of the arena. Install the code of "
                f"{said['made_at'][:10]}, restore, then upgrade."
            )
        if form > FORM:
            raise ArchiveError(f"{path} was made by a later version of the arena. Install that version.")
        manifest = _STATED.validate_python(said)
    except FileNotFoundError as error:
        raise ArchiveError(f"There is no file {path}.") from error
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read ({error.strerror or error}).") from error
    except _DAMAGED as error:
        raise ArchiveError(f"{no_backup}.") from error
    if lacking := {member_of(table) for table in manifest.tables} - names:
        raise ArchiveError(f"{no_backup}: it lacks {min(lacking)}.")
    return manifest


def member_of(table: str) -> str:
    return f"{table}.jsonl"
