"""What the pages of a study share, and the steps of setting it up."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone

from arena.data.writing import MEDIA_TYPES, WRITERS, Row, Table
from arena.models import Invitation, Study
from arena.people.permissions import OperatorRequest
from arena.rating.pairing import DEFAULT_STRATEGY
from arena.studies import counts

State = Literal["done", "open", "attention", "optional"]

WORDS: Final[dict[State, str]] = {
    "done": "done",
    "open": "to do",
    "attention": "look at this",
    "optional": "as you like",
}
BADGES: Final[dict[State, str]] = {
    "done": "badge-good",
    "open": "badge-info",
    "attention": "badge-warn",
    "optional": "",
}


@dataclass(frozen=True)
class Step:
    number: int
    title: str
    address: str
    state: State
    summary: str

    @property
    def word(self) -> str:
        return WORDS[self.state]

    @property
    def badge(self) -> str:
        return BADGES[self.state]


Finding = tuple[State, str]


class _Facts:
    def __init__(self, study: Study) -> None:
        self.study = study
        self.cells = counts.cells(study)
        self.wanted = counts.wanted(study)
        self.people = counts.people_in(study)
        self.judges = counts.judges_in(study)
        self.links = sum(link.is_open for link in Invitation.objects.filter(study=study))


def _guidelines(facts: _Facts) -> Finding:
    words = len(facts.study.guidelines.split())
    if not words:
        return "open", "Raters are told nothing yet but the scale."
    return "done", f"{words:,} word{pluralize(words)}."


def _rating(facts: _Facts) -> Finding:
    study = facts.study
    said = [f"{study.points} points", f"{study.ratings_per_pair_people} wanted per pair"]
    if study.criteria:
        said.append(f"{len(study.criteria)} criteri{pluralize(study.criteria, 'on,a')}")
    if study.pairing != DEFAULT_STRATEGY:
        said.append(f"{study.pairing} choice of pairs")
    if study.repeat_share or study.gold_share:
        said.append("with hidden repeats or checks")
    return "done", ", ".join(said).capitalize() + "."


def _prompts(facts: _Facts) -> Finding:
    if not facts.cells.prompts:
        return "open", "No prompts yet. Import a file, or paste some."
    return "done", f"{facts.cells.prompts:,} prompt{pluralize(facts.cells.prompts)}."


def _contestants(facts: _Facts) -> Finding:
    number = facts.cells.contestants
    if number < 2:
        return "open", f"{number} contestant{pluralize(number)}; two are the least that can be compared."
    return "done", f"{number:,} contestants."


def _completions(facts: _Facts) -> Finding:
    found = facts.cells
    if not found.filled:
        return "open", "No answers yet. Import a file with prompt, contestant and text."
    if found.holes:
        return (
            "attention",
            f"{found.filled:,} answers; {found.holes:,} {pluralize(found.holes, 'is,are')} missing.",
        )
    return "done", f"{found.filled:,} answers; none is missing."


def _pairs(facts: _Facts) -> Finding:
    found = facts.wanted
    if not found.pairs:
        return "open", "Nothing to compare yet: no prompt has two answers."
    pairs = f"{found.pairs:,} pair{pluralize(found.pairs)}"
    wanted = f"{found.wanted:,} comparison{pluralize(found.wanted)} wanted"
    left = f"still to come: {found.left:,}" if found.left else "none is missing"
    return "done", f"{pairs}, {wanted}; {left}."


def _raters(facts: _Facts) -> Finding:
    people = f"{facts.people:,} {pluralize(facts.people, 'person,people')} may rate"
    said = f"{people}; {facts.links} open link{pluralize(facts.links)}."
    if facts.people or facts.links or facts.study.sign_up_open:
        return "done", said
    return "open", "Nobody may rate yet. Make an invitation link, or open sign-up."


def _judges(facts: _Facts) -> Finding:
    if facts.judges:
        return "done", f"{facts.judges} judge{pluralize(facts.judges)}."
    return "optional", "None. Language models can rate the same pairs as people."


def _publish(facts: _Facts) -> Finding:
    if facts.study.is_public:
        return "done", "Public: the board is open to all."
    return "optional", "Private: only operators and viewers see the board."


STEPS: Final[dict[str, tuple[str, Callable[[_Facts], Finding]]]] = {
    "operate-guidelines": ("Guidelines", _guidelines),
    "operate-rating": ("How it is rated", _rating),
    "operate-prompts": ("Prompts", _prompts),
    "operate-contestants": ("Contestants", _contestants),
    "operate-completions": ("Answers", _completions),
    "operate-pairs": ("Pairs", _pairs),
    "operate-people": ("People", _raters),
    "operate-judges": ("Judges", _judges),
    "operate-publish": ("Publish", _publish),
}
"""The steps by URL name, in order."""


def steps(study: Study) -> list[Step]:
    facts = _Facts(study)
    return [
        Step(number, title, reverse(name, args=[study.slug]), *look(facts))
        for number, (name, (title, look)) in enumerate(STEPS.items(), start=1)
    ]


@dataclass(frozen=True)
class Place:
    number: int
    of: int
    title: str
    next_title: str
    next_address: str


def place(study: Study, name: str) -> Place | None:
    names = list(STEPS)
    if name not in names:
        return None
    at = names.index(name)
    last = at + 1 == len(names)
    following = "operate-progress" if last else names[at + 1]
    title = "Progress" if last else STEPS[following][0]
    return Place(at + 1, len(names), STEPS[name][0], title, reverse(following, args=[study.slug]))


def next_step(found: list[Step]) -> Step | None:
    return next((step for step in found if step.state == "open"), None)


PER_PAGE: Final = 50


def show(
    request: OperatorRequest, template: str, context: dict[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    shared = {"study": request.study, "place": _place(request)}
    return render(request, f"operating/{template}", shared | (context or {}), status=status)


def paged(request: HttpRequest, rows: Any, per_page: int = PER_PAGE, name: str = "page") -> "Page[Any]":
    """The page of rows that the address asks for, or the nearest."""
    return Paginator(rows, per_page).get_page(request.GET.get(name))


def download(study: Study, table: Table, rows: Iterable[Row], form: str) -> StreamingHttpResponse:
    name = f"{study.slug}-{table.name}-{timezone.now():%Y-%m-%d}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    pieces = WRITERS[form](table, rows)
    return StreamingHttpResponse(pieces, content_type=MEDIA_TYPES[form], headers=headers)


def next_of(request: OperatorRequest) -> str:
    """The address of the step after the page shown; empty if the page is no step."""
    place = _place(request)
    return place.next_address if place else ""


def _place(request: OperatorRequest) -> Place | None:
    match = request.resolver_match
    return place(request.study, match.url_name or "") if match else None
