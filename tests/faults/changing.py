"""Two models at an address that changes its behaviour every ten calls, through thirty of them."""

import threading
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from tests.faults.drill import Say
from tests.faults.evidence import Line, in_a_folder
from tests.judging.endpoints.changing import BEHAVIOURS, Changing
from tests.judging.endpoints.server import ChatServer
from tests.judging.processes import Arena

CALLS: Final = 10  # until a model changes its behaviour
MODELS: Final = ("first", "second")
MOST_RESUMED: Final = 20
MOST_CALLS: Final = 1.2
"""Of a pair that was answered."""

SEED: Final = """
from tests.factories import make_judge, make_small_study
make_small_study(slug="pairs", prompts={prompts}, contestants=5)
for model in {models}:
    make_judge(slug=model, name=model, model=model, base_url="{url}", timeout=2)
"""

STATES: Final = """
SELECT e.model, a.state, count(*) FROM arena_assignment a
JOIN judging_judge j ON j.rater_id = a.rater_id JOIN judging_endpoint e ON e.id = j.endpoint_id
GROUP BY e.model, a.state
"""


def changed(say: Say, pairs: int = 1000) -> list[Line]:
    """Both models rate all pairs."""
    return in_a_folder("changing", lambda folder: _changed(folder, say, pairs))


def _changed(folder: Path, say: Say, pairs: int) -> list[Line]:
    script = Changing(CALLS)
    with ExitStack() as stack:
        model = stack.enter_context(ChatServer(script))
        arena = Arena(folder, WORKER_CONCURRENCY="16", JUDGE_RETRY_SECONDS="1")
        arena.run(SEED.format(prompts=pairs // 10, models=MODELS, url=model.url))
        arena.start()
        stack.callback(arena.kill)
        reasons: list[str] = []
        threads = [threading.Thread(target=_judge, args=(arena, name, reasons, say)) for name in MODELS]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return _lines(arena, model, script, reasons, pairs)


def _judge(arena: Arena, name: str, reasons: list[str], say: Say) -> None:
    """Rate all pairs, as an operator does who resumes what has paused, and then asks about what failed."""
    wanted = ["pairs", "--judge", name]
    for _ in range(MOST_RESUMED):
        done = arena.command("judge", *wanted).stdout
        number = done.partition("Run ")[2].partition(":")[0]
        if "is paused" not in done:
            say(f"{name}: {_state(done)}")
            if "Failed " not in done or wanted[-1] == "failures":
                return
            wanted = ["pairs", "--judge", name, "--kind", "failures"]
            continue
        reasons.append(_state(done).partition("is paused.")[2].strip())
        say(f"{name}: paused. {reasons[-1]}")
        wanted = ["--resume", number]


def _state(done: str) -> str:
    return next((line for line in done.splitlines() if line.startswith("Run ") and " is " in line), done)


def _lines(arena: Arena, model: ChatServer, script: Changing, reasons: list[str], pairs: int) -> list[Line]:
    states = {(name, state): count for name, state, count in arena.query(STATES)}
    answered = sum(count for (_, state), count in states.items() if state == "submitted")
    statuses = Counter(status for (status,) in arena.query("SELECT status FROM arena_comparison"))
    asked = len(model.requests)
    return [
        Line("behaviours", str(len(BEHAVIOURS))),
        Line("pairs rated or not, with the reason", f"{answered:,}", answered == len(MODELS) * pairs),
        Line("rated", f"{statuses['scored']:,}"),
        Line("not rated", f"{statuses['unscored']:,}"),
        Line("runs paused", str(len(reasons)), bool(reasons)),
        Line("of them without a reason", str(reasons.count("")), "" not in reasons),
        Line("calls", f"{asked:,}"),
        Line("calls of a pair", f"{asked / max(answered, 1):.3f}", asked <= MOST_CALLS * answered),
        Line("completed replies asked for again", str(script.again), script.again == 0),
    ]
