"""The long half of the tests: a judge run on real processes that are killed, flushed, restarted and stopped.

    python -m tests.faults      everything; of runs both places, one step and many, 2,000 calls, 20 kills
    python -m tests.faults deploy                                a bare machine, as docs/deploy.md says
    python -m tests.faults backup                                backups while raters answer; killed restores
    python -m tests.faults writing                               a model writes 500 answers; five kills
    python -m tests.faults battling                              50 visitors battle; twenty kills
    python -m tests.faults disk                                  a disk that is full; needs root
    python -m tests.faults changing                              an endpoint with thirty behaviours
    python -m tests.faults holes                                 what somebody hostile tries
    python -m tests.faults attack                                slow and greedy clients; needs Caddy
    python -m tests.faults --calls 200 --kills 3 --protocol likert embedded      a quick look

Prints one table of what was promised and what came of it. Exits with 1 where anything does not hold.
"""

import argparse
import random
import signal
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.faults import attacking, deploying, full_disk, services
from tests.faults.backing_up import backing_up
from tests.faults.battling import battled
from tests.faults.changing import changed
from tests.faults.drill import Drill, Say
from tests.faults.evidence import Line, in_a_folder, lines
from tests.faults.holes import holes
from tests.faults.places import Embedded, Production, place
from tests.faults.report import markdown, plain
from tests.faults.writing import written_embedded, written_production
from tests.judging.endpoints.server import ChatServer, mixed
from tests.judging.protocols.scripted import scripted

MANY_STEPS = "protocol-consistency"
"""Five protocols that vote, most of several steps; aids about a prompt are shared by its pairs."""

CALLS_OF_A_PAIR = 5
"""Fewer than that protocol makes: the faults are spread over so many."""
SWEEP_SECONDS = {Embedded.name: "5", Production.name: "30"}
"""The defaults of the arena, named so that they are printed."""

Columns = Mapping[str, Callable[[Say], list[Line]]]


class Case(NamedTuple):
    """Why it cannot be done here ("" where it can), and what makes each of its columns in the table."""

    missing: Callable[[], str]
    columns: Callable[[argparse.Namespace], Columns]


def runs(name: str, given: argparse.Namespace) -> Columns:
    """Judge runs in a place, with each protocol."""
    protocols = given.protocol or ("likert", MANY_STEPS)
    return {f"{name}, {protocol}": partial(drill, name, protocol, given) for protocol in protocols}


def battles(given: argparse.Namespace) -> Columns:
    return {f"battling, {name}": partial(battled, name, kills=given.kills) for name in SWEEP_SECONDS}


def backups(given: argparse.Namespace) -> Columns:
    return {f"backup, {name}": partial(backing_up, name) for name in SWEEP_SECONDS}


CASES = {
    Embedded.name: Case(lambda: "", partial(runs, Embedded.name)),
    Production.name: Case(services.missing_here, partial(runs, Production.name)),
    "backup": Case(services.missing_here, backups),
    "disk": Case(full_disk.missing_here, lambda given: {"disk": full_disk.full_disk}),
    "writing": Case(
        services.missing_here,
        lambda given: {"writing, embedded": written_embedded, "writing, production": written_production},
    ),
    "battling": Case(services.missing_here, battles),
    "changing": Case(lambda: "", lambda given: {"changing": changed}),
    "holes": Case(lambda: "", lambda given: {"holes": holes}),
    "attack": Case(attacking.missing_here, lambda given: {"attack": attacking.attacking}),
    "deploy": Case(deploying.missing_here, lambda given: {"deploy": deploying.deploy}),
}


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)} (all)")
    parser.add_argument("--calls", type=int, default=2000, help="calls to be made, at least about")
    parser.add_argument("--protocol", action="append", help=f"(default: likert and {MANY_STEPS})")
    parser.add_argument("--kills", type=int, default=20, help="how often a worker is killed")
    parser.add_argument("--away", type=float, default=60, help="seconds for which the web server is stopped")
    parser.add_argument("--delay", type=float, default=0.3, help="seconds the model takes for a good answer")
    parser.add_argument("--timeout", type=float, default=10, help="seconds the judge waits for the model")
    parser.add_argument("--sweep", help="SWEEP_SECONDS (default: as in the arena, 5 and 30)")
    parser.add_argument("--retry", default="2", help="JUDGE_RETRY_SECONDS (2, as in the arena)")
    parser.add_argument("--port", type=int, default=0, help="of the web server (default: any free one)")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    given = parser.parse_args()
    if unknown := sorted(set(given.cases) - set(CASES)):
        parser.error(f"there is no case {unknown[0]}; there are {', '.join(CASES)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything started here is stopped
    missing = {name: why for name in given.cases or CASES if (why := CASES[name].missing())}
    if missing and given.cases:
        sys.exit("\n".join(f"The case {name} cannot be done here: {why}." for name, why in missing.items()))
    for name, why in missing.items():
        print(f"The case {name} is left out: {why}.", file=sys.stderr)
    reports = {
        column: timed(run, saying(column))
        for name, case in CASES.items()
        if name in (given.cases or CASES) and name not in missing
        for column, run in case.columns(given).items()
    }
    print((markdown if given.markdown else plain)(reports))
    broken = [line.what for report in reports.values() for line in report if line.holds is False]
    if broken:
        sys.exit(f"Does not hold: {', '.join(broken)}.")


def timed(run: Callable[[Say], list[Line]], say: Say) -> list[Line]:
    started = time.monotonic()
    return [*run(say), Line("minutes", f"{(time.monotonic() - started) / 60:.1f}")]


def saying(name: str) -> Say:
    """Tells what happens in a case and when."""
    started = time.monotonic()

    def say(text: str) -> None:
        print(f"{name} {time.monotonic() - started:6.1f} s  {text}", file=sys.stderr, flush=True)

    return say


def drill(name: str, protocol: str, given: argparse.Namespace, say: Say) -> list[Line]:
    """One drill of a judge run."""
    return in_a_folder(name, lambda folder: _drill(folder, name, protocol, given, say))


def _drill(folder: Path, name: str, protocol: str, given: argparse.Namespace, say: Say) -> list[Line]:
    environment = {
        "SWEEP_SECONDS": given.sweep or SWEEP_SECONDS[name],
        "JUDGE_RETRY_SECONDS": given.retry,
        "WORKER_CONCURRENCY": "8",
    }
    pairs = given.calls if protocol == "likert" else given.calls // CALLS_OF_A_PAIR
    settings = ", ".join(f"{key}={value}" for key, value in environment.items())
    say(f"{pairs} pairs, {given.kills} kills, {settings}, judge timeout {given.timeout:g} s in {folder}")
    rng = random.Random(7)
    good = scripted(lambda first, second: rng.choice((-1, 0, 1)))
    with (
        ChatServer(mixed(7, delay=given.delay, permanent=0.02, good=good)) as model,
        place(name, folder, given.port, **environment) as arena,
    ):
        arena.prepare(pairs, model.url, given.timeout, protocol)
        course = Drill(arena, model, calls=given.calls, kills=given.kills, away=given.away).run(say)
        return lines(arena, model.log(), course, pairs)


if __name__ == "__main__":
    main()
