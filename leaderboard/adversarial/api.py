"""The API of adversarial pairs."""

from collections.abc import Callable

from django.http import HttpRequest
from ninja import Field, Router, Schema, Status

from arena.api.auth import account_of, require_operator
from arena.api.schemas import Name
from judging.runs.api import REFUSALS, answer
from leaderboard.adversarial.filtering import Keep, take_out, told
from leaderboard.adversarial.making import Candidates, study_named


class CandidatesOut(Schema):
    """Candidates of a study, and how many would be kept."""

    all: int
    judges: dict[str, int] = Field(description="How many candidates each was asked about in both orders.")
    dropped: dict[str, int] = Field(description="By reason, whatever judges say.")
    kept: list[int] = Field(description="If at least 1, 2, ... verdicts must be wrong.")


class PeopleOut(Schema):
    """What people decided: kept = confirmed + refused + waiting."""

    kept: int
    confirmed: int
    refused: dict[str, int] = Field(description="By reason.")
    waiting: int


class AdversarialOut(Schema):
    """A study of adversarial pairs, or of candidates for it."""

    study: str
    source: str | None = Field(description="Slug of the study that this one was made of.")
    left_out: dict[str, int] = Field(description="What was left out of that, by reason.")
    candidates: CandidatesOut | None = Field(description="null: no pair has a right answer.")
    people: PeopleOut | None = Field(description="null: it was not made of what judges get wrong.")


router = Router(tags=["adversarial pairs"])


def _told(request: HttpRequest, slug: str, do: Callable[[], object], status: int = 200) -> Status[object]:
    """Do it, and tell of the study."""
    require_operator(request)
    return answer(lambda: (do(), told(study_named(slug)))[1], "source", status)


@router.post("/candidates/", response={201: AdversarialOut, **REFUSALS}, summary="Make candidates")
def create_candidates(request: HttpRequest, given: Candidates) -> Status[object]:
    """Make a study of candidates. Runs of their own let models write and judges rate."""
    return _told(request, given.study, lambda: given.make(account_of(request)), 201)


@router.get("/candidates/", response={200: AdversarialOut, **REFUSALS}, include_in_schema=False)
def show_candidates(request: HttpRequest) -> Status[object]:
    """The study of this short name, whose address is that of making candidates, too."""
    return show_adversarial(request, "candidates")


@router.post("/", response={201: AdversarialOut, **REFUSALS}, summary="Keep what judges get wrong")
def create_adversarial(request: HttpRequest, given: Keep) -> Status[object]:
    """Make a study of the candidates that judges get wrong."""
    return _told(request, given.study, lambda: given.make(account_of(request)), 201)


@router.get("/{slug}/", response={200: AdversarialOut, **REFUSALS}, summary="Count adversarial pairs")
def show_adversarial(request: HttpRequest, slug: Name) -> Status[object]:
    """What was left out, what all judges get wrong, and what people decided."""
    return _told(request, slug, lambda: None)


@router.post(
    "/{slug}/take-out/", response={200: AdversarialOut, **REFUSALS}, summary="Take out refused pairs"
)
def take_refused_out(request: HttpRequest, slug: Name) -> Status[object]:
    """Take the right answers of the pairs that people refused away."""
    return _told(request, slug, lambda: take_out(study_named(slug), account_of(request)))
