"""The database of SQLite as migrations leave it, made once for all test runs: to make it takes seconds."""

import hashlib
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Final

import pytest
from django.conf import settings
from django.db import connection

ROOT: Final = Path(__file__).resolve().parent.parent


def kept(config: pytest.Config) -> Path | None:
    """The file for these migrations and these versions of everything; None where none can be kept."""
    cache = getattr(config, "cache", None)
    if connection.vendor != "sqlite" or cache is None:
        return None
    made_of = hashlib.sha256((ROOT / "requirements-dev.txt").read_bytes())
    for file in sorted(ROOT.glob("*/migrations/*.py")):
        made_of.update(file.read_bytes())
    folder: Path = cache.mkdir("migrated")
    return folder / f"{made_of.hexdigest()[:20]}.sqlite3"


def take(file: Path | None) -> None:
    """Put it where the tests of this process expect their database."""
    if file and file.exists():
        shutil.copy(file, settings.DATABASES["default"]["TEST"]["NAME"])


def keep(file: Path | None) -> None:
    """Keep the database that was just made, unless there is one; complete or not at all."""
    if file and not file.exists():
        draft = file.with_suffix(f".{os.getpid()}")
        connection.ensure_connection()
        target = sqlite3.connect(draft)
        connection.connection.backup(target)
        target.close()
        draft.replace(file)
