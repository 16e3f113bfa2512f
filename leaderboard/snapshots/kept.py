"""Arrays of large studies in files, which spare reading them from the database again.

They may be deleted at any time. Whoever keeps arrays tells by their ``origin`` if they are still right.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from django.conf import settings

from arena.models import Study

Arrays = dict[str, npt.NDArray[Any]]

logger = logging.getLogger(__name__)


def path_of(study: Study, name: str) -> Path:
    return Path(settings.VAR_DIR) / "columns" / f"{study.pk}.{name}.npz"


def load(study: Study, name: str) -> tuple[Arrays, str] | None:
    """The arrays with their origin, if any can be read."""
    try:
        with np.load(path_of(study, name), allow_pickle=False) as found:
            arrays = {each: found[each] for each in found.files}
            return arrays, str(arrays.pop("origin"))
    except FileNotFoundError:
        return None
    except Exception as error:  # cut off, damaged, not ours: NumPy and zipfile raise many kinds
        logger.warning("The kept %s of study %s cannot be read: %s", name, study.slug, error)
        return None


def store(study: Study, name: str, arrays: Mapping[str, npt.NDArray[Any]], origin: str) -> None:
    """Write to another name first, so that a killed process leaves the old file."""
    path = path_of(study, name)
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            np.savez(file, allow_pickle=False, origin=np.array(origin), **arrays)
        part.replace(path)
        _tidy(path.parent)
    except OSError as error:
        logger.warning("The %s of study %s could not be kept: %s", name, study.slug, error)
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _tidy(folder: Path) -> None:
    """Remove what deleted studies, killed processes and versions with other names left."""
    there = {str(pk) for pk in Study.objects.values_list("pk", flat=True)}
    for path in chain(folder.glob("*.npz"), folder.glob("*.part")):
        words = path.stem.split(".")
        killed = path.suffix == ".part" and not Path(f"/proc/{words[-1]}").exists()
        if words[0] not in there or len(words) == 1 or killed:
            path.unlink(missing_ok=True)
