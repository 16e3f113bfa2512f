"""What `make test` and `make lint` run: linters, then the suite on every database and broker there is.

ARENA_TEST_REQUIRE_ALL=1 turns everything that would be skipped into a failure, save for one kind: tests that
read public data sets, which no package brings, fail only where ARENA_REFERENCE_DATA names a folder.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from tests.conftest import find_chromium
from tests.services.servers import MissingServiceError, postgresql, redis_server

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
LINTERS = {
    "ruff check": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "."],
    "mypy": ["mypy"],
    "import-linter": ["lint-imports", "--no-logo"],
    "migrations": ["python", "manage.py", "makemigrations", "--check", "--dry-run", "-v1"],
}
NO_DATA = "no reference data"


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
    results = [lint(name, command) for name, command in LINTERS.items()]
    if not lint_only:
        results += [suite("suite on SQLite", {}, []), browser(), services()]
    failed = report(results, require_all=os.environ.get("ARENA_TEST_REQUIRE_ALL") == "1")
    sys.exit(1 if failed else 0)


def lint(name: str, command: list[str]) -> Result:
    """Run one linter on the whole project."""
    say(name)
    code = subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT).returncode
    return Result(name, "failed" if code else "passed")


def browser() -> Result:
    """The tests in a real browser: not beside the others, which would keep the pages waiting."""
    executable = find_chromium()
    if executable is None:
        return Result("browser", "skipped", "no Chromium on PATH; install it or set CHROMIUM")
    return suite(f"browser ({executable})", {}, ["-m", "browser"])


def services() -> Result:
    """The part of the suite that touches database or broker again, on PostgreSQL and Redis."""
    name = "suite on PostgreSQL with Redis"
    with ExitStack() as stack:
        try:
            database, broker = stack.enter_context(postgresql()), stack.enter_context(redis_server())
        except MissingServiceError as error:
            return Result(name, "skipped", str(error))
        return suite(name, {"DATABASE_URL": database, "BROKER_URL": broker}, ["--database-only"])


def suite(name: str, environment: dict[str, str], arguments: list[str]) -> Result:
    """Run pytest in an environment of its own and count what it did."""
    say(name)
    inherited = {key: value for key, value in os.environ.items() if key not in {"DATABASE_URL", "BROKER_URL"}}
    selection = arguments if "-m" in arguments else [*arguments, "-m", "not browser"]
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", *selection, f"--junit-xml={file}"]
        code = subprocess.run(command, cwd=ROOT, env={**inherited, **environment}).returncode
        counts, skips = read_results(file) if file.exists() else (Counter(), Counter())
    note = f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"
    note += f" in {time.monotonic() - started:.0f} s"
    return Result(name, "failed" if code else "passed", note, skips)


def read_results(file: Path) -> tuple[Counter[str], Counter[str]]:
    """Counts of passed, failed and skipped tests in a JUnit file, and of the reasons of the skipped ones."""
    counts: Counter[str] = Counter()
    skips: Counter[str] = Counter()
    for case in ElementTree.parse(file).getroot().iter("testcase"):  # noqa: S314 - written by pytest just now
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            counts["failed"] += 1
        elif skipped is not None:
            counts["skipped"] += 1
            skips[skipped.get("message", "")] += 1
        else:
            counts["passed"] += 1
    return counts, skips


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
    print("FAILED" if failed else "PASSED")
    return failed


def excused(reason: str) -> bool:
    """Whether a skipped test may stay skipped where everything is required."""
    return reason.startswith(NO_DATA) and "ARENA_REFERENCE_DATA" not in os.environ


def say(title: str) -> None:
    """A heading between the outputs of the steps."""
    print(f"\n== {title}", flush=True)


if __name__ == "__main__":
    main()
