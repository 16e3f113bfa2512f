"""What `make test` and `make lint` run: linters, then the suite on every database and broker there is.

Tests that start an arena of their own mostly wait, so they run beside the linters and both suites, two at a
time. What runs on PostgreSQL is a fifth of the suite: one process does it beside the two for SQLite. A page
is waited for too: the browser takes the place of the arenas once they have ended.

ARENA_TEST_REQUIRE_ALL=1 turns everything that would be skipped into a failure, save for one kind: tests that
read public data sets, which no package brings, fail only where ARENA_REFERENCE_DATA names a folder.
"""

import argparse
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tests import migrated
from tests.chromium import find_chromium
from tests.services.servers import MissingServiceError, postgresql, redis_server

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
LINTERS = {
    "ruff check": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "."],
    "mypy": ["mypy"],
    "import-linter": ["lint-imports", "--no-logo"],
}
NO_DATA = "no reference data"
IN_PROCESS = "not browser and not processes"
# Each worker starts with its part of the tests in their order: those of a module share rows.
WORKERS = ["-n", "2", "--dist", "worksteal"]
# A worker holds two tests and gets the next when one has ended: some take a minute, and no other could take
# what waits behind them.
BROWSERS = ["-n", "2", "--dist", "load", "--maxschedchunk", "1"]
LEFT_OUT = {"DATABASE_URL", "BROKER_URL", "PYTHONDONTWRITEBYTECODE"}
"""Of the environment. Without bytecode each of a dozen processes would compile all that it imports anew."""

PATIENCE = 60
"""Seconds that a step has to tidy up."""


@dataclass
class Result:
    """One line of the summary: passed, failed or skipped, with what there is to say about it."""

    name: str
    outcome: str
    note: str = ""
    skips: Counter[str] = field(default_factory=Counter)


def main() -> None:
    """Run everything, print the summary, exit with 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.run", description=__doc__)
    parser.add_argument("--lint-only", action="store_true")
    lint_only = parser.parse_args().lint_only
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers started here are stopped
    hear_interrupts()
    results = lint() if lint_only else everything()
    failed = report(results, require_all=os.environ.get("ARENA_TEST_REQUIRE_ALL") == "1")
    sys.exit(1 if failed else 0)


def hear_interrupts() -> None:
    """Let SIGINT interrupt this process and those it starts: a shell has what it starts with & ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def everything() -> list[Result]:
    """All steps, one beside the other where they do not get in each other's way."""
    with ExitStack() as stack:
        linters = start_linters(stack)
        prepare()
        arenas = Suite("tests of whole arenas", [*WORKERS, *marked("processes")], apart=True)
        stack.enter_context(arenas)
        sqlite = stack.enter_context(Suite("suite on SQLite", [*WORKERS, "-m", IN_PROCESS]))
        services = start_services(stack)
        arenas.end()
        browser = start_browser(stack)
        results = [*(linter.result() for linter in linters), arenas.result(), sqlite.result(), services()]
        return [*results, browser()]


def prepare() -> None:
    """Load every test and run one file where no run did: all that start next would compile the same modules
    and make the same database.
    """
    if not migrated.kept().exists():
        command = [sys.executable, "-m", "pytest", "-q", "-k", "test_emptying"]
        subprocess.run(command, cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL)


def environment() -> dict[str, str]:
    """What the steps find in theirs."""
    return {name: value for name, value in os.environ.items() if name not in LEFT_OUT}


def lint() -> list[Result]:
    """The linters alone."""
    with ExitStack() as stack:
        return [linter.result() for linter in start_linters(stack)]


def start_linters(stack: ExitStack) -> list["Step"]:
    """Every linter on the whole project, all at once."""
    return [
        stack.enter_context(Step(name, [str(BIN / command[0]), *command[1:]], apart=True))
        for name, command in LINTERS.items()
    ]


def start_services(stack: ExitStack) -> Callable[[], Result]:
    """The part of the suite that depends on database or broker, on PostgreSQL and Redis."""
    name = "suite on PostgreSQL with Redis"
    try:
        database, broker = stack.enter_context(postgresql()), stack.enter_context(redis_server())
    except MissingServiceError as error:
        skipped = Result(name, "skipped", str(error))
        return lambda: skipped
    files = files_marked("both_databases", "services")
    urls = {"DATABASE_URL": database, "BROKER_URL": broker}
    tests = Suite(name, ["-m", IN_PROCESS, "--second-database", *files], urls, apart=True)
    return stack.enter_context(tests).result


