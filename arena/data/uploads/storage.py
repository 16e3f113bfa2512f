"""The bytes of uploaded files: in the database, in pieces, from the upload until the job ends.

In production the web and the workers are different machines; the database is what they share.
"""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

from django.conf import settings
from django.core.files.base import File

from arena.data.formats.files import InputFile
from arena.models import ImportChunk, ImportFile, ImportJob

PIECE: Final = 1024 * 1024
"""Bytes in one row; no more of a file is in memory."""

FOLDER_PREFIX: Final = "import-"

Upload: TypeAlias = "File[Any]"


def working_folder() -> Path:
    """Where workers put files while they read them."""
    folder = Path(settings.VAR_DIR) / "imports"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def store(job: ImportJob, uploads: Iterable[Upload]) -> None:
    """Write the files into the database, each piece in a statement of its own so that nobody waits long."""
    names: set[str] = set()
    for number, upload in enumerate(uploads):
        name = _unused(Path(upload.name or "upload").name, names)
        row = ImportFile.objects.create(job=job, number=number, name=name)
        for position, piece in enumerate(upload.chunks(PIECE)):
            ImportChunk.objects.create(file=row, position=position, data=piece)
            row.size += len(piece)
        row.save(update_fields=["size"])


def _unused(name: str, names: set[str]) -> str:
    """The name, cut to fit and numbered where another file of the job has it; kept for the next call."""
    limit = ImportFile._meta.get_field("name").max_length or 0
    found, number = name[-limit:], 1
    while found in names:
        number += 1
        path = Path(name)
        found = f"{path.stem} ({number}){path.suffix}"[-limit:]
    names.add(found)
    return found


@contextmanager
def unpacked(job: ImportJob) -> Iterator[list[tuple[ImportFile, InputFile]]]:
    """The job's files on this machine's disk, readable by this user alone, while the context lasts."""
    with tempfile.TemporaryDirectory(prefix=FOLDER_PREFIX, dir=working_folder()) as folder:
        yield [(row, _written(row, Path(folder))) for row in job.files.all()]


def _written(row: ImportFile, folder: Path) -> InputFile:
    path = folder / str(row.number)
    with path.open("wb") as target:
        for position in range(row.chunks.count()):
            target.write(row.chunks.values_list("data", flat=True).get(position=position))
    return InputFile(path, row.name)


def discard(job: int) -> None:
    """Throw the bytes of a job away."""
    ImportChunk.objects.filter(file__job=job).delete()
