"""Raters who answer all the time over the API, and remember what the arena acknowledged."""

import json
import time
from collections import Counter
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from threading import Event, Thread
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from tests.faults.places import Place

STUDY = "rated"
CONTESTANTS = 5
PAUSE = 0.2
"""Seconds between two answers of a rater, so that the arena and its commands get processor time too."""

SEED = """
import json, random
from arena.api.auth import rater_token
from arena.models import Comparison, Completion, Pair, Prompt
from tests.factories import make_contestant, make_member, make_rater, make_study
rng = random.Random(0)
words = "the a of model answer question better because which more and less is not long short".split()
study = make_study(slug="{study}", visibility="public", ratings_per_pair_people=9)
field = [make_contestant(study=study) for _ in range({contestants})]
prompts = Prompt.objects.bulk_create(
    Prompt(study=study, external_id=f"p{{n}}", category="coding", turns=[f"Instruction {{n}}"])
    for n in range({prompts})
)
texts = [" ".join(rng.choices(words, k=150)) for _ in range({prompts} * len(field))]
made = Completion.objects.bulk_create(
    (Completion(prompt=prompts[n // len(field)], contestant=field[n % len(field)], turns=[text],
                digest=f"{{n:064x}}") for n, text in enumerate(texts)),
    batch_size=500,
)
first = {{each.prompt_id: each.pk for each in reversed(made)}}
pairs = Pair.objects.bulk_create(
    Pair(prompt_id=prompt, first_id=pk, second_id=pk + 1) for prompt, pk in first.items()
)
before = make_rater()
Comparison.objects.bulk_create(
    (Comparison(study=study, pair=pairs[n % len(pairs)], rater=before, swapped=False, repeat=n // len(pairs),
                points=8, status="scored", rating=1 + n % 8, source="import") for n in range({imported})),
    batch_size=1000,
)
print(json.dumps([rater_token(make_member(study)) for _ in range({raters})]))
"""


@dataclass(frozen=True)
class Said:
    """An answer that the arena said it has stored."""

    assignment: str
    rating: int
    at: float


class Raters:
    """Threads that claim and answer until the block ends; what is refused for a while is sent again."""

    def __init__(self, place: Place, tokens: list[str]) -> None:
        self._address = urlsplit(place.url).netloc
        self._over = Event()
        self._threads = [Thread(target=self._rate, args=(token,), daemon=True) for token in tokens]
        self.acknowledged: list[Said] = []
        self.replies: Counter[tuple[int, str]] = Counter()
        """Status and sentence of all that was refused; status 0 where there was no reply."""

    def __enter__(self) -> "Raters":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(60)

    def wait_for(self, answers: int, seconds: float = 60) -> float:
        """Wait for so many further answers; the seconds it took. Raises RuntimeError if they do not come."""
        started, wanted = time.monotonic(), len(self.acknowledged) + answers
        while len(self.acknowledged) < wanted:
            if time.monotonic() - started > seconds:
                raise RuntimeError(f"{answers} answers did not come in {seconds:g} s: {self.replies}")
            time.sleep(0.05)
        return time.monotonic() - started

    def _rate(self, token: str) -> None:
        rating = 0
        connection = None
        while not self._over.is_set():
            connection = connection or HTTPConnection(self._address, timeout=60)
            try:
                rating = rating % 8 + 1
                self._one(connection, token, rating)
            except (OSError, HTTPException):
                self.replies[0, "no reply"] += 1
                connection = None
            self._over.wait(PAUSE)

    def _one(self, connection: HTTPConnection, token: str, rating: int) -> None:
        status, found = self._ask(connection, token, "/api/v1/assignments/", {"study": STUDY})
        if status not in (200, 201):
            return
        answer = {"assignment": found["assignment"], "rating": rating}
        while not self._over.is_set():
            status, _ = self._ask(connection, token, "/api/v1/comparisons/", answer)
            if status in (200, 201):
                self.acknowledged.append(Said(found["assignment"], rating, time.time()))
            if status != 503:
                return
            self._over.wait(PAUSE)

    def _ask(
        self, connection: HTTPConnection, token: str, path: str, body: dict[str, Any]
    ) -> tuple[int, dict[str, Any]]:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(body), headers)
        reply = connection.getresponse()
        text = reply.read()
        found = json.loads(text) if text and "json" in reply.headers.get("Content-Type", "") else {}
        if reply.status not in (200, 201):
            self.replies[reply.status, str(found.get("detail", ""))] += 1
        return reply.status, found


def seeded(place: Place, *, raters: int, prompts: int, imported: int) -> list[str]:
    """A study with answers and imported ratings; the tokens of its raters."""
    filled = seed(STUDY, raters=raters, prompts=prompts, imported=imported)
    tokens: list[str] = json.loads(place.run(filled))
    return tokens


def seed(study: str, *, raters: int, prompts: int, imported: int) -> str:
    """The program that makes such a study, and prints the tokens."""
    return SEED.format(
        study=study, contestants=CONTESTANTS, prompts=prompts, imported=imported, raters=raters
    )


STORED = """
SELECT a.public_id, c.rating FROM arena_comparison c JOIN arena_assignment a ON a.id = c.assignment_id
"""


def lost(rows: list[tuple[Any, ...]], acknowledged: list[Said]) -> int:
    """How many of the answers are not among the rows of STORED, as they were given."""
    stored = {str(assignment): rating for assignment, rating in rows}
    return sum(stored.get(said.assignment) != said.rating for said in acknowledged)
