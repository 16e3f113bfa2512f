"""The file of a backup: a zip with a table in each member and a manifest at its end. Pure.

A member ``TABLE.jsonl`` has a JSON array for each row. The manifest has the rows and the SHA-256 of each.
"""

import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Final

from pydantic import TypeAdapter

from arena.data.output import NewZip

FORMAT: Final = "likert-arena-backup"
FORM: Final = 1
MANIFEST: Final = "manifest.json"
_LONGEST_MANIFEST: Final = 10_000_000
_PIECE: Final = 1 << 20
_UNREADABLE: Final = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)
"""What zipfile raises of a damaged member; NotImplementedError is a RuntimeError."""

Row = list[Any]


class ArchiveError(Exception):
    """The file is no whole backup; the message says what is wrong with it, in one sentence."""


@dataclass(frozen=True)
class Member:
    table: str
    columns: list[str]
    rows: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    version: str
    made_at: str
    database: str
    migrations: list[str]
    tables: list[Member]

    @property
    def moment(self) -> str:
        """When it was made, in words."""
        return f"{self.made_at[:19].replace('T', ' ')} UTC"


_STATED: Final = TypeAdapter(Manifest)


class Writer:
    """Tables first, then the manifest."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = NewZip(file)
        self._members: list[Member] = []

    def add(self, table: str, columns: list[str], rows: Iterable[Row]) -> Member:
        digest, number = hashlib.sha256(), 0
        with self._zip.open(_name(table), "w", force_zip64=True) as member:
            for row in rows:
                line = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
                digest.update(line)
                member.write(line)
                number += 1
        self._members.append(Member(table, columns, number, digest.hexdigest()))
        return self._members[-1]

    def close(self, *, version: str, made_at: str, database: str, migrations: list[str]) -> Manifest:
        manifest = Manifest(version, made_at, database, migrations, self._members)
        said = {"format": FORMAT, "form": FORM, **asdict(manifest)}
        self._zip.writestr(MANIFEST, json.dumps(said, indent=1))
        self._zip.close()
        return manifest


class Archive:
    """A backup that is read; nothing in it is believed before ``check``."""

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self._path, self._zip = path, file
        self.manifest = self._manifest()

    def check(self) -> None:
        """Read everything. Raises ArchiveError for what differs from the manifest."""
        wanted = {_name(member.table) for member in self.manifest.tables} | {MANIFEST}
        names = self._zip.namelist()
        if len(names) != len(set(names)) or len(wanted) != len(self.manifest.tables) + 1:
            raise ArchiveError(f"{self._path} is damaged: it has a table twice.")
        if strange := sorted(wanted ^ set(names)):
            state = "lacks" if strange[0] in wanted else "has besides its tables"
            raise ArchiveError(f"{self._path} is damaged: it {state} {strange[0]}.")
        for member in self.manifest.tables:
            digest, number = hashlib.sha256(), 0
            with self._opened(member.table) as file:
                while piece := file.read(_PIECE):
                    digest.update(piece)
                    number += piece.count(b"\n")
            if digest.hexdigest() != member.sha256:
                raise ArchiveError(
                    f"{self._path} is damaged: the table {member.table} has another SHA-256 than stated."
                )
            if number != member.rows:
                raise ArchiveError(
                    f"{self._path} is damaged: the table {member.table} has {number:,} rows instead of "
                    f"{member.rows:,}."
                )

    def rows(self, table: str) -> Iterator[tuple[Row, int]]:
        """Each row with its number of bytes."""
        with self._opened(table) as file:
            for number, line in enumerate(file, 1):
                try:
                    row = json.loads(line)
                except ValueError:
                    row = None
                if not isinstance(row, list):
                    raise ArchiveError(f"{self._path}: row {number:,} of the table {table} is no JSON array.")
                yield row, len(line)

    @contextmanager
    def _opened(self, table: str) -> Iterator[IO[bytes]]:
        try:
            with self._zip.open(_name(table)) as file:
                yield file
        except _UNREADABLE as error:
            raise ArchiveError(f"{self._path} is damaged: the table {table} cannot be read.") from error

    def _manifest(self) -> Manifest:
        no_backup = f"{self._path} is not a backup of an arena."
        try:
            if self._zip.getinfo(MANIFEST).file_size > _LONGEST_MANIFEST:
                raise ArchiveError(no_backup)
            said = json.loads(self._zip.read(MANIFEST))
            form = said.pop("form") if said.pop("format") == FORMAT else None
            if isinstance(form, int) and form > FORM:
                raise ArchiveError(
                    f"{self._path} was made by a later version of the arena. Install that version."
                )
            if form != FORM:
                raise ArchiveError(no_backup)
            return _STATED.validate_python(said)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ArchiveError(no_backup) from error
        except _UNREADABLE as error:
            raise ArchiveError(f"{self._path} is damaged: its manifest cannot be read.") from error


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """The backup in a file. Raises ArchiveError, also for a file that cannot be read."""
    try:
        file = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise ArchiveError(f"{path} is not a backup of an arena, or a part of it is missing.") from error
    except FileNotFoundError as error:
        raise ArchiveError(f"There is no file {path}.") from error
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read ({error.strerror or error}).") from error
    with file:
        yield Archive(path, file)


def _name(table: str) -> str:
    return f"{table}.jsonl"
