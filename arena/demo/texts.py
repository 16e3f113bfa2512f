"""Simulated scores and checks of the single answers of the closed demo study. Pure and deterministic.

Scores follow the quality that the demo's authors gave an answer, checks the requirements that it meets by
their word, both with the errors stated here.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import combinations, cycle, groupby, product
from typing import Any, Final

from arena.data.formats.records import AnswerRecord, ScoreRecord
from arena.demo import votes
from arena.demo.votes import SimulatedRater

WRONG_SHARE: Final = {False: 0.05, True: 0.12}
"""Of the checks, by whether a judge makes them."""

UNKNOWN_SHARE: Final = 0.03  # share of checks that cannot tell
LATER: Final = timedelta(days=1)  # than the pairs


@dataclass(frozen=True)
class Text:
    """An answer: how good it is, and which of the requirements ``asked`` it meets."""

    prompt: str
    contestant: str
    quality: float
    asked: Sequence[int]
    met: Sequence[int]


def simulate_texts(texts: Iterable[Text]) -> Iterator[ScoreRecord | AnswerRecord]:
    """Scores of answers and checks of their requirements, by the judges and two people for each prompt."""
    rng = random.Random(votes.SEED)  # noqa: S311 - a simulation, no secret
    people = [rater for rater in votes.CLOSED_RATERS if not rater.is_judge]
    judges = [rater for rater in votes.CLOSED_RATERS if rater.is_judge]
    clocks = dict.fromkeys(people, votes.START + LATER) | dict.fromkeys(judges, votes.JUDGES_START + LATER)
    by_prompt = groupby(texts, key=lambda text: text.prompt)
    for (_, answers), chosen in zip(by_prompt, cycle(combinations(people, votes.PEOPLE_PER_PAIR))):
        for text, rater in product(answers, (*chosen, *judges)):
            for said in _opinions(text, rater, rng):
                clocks[rater] += timedelta(seconds=said.seconds or 0)
                yield replace(said, created_at=clocks[rater])


def _opinions(text: Text, rater: SimulatedRater, rng: random.Random) -> Iterator[ScoreRecord | AnswerRecord]:
    score = votes.score(text.quality - 1000 + rng.gauss(0, votes.ERROR / 2**0.5))
    fields = _fields(text, rater, rng, score)
    yield ScoreRecord(score=None if "reason" in fields else score, **fields)
    for question in text.asked:
        answer = _answer(question in text.met, rater, rng)
        fields = _fields(text, rater, rng, answer)
        yield AnswerRecord(question=question, answer=None if "reason" in fields else answer, **fields)


def _answer(is_met: bool, rater: SimulatedRater, rng: random.Random) -> str:
    if rng.random() < UNKNOWN_SHARE:
        return "unknown"
    is_wrong = rng.random() < WRONG_SHARE[rater.is_judge]
    return "yes" if is_met != is_wrong else "no"


def _fields(text: Text, rater: SimulatedRater, rng: random.Random, value: float | str) -> dict[str, Any]:
    """What a score and a check share; some replies of judges are empty, which is the reason for no value."""
    said: dict[str, Any] = {
        "prompt": text.prompt,
        "contestant": text.contestant,
        "rater": rater.slug,
        "rater_kind": "judge" if rater.is_judge else "person",
        "seconds": round(rng.lognormvariate(0.5 if rater.is_judge else 2.3, 0.4), 1),
    }
    if not rater.is_judge:
        return said
    if rng.random() < votes.UNSCORED_SHARE:
        return said | {"reason": "empty"}
    return said | {"raw_reply": f"{value}\n{votes.NO_MODEL}"}
