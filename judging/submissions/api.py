"""Proposing models over the API with a rater's token, listing them and deciding with an operator's."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID, uuid4

from django.core.exceptions import ValidationError
from django.http import HttpRequest
from ninja import Field, Router, Schema, Status

from arena.api.auth import BearerAuth, Scope, account_of, rater_of, require_operator
from arena.api.schemas import ERRORS, Name, written_out
from arena.data.uploads.forms import as_file, within_bounds
from arena.models import Study
from judging.judges.rights import check_may_bind
from judging.judges.services import JudgeError, MissingError, known_endpoint
from judging.models import Author, Endpoint, Submission
from judging.runs.api import REFUSALS, answer
from judging.submissions import services

MOST_LISTED = 100


class SubmissionIn(Schema):
    """A model at an address, or a file of its answers."""

    model_config = {"extra": "forbid"}

    study: Name = Field(max_length=80, description="Slug of the study.")
    name: Name = Field(max_length=200)
    base_url: Name = Field("", max_length=500, description="Of an OpenAI-compatible endpoint.")
    model: Name = Field("", max_length=200, description="As the endpoint names it.")
    answers: str = Field("", description="CSV or JSON Lines: prompt, contestant, text.")
    licence: Name = Field(max_length=100)
    contact: Name = Field(max_length=254, description="Email address for the decision.")
    consent: Literal[True] = Field(description=services.CONSENT)
    token: UUID | None = Field(None, description="Of your choice: sent twice, it is one proposal.")


class DecisionIn(Schema):
    """The first decision about a proposal stands."""

    model_config = {"extra": "forbid"}

    decision: Literal["accept", "decline"]
    reason: Name = Field("", max_length=2000, description="For declining; mailed to the contact.")
    api_key_env: Name = Field("", max_length=100, description="For accepting: the variable with the key.")


class SubmissionOut(Schema):
    """A proposal."""

    id: int
    study: str
    name: str
    base_url: str
    model: str
    licence: str
    contact: str
    state: Annotated[Submission.State, written_out(Submission.State)]
    reason: str
    contestant: str | None = Field(description="Slug of the model in the study, once it is accepted.")
    created_at: datetime
    decided_at: datetime | None

    @classmethod
    def of(cls, row: Submission) -> "SubmissionOut":
        columns = cls.model_fields.keys() - {"study", "contestant"}
        return cls(
            **{name: getattr(row, name) for name in columns},
            study=row.study.slug,
            contestant=row.contestant.slug if row.contestant else None,
        )


router = Router(tags=["proposed models"])


@router.post(
    "/",
    auth=BearerAuth(Scope.RATE),
    response={201: SubmissionOut, **REFUSALS},
    summary="Propose a model for a study",
)
def propose_model(request: HttpRequest, given: SubmissionIn) -> Status[object]:
    """Wait for the operators' decision. 409, with the reason, if the study takes no such proposal now."""
    rater = rater_of(request)

    def proposed() -> SubmissionOut:
        study = Study.objects.filter(slug=given.study, takes_models=True, is_draft=False).first()
        if study is None or rater.user is None:
            raise MissingError("No study of this short name takes proposals of this token.", "study")
        told = {name: getattr(given, name) for name in ("name", "base_url", "model", "licence", "contact")}
        wanted = Submission(**told, token=given.token or uuid4(), account=rater.user)
        try:
            files = within_bounds([as_file(given.answers)] if given.answers.strip() else [])
        except ValidationError as error:
            raise JudgeError(" ".join(error.messages), "answers") from error
        return SubmissionOut.of(services.propose(study, wanted, files))

    return answer(proposed, "name", 201)


@router.get("/", response={200: list[SubmissionOut], **ERRORS}, summary="List proposed models")
def list_submissions(request: HttpRequest, state: Submission.State | None = None) -> list[SubmissionOut]:
    """The newest hundred of all studies, or of those in one state."""
    require_operator(request)
    rows = Submission.objects.select_related("study", "contestant")
    found = rows.filter(state=state) if state else rows
    return [SubmissionOut.of(row) for row in found[:MOST_LISTED]]


@router.post(
    "/{int:number}/decide/",
    response={200: SubmissionOut, **REFUSALS},
    summary="Decide about a proposal",
)
def decide_submission(request: HttpRequest, number: int, given: DecisionIn) -> Status[object]:
    """Accept or decline. Nothing is asked yet: start a writing run, then judge runs. 409 if it is decided."""
    require_operator(request)
    by = account_of(request)

    def decided() -> SubmissionOut:
        rows = Submission.objects.select_related("study", "job", "contestant")
        row = rows.filter(pk=number).first()
        if row is None:
            raise MissingError(f"No proposal has the number {number}.", "number")
        if given.decision == "decline":
            services.decline(row, given.reason, by)
        else:
            services.accept(row, _author(row, given.api_key_env, by), by)
        return SubmissionOut.of(rows.get(pk=number))

    return answer(decided, "decision")


def _author(row: Submission, key: str, by: object) -> Author | None:
    """How a model at an address is asked; None for one with files."""
    if not row.base_url:
        return None
    wanted = Endpoint(base_url=row.base_url, model=row.model, api_key_env=key)
    check_may_bind(wanted, by)
    return Author(endpoint=known_endpoint(wanted) or wanted)
