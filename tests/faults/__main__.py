"""The long half of the tests: a judge run on real processes that are killed, flushed, restarted and stopped.

    python -m tests.faults      both places, a protocol of one step and one of many, 2,000 calls, 20 kills
    python -m tests.faults deploy                                a bare machine, as docs/deploy.md says
    python -m tests.faults --calls 200 --kills 3 --protocol likert embedded      a quick look

Prints one table of what was promised and what came of it. Exits with 1 where anything does not hold.
"""

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.deploying import deploy, missing_here
from tests.faults.drill import Drill
from tests.faults.evidence import Line, lines
from tests.faults.places import Embedded, Production, place
from tests.faults.report import markdown, plain
from tests.faults.services import require_services
from tests.judging.endpoints.server import ChatServer, mixed
from tests.judging.protocols.scripted import scripted
from tests.services.servers import MissingServiceError

PLACES = (Embedded.name, Production.name)
DEPLOY = "deploy"
"""No place of a run with kills: a bare machine on which docs/deploy.md is followed."""
MANY_STEPS = "protocol-consistency"
"""Five protocols that vote, most of several steps; aids about a prompt are shared by its pairs."""

CALLS_OF_A_PAIR = 5
"""Fewer than that protocol makes: the faults are spread over so many."""
SWEEP_SECONDS = {Embedded.name: "5", Production.name: "30"}
"""The defaults of the arena, named so that they are printed."""


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("places", nargs="*", metavar="PLACE", help="of embedded, production, deploy (all)")
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
    if unknown := sorted(set(given.places) - {*PLACES, DEPLOY}):
        parser.error(f"there is no place {unknown[0]}; there are {', '.join(PLACES)} and {DEPLOY}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything started here is stopped
    wanted = given.places or PLACES
    missing = missing_here() if DEPLOY in given.places or not given.places else ""
    if missing and given.places:
        sys.exit(f"docs/deploy.md cannot be followed here: {missing}.")
    if Production.name in wanted:
        try:
            require_services()
        except MissingServiceError as error:
            sys.exit(f"The place production cannot be made here: {error}.")
    reports = {
        f"{name}, {protocol}": drill(name, protocol, given)
        for name in wanted
        if name != DEPLOY
        for protocol in given.protocol or ("likert", MANY_STEPS)
    }
    if missing:
        print(f"docs/deploy.md is not followed here: {missing}.", file=sys.stderr)
    elif DEPLOY in given.places or not given.places:
        reports[DEPLOY] = deploy(lambda text: print(f"deploy {text}", file=sys.stderr, flush=True))
    print((markdown if given.markdown else plain)(reports))
    broken = [line.what for report in reports.values() for line in report if line.holds is False]
    if broken:
        sys.exit(f"Does not hold: {', '.join(broken)}.")


def drill(name: str, protocol: str, given: argparse.Namespace) -> list[Line]:
    """One drill; its folder with logs and database is kept where a check fails."""
    folder = Path(tempfile.mkdtemp(prefix=f"arena-faults-{name}-"))
    started = time.monotonic()

    def say(text: str) -> None:
        told = f"{name}, {protocol} {time.monotonic() - started:6.1f} s  {text}"
        print(told, file=sys.stderr, flush=True)

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
        place(name, folder, given.port, environment) as arena,
    ):
        arena.prepare(pairs, model.url, given.timeout, protocol)
        course = Drill(arena, model, calls=given.calls, kills=given.kills, away=given.away).run(say)
        report = lines(arena, model.log(), course, pairs)
    if all(line.holds is not False for line in report):
        shutil.rmtree(folder)
    return report


if __name__ == "__main__":
    main()
