"""Bundles kept in the data folder until the board shows another snapshot, or what is said of single texts
changes."""

import threading
from pathlib import Path

from arena.models import Answer, CompletionFeature, Score, Study
from leaderboard.files.bundle.archive import VERSION, BundleError
from leaderboard.models import Snapshot
from leaderboard.snapshots import data_folder

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

    try:
        with data_folder.written(path) as file:
            make(study, file)
        for old in path.parent.glob(f"{study.pk}.*.zip"):
            if old != path:
                old.unlink(missing_ok=True)
    except OSError as error:
        raise BundleError(f"The bundle cannot be written ({error.strerror or error}).") from error
    return path


def _path(study: Study, snapshot: Snapshot) -> Path:
    """A path with the snapshot's time: a restored database may have another snapshot of this number."""
    made = f"{snapshot.created_at:%Y%m%dT%H%M%S%f}"
    own = [model.objects.filter(study=study) for model in (Score, Answer)]
    marks = (rows.watermark() for rows in (*own, CompletionFeature.objects.of(study)))
    texts = "-".join(f"{n}.{last}" for n, last in marks)
    return data_folder.path_of(study, "bundles", f"{snapshot.pk}-{made}-{texts}-{VERSION}.zip")
