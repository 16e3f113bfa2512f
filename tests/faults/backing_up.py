"""Backups of an arena in which raters answer the whole time, and restores that are killed."""

import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

from tests import migrated
from tests.faults.evidence import Line
from tests.faults.places import ROOT, Embedded, Place, Production, place
from tests.faults.raters import STORED, Raters, lost, seeded
from tests.faults.witness import broken_references, checksums, checksums_of_postgresql

RATERS, PROMPTS, IMPORTED = 4, 300, 20_000
BACKUPS = 3
KILLS = 6
BETWEEN = 40
"""Answers between two backups."""

PATIENCE = 60.0
SQLITE, POSTGRESQL = "SQLite", "PostgreSQL"


class Target:
    """A database with tables and nothing in it, to restore into."""

    def __init__(self, arena: Place, folder: Path, name: str) -> None:
        self._arena, self.folder = arena, folder / name
        self.folder.mkdir()
        self.url = ""
        self.make()

    def make(self) -> None:
        """Make it."""
        raise NotImplementedError

    def command(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """A command of an arena with this database."""
        return self._arena.command(*arguments, **self._environment())

    def restoring(self, backup: Path) -> "subprocess.Popen[bytes]":
        """A restore that replaces all, under way."""
        return subprocess.Popen(
            [sys.executable, "manage.py", "restore", "--replace", str(backup)],
            cwd=ROOT,
            env=self._arena.environment | self._environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def checksums(self) -> dict[str, str]:
        """Of all tables."""
        raise NotImplementedError

    def is_held(self) -> bool:
        """Whether a transaction writes."""
        raise NotImplementedError

    def _environment(self) -> dict[str, str]:
        return {"VAR_DIR": str(self.folder), "DATABASE_URL": self.url, "BROKER_URL": "", "ARENA_ENV": "local"}


class SQLiteTarget(Target):
    def make(self) -> None:
        self.file = self.folder / "target.sqlite3"
        self.url = f"sqlite:///{self.file}"
        migrated.migrate(self.file, lambda *given: self._arena.manage(*given, **self._environment()))

    def checksums(self) -> dict[str, str]:
        return checksums(self.file)

    def is_held(self) -> bool:
        connection = sqlite3.connect(self.file, timeout=0, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
            return False
        except sqlite3.OperationalError:
            return True
        finally:
            connection.close()


class PostgreSQLTarget(Target):
    def make(self) -> None:
        assert isinstance(self._arena, Production)
        server = self._arena.database.url
        self._name = self.folder.name
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {self._name}")  # type: ignore[call-overload]
        self.url = urlunsplit(urlsplit(server)._replace(path=f"/{self._name}"))
        self._arena.manage("migrate", "--verbosity=0", **self._environment())

    def checksums(self) -> dict[str, str]:
        deadline = time.monotonic() + PATIENCE
        while self._backends("") and time.monotonic() < deadline:  # of the process that was killed
            time.sleep(0.1)
        return checksums_of_postgresql(self.url)

    def is_held(self) -> bool:
        return bool(self._backends("AND xact_start IS NOT NULL AND backend_xid IS NOT NULL"))

    def _backends(self, which: str) -> int:
        assert isinstance(self._arena, Production)
        with psycopg.connect(self._arena.database.url) as connection:
            asked = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{self._name}' {which}"  # noqa: S608
            row = connection.execute(asked).fetchone()  # type: ignore[call-overload]
            return int(row[0])


def backing_up(name: str, say: Callable[[str], None]) -> list[Line]:
    """Backups under load and killed restores, of the place with this name."""
    folder = Path(tempfile.mkdtemp(prefix=f"arena-faults-backup-{name}-"))
    with place(name, folder, 0, {"LOG_LEVEL": "ERROR"}) as arena:
        report = _course(arena, folder, say)
    if all(line.holds is not False for line in report):
        shutil.rmtree(folder)
    return report


def _course(arena: Place, folder: Path, say: Callable[[str], None]) -> list[Line]:
    arena.make_tables()
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
    arena.stop()
    kind: type[Target] = SQLiteTarget if isinstance(arena, Embedded) else PostgreSQLTarget
    gone = broken = same = 0
    for number, (file, acknowledged) in enumerate(taken):
        plain = SQLiteTarget(arena, folder, f"plain{number}")
        own = plain if kind is SQLiteTarget else kind(arena, folder, f"own{number}")
        for target in {id(plain): plain, id(own): own}.values():
            if (done := target.command("restore", str(file))).returncode:
                raise RuntimeError(f"a restore failed: {done.stderr}")
        connection = sqlite3.connect(plain.file)
        gone += lost(connection.execute(STORED).fetchall(), raters.acknowledged[:acknowledged])
        connection.close()
        broken += broken_references(plain.file)
        again = folder / f"again{number}.zip"
        if (done := own.command("backup", str(again))).returncode:
            raise RuntimeError(f"a second backup failed: {done.stderr}")
        same += _stated(again) == _stated(file)
        say(f"backup {number} restored; {len(_stated(file))} tables")
    killed = _kill(kind(arena, folder, "killed"), taken[0][0], taken[-1][0], say)
    other = dict(raters.replies)
    return [
        Line("backups taken", str(len(taken)), len(taken) == BACKUPS),
        Line("answers acknowledged", str(len(raters.acknowledged))),
        Line("answers acknowledged during backups, at least", str(meanwhile), meanwhile > 0),
        Line("answers refused", str(other or 0), not other),
        Line("answers of before a backup that it lacks", str(gone), gone == 0),
        Line("restored rows that refer to nothing", str(broken), broken == 0),
        Line("second backups with the same checksums", f"{same} of {len(taken)}", same == len(taken)),
        *killed,
    ]


def _stated(file: Path) -> dict[str, tuple[int, str]]:
    """Rows and checksum of each table of a backup."""
    with zipfile.ZipFile(file) as archive:
        tables = json.loads(archive.read("manifest.json"))["tables"]
    return {each["table"]: (each["rows"], each["sha256"]) for each in tables}


def _kill(target: Target, first: Path, last: Path, say: Callable[[str], None]) -> list[Line]:
    """Kill restores while they write: half into an empty database, half into one that they replace."""
    rng = random.Random(7)
    seconds = 1.0
    kept = 0
    for number in range(KILLS):
        if number == KILLS // 2:
            started = _under_way(target, first)
            begun = time.monotonic()
            if started.wait(PATIENCE * 3):
                raise RuntimeError("a restore that nobody killed failed")
            seconds = time.monotonic() - begun
            say(f"restored whole in a transaction of {seconds:.1f} s")
        before = target.checksums()
        process = _under_way(target, last)
        time.sleep(rng.uniform(0, 0.8) * seconds)
        held = process.poll() is None and target.is_held()
        process.send_signal(signal.SIGKILL)
        process.wait()
        if not held:
            raise RuntimeError("a restore was over before it could be killed")
        kept += target.checksums() == before
        say(f"restore {number} killed in its transaction; unchanged so far: {kept}")
    return [
        Line("restores killed while they wrote", str(KILLS)),
        Line("of them without a trace", str(kept), kept == KILLS),
    ]


def _under_way(target: Target, backup: Path) -> "subprocess.Popen[bytes]":
    """A restore that has begun to write."""
    process = target.restoring(backup)
    deadline = time.monotonic() + PATIENCE
    while not target.is_held():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("a restore ended before it wrote anything")
        time.sleep(0.02)
    return process
