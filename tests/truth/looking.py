"""Everything that can be read of a small study: its pages as a visitor and an operator, commands, API."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from django.core.management import CommandError, call_command
from django.test import Client

from leaderboard.refreshing import computing
from tests.truth.reading import Page
from tests.truth.studies import Made

ALWAYS: Final = ("", "agreement/")
PAGES: Final = [
    "categories/",
    "raters/",
    "judges/",
    "agreement/two/",
    "trust/",
    "trust/two/",
    "trust/wrong/",
    "requirements/",
    "scores/",
    "features/",
    "comparisons/",
    "plan/",
    "data/",
    "results/",
    "anchored/",
    "releases/",
    "status/",
    "export/",
]
OPERATED: Final = [
    "",
    "guidelines/",
    "rating/",
    "prompts/",
    "requirements/",
    "contestants/",
    "answers/",
    "pairs/",
    "publish/",
    "people/",
    "progress/",
    "progress/pairs/",
    "progress/flags/",
    "state/",
    "export/",
    "judges/",
    "raters/",
    "disagreements/",
    "error-tags/",
    "releases/",
]
COMMANDS: Final = (
    ("standings",),
    ("standings", "--ties", "off", "--method", "bradley-terry"),
    ("standings", "--no-bootstrap"),
    ("agreement",),
    ("scores",),
    ("drfr",),
    ("meta_evaluate",),
    ("meta_evaluate", "--gold", "people", "--least", "1"),
)
PARTS: Final = 10
PROSE: Final = 4
"""A string of JSON with fewer words is a name or a value."""


@dataclass(frozen=True)
class Reading:
    """What somebody reads at an address or from a command."""

    made: Made
    address: str
    page: Page
    status: int = 200

    @property
    def sentences(self) -> list[str]:
        return self.page.sentences


def part_of(made: Made, part: int) -> Iterator[Reading]:
    """What is said of the study in one of PARTS parts of all addresses and commands."""
    every = [*_addresses(made), *(("command", *command) for command in COMMANDS)]
    for number, place in enumerate(every):
        if number % PARTS == part or (place[0] != "command" and place[1] in _always(made)):
            yield from _read(made, place)


def _always(made: Made) -> list[str]:
    return ["/", *(f"/studies/{made.study.slug}/{page}" for page in ALWAYS)]


def _addresses(made: Made) -> Iterator[tuple[str, ...]]:
    """Who looks, and where."""
    base, who = f"/studies/{made.study.slug}/", "operator" if "private" in made.small.state else "visitor"
    raters = ["people", *(f"judge:{judge.slug}" for judge in made.judges)]
    yield "operator", "/"
    yield from ((who, f"{base}{page}") for page in (*ALWAYS, *PAGES))
    for selector in raters:
        yield who, f"{base}raters/{selector}/"
        for more in ("", "&method=bradley-terry", "&ties=off", "&method=davidson&level=80"):
            yield who, f"{base}?raters={selector}{more}"
        yield who, f"{base}data/?raters={selector}"
        yield who, f"{base}trust/?gold={selector}"
    yield who, f"{base}agreement/?category=facts"
    yield from ((who, f"{base}contestants/{model.slug}/") for model in made.models)
    first, second = (model.slug for model in made.models[:2])
    yield from ((who, f"{base}compare/{first}/{second}/?raters={selector}") for selector in raters)
    yield from (("operator", f"/operate/{made.study.slug}/{page}") for page in OPERATED)
    yield from ((who, path.replace("{slug}", made.study.slug)) for path in _of_the_api())


@cache
def _of_the_api() -> tuple[str, ...]:
    paths: dict[str, dict[str, Any]] = json.loads(Client().get("/api/v1/openapi.json").content)["paths"]
    return tuple(
        path for path, ways in paths.items() if "get" in ways and "{slug}" in path and path.count("{") == 1
    )


def _read(made: Made, place: tuple[str, ...]) -> Iterator[Reading]:
    who, *what = place
    if who == "command":
        name, *options = what
        yield Reading(made, " ".join(what), Page.plain(_printed(name, made.study.slug, *options)))
        return
    client = made.client(who)
    answer = client.get(what[0], follow=True)
    while computing.compute_next(made.study.pk):
        answer = client.get(what[0], follow=True)
    kind = answer.get("Content-Type", "")
    if answer.streaming or not kind.startswith(("text/html", "application/json")):
        return
    source = answer.content.decode()
    page = Page(source) if "html" in kind else Page.plain("\n".join(_prose(json.loads(source))))
    yield Reading(made, what[0], page, answer.status_code)


def _printed(command: str, *arguments: str) -> str:
    out = io.StringIO()
    try:
        call_command(command, *arguments, stdout=out, stderr=out)
    except CommandError as error:
        return f"{out.getvalue()}\n{error}"
    return out.getvalue()


def _prose(value: Any) -> Iterator[str]:
    """The strings of JSON that are sentences."""
    if isinstance(value, dict):
        for each in value.values():
            yield from _prose(each)
    elif isinstance(value, list):
        for each in value:
            yield from _prose(each)
    elif isinstance(value, str) and len(value.split()) >= PROSE and not value.startswith(("word ", "@misc")):
        yield value
