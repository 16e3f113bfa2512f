"""A disk that is full: an arena on SQLite on a small file system of its own, which needs root to mount."""

import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess

from arena.process.busy import FULL
from tests.faults.evidence import Line
from tests.faults.places import Embedded
from tests.faults.raters import STORED, STUDY, Raters, lost, seeded
from tests.faults.witness import checksums

SIZE = "64m"
RATERS = 4
AWHILE = 60
"""Answers before and after, and at least so many refusals while the disk is full."""

PATIENCE = 60.0
OLD = b"what stood here before"


def missing_here() -> str:
    """Why no small disk can be made here; "" where it can."""
    if os.geteuid() != 0:
        return "mounting a small disk needs root"
    return next((f"{tool} is not here" for tool in ("mount", "umount") if not shutil.which(tool)), "")


@contextmanager
def small_disk() -> Iterator[Path]:
    """A file system in memory, unmounted at the end whatever happens."""
    with tempfile.TemporaryDirectory(prefix="arena-faults-disk-") as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "arena-faults", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


def fill(disk: Path) -> None:
    """Leave no byte."""
    with (disk / "filler").open("ab", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue


def full_disk(say: Callable[[str], None]) -> list[Line]:
    """Answers, commands and pages while the disk is full, and when there is room again."""
    with small_disk() as disk, tempfile.TemporaryDirectory(prefix="arena-faults-") as elsewhere:
        arena = Embedded(disk, LOG_LEVEL="ERROR", SWEEP_SECONDS="5")
        arena.folder = Path(elsewhere)  # for its log
        try:
            return _course(arena, disk, Path(elsewhere), say)
        finally:
            arena.kill()


def _course(arena: Embedded, disk: Path, elsewhere: Path, say: Callable[[str], None]) -> list[Line]:
    arena.manage("collectstatic", "--verbosity=0", "--no-input")
    tokens = seeded(arena, raters=RATERS, prompts=300, imported=1000)
    arena.manage("refresh", STUDY)
    backup = elsewhere / "whole.zip"
    arena.manage("backup", str(backup))
    more = elsewhere / "prompts.jsonl"
    more.write_text("".join(_prompt(number) for number in range(20_000)))
    arena.start()
    with Raters(arena, tokens) as raters:
        raters.wait_for(AWHILE)
        before = len(raters.acknowledged)
        raters.replies.clear()
        fill(disk)
        say(f"the disk is full after {before} answers")
        deadline = time.monotonic() + PATIENCE
        while raters.replies.total() < AWHILE and time.monotonic() < deadline:
            fill(disk)
            time.sleep(0.2)
        refused = raters.replies.copy()
        say(f"refused: {dict(refused)}")
        pages = _pages(arena)
        say(f"pages: {pages}")
        commands = _commands(arena, disk, more)
        refused |= raters.replies
        unsound = {reply: n for reply, n in refused.items() if reply != (503, FULL)}
        (disk / "filler").unlink()
        seconds = raters.wait_for(1)
        raters.wait_for(AWHILE)
    arena.kill()
    missing = lost(arena.query(STORED), raters.acknowledged)
    was = checksums(disk / "arena.sqlite3")
    fill(disk)
    restored = arena.command("restore", "--replace", str(backup))
    (disk / "filler").unlink()
    commands["restore"] = (restored, checksums(disk / "arena.sqlite3") == was)
    integrity = str(arena.query("PRAGMA integrity_check")[0][0])
    return [
        Line(
            "answers and claims refused with 503 and a sentence",
            str(refused[503, FULL]),
            refused[503, FULL] >= AWHILE,
        ),
        Line("other refusals", str(unsound or 0), not unsound),
        Line(
            "pages by their status",
            ", ".join(f"{n} x {status}" for status, n in sorted(Counter(pages.values()).items())),
            set(pages.values()) <= {200, 202, 503},
        ),
        *(
            Line(f"{name} on the full disk", _told(done, kept), _refused_well(done) and kept)
            for name, (done, kept) in commands.items()
        ),
        Line("seconds until answers were stored again", f"{seconds:.1f}", seconds < PATIENCE),
        Line("acknowledged answers", str(len(raters.acknowledged))),
        Line("of them lost", str(missing), missing == 0),
        Line("integrity of the database", integrity, integrity == "ok"),
    ]


def _prompt(number: int) -> str:
    return (
        f'{{"type": "prompt", "id": "more-{number}", "category": "coding", "turns": ["{"word " * 200}"]}}\n'
    )


def _pages(arena: Embedded) -> dict[str, int]:
    """The status of some pages."""
    found = {}
    for path in (
        "/",
        f"/studies/{STUDY}/",
        f"/studies/{STUDY}/standings.json",
        "/account/sign-in/",
        "/healthz",
    ):
        try:
            with urllib.request.urlopen(arena.url + path, timeout=30) as reply:  # noqa: S310 - our own
                found[path] = reply.status
        except urllib.error.HTTPError as error:
            found[path] = error.code
    return found


def _commands(arena: Embedded, disk: Path, more: Path) -> dict[str, tuple[CompletedProcess[str], bool]]:
    """What each command did on the full disk, and whether its target is as it was."""
    done = {}
    for name, ending, options in (
        ("export", "csv", (STUDY, "--what", "comparisons", "--out")),
        ("backup", "zip", ()),
    ):
        target = disk / f"{name}.{ending}"
        (disk / "filler").unlink()
        target.write_bytes(OLD)
        fill(disk)
        result = arena.command(name, *options, str(target))
        left = sorted(path.name for path in disk.glob(f"{target.name}*"))
        done[name] = (result, target.read_bytes() == OLD and left == [target.name])
    prompts = arena.query("SELECT count(*) FROM arena_prompt")
    result = arena.command("import_data", STUDY, str(more))
    done["import_data"] = (result, arena.query("SELECT count(*) FROM arena_prompt") == prompts)
    return done


def _refused_well(done: "CompletedProcess[str]") -> bool:
    """With an error's exit code and one line that says why."""
    return done.returncode != 0 and bool(
        re.fullmatch(r"[^\n]*(full|No space left|no room)[^\n]*\n", done.stderr)
    )


def _told(done: "CompletedProcess[str]", kept: bool) -> str:
    return f"exit {done.returncode}: {done.stderr.strip()[-300:]}{'' if kept else '; its target was changed'}"
