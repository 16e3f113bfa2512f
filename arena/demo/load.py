"""Loads the demo studies, whose files are imported like any others.

Their opinions are simulated, once, by seeded programs that read no text: ``description.md`` of each study
says from which strengths, biases and errors.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from django.db import transaction

from arena.data.formats import catalogue
from arena.data.importing.import_report import ImportReport
from arena.data.importing.imports import import_records
from arena.models import RaterGroup, Study

FOLDER: Final = Path(__file__).parent
OPEN: Final = FOLDER / "open"
CLOSED: Final = FOLDER / "closed"


class DemoError(Exception):
    """A demo's files cannot be imported; the message lists the first problems."""


class Demo(NamedTuple):
    """A study to load from a folder with its description and its records."""

    slug: str
    name: str
    folder: Path
    settings: dict[str, Any]


class Loaded(NamedTuple):
    """A demo study; ``report`` is None if it existed before."""

    study: Study
    report: ImportReport | None


def open_demo() -> Demo:
    """The study that a visitor can rate in."""
    # More ratings than are simulated, so that a visitor can rate at once.
    return Demo("demo", "Demo study", OPEN, {"ratings_per_pair_people": 4, "sign_up_open": True})


def closed_demo() -> Demo:
    """The study whose pairs everybody can read."""
    settings = {
        "ratings_per_pair_people": 2,
        "closed_at": datetime(2025, 3, 17, 9, tzinfo=UTC),
        "licence": "Apache-2.0",
        "tasks": ["compare", "score", "check"],
        "score_lowest": 1,
        "score_highest": 10,
    }
    return Demo("demo-closed", "Demo study, closed", CLOSED, settings)


@transaction.atomic
def load_demo(demo: Demo) -> Loaded:
    """Make the study unless it exists. Raises DemoError and then changes nothing."""
    usual = {
        "name": demo.name,
        "description": (demo.folder / "description.md").read_text(encoding="utf-8"),
        "guidelines": (FOLDER / "guidelines.md").read_text(encoding="utf-8"),
        "points": 8,
        "visibility": Study.Visibility.PUBLIC,
        "simulated": True,
    }
    study, made = Study.objects.get_or_create(slug=demo.slug, defaults=usual | demo.settings)
    if not made:
        return Loaded(study, None)
    RaterGroup.objects.get_or_create(slug="simulated-judges", defaults={"name": "Simulated judges together"})
    report = import_records(demo.slug, catalogue.gather([demo.folder]).items())
    if not report.ok:
        problems = "; ".join(str(problem) for problem in report.errors[:3])
        raise DemoError(f'The demo study "{demo.slug}" cannot be loaded: {problems}.')
    return Loaded(study, report)
