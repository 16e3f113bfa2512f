"""Reads the data files of a zip archive, such as an export is. Pure."""

import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Final

from arena.data.formats.values import UnreadableError
from arena.data.formats.workbooks import MAX_RATIO

MAX_FILES: Final = 500
MAX_AT_ONCE: Final = 50 * 1024 * 1024  # unpacked bytes from which the ratio counts

MADE_HERE: Final = {
    "inputs/opinions.json": "a bundle, which recompute reads; import an export of the study",
    "arena_study.jsonl": "a backup, which restore reads",
}
"""The names of the arena's other archives, by a file of theirs."""


OFFICE: Final = frozenset({"[Content_Types].xml", "xl/workbook.xml", "mimetype"})
"""Files of which an office document has one."""

DAMAGE: Final = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, OverflowError)
"""Errors that a broken or hostile archive raises."""


def is_archive(file: Path | IO[bytes]) -> bool:
    """True for a zip archive that is no office document. Raises OSError."""
    try:
        with zipfile.ZipFile(file) as archive:
            return OFFICE.isdisjoint(archive.namelist())
    except DAMAGE:
        return False


@contextmanager
def opened(file: Path | IO[bytes], most: int) -> Iterator[zipfile.ZipFile]:
    """An archive that unpacks to at most ``most`` bytes. Raises UnreadableError, also while it is read."""
    try:
        with zipfile.ZipFile(file) as archive:
            _check(archive, most)
            yield archive
    except DAMAGE as error:
        raise UnreadableError(f"the zip archive is damaged or was cut off ({error})") from error


def _check(archive: zipfile.ZipFile, most: int) -> None:
    entries = archive.infolist()
    if any(entry.flag_bits & 1 for entry in entries):
        raise UnreadableError("the zip archive has a password; save it without one")
    if any(entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
        raise UnreadableError("the zip archive is packed in an unusual way; pack it as zip programs do")
    if len(entries) > MAX_FILES:
        raise UnreadableError(
            f"the zip archive holds {len(entries):,} files; at most {MAX_FILES} can be read"
        )
    if found := next((MADE_HERE[entry.filename] for entry in entries if entry.filename in MADE_HERE), ""):
        raise UnreadableError(f"the file is {found}")
    unpacked, packed = (sum(getattr(one, name) for one in entries) for name in ("file_size", "compress_size"))
    if unpacked > most or (unpacked > MAX_AT_ONCE and unpacked > MAX_RATIO * packed):
        raise UnreadableError(
            f"the zip archive unpacks to {unpacked / 2**20:,.0f} MiB, which is too much; unpack it"
        )


def members(archive: zipfile.ZipFile) -> dict[PurePosixPath, zipfile.ZipInfo]:
    """Its files by where they lie, without hidden ones."""
    # Some programs of Windows write its separators.
    found = {PurePosixPath(entry.filename.replace("\\", "/")): entry for entry in archive.infolist()}
    return {
        path: entry
        for path, entry in found.items()
        if not entry.filename.endswith("/") and not any(_HIDDEN.match(part) for part in path.parts)
    }


_HIDDEN: Final = re.compile(r"\.(?!\.$)|__MACOSX$")


def copy(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: IO[bytes]) -> None:
    """Unpack one of its files."""
    with archive.open(member) as packed:
        shutil.copyfileobj(packed, target)
