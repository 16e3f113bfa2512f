"""Backups of an arena in which raters answer the whole time, and restores that are killed."""

import random
import sqlite3
import subprocess
import sys
import time
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from tests import migrated
from tests.faults.drill import Say
from tests.faults.evidence import Line, in_a_folder
from tests.faults.places import Embedded, Place, Production, place
from tests.faults.raters import STORED, Raters, lost, seeded
from tests.faults.witness import checksums, checksums_of_postgresql
from tests.processes import ROOT

RATERS, PROMPTS, IMPORTED = 4, 300, 20_000
BACKUPS = 3
KILLS = 6
BETWEEN = 40
"""Answers between two backups."""

PATIENCE = 300.0
PASSING = {"arena_studyevent.jsonl", "manifest.json"}
BLANK = "blank"
"""The database of PostgreSQL that is copied for every target."""


class Target:
    """A database with tables and nothing in it, to restore into."""

    def __init__(self, arena: Place, folder: Path, name: str) -> None:
        self._arena, self.folder = arena, folder / name
        self.folder.mkdir()
        self.url = self._made()

    def manage(self, *arguments: str) -> None:
        """Run a command of an arena with this database, which has to end well."""
        self._arena.manage(*arguments, **self._environment(self.url))

    def restoring(self, backup: Path) -> "subprocess.Popen[bytes]":
        """A restore that replaces all, under way."""
        return subprocess.Popen(
            [sys.executable, "manage.py", "restore", "--replace", str(backup)],
            cwd=ROOT,
            env=self._arena.environment | self._environment(self.url),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def checksums(self) -> dict[str, str]:
        """Of all tables."""
        raise NotImplementedError

    def is_held(self) -> bool:
        """Whether a transaction writes."""
        raise NotImplementedError

    def _made(self) -> str:
        """The address of the new database."""
        raise NotImplementedError

    def _environment(self, url: str) -> dict[str, str]:
        return {"VAR_DIR": str(self.folder), "DATABASE_URL": url, "BROKER_URL": "", "ARENA_ENV": "local"}


class SQLiteTarget(Target):
    def _made(self) -> str:
        self.file = self.folder / "target.sqlite3"
        url = f"sqlite:///{self.file}"
        migrated.migrate(self.file, lambda *given: self._arena.manage(*given, **self._environment(url)))
        return url

    def checksums(self) -> dict[str, str]:
        return checksums(self.file)

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.file)) as connection:
            return connection.execute(sql).fetchall()

    def is_held(self) -> bool:
        with closing(sqlite3.connect(self.file, timeout=0, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("ROLLBACK")
            except sqlite3.OperationalError:
                return True
        return False


class PostgreSQLTarget(Target):
    def _made(self) -> str:
        self._name = self.folder.name
        with self._connection() as connection:
            if not connection.execute("SELECT FROM pg_database WHERE datname = %s", [BLANK]).rowcount:
                connection.execute(f"CREATE DATABASE {BLANK}")
                self._arena.manage("migrate", "--verbosity=0", **self._environment(self._address(BLANK)))
            connection.execute(f"CREATE DATABASE {self._name} TEMPLATE {BLANK}")  # type: ignore[call-overload]
        return self._address(self._name)

    def checksums(self) -> dict[str, str]:
        deadline = time.monotonic() + PATIENCE
        while self._is_used() and time.monotonic() < deadline:  # of the process that was killed
            time.sleep(0.1)
        return checksums_of_postgresql(self.url)

    def is_held(self) -> bool:
        return self._is_used("AND xact_start IS NOT NULL AND backend_xid IS NOT NULL")

    def _is_used(self, which: str = "") -> bool:
        """Whether a connection to the database is open, of this kind."""
        with self._connection() as connection:
            asked = f"SELECT FROM pg_stat_activity WHERE datname = %s {which}"
            return bool(connection.execute(asked, [self._name]).rowcount)  # type: ignore[call-overload]

    def _connection(self) -> "psycopg.Connection[tuple[Any, ...]]":
        return psycopg.connect(self._server, autocommit=True)

    def _address(self, name: str) -> str:
        return urlunsplit(urlsplit(self._server)._replace(path=f"/{name}"))

    @property
    def _server(self) -> str:
        assert isinstance(self._arena, Production)
        return self._arena.database.url


def backing_up(name: str, say: Say) -> list[Line]:
    """Backups under load and killed restores, of the place with this name."""

    def course(folder: Path) -> list[Line]:
        with place(name, folder, LOG_LEVEL="ERROR") as arena:
            return _course(arena, folder, say)

    return in_a_folder(f"backup-{name}", course)


def _course(arena: Place, folder: Path, say: Say) -> list[Line]:
    tokens = seeded(arena, raters=RATERS, prompts=PROMPTS, imported=IMPORTED)
    arena.start()
    taken: list[tuple[Path, int]] = []
    with Raters(arena, tokens) as raters:
        for number in range(BACKUPS):
            raters.wait_for(BETWEEN)
            acknowledged = len(raters.acknowledged)
            file = folder / f"backup{number}.zip"
            arena.manage("backup", str(file))
            taken.append((file, acknowledged))
            say(f"backup after {acknowledged} answers; {len(raters.acknowledged) - acknowledged} meanwhile")
        meanwhile = len(raters.acknowledged) - taken[0][1] - BETWEEN * (BACKUPS - 1)
    arena.kill()
    kind: type[Target] = SQLiteTarget if isinstance(arena, Embedded) else PostgreSQLTarget
    gone = broken = same = 0
    for number, (file, acknowledged) in enumerate(taken):
        plain = SQLiteTarget(arena, folder, f"plain{number}")
        own = plain if kind is SQLiteTarget else kind(arena, folder, f"own{number}")
        for target in {plain, own}:
            target.manage("restore", str(file))
        gone += lost(plain.query(STORED), raters.acknowledged[:acknowledged])
        broken += len(plain.query("PRAGMA foreign_key_check"))
        again = folder / f"again{number}.zip"
        own.manage("backup", str(again))
        same += _stated(again) == _stated(file)
        say(f"backup {number} restored; {len(_stated(file))} tables")
    killed = _kill(kind(arena, folder, "killed"), taken[0][0], taken[-1][0], say)
    refused = dict(raters.replies)
    return [
        Line("backups taken", str(len(taken)), len(taken) == BACKUPS),
        Line("answers acknowledged", str(len(raters.acknowledged))),
        Line("answers acknowledged during backups, at least", str(meanwhile), meanwhile > 0),
        Line("answers refused", str(refused or 0), not refused),
        Line("answers of before a backup that it lacks", str(gone), gone == 0),
        Line("restored rows that refer to nothing", str(broken), broken == 0),
        Line("second backups with the same checksums", f"{same} of {len(taken)}", same == len(taken)),
        *killed,
    ]


def _stated(file: Path) -> dict[str, int]:
    """Checksum of each table of a backup; not of the log, to which a restore adds a line."""
    with zipfile.ZipFile(file) as archive:
        return {each.filename: each.CRC for each in archive.infolist() if each.filename not in PASSING}


def _kill(target: Target, first: Path, last: Path, say: Say) -> list[Line]:
    """Kill restores while they write: half into an empty database, half into one that they replace."""
    rng = random.Random(7)
    seconds, kept = 1.0, 0
    for number in range(KILLS):
        if number == KILLS // 2:
            seconds = _restored(target, first)
            say(f"restored whole in a transaction of {seconds:.1f} s")
        while (unchanged := _killed(target, last, rng.uniform(0, 0.8) * seconds)) is None:
            seconds /= 2
            say("a restore was over before it could be killed; the next is killed sooner")
        kept += unchanged
        say(f"restore {number} killed in its transaction; unchanged so far: {kept}")
    return [
        Line("restores killed while they wrote", str(KILLS)),
        Line("of them without a trace", str(kept), kept == KILLS),
    ]


def _restored(target: Target, backup: Path) -> float:
    """The seconds for which a restore that nobody kills writes."""
    process = _under_way(target, backup)
    started = time.monotonic()
    if process.wait(PATIENCE * 3):
        raise RuntimeError("a restore that nobody killed failed")
    return time.monotonic() - started


def _killed(target: Target, backup: Path, seconds: float) -> bool | None:
    """Whether a restore killed so long after it began to write changed nothing; None if it had ended."""
    before = target.checksums()
    process = _under_way(target, backup)
    time.sleep(seconds)
    writes = process.poll() is None and target.is_held()
    process.kill()
    process.wait()
    return target.checksums() == before if writes else None


def _under_way(target: Target, backup: Path) -> "subprocess.Popen[bytes]":
    """A restore that has begun to write."""
    process = target.restoring(backup)
    deadline = time.monotonic() + PATIENCE
    while not target.is_held():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("a restore ended before it wrote anything")
        time.sleep(0.02)
    return process
