"""What somebody hostile tries, each with how often it was tried: nothing of it may come through."""

import os
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from arena.rules.pairing import choose_order
from tests.faults.drill import Say
from tests.faults.evidence import Line
from tests.faults.places import Embedded
from tests.faults.raters import STUDY, seeded
from tests.processes import ROOT

SCENARIOS = {
    "every address by whoever may not have it": ("tests/faults/access.py",),
    "keys and endpoints": (
        "tests/judging/endpoints/test_reaching.py",
        "tests/judging/judges/test_judges.py",
        "tests/judging/judges/test_rights.py",
    ),
    "lock-outs behind a proxy and against others": (
        "tests/arena/people/test_locking_out.py",
        "tests/arena/process/test_addresses.py",
    ),
    "bombs, slow endpoints, replies that never end": (
        "tests/leaderboard/files/test_hostile_archives.py",
        "tests/judging/endpoints/test_client_faults.py",
    ),
    "a run that hangs beside another, and a refresh": (
        "tests/judging/runs/test_places.py",
        "tests/arena/process/test_worker.py",
    ),
    "clients that send or read slowly or never": ("tests/arena/process/test_web.py",),
    "single votes in published numbers": ("tests/leaderboard/test_single_votes.py",),
}
"""Files of tests by what they try."""

GUESSES = 100_000
CHANCE = 4 * 0.5 / GUESSES**0.5
"""Four standard errors of a share of so many fair throws."""


def holes(say: Say) -> list[Line]:
    """One line for each."""
    return [*_tried(say), _guessed(), *_written(say)]


def _tried(say: Say) -> Iterator[Line]:
    """All files in one run of pytest, whose report says what held in each."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        files = [file for files in SCENARIOS.values() for file in files]
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *files]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            say(done.stdout[-2000:])
        cases = ElementTree.parse(report).getroot().findall(".//testcase")  # noqa: S314 - our own
    for what, files_of_it in SCENARIOS.items():
        by_file = [_ran(cases, file) for file in files_of_it]
        ran = [case for found in by_file for case in found]
        held = sum(case.find("failure") is None and case.find("error") is None for case in ran)
        yield Line(what, f"{held} of {len(ran)} tests hold", held == len(ran) and all(by_file))


def _ran(cases: list[Element], file: str) -> list[Element]:
    """The tests of a file that were not skipped."""
    module = file.removesuffix(".py").replace("/", ".")
    return [case for case in cases if case.get("classname") == module and case.find("skipped") is None]


def _guessed() -> Line:
    """The next order, guessed by whoever knows all earlier ones and bets on the rarer."""
    right = balance = 0
    for seed in range(GUESSES):
        swapped = choose_order(seed)
        right += (balance > 0) != swapped if balance else seed % 2 == swapped
        balance += 1 if swapped else -1
    share = right / GUESSES
    return Line(f"orders guessed right, of {GUESSES:,}", f"{share:.2%}", abs(share - 0.5) < CHANCE)


def _written(say: Say) -> list[Line]:
    """Commands told to write over a device, a pipe and a link: none of them becomes a file."""
    with tempfile.TemporaryDirectory(prefix="arena-faults-out-") as name:
        folder = Path(name)
        arena = Embedded(folder, LOG_LEVEL="ERROR")
        seeded(arena, raters=1, prompts=5, imported=50)
        arena.manage("refresh", STUDY)
        commands = {
            "backup": ("backup",),
            "export": ("export", STUDY, "--what", "comparisons", "--out"),
            "bundle": ("bundle", STUDY, "--out"),
        }
        kept = tried = 0
        for command, arguments in commands.items():
            for kind, attempt in (("device", _device), ("pipe", _pipe), ("link", _link)):
                target = folder / f"{command}-{kind}"
                try:
                    held = attempt(arena, arguments, target)
                except PermissionError:
                    say("a device cannot be made here without root")
                    continue
                tried, kept = tried + 1, kept + held
                say(f"{command} to a {kind}: {'held' if held else 'BROKEN'}")
    return [Line("files written to a device, a pipe or a link", f"{kept} of {tried} held", kept == tried > 0)]


def _device(arena: Embedded, arguments: tuple[str, ...], target: Path) -> bool:
    """A device of our own with the numbers of /dev/null, so that no harm can be done."""
    os.mknod(target, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    arena.manage(*arguments, str(target))
    return target.is_char_device()


def _pipe(arena: Embedded, arguments: tuple[str, ...], target: Path) -> bool:
    os.mkfifo(target)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(target.read_bytes()), daemon=True)
    reader.start()
    arena.manage(*arguments, str(target))
    reader.join(60)
    return target.is_fifo() and len(read) == 1 and len(read[0]) > 0


def _link(arena: Embedded, arguments: tuple[str, ...], target: Path) -> bool:
    real = target.with_name(f"{target.name}-real")
    real.write_bytes(b"old")
    target.symlink_to(real)
    arena.manage(*arguments, str(target))
    return target.is_symlink() and real.is_file() and real.read_bytes() != b"old"