def start_browser(stack: ExitStack) -> Callable[[], Result]:
    """The tests in a real browser."""
    executable = find_chromium()
    if executable is None:
        skipped = Result("browser", "skipped", "no Chromium on PATH; install it or set CHROMIUM")
        return lambda: skipped
    tests = Suite(f"browser ({executable})", [*BROWSERS, *marked("browser")], apart=True)
    return stack.enter_context(tests).result


def marked(name: str) -> list[str]:
    """What selects the tests with a marker."""
    return ["-m", name, *files_marked(name)]


def files_marked(*names: str) -> list[str]:
    """The files with tests that carry one of the markers: to import all others takes a while."""
    mark = re.compile(rf"\bmark\.({'|'.join(names)})\b")
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(file) for file in files if mark.search(file.read_text(encoding="utf-8"))]


class Step:
    """A command that runs from now on. ``apart``: what it prints is held back until it has ended."""

    def __init__(
        self, name: str, command: list[str], urls: Mapping[str, str] | None = None, apart: bool = False
    ) -> None:
        self.name = name
        self._processor = 0.0
        self._output = tempfile.TemporaryFile() if apart else None  # noqa: SIM115 - closed in __exit__
        if not apart:
            say(name)
        self._process = subprocess.Popen(
            command, cwd=ROOT, env={**environment(), **(urls or {})}, stdout=self._output, stderr=self._output
        )

    def result(self) -> Result:
        """Wait for its end and say how it ended."""
        return Result(self.name, "failed" if self.wait() else "passed", self.cost())

    def cost(self) -> str:
        """What it took of the processor, which does not depend on what else the machine did."""
        return f"{self._processor:.0f} s of the processor"

    def end(self) -> int:
        """Wait for its end; its exit code."""
        before = processor_seconds()
        code = self._process.wait()
        self._processor += processor_seconds() - before
        return code

    def wait(self) -> int:
        """Wait for its end and print what was held back; its exit code."""
        code = self.end()
        if self._output:
            say(self.name)
            self._output.seek(0)
            shutil.copyfileobj(self._output, sys.stdout.buffer)
            sys.stdout.flush()
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it as Ctrl-C does, if it still runs: tests stop what they started."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._output:
            self._output.close()


class Suite(Step):
    """A pass of pytest on the databases that ``urls`` name, and the count of what it did."""

    def __init__(
        self, name: str, selection: list[str], urls: Mapping[str, str] | None = None, apart: bool = False
    ) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._results = Path(self._folder.name) / "results.xml"
        command = [sys.executable, "-m", "pytest", "-q", *selection, f"--junit-xml={self._results}"]
        super().__init__(name, command, urls, apart)

    def result(self) -> Result:
        """Wait for its end and count."""
        code = self.wait()
        if not self._results.exists():
            return Result(self.name, "failed", f"pytest ended with {code} and without results")
        counts, skips, seconds = read_results(self._results)
        note = f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"
        note += f" in {seconds:.0f} s, {self.cost()}"
        return Result(self.name, "failed" if code else "passed", note, skips)

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._folder.cleanup()


def read_results(file: Path) -> tuple[Counter[str], Counter[str], float]:
    """Counts of passed, failed and skipped tests in a JUnit file, of the reasons to skip, and the seconds."""
    counts: Counter[str] = Counter()
    skips: Counter[str] = Counter()
    root = ElementTree.parse(file).getroot()  # noqa: S314 - written by pytest just now
    for case in root.iter("testcase"):
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            counts["failed"] += 1
        elif skipped is not None:
            counts["skipped"] += 1
            skips[skipped.get("message", "")] += 1
        else:
            counts["passed"] += 1
    return counts, skips, sum(float(each.get("time", 0)) for each in root.iter("testsuite"))


def report(results: list[Result], require_all: bool) -> bool:
    """Print the summary; whether anything failed."""
    say("summary")
    failed = False
    for result in results:
        reasons = [f"{count} skipped: {reason}" for reason, count in result.skips.items()]
        missing = result.outcome == "skipped" or any(not excused(reason) for reason in result.skips)
        outcome = "failed" if require_all and missing else result.outcome
        failed = failed or outcome == "failed"
        print(f"{outcome:8} {result.name}{': ' if result.note else ''}{result.note}")
        for reason in reasons:
            print(f"{'':9}{reason}")
    print("not run  features of a model on this machine: make local-test")
    print("FAILED" if failed else "PASSED")
    return failed


def excused(reason: str) -> bool:
    """Whether a skipped test may stay skipped where everything is required."""
    return reason.startswith(NO_DATA) and "ARENA_REFERENCE_DATA" not in os.environ


def processor_seconds() -> float:
    """What ended processes that were waited for took, and those that they waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def say(title: str) -> None:
    """A heading between the outputs of the steps."""
    print(f"\n== {title}", flush=True)


if __name__ == "__main__":
    main()
