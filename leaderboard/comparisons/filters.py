"""What an address of the comparison browser asks for, as a form and as a question to the index."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import reduce
from operator import or_
from typing import Any, Final
from urllib.parse import urlencode

from django.db import connections
from django.db.models import Q, TextField
from django.db.models.functions import Cast

from arena.models import Contestant, Prompt, Rater, Study
from arena.rules import scales
from leaderboard.snapshots.comparison_index import ONLY, REASONS, Question
from leaderboard.snapshots.settings import UnknownSettingError

LONGEST_SEARCH: Final = 200

ANSWERS: Final = {
    "scored": "Rated",
    "tie": "Ties",
    "side": "One side preferred",
    "unscored": "Not rated",
    "empty": "Not rated: empty reply",
    "out_of_range": "Not rated: number outside the scale",
    "unparsable": "Not rated: no rating found",
    "truncated": "Not rated: reply cut off",
    "refused": "Not rated: refused",
    "undecided": "Not rated: contradicts itself",
    "neither": "Not rated: neither answer is acceptable",
    "identical": "Identical answers",
}

DISAGREEMENTS: Final = {
    "judges": "Judge and people",
    "people": "People differ",
    "flipped": "Changed with the order",
}
SORTS: Final = {"": "Newest", "disagreement": "Most disagreement"}

USUAL: Final = ("category", "contestant", "only", "sort")
"""Selects in sight; the others are behind a click."""

assert set(ANSWERS) == {"scored", "tie", "side", "unscored", *REASONS[1:]}  # noqa: S101 - both are constants
assert set(DISAGREEMENTS) == set(ONLY)  # noqa: S101


@dataclass(frozen=True)
class Choice:
    value: str
    label: str
    chosen: bool


@dataclass(frozen=True)
class Select:
    """One select of the form; the first choice is the empty one."""

    name: str
    label: str
    choices: tuple[Choice, ...]

    @property
    def usual(self) -> bool:
        return self.name in USUAL

    @property
    def changed(self) -> bool:
        return not self.choices[0].chosen


@dataclass(frozen=True)
class Filters:
    """What is asked for, as in addresses; empty means any."""

    search: str = ""
    category: str = ""
    contestant: str = ""
    against: str = ""
    raters: str = ""
    answer: str = ""
    rating: str = ""
    only: str = ""
    sort: str = ""

    def query(self, page: int = 1, **changes: str) -> str:
        values = {name: value for name, value in asdict(replace(self, **changes)).items() if value}
        if page > 1:
            values["page"] = str(page)
        return f"?{urlencode(values)}" if values else ""

    @property
    def asked(self) -> bool:
        return any(value for name, value in asdict(self).items() if name != "sort")


@dataclass(frozen=True)
class Known:
    categories: tuple[str, ...]
    contestants: tuple[Contestant, ...]
    raters: Mapping[str, str]
    points: tuple[int, ...]

    @classmethod
    def of(cls, study: Study, counts: Mapping[str, Any], points: Iterable[int]) -> Known:
        return cls(
            tuple(counts["categories"]),
            tuple(Contestant.objects.filter(study=study).order_by("name", "pk")),
            {choice["selector"]: choice["label"] for choice in counts["raters"]},
            tuple(sorted(points)),
        )

    def options(self) -> Iterator[tuple[str, str, str, dict[str, str]]]:
        """Name, label, words for any, and the choices of each select."""
        names = {contestant.slug: contestant.name for contestant in self.contestants}
        ratings = {f"{r}-{p}": f"{r} of {p}" for p in self.points for r in range(1, p + 1)}
        yield "category", "Category", "Any", {name: name for name in self.categories}
        yield "contestant", "Model", "Any", names
        yield "only", "Disagreement", "Any", DISAGREEMENTS
        yield "sort", "Order", SORTS[""], {value: label for value, label in SORTS.items() if value}
        yield "against", "Against", "Any", names
        yield "raters", "Rated by", "Anybody", dict(self.raters)
        yield "answer", "Result", "Any", ANSWERS
        yield "rating", "Rating, 1 for the answer shown first", "Any", ratings

    def selects(self, filters: Filters) -> tuple[Select, ...]:
        """Those with something to choose."""
        return tuple(
            Select(
                name,
                label,
                tuple(
                    Choice(value, text, value == getattr(filters, name))
                    for value, text in {"": anything, **choices}.items()
                ),
            )
            for name, label, anything, choices in self.options()
            if choices
        )

    def parse(self, wanted: Mapping[str, str]) -> Filters:
        """Raises UnknownSettingError for what the study does not have."""
        found = {"search": " ".join(wanted.get("search", "").replace("\0", " ").split())[:LONGEST_SEARCH]}
        for name, label, _, choices in self.options():
            value = wanted.get(name, "")
            if value and value not in choices:
                shown = value[:100]
                raise UnknownSettingError(f'There is no "{shown}" to choose as {label.lower()} here.')
            found[name] = value
        return Filters(**found)

    def question(self, study: Study, filters: Filters) -> Question:
        ids = {contestant.slug: contestant.pk for contestant in self.contestants}
        chosen = [slug for slug in (filters.contestant, filters.against) if slug]
        rating, _, points = filters.rating.partition("-")
        return Question(
            prompts=_prompts(study, filters),
            contestants=tuple(ids[slug] for slug in dict.fromkeys(chosen)),
            raters=_raters(study, filters.raters),
            answer=filters.answer,
            rating=(int(rating), scales.check_points(int(points))) if rating else None,
            only=filters.only,
            widest=filters.sort == "disagreement",
        )


def _raters(study: Study, selector: str) -> list[int] | None:
    if not selector:
        return None
    return list(Rater.objects.selected(study, selector).order_by().values_list("pk", flat=True))


def _prompts(study: Study, filters: Filters) -> list[int] | None:
    """None where neither category nor text is asked for."""
    if not (filters.category or filters.search):
        return None
    found = Prompt.objects.filter(study=study).order_by()
    if filters.category:
        found = found.filter(category=filters.category)
    if filters.search:
        found = found.annotate(said=Cast("turns", TextField())).filter(_holds(filters.search))
    return list(found.values_list("pk", flat=True))


def _holds(text: str) -> Q:
    """Prompts whose turns, input or id hold a text in any case.

    Turns are stored as JSON, so the text is spelled as JSON. SQLite folds the case of ASCII letters only, so
    other texts are looked for in several spellings.
    """
    sqlite = connections["default"].vendor == "sqlite"
    folded = {text.lower(), text.upper(), text.capitalize()} if sqlite and not text.isascii() else set()
    spellings = {text, *folded}
    as_json = {json.dumps(each, ensure_ascii=sqlite)[1:-1] for each in spellings}
    plain = reduce(or_, (Q(input__icontains=each) | Q(external_id__icontains=each) for each in spellings))
    return reduce(or_, (Q(said__icontains=each) for each in as_json), plain)
