"""Battles of the demo study, between models that do not exist: their answers are made here, and say so."""

from typing import Any, Final

from django.db import transaction

from arena.models import Study
from judging.models import Author, BattleRules, Endpoint
from judging.models.endpoints import SIMULATED_ADDRESS
from judging.spending.reservations import battles_purse

SLUG: Final = "demo"

MODELS: Final[dict[str, dict[str, Any]]] = {
    "Lapwing 34B": {"strength": 200, "length": 900, "speed": 90},
    "Redshank 13B": {"strength": 70, "length": 700, "speed": 140},
    "Dunnock 7B": {"strength": -60, "length": 600, "speed": 200},
    "Turnstone 3B": {"strength": -240, "length": 500, "speed": 260},
}
"""Strengths in the order of the study's simulated ratings; characters of an answer, and how many come a
second."""

CONSENT: Final = (
    "No model is asked: the answers of this demo are simulated. What you type and your ratings are stored in "
    "this arena."
)
EXAMPLES: Final = (
    "Why is the sky blue? Explain it to a child of eight.",
    "Write three sentences that sell an umbrella to somebody who lives in a desert.",
    "What is wrong with this line of Python? for i in range(10) print(i)",
)


@transaction.atomic
def open_battles() -> None:
    """Let everybody battle in the demo study; one whose battles have rules stays as it is."""
    study = Study.objects.filter(slug=SLUG, simulated=True, battle_rules=None).first()
    if study is None:
        return
    rules = BattleRules.objects.create(
        study=study, open_to=BattleRules.OpenTo.EVERYBODY, consent=CONSENT, examples=list(EXAMPLES)
    )
    battles_purse(study)
    rules.authors.set(_authors(study))


def _authors(study: Study) -> list[Author]:
    return [
        Author.objects.get_or_create(
            contestant=contestant, defaults={"endpoint": _endpoint(), "options": MODELS[contestant.name]}
        )[0]
        for contestant in study.contestants.filter(name__in=MODELS)
    ]


def _endpoint() -> Endpoint:
    found, _ = Endpoint.objects.get_or_create(
        base_url=SIMULATED_ADDRESS, model="simulated", api_key_env="", defaults={"concurrency": 100}
    )
    return found
