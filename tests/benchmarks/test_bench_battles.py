"""What battles cost while they are answered: pieces of 100 streams, and the wait for the first words."""

import time
from collections.abc import Iterator
from statistics import median

import pytest

from judging.battles import door as battles
from judging.battles import starting
from judging.battles.door import door
from judging.endpoints.client import Request
from judging.endpoints.openai_client import OpenAIClient
from judging.models import Battle
from judging.worker.worker import Worker
from tests import factories as make
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


def test_first_word_of_the_endpoint_itself(rules):
    """Prints seconds to its first word, and to its first sentence."""
    came: list[tuple[float, str]] = []
    author, begun = rules.authors.first(), time.monotonic()
    client = OpenAIClient(author.endpoint.base_url, "none")
    request = Request("loopback", [{"role": "user", "content": "Why?"}], 120.0)
    client.stream(request, lambda piece: came.append((time.monotonic() - begun, piece)), 30.0)
    sentence = next(at for at, piece in came if "." in piece)
    print(
        f"\nasked directly: first word after {came[0][0]:.2f} s, first sentence after {sentence:.2f} s",
        end="",
    )
