"""Bundles kept in the data folder until the board shows another snapshot, or what is said of single texts
changes."""

import secrets
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from django.conf import settings

from arena.models import Answer, CompletionFeature, Score, Study
from leaderboard.files.bundle.archive import VERSION, BundleError
from leaderboard.models import Snapshot

LEFT_AFTER: Final = 24 * 3600
"""Seconds after which an unfinished file is abandoned."""

_making = threading.Lock()


class BusyError(BundleError):
    """Another bundle is being packed."""


def kept(study: Study, snapshot: Snapshot) -> Path | None:
    path = _path(study, snapshot)
    return path if path.is_file() else None


def packed(study: Study, snapshot: Snapshot) -> Path:
    """The bundle, packed if it is not kept. Raises BundleError."""
    found = kept(study, snapshot)
    if found is not None:
        return found
    if not _making.acquire(blocking=False):
        raise BusyError("Another bundle is being packed right now. Try again in a minute.")
    try:
        return _packed(study, _path(study, snapshot))
    finally:
        _making.release()


def _packed(study: Study, path: Path) -> Path:
    # The web process loads NumPy and the estimators for the one page that packs a bundle, and not before.
    from leaderboard.files.bundle.making import make

    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("x+b") as file:
            made = make(study, file)
        place = _path(study, made)
        for old in path.parent.glob(f"{study.pk}-*.zip"):
            old.unlink(missing_ok=True)
        _tidy(path.parent)
        return part.replace(place)
    except OSError as error:
        raise BundleError(f"The bundle cannot be written ({error.strerror or error}).") from error
    finally:
        part.unlink(missing_ok=True)


def _tidy(folder: Path) -> None:
    there = {str(pk) for pk in Study.objects.values_list("pk", flat=True)}
    for path in folder.glob("*.zip"):
        if path.name.partition("-")[0] not in there:
            path.unlink(missing_ok=True)
    for path in folder.glob(".*.part"):
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < time.time() - LEFT_AFTER:
                path.unlink()


def _path(study: Study, snapshot: Snapshot) -> Path:
    """A path with the snapshot's time: a restored database may have another snapshot of this number."""
    made = f"{snapshot.created_at:%Y%m%dT%H%M%S%f}"
    own = [model.objects.filter(study=study) for model in (Score, Answer)]
    marks = (rows.watermark() for rows in (*own, CompletionFeature.objects.of(study)))
    texts = "-".join(f"{n}.{last}" for n, last in marks)
    return Path(settings.VAR_DIR) / "bundles" / f"{study.pk}-{snapshot.pk}-{made}-{texts}-{VERSION}.zip"
