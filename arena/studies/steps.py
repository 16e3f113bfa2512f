"""The steps of setting up a study."""

from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from django.http import HttpRequest
from django.template.defaultfilters import pluralize
from django.urls import reverse

from arena.models import Question, Role, Study
from arena.people.joining import why_not
from arena.rules.pairing import DEFAULT_STRATEGY
from arena.studies import counts

State = Literal["done", "open", "attention", "optional"]

BADGES: Final[dict[State, tuple[str, str]]] = {
    "done": ("done", "badge-good"),
    "open": ("to do", "badge-info"),
    "attention": ("please check", "badge-warn"),
    "optional": ("optional", ""),
}
"""The word and the style of a state."""


class Step(NamedTuple):
    number: int
    title: str
    address: str
    state: State
    summary: str

    @property
    def badge(self) -> tuple[str, str]:
        return BADGES[self.state]


Finding = tuple[State, str]


def _guidelines(study: Study) -> Finding:
    words = len(study.guidelines.split())
    if not words:
        return "open", "Raters read only what they are asked to do so far."
    return "done", f"{words:,} word{pluralize(words)}."


def _rating(study: Study) -> Finding:
    wanted = study.ratings_per_pair_people
    scale = f"{study.score_lowest} to {study.score_highest}"
    words = {
        "compare": [f"{study.points} points", f"{wanted} rating{pluralize(wanted)} per pair"],
        "score": [f"scores from {scale}"],
        "check": ["requirements checked"],
    }
    said = [each for kind in study.tasks for each in words[kind]]
    if "compare" not in study.tasks:
        said.append(f"{wanted} time{pluralize(wanted)} per answer")
    if study.criteria:
        said.append(f"{len(study.criteria)} criteri{pluralize(study.criteria, 'on,a')}")
    if study.pairing != DEFAULT_STRATEGY:
        said.append(f"{study.pairing} pairing")
    if study.repeat_share or study.gold_share:
        said.append("hidden repeats or checks")
    return "done", ", ".join(said).capitalize() + "."


def _import(study: Study) -> Finding:
    found = counts.cells(study)
    if not found.filled:
        return "open", "No answers yet. Import a spreadsheet or another file."
    if found.contestants < 2 and study.compares:
        return "open", "You need at least two models."
    by = f"{found.contestants:,} model{pluralize(found.contestants)}"
    given, to = f"{found.filled:,} answer{pluralize(found.filled)}", f"prompt{pluralize(found.prompts)}"
    said = f"{given} by {by} to {found.prompts:,} {to}"
    if found.holes:
        return "attention", f"{said}; {found.holes:,} {pluralize(found.holes, 'is,are')} missing."
    return "done", f"{said}."


def _requirements(study: Study) -> Finding:
    found = Question.objects.filter(prompt__in=counts.study_prompts(study), is_current=True)
    asked = found.filter(is_accepted=True)
    total = asked.count()
    if not total:
        return "open", "No requirements yet. Write them, import a table, or have a model propose them."
    prompts, checked = counts.study_prompts(study).count(), asked.values("prompt").distinct().count()
    said = f"{total:,} requirement{pluralize(total)} of {checked:,} prompt{pluralize(checked)}"
    if waiting := found.filter(is_accepted=False).count():
        return "attention", f"{said}; {waiting:,} proposed {pluralize(waiting, 'one waits,ones wait')}."
    if checked < prompts:
        return "attention", f"{said}; {prompts - checked:,} {pluralize(prompts - checked, 'has,have')} none."
    return "done", f"{said}."


def _people(study: Study) -> Finding:
    people = study.memberships.exclude(role=Role.VIEWER).filter(paused_at=None).count()
    links = sum(not why_not(link) for link in study.invitations.all())
    sign_up_open = study.sign_up_open and not study.is_closed
    if not (people or links or sign_up_open):
        if study.is_closed:
            joined = study.memberships.exclude(role=Role.VIEWER).exists()
            return "optional", "All who joined are paused." if joined else "Nobody joined."
        return "open", "Nobody can join yet. Create an invitation link."
    said = [
        f"{people:,} {pluralize(people, 'person,people')}" if people else "",
        f"{links} open link{pluralize(links)}" if links else "",
        "sign-up is open" if sign_up_open else "",
    ]
    return "done", f"{', '.join(filter(None, said))}.".capitalize()


def _judges(study: Study) -> Finding:
    found = counts.judges_in(study)
    numbers = {"judge": found.independent().count(), "panel": found.panels().count()}
    said = [f"{number} {name}{pluralize(number)}" for name, number in numbers.items() if number]
    if said:
        return "done", f"{' and '.join(said)}."
    return "optional", "Language models can rate what people rate."


def _publish(study: Study) -> Finding:
    if study.is_draft:
        return "open", "People can rate once you publish the study."
    return "done", f"{study.get_visibility_display()}."


STEPS: Final[dict[str, tuple[str, Callable[[Study], Finding]]]] = {
    "operate-guidelines": ("Guidelines", _guidelines),
    "operate-rating": ("Rating", _rating),
    "operate-import": ("Import", _import),
    "operate-requirements": ("Requirements", _requirements),
    "operate-people": ("People", _people),
    "operate-judges": ("Judges", _judges),
    "operate-publish": ("Publish", _publish),
}
"""The steps by URL name, in order."""


def steps_of(study: Study) -> list[str]:
    """The URL names of its steps."""
    return [name for name in STEPS if name != "operate-requirements" or "check" in study.tasks]


def steps(study: Study) -> list[Step]:
    return [
        Step(number, STEPS[name][0], reverse(name, args=[study.slug]), *STEPS[name][1](study))
        for number, name in enumerate(steps_of(study), start=1)
    ]


PART_OF: Final = {
    "operate-import-job": "operate-import",
    "operate-prompt-requirements": "operate-requirements",
}
"""The step that a further page belongs to."""


class Place(NamedTuple):
    number: int
    of: int
    title: str
    next_title: str
    next_address: str


def place(study: Study, name: str) -> Place | None:
    """Return the place of a page in the set-up; None for a page that is no step."""
    names, name = steps_of(study), PART_OF.get(name, name)
    if name not in names:
        return None
    number = names.index(name) + 1
    following = [*names, "operate-progress"][number]
    title = STEPS[following][0] if following in STEPS else "Progress"
    return Place(number, len(names), STEPS[name][0], title, reverse(following, args=[study.slug]))


def next_step(found: list[Step]) -> Step | None:
    return next((step for step in found if step.state == "open"), None)


def place_of(study: Study, request: HttpRequest | None) -> Place | None:
    """Return the place in the set-up of the page that is shown."""
    match = request.resolver_match if request else None
    return place(study, match.url_name or "") if match else None
