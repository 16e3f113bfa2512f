"""Arrays of large studies in files, which spare reading them from the database again.

Whoever keeps arrays tells by their ``origin`` if they are still right.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.models import Study
from leaderboard.snapshots import data_folder

Arrays = dict[str, npt.NDArray[Any]]

logger = logging.getLogger(__name__)


def path_of(study: Study, name: str) -> Path:
    return data_folder.path_of(study, "columns", f"{name}.npz")


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
    try:
        with data_folder.written(path_of(study, name)) as file:
            np.savez(file, allow_pickle=False, origin=np.array(origin), **arrays)
    except OSError as error:
        logger.warning("The %s of study %s could not be kept: %s", name, study.slug, error)
