"""What battles cost: pieces of 100 streams, the wait for first words, and that for other pages meanwhile."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from http.client import HTTPConnection
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import pytest

from judging.battles import door as battles
from judging.battles import starting
from judging.battles.door import door
from judging.endpoints.client import Request
from judging.endpoints.openai_client import OpenAIClient
from judging.models import Battle
from judging.worker.worker import Worker
from tests import factories as make
from tests.faults.battling import Looks, seeded, three_models
from tests.faults.places import place
from tests.faults.services import missing_here
from tests.faults.visiting import visit
from tests.judging.endpoints.server import ChatServer, Streamed
from tests.waiting import eventually

SENTENCE = "This is a sentence of usual length in an answer. "
WORDS = [f"{word} " for word in SENTENCE.split()]


@pytest.fixture
def rules(db):
    with ChatServer(lambda body: Streamed(pieces=WORDS * 30, pause=0.05, delay=0.5)) as server:
        study = make.make_study()
        contestants = [make.make_contestant(study=study) for _ in range(2)]
        named = {"base_url": server.url, "concurrency": 1000, "timeout": 120.0}
        authors = [make.make_author(contestant=each, **named) for each in contestants]
        yield make.make_battle_rules(study=study, authors=authors, most_waiting=1000, blocked_words="x\ny z")


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker(door, 128, "battles")
    worker.start()
    yield worker
    worker.stop(60)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("count", [1, 10, 50])
def test_streams(rules, worker, count, monkeypatch):
    """Prints what each flush takes of the processor, and seconds to the first words of both."""
    spent: list[float] = []
    flush = door.flush

    def timed() -> bool:
        start = time.thread_time()
        goes_on = flush()
        spent.append(1000 * (time.thread_time() - start))
        return goes_on

    monkeypatch.setattr(door._flusher, "_flush", timed)
    begun = time.process_time(), time.monotonic()
    for _ in range(count):
        starting.begin(rules, make.make_visitor(), "", "Why?")
    eventually(lambda: not Battle.objects.exclude(state__in=["ready", "void"]).exists(), 200)
    used, took = time.process_time() - begun[0], time.monotonic() - begun[1]
    assert set(Battle.objects.values_list("state", flat=True)) == {"ready"}
    waits = [(each.begun_at - each.created_at).total_seconds() for each in Battle.objects.all()]
    firsts = [
        (call.begun_at - call.battle.created_at).total_seconds()
        for each in Battle.objects.all()
        for call in each.calls.select_related("battle")
    ]
    print(
        f"\n{2 * count} streams: {median(spent):.1f} ms each {battles.EVERY} s (most {max(spent):.1f}); "
        f"{100 * used / took:.0f}% of a processor in {took:.0f} s, those of the model included; "
        f"first word after {median(firsts):.2f} s, both seen after {median(waits):.2f} s",
        end="",
    )


@pytest.mark.django_db(transaction=True)
def test_first_words_beside_those_of_the_endpoint(rules, worker):
    """Prints seconds to the first word and sentence, asked directly and in a battle, in turns."""
    author, took = rules.authors.first(), {"word": [], "sentence": []}
    for _ in range(5):
        word, sentence = _directly(author)
        battle = starting.begin(rules, make.make_visitor(), "", "Why?")
        eventually(lambda battle=battle: Battle.objects.exclude(begun_at=None).filter(pk=battle.pk), 60)
        battle.refresh_from_db()
        begun = max(battle.calls.values_list("begun_at", flat=True))
        took["word"].append((word, (begun - battle.created_at).total_seconds()))
        took["sentence"].append((sentence, (battle.begun_at - battle.created_at).total_seconds()))
        starting.leave(battle)
    for what, pairs in took.items():
        own, seen = map(median, zip(*pairs, strict=True))
        ratio = median(there / here for here, there in pairs)
        print(f"\nfirst {what}: asked directly {own:.2f} s, in a battle {seen:.2f} s, {ratio:.2f} x", end="")


def _directly(author) -> tuple[float, float]:
    """Seconds to the endpoint's first word and first sentence."""
    came: list[tuple[float, str]] = []
    begun = time.monotonic()
    client = OpenAIClient(author.endpoint.base_url, "none")
    request = Request("loopback", [{"role": "user", "content": "Why?"}], 120.0)
    client.stream(request, lambda piece: came.append((time.monotonic() - begun, piece)), 30.0)
    return came[0][0], next(at for at, piece in came if "." in piece)


READERS = """
from django.test import Client
from django.utils import timezone
from arena.models import Study
from leaderboard.refreshing import services
from tests import factories as make
study = make.make_small_study(slug="other", prompts=10, contestants=5)
study.visibility = "public"
study.save()
services.refresh(study)
rater = make.make_member(study)
rater.memberships.update(guidelines_read_at=timezone.now())
client = Client()
client.force_login(rater.user)
client.get("/rate/other/")
print(client.cookies["sessionid"].value)
"""
PAGES = {"leaderboard": "/studies/other/", "rating page": "/rate/other/"}
VISITORS, LOOKS, MEASURED = 50, 0.2, 60.0


@pytest.mark.parametrize("name", ["embedded", "production"])
def test_other_pages_beside_open_streams(name, tmp_path: Path):
    """Prints how long other pages take while 50 people battle, and before; and how many battles that makes.

    Visitors, models and the arena share the processors.
    """
    if why := missing_here():
        pytest.skip(why)
    models = three_models()
    with place(name, tmp_path, WEB_THREADS="8") as arena:
        watched = seeded(arena, models)
        session = arena.run(READERS).split()[-1]
        arena.start()
        _read(arena.url, session, 5.0)
        alone = _read(arena.url, session, MEASURED / 3)
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool, Looks(arena) as looks:
            visits = [pool.submit(visit, watched, range(first, VISITORS, 2)) for first in range(2)]
            try:
                eventually(lambda: looks.votes >= VISITORS, 300)
                before, begun = looks.votes, time.monotonic()
                beside = _read(arena.url, session, MEASURED)
                votes = (looks.votes - before) * 3600 / (time.monotonic() - begun)
            finally:
                watched.over.touch()
            asked = sum(diary.requests for each in visits for diary in each.result())
    print(f"\n{name}, load {os.getloadavg()[0]:.1f}: {votes:,.0f} rated battles an hour, {asked:,} requests")
    for page in PAGES:
        one, other = _high(alone[page]), _high(beside[page])
        print(f"  {page}: 95 % within {one:.0f} ms alone, {other:.0f} ms beside battles, {other / one:.1f} x")
    for model in models:
        model.server.stop()


def _read(url: str, session: str, seconds: float) -> dict[str, list[float]]:
    """Milliseconds that each page takes, asked in turns for so long."""
    took: dict[str, list[float]] = {page: [] for page in PAGES}
    connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for page, address in PAGES.items():
            begun = time.monotonic()
            connection.request("GET", address, headers={"Cookie": f"sessionid={session}"})
            reply = connection.getresponse()
            reply.read()
            assert reply.status == 200, (address, reply.status)
            took[page].append(1000 * (time.monotonic() - begun))
            time.sleep(LOOKS)
    return took


def _high(milliseconds: list[float]) -> float:
    return sorted(milliseconds)[int(0.95 * (len(milliseconds) - 1))]
