"""Files that an import keeps on disk while it runs: copies of files, and of the database for a check."""

import fcntl
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections

PREFIX: Final = "import-"


def working_folder() -> Path:
    folder = Path(settings.VAR_DIR) / "imports"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder readable by this user only, deleted at the end, or by ``delete_left`` after a kill."""
    folder, lock = _locked_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _locked_folder() -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=working_folder()))
        try:
            lock = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:
            continue  # a sweep was quicker than the lock
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder, lock
        os.close(lock)


def delete_left() -> None:
    """Delete the folders of processes that were killed: the system has given up their locks."""
    for folder in working_folder().glob(f"{PREFIX}*"):
        try:
            lock = os.open(folder, os.O_RDONLY)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            pass  # in use
        finally:
            os.close(lock)


@contextmanager
def unlocked_database() -> Iterator[None]:
    """Let this thread write without keeping others from it; nothing of it stays.

    SQLite has one write lock, so there the writes go to a copy. Elsewhere they are to be rolled back.
    """
    usual = connections[DEFAULT_DB_ALIAS]
    if usual.vendor != "sqlite" or usual.in_atomic_block:  # a transaction has the lock already
        yield
        return
    with scratch_folder() as folder:
        path = folder / "copy.sqlite3"
        usual.ensure_connection()
        with usual.wrap_database_errors, closing(sqlite3.connect(path)) as target:
            usual.connection.backup(target)
        copy = usual.copy()
        copy.settings_dict["NAME"] = str(path)
        quick = "PRAGMA journal_mode=TRUNCATE; PRAGMA synchronous=OFF;"
        copy.settings_dict["OPTIONS"] = {**copy.settings_dict["OPTIONS"], "init_command": quick}
        connections[DEFAULT_DB_ALIAS] = copy
        try:
            yield
        finally:
            copy.close()
            connections[DEFAULT_DB_ALIAS] = usual
