"""Files of studies in the data folder, which may be deleted at any time: they are made again."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from django.conf import settings

from arena.files.output import opened
from arena.models import Study

LEFT_AFTER: Final = 24 * 3600
"""Seconds after which an unfinished file is abandoned."""


def path_of(study: Study, folder: str, name: str) -> Path:
    return Path(settings.VAR_DIR) / folder / f"{study.pk}.{name}"


@contextmanager
def written(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of ``path`` once it is whole. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with opened(path) as file:
        yield file
    _tidy(path.parent)


def _tidy(folder: Path) -> None:
    """Remove what deleted studies, killed processes and versions with other names left."""
    there = {str(pk) for pk in Study.objects.values_list("pk", flat=True)}
    for path in folder.iterdir():
        with suppress(FileNotFoundError):
            killed = path.suffix == ".part" and path.stat().st_mtime < time.time() - LEFT_AFTER
            if killed or path.name.partition(".")[0] not in there:
                path.unlink()
