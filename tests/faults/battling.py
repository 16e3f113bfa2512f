"""Visitors battle while workers are killed: no name is told before its vote, no vote and no money is lost.

Three models answer: a fast one, a slow one, and one that fails, is cut off, names itself or says what the
study does not let through.
"""

import json
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from judging.endpoints.costs import Prices, most_prompt_tokens
from tests.faults.drill import Say
from tests.faults.evidence import Line, in_a_folder
from tests.faults.places import Place, place
from tests.faults.visiting import Diary, Seen, Watched, all_of, visit
from tests.judging.battles.timing import ALPHA, Course, chances
from tests.judging.endpoints.server import Answer, ChatServer, Streamed, text_of
from tests.waiting import eventually

PROCESSES: Final = 3
LEAST, MOST = 3.0, 60.0
"""Seconds from the start of a worker to the next kill, which waits until answers of battles are seen."""

SEEN: Final = 0.2  # of the visitors see answers grow as a worker is killed
GROWING: Final = 2.0  # seconds ago that an answer grew which still does
BLOCKED, STOPPED = "grumblewort", "snarkleweed"
MAX_TOKENS: Final = 500
PRICES: Final = Prices(Decimal(2), Decimal(8))
PIECE: Final = 40  # characters that come at once
SETTLING: Final = 180.0  # seconds in which all is settled after the last visitor has gone
QUIET: Final = 4.0  # seconds without an open battle, after which the budget is used up
NEARLY: Final = Decimal("1e-6")  # SQLite stores amounts as floating-point numbers
ROOM: Final = Decimal("0.02")  # that is left of the budget in the end

SEED = """
from decimal import Decimal
from judging.spending.budgets import set_battles_budget
from tests import factories as make
study = make.make_study(slug="live", name="Live study", visibility="public", points=8)
authors = []
for name, organisation, slug, model, url in {models}:
    make.make_price(model=model)
    contestant = make.make_contestant(study=study, name=name, organisation=organisation, slug=slug)
    asked = dict(base_url=url, model=model, timeout=60.0, concurrency=500)
    authors.append(make.make_author(contestant=contestant, **asked))
make.make_battle_rules(
    study=study, authors=authors, max_tokens={max_tokens}, blocked_words="{blocked}\\n{stopped}",
    visitor_daily=10000, address_daily=10000, random_share=1.0,
)
set_battles_budget(study, Decimal(100), "USD")
"""
SQUEEZE = """
from decimal import Decimal
from django.db import transaction
from arena.models import Study
from judging.models import Purse
from judging.spending.budgets import set_battles_budget
from judging.spending.reservations import lock_all
with transaction.atomic():
    lock_all()
    purse = Purse.objects.select_for_update().get(scope="battles")
    set_battles_budget(Study.objects.get(), purse.spent + purse.reserved + Decimal("{room}"), "USD")
"""
LOOK = """
SELECT budget, spent, reserved,
       (SELECT count(*) FROM judging_battle WHERE state = 'voted'), (SELECT count(*) FROM judging_battle),
       (SELECT count(*) FROM judging_battle WHERE state IN ('waiting', 'answering', 'ready'))
FROM judging_purse WHERE scope = 'battles'
"""
RELEASED = "SELECT id, released FROM judging_battle WHERE state = 'answering' AND released > 0"
LEFT = """
SELECT (SELECT count(*) FROM judging_battle WHERE state IN ('waiting', 'answering', 'ready')),
       (SELECT count(*) FROM judging_battlecall WHERE state IN ('waiting', 'in_flight')),
       (SELECT count(*) FROM judging_purse WHERE reserved <> 0)
"""
BATTLES = """
SELECT b.public_id, b.void, f.slug, s.slug, b.comparison_id, c.rating, c.neither, b.rater_id
FROM judging_battle b
JOIN arena_contestant f ON f.id = b.first_id JOIN arena_contestant s ON s.id = b.second_id
LEFT JOIN arena_comparison c ON c.id = b.comparison_id
"""
VOTES = """
SELECT (SELECT count(*) FROM arena_comparison), (SELECT count(*) FROM arena_assignment),
       (SELECT count(DISTINCT assignment_id) FROM arena_comparison)
"""
CALLS = """
SELECT o.slug, b.turns, c.turn, c.attempt, c.abandoned, c.finish_reason, c.cost, c.messages
FROM judging_battlecall c JOIN judging_battle b ON b.id = c.battle_id
JOIN judging_author a ON a.id = c.author_id JOIN arena_contestant o ON o.id = a.contestant_id
"""
TEXTS = "SELECT count(*) FROM arena_completion WHERE lower(CAST(turns AS text)) LIKE '%{word}%'"

