"""Bundles that were asked for, kept in the data folder until the board shows another snapshot."""

import secrets
import threading
from pathlib import Path

from django.conf import settings

from arena.models import Study
from leaderboard.bundle.contents import VERSION, BundleError
from leaderboard.bundle.making import make
from leaderboard.models import Snapshot

_making = threading.Lock()


class BusyError(BundleError):
    """Another bundle is being packed right now."""


def kept(study: Study, snapshot: Snapshot) -> Path | None:
    """The bundle of a snapshot where it was packed before."""
    path = _path(study, snapshot)
    return path if path.is_file() else None


def packed(study: Study, snapshot: Snapshot) -> Path:
    """The bundle of the snapshot that a board shows, packed now unless it is kept. Raises BundleError."""
    found = kept(study, snapshot)
    if found is not None:
        return found
    if not _making.acquire(blocking=False):
        raise BusyError("Another bundle is being packed right now; try again in a minute.")
    try:
        return _packed(study, _path(study, snapshot))
    finally:
        _making.release()


def _packed(study: Study, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("x+b") as file:
            made = make(study, file)
        place = _path(study, made)
        for old in path.parent.glob(f"{study.pk}-*.zip"):
            old.unlink(missing_ok=True)
        return part.replace(place)
    except OSError as error:
        raise BundleError(f"The bundle cannot be written ({error.strerror or error}).") from error
    finally:
        part.unlink(missing_ok=True)


def _path(study: Study, snapshot: Snapshot) -> Path:
    return Path(settings.VAR_DIR) / "bundles" / f"{study.pk}-{snapshot.pk}-{VERSION}.zip"
