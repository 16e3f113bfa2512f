"""The database of SQLite as migrations leave it, made once for all test runs: to make it takes seconds."""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / ".pytest_cache" / "migrated"


def kept() -> Path:
    """The file for these migrations, apps and versions of everything."""
    made_of = hashlib.sha256((ROOT / "requirements-dev.txt").read_bytes())
    for file in [ROOT / "arena" / "settings.py", *sorted(ROOT.glob("*/migrations/*.py"))]:
        made_of.update(file.read_bytes())
    return FOLDER / f"{made_of.hexdigest()[:20]}.sqlite3"


def take(target: str | Path) -> bool:
    """Put it where a database is expected; whether there is one."""
    if found := kept().exists():
        shutil.copy(kept(), target)
    return found


def keep(source: sqlite3.Connection) -> None:
    """Keep the database that was just made, unless there is one; complete or not at all."""
    if not kept().exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        draft = kept().with_suffix(f".{os.getpid()}")
        target = sqlite3.connect(draft)
        source.backup(target)
        target.close()
        draft.replace(kept())


def migrate(target: Path, manage: Callable[..., object]) -> None:
    """Make the tables of an arena with a file of its own, which ``manage`` runs commands for."""
    if not take(target):
        manage("migrate", "--verbosity=0")
        source = sqlite3.connect(target)
        keep(source)
        source.close()
