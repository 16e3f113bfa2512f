"""A model writes answers while the arena is killed: exactly one text each, within the budget."""

import json
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from tests.faults.drill import Say
from tests.faults.evidence import Line, in_a_folder
from tests.faults.places import Embedded, Place, Production
from tests.faults.services import private_postgresql, private_redis
from tests.judging.endpoints.server import Answer, ChatServer, mixed, text_of

IN_TWO_TURNS = 5
"""One of so many prompts."""

TOKENS = (100, 10)
MOST_STARTS = 4
"""Of runs: what failed for good on a bad day, or got no answer, is written by the next one."""

SEED = """
from arena.models import Prompt
from tests.factories import make_author, make_contestant, make_price, make_study
study = make_study(slug="holes")
turns = [[f"Prompt {{n}}."] if n % {two} else [f"Prompt {{n}}.", f"More on {{n}}."] for n in range({holes})]
Prompt.objects.bulk_create(Prompt(study=study, external_id=str(n), turns=t) for n, t in enumerate(turns))
make_price()
loop = make_contestant(study=study, slug="loop", name="Loop")
make_author(contestant=loop, base_url="{url}", max_tokens=100, timeout=5)
"""
TEXTS = """
SELECT c.prompt_id, c.version, c.turns, p.turns
FROM arena_completion c JOIN arena_prompt p ON p.id = c.prompt_id
"""
CALLS = "SELECT state, finished_at, messages, attempt, abandoned, cost, error_kind FROM judging_writingcall"
MONEY = "SELECT sum(budget), sum(spent), sum(reserved) FROM judging_purse WHERE scope = 'run'"


class _Embedded(Embedded):
    def in_flight(self, pid: int | None = None) -> int:
        return _in_flight(self)


class _Production(Production):
    def in_flight(self, pid: int | None = None) -> int:
        return _in_flight(self)


def _in_flight(arena: Place) -> int:
    """Of all processes: those of one that lives on do not end."""
    return int(arena.query("SELECT count(*) FROM judging_writingcall WHERE state = 'in_flight'")[0][0])


def written_embedded(say: Say, holes: int = 500, kills: int = 5, delay: float = 0.2) -> list[Line]:
    with ExitStack() as stack:
        make = partial(_Embedded, SWEEP_SECONDS="1")
        return in_a_folder("writing", partial(_written, stack, make, say, holes, kills, delay))


def written_production(say: Say, holes: int = 500, kills: int = 5, delay: float = 0.2) -> list[Line]:
    with ExitStack() as stack:
        database, broker = stack.enter_context(private_postgresql()), stack.enter_context(private_redis())
        make = partial(_Production, port=0, database=database, broker=broker, SWEEP_SECONDS="1")
        return in_a_folder("writing", partial(_written, stack, make, say, holes, kills, delay))


def _written(
    stack: ExitStack,
    make: Callable[[Path], Place],
    say: Say,
    holes: int,
    kills: int,
    delay: float,
    folder: Path,
) -> list[Line]:
    good = mixed(11, delay=delay, good=lambda body: Answer(f"About: {text_of(body)}", tokens=TOKENS))
    calls = holes + -(-holes // IN_TWO_TURNS)
    budget = Decimal(calls) * Decimal("0.0006")
    model = stack.enter_context(ChatServer(good))
    arena = make(folder)
    stack.callback(arena.kill)
    arena.run(SEED.format(two=IN_TWO_TURNS, holes=holes, url=model.url))
    arena.start()
    lost: list[int] = []
    killing = threading.Thread(target=_kill, args=(arena, model, calls, kills, lost, say), daemon=True)
    killing.start()
    starts = 0
    while starts < MOST_STARTS and _holes(arena):
        starts += 1
        say(f"generate ends with {_generate(arena, budget, again=starts > 1)}")
    killing.join()
    return _lines(arena, model, holes, calls, lost, starts)


def _generate(arena: Place, budget: Decimal, again: bool) -> int:
    wanted = ["generate", "holes", "--contestant", "loop", "--budget", str(budget)] + ["--again"] * again
    done = arena.command(*wanted, ARENA_URL=arena.url)
    return done.returncode


def _holes(arena: Place) -> int:
    [(prompts, texts)] = arena.query(
        "SELECT (SELECT count(*) FROM arena_prompt), (SELECT count(*) FROM arena_completion)"
    )
    return int(prompts) - int(texts)


def _kill(arena: Place, model: ChatServer, calls: int, kills: int, lost: list[int], say: Say) -> None:
    for number in range(1, kills + 1):
        model.wait_for(calls * number // (kills + 1))
        lost.append(arena.kill_worker())
        say(f"{len(model.requests)} requests: killed ({lost[-1]} calls in flight)")


def _lines(
    arena: Place, model: ChatServer, holes: int, calls: int, lost: list[int], starts: int
) -> list[Line]:
    texts = [(*row[:2], _parsed(row[2]), _parsed(row[3])) for row in arena.query(TEXTS)]
    [(budget, spent, reserved)] = arena.query(MONEY)
    rows = [(*row[:2], _parsed(row[2]), *row[3:]) for row in arena.query(CALLS)]
    replied = [row for row in rows if row[0] == "replied"]
    committed = [row for row in replied if not row[6]]
    asked = Counter(text for _, text in model.log())
    recorded: Counter[str] = Counter()
    for _, _, messages, attempt, *_ in rows:
        recorded[messages[-1]["content"] if messages else ""] += attempt
    ended = {row[2][-1]["content"]: _seconds(row[1]) for row in committed}
    again = sum(at > ended.get(text, at) for at, text in model.log())
    abandoned = sum(row[4] for row in rows)
    cost = sum(Decimal(str(row[5] or 0)) for row in rows)
    return [
        Line("processes killed", str(len(lost))),
        Line("runs started", str(starts)),
        Line("answers that were missing", str(holes)),
        _exactly("answers with a text", sum(bool(turns) for _, _, turns, _ in texts), holes),
        _exactly("prompts with an answer", len({prompt for prompt, _, _, _ in texts}), holes),
        _exactly("answers of more than one version", sum(version > 1 for _, version, _, _ in texts), 0),
        _exactly("answers that lack a turn", sum(len(one) != len(other) for _, _, one, other in texts), 0),
        _exactly("committed replies", len(committed), calls),
        Line("replies that were no answers", str(len(replied) - len(committed))),
        _exactly("committed replies asked for again", again, 0),
        Line("requests the model server saw", str(sum(asked.values()))),
        _exactly("requests without a record", (asked - recorded).total(), 0),
        Line("calls in flight when a process was killed", str(sum(lost))),
        Line("calls abandoned", str(abandoned), abandoned <= sum(lost)),
        Line("spent of the budget", f"{spent:.4f} of {budget:.4f}", reserved == 0 and spent <= budget),
        Line("sum of all calls' costs", f"{cost:.4f}", abs(cost - Decimal(str(spent))) < Decimal("1e-6")),
    ]


def _exactly(what: str, count: int, expected: int) -> Line:
    return Line(what, str(count), count == expected)


def _parsed(stored: Any) -> Any:
    """JSON as either database gives it."""
    return json.loads(stored) if isinstance(stored, str) else stored


def _seconds(at: str | datetime) -> float:
    return (at if isinstance(at, datetime) else datetime.fromisoformat(at).replace(tzinfo=UTC)).timestamp()