OF_WORDS: Final[Mapping[str, str]] = {
    "prompt": "Your prompt was not let through",
    "flagged": "An answer was not let through",
    "failed": "A model gave no answer",
    "cut": "An answer was cut off",
    "hung": "An answer stopped coming",
    "budget": "What battles may cost is used up",
    "left": "You left this battle",
}
"""What a visitor is told of a battle that ended without a vote, by why it did."""

KEPT: Final = frozenset({"cut", "hung", "left", "budget"})
"""Of these, what was seen stays."""


@dataclass(eq=False)
class Asked:
    """A request as the model's server counts it: with its cost, if it was answered as a whole or refused."""

    text: str
    cost: Decimal | None = None


@dataclass(frozen=True)
class _Counted(Streamed):
    """A stream that tells when all of it was sent."""

    sent: Callable[[], None] = lambda: None

    def parts(self) -> Iterator[bytes]:
        yield from super().parts()
        if not self.cut:
            self.sent()


@dataclass(eq=False)
class Model:
    """One model with its server. ``speed``: characters a second; ``delay``: seconds to the first of them."""

    name: str
    organisation: str
    slug: str
    id: str
    speed: float
    delay: float
    fails: bool = False
    asked: list[Asked] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.server = ChatServer(self._answer)

    @property
    def secrets(self) -> list[str]:
        return [self.name, self.organisation, self.slug, self.id, self.server.url.removeprefix("http://")]

    @property
    def seed(self) -> tuple[str, ...]:
        return self.name, self.organisation, self.slug, self.id, self.server.url

    def _answer(self, body: dict[str, Any]) -> Answer:
        asked = Asked(text_of(body))
        self.asked.append(asked)
        rng = random.Random(f"{self.slug} {asked.text}")
        luck = rng.random() if self.fails else 1.0
        if luck < 0.08:
            asked.cost = Decimal(0)
            return Answer(status=500, raw=b'{"error": {"message": "oops"}}', delay=self.delay)
        text = self._text(rng, named=0.2 < luck < 0.5, stopped=0.14 < luck < 0.2)
        tokens = (sum(len(each["content"]) for each in body["messages"]) // 4, len(text) // 4)
        return _Counted(
            pieces=[text[start : start + PIECE] for start in range(0, len(text), PIECE)],
            pause=PIECE / self.speed,
            delay=self.delay,
            tokens=tokens,
            cut=luck < 0.14,
            sent=partial(setattr, asked, "cost", PRICES.of(*tokens)),
        )

    def _text(self, rng: random.Random, *, named: bool, stopped: bool) -> str:
        sentences = [_sentence(rng) for _ in range(rng.randint(4, 10))]
        if named:
            sentences.insert(rng.randrange(3), f"I am {self.name}, made by {self.organisation}.")
            sentences.append(f"So {self.name} has ended.")
        if stopped:
            sentences.insert(3, f"This is {STOPPED.title()}.")
        return "\n\n".join(" ".join(sentences[start : start + 3]) for start in range(0, len(sentences), 3))


def _sentence(rng: random.Random) -> str:
    words = ("".join(rng.choices("abcdefgh", k=rng.randint(2, 9))) for _ in range(rng.randint(4, 18)))
    return " ".join(words).capitalize() + "."


def three_models() -> list[Model]:
    return [
        Model("BriskLark", "LarkHolding", "kontender-b", "mdl-brisk", 300.0, 0.1),
        Model("MossTurtle", "TurtleHouse", "kontender-m", "mdl-moss", 60.0, 1.0),
        Model("WobbleFinch", "FinchMakers", "kontender-w", "mdl-wobble", 120.0, 0.4, fails=True),
    ]


class Looks:
    """Looks at the purse of battles all the time, and at how many battles there are."""

    def __init__(self, arena: Place) -> None:
        self._arena, self._over = arena, threading.Event()
        self._thread = threading.Thread(target=self._look_on, daemon=True)
        self.count = self.votes = self.battles = self.seen = self.passed = 0
        self.most = Decimal(0)  # of the budget
        self._released: dict[int, tuple[int, float]] = {}  # characters, and since when
        self.quiet_since = time.monotonic()  # without an open battle

    def __enter__(self) -> "Looks":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(60)

    def _look_on(self) -> None:
        while not self._over.wait(0.3):
            budget, spent, reserved, self.votes, self.battles, is_open = self._arena.query(LOOK)[0]
            used = Decimal(str(spent)) + Decimal(str(reserved))
            self.count += 1
            self.passed += used > Decimal(str(budget)) + NEARLY
            self.most = max(self.most, used / Decimal(str(budget)))
            if is_open:
                self.quiet_since = time.monotonic()
            self._look_at_answers(dict(self._arena.query(RELEASED)))

    def _look_at_answers(self, released: Mapping[int, int]) -> None:
        """Count the battles of which more is seen than a moment ago: workers are busy with these."""
        now = time.monotonic()
        kept = {key: (count, now) for key, count in released.items()}
        self._released = {
            key: old if (old := self._released.get(key)) and old[0] == new[0] else new
            for key, new in kept.items()
        }
        self.seen = sum(now - since < GROWING for _, since in self._released.values())


@dataclass(frozen=True)
class Evidence:
    """All witnesses of a drill."""

    arena: Place
    models: Sequence[Model]
    diaries: Sequence[Diary]
    looks: Looks
    lost: Sequence[int]
    left: Sequence[int]


def battled(name: str, say: Say, visitors: int = 50, kills: int = 20, votes: int = 150) -> list[Line]:
    """One drill in the place with this name, until there are so many votes at least."""
    return in_a_folder("battling", lambda folder: _battled(folder, name, say, visitors, kills, votes))


def _battled(folder: Path, name: str, say: Say, visitors: int, kills: int, votes: int) -> list[Line]:
    models = three_models()
    with ExitStack() as stack:
        arena = stack.enter_context(place(name, folder))
        arena.calls = "judging_battlecall"
        watched = seeded(arena, models)
        for model in models:
            stack.callback(model.server.stop)
        arena.start()
        say(f"{visitors} visitors come, {kills} workers will be killed; all is in {folder}")
        pool = stack.enter_context(ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")))
        stack.callback(watched.over.touch)  # also where something fails
        looks = stack.enter_context(Looks(arena))
        numbers = [range(first, visitors, PROCESSES) for first in range(min(PROCESSES, visitors))]
        visits = [pool.submit(visit, watched, each) for each in numbers]
        lost = list(_kill(arena, looks, kills, SEEN * visitors, say))
        eventually(lambda: looks.votes >= votes, 600, 0.1)
        _use_up(arena, looks, say)
        watched.over.touch()
        diaries = _ended(visits)
        left = _settled(arena, say)
        return _lines(Evidence(arena, models, diaries, looks, lost, left))


def seeded(arena: Place, models: Sequence[Model]) -> Watched:
    """What visitors are to watch in an arena with these models, whose servers are started."""
    for model in models:
        model.server.start()
    seed = {"models": [model.seed for model in models], "max_tokens": MAX_TOKENS}
    arena.run(SEED.format(**seed, blocked=BLOCKED, stopped=STOPPED))
    arena.manage("collectstatic", "--verbosity=0", "--no-input")
    secrets = [secret for model in models for secret in model.secrets]
    return Watched(arena.url, arena.folder / "over", secrets, STOPPED, BLOCKED)


def _kill(arena: Place, looks: Looks, kills: int, seen: float, say: Say) -> Iterator[int]:
    """Kill workers one after the other, while answers grow; the calls that were in flight."""
    for number in range(1, kills + 1):
        time.sleep(LEAST)
        until = time.monotonic() + MOST - LEAST
        eventually(lambda until=until: looks.seen >= seen or time.monotonic() > until, MOST, 0.05)
        lost = arena.kill_worker()
        say(f"{looks.votes} votes on {looks.battles} battles: kill {number} ({lost} calls in flight)")
        yield lost


def _use_up(arena: Place, looks: Looks, say: Say) -> None:
    """Lower the budget until hardly a battle can begin, and wait until none does."""
    arena.run(SQUEEZE.format(room=ROOM))
    say(f"{looks.votes} votes on {looks.battles} battles: little is left of the budget")
    eventually(lambda: time.monotonic() - looks.quiet_since > QUIET, 300, 0.1)


def _ended(visits: Sequence[Future[list[Diary]]]) -> list[Diary]:
    return [diary for each in visits for diary in each.result()]


def _settled(arena: Place, say: Say) -> list[int]:
    """What is open once all had time to be settled: battles, calls, reservations."""
    deadline = time.monotonic() + SETTLING
    while any(left := arena.query(LEFT)[0]) and time.monotonic() < deadline:
        time.sleep(0.5)
    say(f"open battles, calls and reservations: {', '.join(map(str, left))}")
    return list(left)


def _lines(found: Evidence) -> list[Line]:
    battles = {row[0]: _Battle(*row) for row in found.arena.query(BATTLES)}
    seen = [each for diary in found.diaries for each in diary.battles]
    return [
        Line("workers killed", str(len(found.lost))),
        Line("calls in flight when one was killed", str(sum(found.lost))),
        Line("visitors", str(len(found.diaries))),
        Line("requests of visitors", f"{sum(each.requests for each in found.diaries):,}"),
        Line("of these asked again as the arena was away", str(sum(each.away for each in found.diaries))),
        *_hidden(found, seen, battles),
        *_voted(found, seen, battles),
        *_paid(found),
        *_stopped(found, seen),
        *_ends(found, seen, battles),
    ]


@dataclass(frozen=True)
class _Battle:
    """A battle as the database has it; slugs of both models."""

    name: str
    void: str
    first: str
    second: str
    comparison: int | None
    rating: int | None
    neither: bool | None
    rater: int


def _none(what: str, wrong: Sequence[Any]) -> Line:
    """A line of what must not be; with the first of it."""
    return Line(what, f"{len(wrong)}: {wrong[0]}"[:300] if wrong else "0", not wrong)


def _hidden(found: Evidence, seen: Sequence[Seen], battles: Mapping[str, _Battle]) -> list[Line]:
    """What was told before its time, in words or by the clock."""
    names = {model.slug: model.name for model in found.models}
    wrong = [
        each.name
        for each in seen
        if each.vote
        and (one := battles.get(each.name))
        and each.told != [names[one.first], names[one.second]]
    ]
    size = sum(diary.bytes for diary in found.diaries)
    leaks = list(all_of(found.diaries, "leaks"))
    return [
        _none(f"names and addresses in {size / 1e6:.0f} MB before a vote", leaks),
        _none("votes after which other names were told", wrong),
        *(_timed(pair, seen, battles) for pair in _pairs(found.models)),
    ]


def _pairs(models: Sequence[Model]) -> list[tuple[Model, Model]]:
    """Pairs of models, the faster one first."""
    order = sorted(models, key=lambda model: -model.speed)
    return [(fast, slow) for place, fast in enumerate(order) for slow in order[place + 1 :]]


def _timed(pair: tuple[Model, Model], seen: Sequence[Seen], battles: Mapping[str, _Battle]) -> Line:
    """How likely the clearest clue to the slower model is by chance."""
    slugs = [model.slug for model in pair]
    courses = [
        Course((turn.texts[0], turn.texts[1]), turn.looks, 0 if one.first == slugs[1] else 1)
        for each in seen
        if (one := battles.get(each.name)) and {one.first, one.second} == set(slugs)
        for turn in each.turns
        if any(any(look.lengths) for look in turn.looks)
    ]
    clue, chance = min(chances(courses).items(), key=lambda item: item[1])
    what = f"chance of the clearest clue to the slower of {pair[0].name} and {pair[1].name}"
    return Line(what, f"{chance:.3f} ({clue} of {len(courses)} answers)", chance > ALPHA)


def _voted(found: Evidence, seen: Sequence[Seen], battles: Mapping[str, _Battle]) -> list[Line]:
    accepted = {each.name: each.vote for each in seen if each.vote}
    stored = {
        each.name: (each.rating, bool(each.neither))
        for each in battles.values()
        if each.comparison is not None
    }
    wrong = [name for name in accepted.keys() | stored.keys() if accepted.get(name) != stored.get(name)]
    comparisons, assignments, distinct = found.arena.query(VOTES)[0]
    count = len(accepted)
    return [
        Line("battles", str(len(battles))),
        Line("votes accepted", str(count)),
        Line("comparisons stored", str(comparisons), comparisons == count),
        Line("assignments", f"{assignments} ({distinct} with one)", assignments == distinct == count),
        _none("battles with another vote than was accepted", wrong),
    ]


@dataclass(frozen=True)
class Call:
    """A call as the database has it."""

    slug: str
    text: str
    attempt: int
    abandoned: int
    is_stopped: bool
    cost: Decimal
    bound: Decimal

    @property
    def is_sure(self) -> bool:
        """True where the arena has heard all that the server says."""
        return not (self.abandoned or self.is_stopped)


def _call(row: Sequence[Any]) -> Call:
    slug, turns, turn, attempt, abandoned, reason, cost, messages = row
    turns, messages = (json.loads(each) if isinstance(each, str) else each for each in (turns, messages))
    bound = PRICES.of(most_prompt_tokens(messages), MAX_TOKENS)
    amount = Decimal(str(cost or 0)).quantize(bound)
    return Call(slug, turns[turn - 1], attempt, abandoned, reason == "stopped", amount, bound)


def _paid(found: Evidence) -> list[Line]:
    """The purse against what the servers of the models count."""
    calls: dict[tuple[str, str], list[Call]] = defaultdict(list)
    for each in map(_call, found.arena.query(CALLS)):
        calls[each.slug, each.text].append(each)
    asked: dict[tuple[str, str], list[Asked]] = defaultdict(list)
    for model in found.models:
        for each in model.asked:
            asked[model.slug, each.text].append(each)
    unknown = [key for key, made in asked.items() if len(made) > sum(one.attempt for one in calls[key])]
    sums = [Sum.of(rows, asked[key]) for key, rows in calls.items() if rows]
    [(budget, spent, reserved, *_)] = found.arena.query(LOOK)
    spent = Decimal(str(spent)).quantize(Decimal("1e-6"))
    cost = sum(each.cost for each in sums).quantize(Decimal("1e-6"))
    counted, most = sum(each.counted for each in sums), sum(each.most for each in sums)
    refused = sum((diary.refused for diary in found.diaries), Counter[str]())
    no_more = sum(number for words, number in refused.items() if "used up" in words or "budget" in words)
    return [
        Line("requests to models", str(sum(map(len, asked.values())))),
        _none("requests without a call", unknown),
        Line("looks at the budget", f"{found.looks.count}, at most {100 * found.looks.most:.1f}% of it used"),
        Line("of these above it", str(found.looks.passed), found.looks.passed == 0),
        Line("battles refused as the budget was used up", str(no_more), no_more > 0),
        Line("spent", f"{spent:.4f} of {float(budget):.4f}", spent <= Decimal(str(budget)) and not reserved),
        Line("sum of all calls", f"{cost:.4f}", cost == spent),
        Line("as the servers count", f"{counted:.4f}, at most {most:.4f}", counted <= spent <= most),
        _none("calls that cost other than their server counts", [one.about for one in sums if one.is_wrong]),
    ]


@dataclass(frozen=True)
class Sum:
    """What calls about one text cost, and what their server counts for them, at least and at most."""

    about: str
    cost: Decimal
    counted: Decimal
    most: Decimal

    @property
    def is_wrong(self) -> bool:
        return not self.counted <= self.cost <= self.most

    @classmethod
    def of(cls, calls: Sequence[Call], asked: Sequence[Asked]) -> "Sum":
        """What was stopped, or under way at a kill, costs the most that it can, whatever the server says."""
        bound = calls[0].bound
        counted = sum((bound if one.cost is None else one.cost for one in asked), Decimal(0))
        is_sure = all(call.is_sure for call in calls)
        most = counted if is_sure else bound * sum(call.attempt for call in calls)
        cost = sum((call.cost for call in calls), Decimal(0))
        return cls(f"{calls} {asked}", cost, counted, most)


def _stopped(found: Evidence, seen: Sequence[Seen]) -> list[Line]:
    """What the study does not let through."""
    bad = [each for each in seen if any(BLOCKED in turn.said.casefold() for turn in each.turns)]
    asked = [one.text for model in found.models for one in model.asked if BLOCKED in one.text.casefold()]
    stored = [row for row in found.arena.query(TEXTS.format(word=STOPPED)) if row[0]]
    return [
        Line("battles about prompts with a blocked word", str(len(bad))),
        _none("of these asked or voted on", [*asked, *(each.name for each in bad if each.vote)]),
        _none("replies with a blocked word of an answer", list(all_of(found.diaries, "flagged"))),
        _none("answers stored with one", stored),
    ]


def _ends(found: Evidence, seen: Sequence[Seen], battles: Mapping[str, _Battle]) -> list[Line]:
    """How battles ended, and what their visitors were told and shown of it."""
    voids = Counter(each.void for each in battles.values() if each.void)
    missing = [each.name for each in seen if each.name not in battles]
    ended = [(each, battles[each.name].void) for each in seen if each.why and each.name in battles]
    untold = [f"{void}: {each.why}" for each, void in ended if not each.why.startswith(OF_WORDS[void])]
    gone = [f"{each.name}: {void}" for each, void in ended if each.is_hidden and void in KEPT]
    told = ", ".join(f"{count} {void}" for void, count in sorted(voids.items()))
    return [
        Line("battles without a vote", told),
        _none("of these told as something else", [*untold, *missing]),
        _none("texts that were seen and then were shorter", [*all_of(found.diaries, "shortened"), *gone]),
        Line("open battles, calls and reservations", ", ".join(map(str, found.left)), not any(found.left)),
        _none("requests and battles that went wrong", list(all_of(found.diaries, "troubles"))),
    ]
