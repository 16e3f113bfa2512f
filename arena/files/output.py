"""The file a command writes: complete under its name, or not there at all. Pure."""

import gzip
import io
import os
import secrets
import stat
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

_LINKS: Final = 40  # as many as Linux follows


def streams(path: Path) -> bool:
    """If ``path`` is a device, a pipe or an open descriptor: nothing can stand beside it or be read back."""
    place = _place(path)
    return isinstance(place, int) or _is_stream(place)


def _is_stream(place: Path) -> bool:
    return place.exists() and not place.is_file() and not place.is_dir()


@contextmanager
def opened(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """A file that takes the place of ``path`` when the block ends well.

    Until then it stands beside it as ``NAME.XXXXXXXX.part``, which only a killed process leaves behind. A
    symbolic link stays, and what it points to is replaced. An existing file keeps its mode and, where
    possible, its owner; a ``private`` one is readable by its owner alone. Devices, pipes and descriptors
    (``/dev/stdout``) are written straight. Raises OSError, which ``refusal`` puts in words; then an existing
    file is unchanged.
    """
    place = _place(path)
    if isinstance(place, int) or _is_stream(place):
        with io.BufferedWriter(_Stream(os.dup(place) if isinstance(place, int) else place, "wb")) as file:
            yield file
    else:
        with _beside(place, private) as file:
            yield file


class _Stream(io.FileIO):
    """A file that zip archives take for a pipe: a device says that it can seek, and stays where it is."""

    def seek(self, *_: int) -> int:
        raise io.UnsupportedOperation("seek")

    def tell(self) -> int:
        raise io.UnsupportedOperation("tell")


@contextmanager
def _beside(place: Path, private: bool) -> Iterator[IO[bytes]]:
    if place.is_dir():
        raise IsADirectoryError(f"{place} is a folder")
    old = place.stat() if place.exists() else None
    if old is not None and not os.access(place, os.W_OK):
        raise PermissionError(f"{place} is read-only")
    part = place.with_name(f"{place.name[:200]}.{secrets.token_hex(4)}.part")
    # What replaces a private file is never readable by others on its way.
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600 if private or old else 0o666)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            if old is not None:
                with suppress(PermissionError):
                    os.fchown(descriptor, old.st_uid, old.st_gid)
                os.fchmod(descriptor, 0o600 if private else stat.S_IMODE(old.st_mode))
            os.fsync(descriptor)
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


class NewZip(zipfile.ZipFile):
    """A zip to write. One that is given up is not finished when it is forgotten, for its file is closed."""

    def __init__(self, file: IO[bytes], compresslevel: int | None = None) -> None:
        super().__init__(file, "w", zipfile.ZIP_DEFLATED, compresslevel=compresslevel)

    def __del__(self) -> None:
        pass


def save(path: Path, pieces: Iterable[bytes]) -> None:
    """Write the pieces; a name ending in ``.gz`` is compressed. Raises OSError, as ``opened`` does."""
    with opened(path) as file:
        if path.name.lower().endswith(".gz"):
            with gzip.GzipFile(path.name[:-3], "wb", fileobj=file) as packed:
                packed.writelines(pieces)
        else:
            file.writelines(pieces)


TELLING: Final = ("csv", "json", "jsonl", "parquet", "tsv", "xlsx", "zip")
"""Endings by which programs, our import among them, tell what a file is."""
PACKED: Final = ("parquet", "zip")
"""Forms that are compressed by themselves."""


class EndingError(Exception):
    """The ending of a file's name contradicts what shall be written."""


def form_of(path: Path, forms: Sequence[str], wanted: str | None = None) -> str:
    """The form of a file: that of its name, else the one ``wanted``, else the first. Raises EndingError."""
    name = path.name.lower().removesuffix(".gz")
    ending = "" if streams(path) else Path(name).suffix.lstrip(".")
    if ending in forms and wanted not in (None, ending):
        raise EndingError(f"{path} ends in .{ending}, which is not {wanted}. Leave out one of the two.")
    if ending not in forms and (ending in TELLING or (ending and wanted is None)):
        listed = " or ".join(f".{form}" for form in forms)
        raise EndingError(f"{path} ends in .{ending}. Name a file that ends in {listed}.")
    form = ending if ending in forms else wanted or forms[0]
    if form in PACKED and name != path.name.lower():
        raise EndingError(f"{form} is already compressed. Name a file that does not end in .gz.")
    return form


def folder(path: Path) -> Path:
    """The path of a folder. Raises EndingError where its name is that of a file."""
    if path.suffix.lstrip(".").lower() in TELLING:
        raise EndingError(f"{path} ends in {path.suffix}, but several files are written. Name a folder.")
    return path


def refusal(path: Path, error: OSError) -> str:
    """Why ``path`` was not written, in one sentence."""
    if isinstance(error, IsADirectoryError):
        return f"{path} is a folder. Name a file."
    if isinstance(error, FileNotFoundError):
        return f"{path} cannot be written: there is no folder {path.parent}."
    return f"{path} cannot be written ({error.strerror or error})."


def _place(path: Path) -> Path | int:
    """Where ``path`` leads: a path that is no link, or one of this process's descriptors.

    Opening ``/dev/stdout`` anew would cut off a file that the shell appends to, so it is told apart.
    """
    for _ in range(_LINKS):
        folder = path.parent.resolve()
        if path.name.isdigit() and folder in (Path("/dev/fd"), Path(f"/proc/{os.getpid()}/fd")):
            return int(path.name)
        path = folder / path.name
        if not path.is_symlink():
            return path
        path = folder / path.readlink()
    raise OSError("too many symbolic links")
