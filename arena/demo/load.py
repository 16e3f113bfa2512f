"""Loads the demo studies: their texts and simulated votes are imported like any others."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import combinations, groupby
from pathlib import Path
from typing import Any, Final

from django.db import transaction

from arena.data.formats import catalogue
from arena.data.formats.records import (
    AnswerRecord,
    ComparisonRecord,
    GoldRecord,
    Item,
    RaterRecord,
    ScoreRecord,
)
from arena.data.importing.import_report import ImportReport
from arena.data.importing.imports import import_records
from arena.demo import votes
from arena.demo.texts import Text, simulate_texts
from arena.models import Rater, RaterGroup, Study

OPEN: Final = Path(__file__).parent / "open"
CLOSED: Final = Path(__file__).parent / "closed"
JUDGES_GROUP: Final = "simulated-judges"


class DemoError(Exception):
    """A demo's files cannot be imported; the message lists the first problems."""


@dataclass(frozen=True)
class Demo:
    """A study to load: ``folder`` holds its texts, from which its votes, golds and opinions are made."""

    slug: str
    name: str
    folder: Path
    vote: Callable[[Path], list[votes.Vote]]
    raters: tuple[votes.SimulatedRater, ...]
    settings: dict[str, Any]
    golds: Callable[[Path], Iterator[GoldRecord]] = lambda folder: iter(())
    opinions: Callable[[Path], Iterator[ScoreRecord | AnswerRecord]] = lambda folder: iter(())


@dataclass(frozen=True)
class Loaded:
    """A demo study; ``report`` is None if it existed before."""

    study: Study
    report: ImportReport | None


def open_demo() -> Demo:
    """The study that a visitor can rate in."""
    settings = {
        "description": f"{_text(OPEN, 'description.md')}\n{votes.method_note()}",
        "ratings_per_pair_people": 4,  # more than are simulated, so that a visitor can rate at once
        "sign_up_open": True,
    }
    return Demo("demo", "Demo study", OPEN, _drawn, votes.RATERS, settings)


def closed_demo() -> Demo:
    """The study whose pairs everybody can read."""
    settings = {
        "description": _text(CLOSED, "description.md"),
        "ratings_per_pair_people": votes.PEOPLE_PER_PAIR,
        "closed_at": votes.JUDGES_START + timedelta(days=7),
        "licence": "Apache-2.0",
        "tasks": ["compare", "score", "check"],
        "score_lowest": votes.SCORES[0],
        "score_highest": votes.SCORES[1],
    }
    raters = votes.CLOSED_RATERS
    return Demo("demo-closed", "Demo study, closed", CLOSED, _written, raters, settings, _golds, _opinions)


@transaction.atomic
def load_demo(demo: Demo) -> Loaded:
    """Make the study unless it exists. Raises DemoError and then changes nothing."""
    usual = {
        "name": demo.name,
        "guidelines": _text(OPEN, "guidelines.md"),
        "points": votes.POINTS,
        "visibility": Study.Visibility.PUBLIC,
        "simulated": True,
    }
    study, made = Study.objects.get_or_create(slug=demo.slug, defaults=usual | demo.settings)
    if not made:
        return Loaded(study, None)
    RaterGroup.objects.get_or_create(slug=JUDGES_GROUP, defaults={"name": "Simulated judges together"})
    report = import_records(demo.slug, _items(demo))
    if not report.ok:
        raise DemoError("; ".join(str(problem) for problem in report.errors[:3]))
    return Loaded(study, report)


def _items(demo: Demo) -> Iterator[Item]:
    yield from catalogue.gather(sorted(demo.folder.glob("*.jsonl"))).items()
    yield from demo.golds(demo.folder)
    judges = sum(rater.is_judge for rater in demo.raters)
    for rater in demo.raters:
        groups = (JUDGES_GROUP,) if rater.is_judge and judges > 1 else ()
        yield RaterRecord(rater.slug, _kind(rater), name=rater.name, simulated=True, groups=groups)
    for vote in demo.vote(demo.folder):
        yield _comparison(vote)
    yield from demo.opinions(demo.folder)


def _drawn(folder: Path) -> list[votes.Vote]:
    return votes.simulate({prompt["id"]: prompt["category"] for prompt in _rows(folder, "prompts.jsonl")})


def _written(folder: Path) -> list[votes.Vote]:
    return votes.simulate_written(
        {
            (row["prompt"], row["contestant"]): votes.Written(row["extra"]["quality"], row["extra"]["note"])
            for row in _rows(folder, "completions.jsonl")
        }
    )


def _golds(folder: Path) -> Iterator[GoldRecord]:
    """The right answer of every pair: the answer to which the authors gave the higher quality."""
    rows = _rows(folder, "completions.jsonl")
    for prompt, answers in groupby(rows, key=lambda row: str(row["prompt"])):
        for first, second in combinations(answers, 2):
            gold = "first" if first["extra"]["quality"] > second["extra"]["quality"] else "second"
            sides = {"first": first["contestant"], "second": second["contestant"]}
            yield GoldRecord(prompt=prompt, **sides, gold=gold, source="the demo’s authors")


def _opinions(folder: Path) -> Iterator[ScoreRecord | AnswerRecord]:
    questions = Counter(row["prompt"] for row in _rows(folder, "questions.jsonl"))
    return simulate_texts(
        Text(
            row["prompt"],
            row["contestant"],
            row["extra"]["quality"],
            asked=range(1, questions[row["prompt"]] + 1),
            met=row["extra"]["met"],
        )
        for row in _rows(folder, "completions.jsonl")
    )


def _rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    return map(json.loads, _text(folder, name).splitlines())


def _text(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")


def _kind(rater: votes.SimulatedRater) -> str:
    return Rater.Kind.JUDGE.value if rater.is_judge else Rater.Kind.PERSON.value


def _comparison(vote: votes.Vote) -> ComparisonRecord:
    showing = vote.showing
    return ComparisonRecord(
        prompt=showing.prompt,
        first=showing.first,
        second=showing.second,
        rater=showing.rater.slug,
        rater_kind=_kind(showing.rater),
        points=vote.points,
        rating=vote.rating,
        reason=vote.reason,
        raw_reply=vote.raw_reply,
        rationale=vote.rationale,
        scores=None if vote.scores is None else (Decimal(vote.scores[0]), Decimal(vote.scores[1])),
        seconds=vote.seconds,
        created_at=vote.created_at,
    )
