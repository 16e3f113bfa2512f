"""Loads the demo study: its texts and simulated votes are imported like any others."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final

from django.db import transaction

from arena.data.formats import catalogue
from arena.data.formats.records import ComparisonRecord, Item, RaterRecord
from arena.data.importing.import_report import ImportReport
from arena.data.importing.imports import import_records
from arena.demo import votes
from arena.models import Rater, RaterGroup, Study

FOLDER: Final = Path(__file__).parent
SLUG: Final = "demo"
NAME: Final = "Demo study (simulated votes)"
PEOPLE_WANTED: Final = 4  # more than are simulated, so that a visitor can rate at once
JUDGES_GROUP: Final = "simulated-judges"


class DemoError(Exception):
    """The demo's files cannot be imported; the message lists the first problems."""


@dataclass(frozen=True)
class Demo:
    """The demo study; ``report`` is None if it existed before."""

    study: Study
    report: ImportReport | None


@transaction.atomic
def load_demo() -> Demo:
    """Make the demo study unless it exists. Raises DemoError and then changes nothing."""
    study, made = Study.objects.get_or_create(slug=SLUG, defaults=_settings())
    if not made:
        return Demo(study, None)
    RaterGroup.objects.get_or_create(slug=JUDGES_GROUP, defaults={"name": "Simulated judges together"})
    report = import_records(SLUG, _items())
    if not report.ok:
        raise DemoError("; ".join(str(problem) for problem in report.errors[:3]))
    return Demo(study, report)


def _settings() -> dict[str, object]:
    return {
        "name": NAME,
        "description": f"{_text('description.md')}\n{votes.method_note()}",
        "guidelines": _text("guidelines.md"),
        "points": votes.POINTS,
        "ratings_per_pair_people": PEOPLE_WANTED,
        "visibility": Study.Visibility.PUBLIC,
        "sign_up_open": True,
        "simulated": True,
    }


def _items() -> Iterator[Item]:
    files = ("contestants.jsonl", "prompts.jsonl", "completions.jsonl")
    yield from catalogue.gather(FOLDER / name for name in files).items()
    for rater in votes.RATERS:
        groups = (JUDGES_GROUP,) if rater.is_judge else ()
        yield RaterRecord(rater.slug, _kind(rater), name=rater.name, simulated=True, groups=groups)
    prompts = map(json.loads, _text("prompts.jsonl").splitlines())
    categories = {prompt["id"]: prompt["category"] for prompt in prompts}
    for vote in votes.simulate(categories):
        yield _comparison(vote)


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


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
        scores=None if vote.scores is None else (Decimal(vote.scores[0]), Decimal(vote.scores[1])),
        seconds=vote.seconds,
        created_at=vote.created_at,
    )
