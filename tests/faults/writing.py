"""A model writes answers while the arena is killed: exactly one text each, within the budget."""

import json
import shutil
import tempfile
import threading
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from tests.faults.drill import Say
from tests.faults.evidence import Line
from tests.faults.places import Embedded
from tests.judging.endpoints.server import Answer, ChatServer, mixed, text_of

IN_TWO_TURNS = 5
"""One of so many prompts."""

TOKENS = (100, 10)
MOST_STARTS = 3
"""Of runs: what failed for good on a bad day is written by the next one."""

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
SELECT count(*), count(DISTINCT prompt_id), coalesce(max(version), 0) FROM arena_completion
WHERE turns <> '[]'
"""
LENGTHS = """
SELECT count(*) FROM arena_completion c JOIN arena_prompt p ON p.id = c.prompt_id
WHERE json_array_length(c.turns) <> json_array_length(p.turns)
"""
CALLS = "SELECT state, finished_at, messages, attempt, abandoned, cost FROM judging_writingcall"
MONEY = "SELECT sum(budget), sum(spent), sum(reserved) FROM judging_purse WHERE scope = 'run'"


class _Writing(Embedded):
    def in_flight(self, pid: int | None = None) -> int:
        return int(self.query("SELECT count(*) FROM judging_writingcall WHERE state = 'in_flight'")[0][0])


def written(say: Say, holes: int = 500, kills: int = 5, delay: float = 0.2) -> list[Line]:
    """The drill; its folder with logs and database is kept where a check fails."""
    folder = Path(tempfile.mkdtemp(prefix="arena-faults-writing-"))
    good = mixed(11, delay=delay, good=lambda body: Answer(f"About: {text_of(body)}", tokens=TOKENS))
    calls = holes + -(-holes // IN_TWO_TURNS)
    budget = Decimal(calls) * Decimal("0.0006")
    with ExitStack() as stack:
        model = stack.enter_context(ChatServer(good))
        arena = _Writing(folder, 0, {"SWEEP_SECONDS": "1"})
        stack.callback(arena.stop)
        arena.make_tables()
        seed = SEED.format(two=IN_TWO_TURNS, holes=holes, url=model.url)
        arena.manage("shell", "-v0", "-c", seed)
        arena.start()
        lost: list[int] = []
        killing = threading.Thread(target=_kill, args=(arena, model, calls, kills, lost, say), daemon=True)
        killing.start()
        starts = 0
        while starts < MOST_STARTS and _holes(arena):
            starts += 1
            say(f"generate ends with {_generate(arena, budget)}")
        killing.join()
        report = _lines(arena, model, holes, calls, lost, starts)
    if all(line.holds is not False for line in report):
        shutil.rmtree(folder)
    return report


def _generate(arena: Embedded, budget: Decimal) -> int:
    wanted = ("generate", "holes", "--contestant", "loop", "--budget", str(budget))
    done = arena.command(*wanted, ARENA_URL=arena.url)
    return done.returncode


def _holes(arena: Embedded) -> int:
    [(prompts, texts)] = arena.query(
        "SELECT (SELECT count(*) FROM arena_prompt), (SELECT count(*) FROM arena_completion)"
    )
    return int(prompts) - int(texts)


def _kill(arena: Embedded, model: ChatServer, calls: int, kills: int, lost: list[int], say: Say) -> None:
    for number in range(1, kills + 1):
        model.wait_for(calls * number // (kills + 1))
        lost.append(arena.kill_worker())
        say(f"{len(model.requests)} requests: arena killed ({lost[-1]} calls in flight)")


def _lines(
    arena: Embedded, model: ChatServer, holes: int, calls: int, lost: list[int], starts: int
) -> list[Line]:
    [(texts, prompts, versions)] = arena.query(TEXTS)
    [(uneven,)] = arena.query(LENGTHS)
    [(budget, spent, reserved)] = arena.query(MONEY)
    rows = [(*row[:2], json.loads(row[2]), *row[3:]) for row in arena.query(CALLS)]
    committed = [row for row in rows if row[0] == "replied"]
    asked = Counter(text for _, text in model.log())
    recorded: Counter[str] = Counter()
    for _, _, messages, attempt, _, _ in rows:
        recorded[messages[-1]["content"] if messages else ""] += attempt
    ended = {row[2][-1]["content"]: _seconds(row[1]) for row in committed}
    again = sum(at > ended.get(text, at) for at, text in model.log())
    cost = sum(Decimal(str(row[5] or 0)) for row in rows)
    return [
        Line("arena killed", str(len(lost))),
        Line("runs started", str(starts)),
        Line("answers that were missing", str(holes)),
        Line("answers with a text", str(texts), texts == holes),
        Line("prompts with an answer", str(prompts), prompts == holes),
        Line("answers of more than one version", str(versions - 1), versions == 1),
        Line("answers that lack a turn", str(uneven), uneven == 0),
        Line("committed replies", str(len(committed)), len(committed) == calls),
        Line("committed replies asked for again", str(again), again == 0),
        Line("requests the model server saw", str(sum(asked.values()))),
        Line("requests without a record", str((asked - recorded).total()), not asked - recorded),
        Line("calls abandoned", str(sum(row[4] for row in rows)), sum(row[4] for row in rows) == sum(lost)),
        Line("spent of the budget", f"{spent:.4f} of {budget:.4f}", reserved == 0 and spent <= budget),
        Line("sum of all calls' costs", f"{cost:.4f}", abs(cost - Decimal(str(spent))) < Decimal("1e-6")),
    ]


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp()
