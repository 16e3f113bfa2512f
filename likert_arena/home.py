"""Where an installed arena keeps its data."""

import os
from pathlib import Path

from platformdirs import user_data_path


def arena_home() -> Path:
    """The folder in ARENA_HOME, or the user's own for data of programs."""
    named = os.environ.get("ARENA_HOME")
    return (Path(named).expanduser() if named else user_data_path("likert-arena", appauthor=False)).absolute()
