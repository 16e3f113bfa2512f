"""Assignments over the API: claim, renew, report failure. What a claim shows is strictly blind."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Self

from django.db.models import Exists, Q
from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Router, Schema, Status
from pydantic import model_validator

from arena.api.auth import BearerAuth, Scope, caller_of, rater_of
from arena.api.schemas import ERRORS, ErrorOut, written_out
from arena.models import Assignment, Completion, Membership, Rater, Study
from arena.rating import assignments as rating
from arena.rating.opinions import CallIn, Count, LeaseLostError, Name, NotAllowedError, Seconds, Text
from arena.rules import scales
from arena.texts.self_naming import shown_asides, shown_turns
from judging.endpoints.client import NoReplyError, Reply
from judging.endpoints.logprobs import MOST_TOKENS
from judging.models import Judge
from judging.remote import services as remote_services
from judging.remote.services import CallName, HandedIn
from judging.runs.claiming import Claimed
from judging.worker.arena import MOST_AT_ONCE, unpacked

router = Router(tags=["assignments"])
judges = Router(tags=["assignments"])

ALSO_PAUSED: Final = BearerAuth(Scope.RATE, also_paused=True)
"""Replies are paid for, so those of a judge that was paused meanwhile are taken."""

Attempt = Annotated[Count, Field(ge=1)]
Key = Annotated[Name, Field(max_length=240)]
FROM_REQUEST: Any = Field(None, description="From the request of the claim.")
KIND = r"^[a-z0-9_]{1,50}$"
Bytes = Annotated[str, Field(pattern=r"^[\x00-\xff]*$")]
Logprob = Annotated[float, Field(allow_inf_nan=False, ge=-1e9, le=0.01)]
OF_JUDGE = (
    *("slug", "name", "model", "base_url", "task", "protocol", "form", "points", "parameters", "wording"),
)
OF_REQUEST = ("model", "messages", "temperature", "max_tokens", "options", "logprobs", "timeout")


class ClaimIn(Schema):
    """Body of a claim: which worker asks, and for which study."""

    model_config = {"extra": "forbid", "json_schema_extra": {"examples": [{"study": "demo"}]}}

    study: Name | None = Field(
        None, max_length=80, description="Slug of the study; a judge with remote runs may leave it out."
    )
    worker: Name = Field("", max_length=100, description="Who asks, for the record of calls.")


class PointOut(Schema):
    """A point of the scale in words."""

    rating: int
    caption: str


class AsideOut(Schema):
    """A system message, what a tool said, or the place of an image."""

    turn: int = Field(description="It stands before this turn.")
    kind: str
    name: str = Field("", description="Of the tool.")
    text: str


class PromptOut(Schema):
    """The prompt, turn by turn, with its material."""

    turns: list[str]
    asides: list[AsideOut] = []
    input: str
    category: str
    references: list[list[str]] = Field(
        description="Reference answers, each turn by turn, if the study shows them to raters."
    )


class CompletionOut(Schema):
    """An answer, turn by turn, without its author."""

    turns: list[str]
    asides: list[AsideOut] = []


class QuestionOut(Schema):
    """A requirement of the prompt."""

    position: int
    text: str


class RequestOut(Schema):
    """The chat completion that a judge worker asks for, and its call."""

    protocol: str
    form: str = Field(description="The answer scale: the form of the verdict.")
    points: int = Field(description="Points of this scale.")
    prompt_hash: str = Field(description="Of the wording. A worker with another wording must not ask.")
    key: str = Field(description="Names the question among those of the protocol.")
    attempt: int = Field(description="Names the call in reports about this assignment.")
    model: str
    messages: list[dict[str, str]]
    temperature: float | None
    max_tokens: int | None
    options: dict[str, Any]
    logprobs: bool = Field(description="Whether to ask for the log-probabilities of the tokens.")
    reply_schema: Mapping[str, Any] | None = Field(description="Of the reply, if it is to be JSON.")
    timeout: float = Field(description="Seconds to wait for the reply.")
    base_url: str = Field(description="Address of the endpoint that is asked.")
    key_variable: str = Field(description="Environment variable with its key; empty if no key is needed.")


class AssignmentOut(Schema):
    """A pair to rate, in the order to show it, or one answer to score or to check."""

    assignment: str
    kind: Annotated[Assignment.Kind, written_out(Assignment.Kind)] = Field(
        description="compare: submit a comparison; score: a score; check: answers."
    )
    study: str
    leased_until: datetime
    lease_seconds: float = Field(description="Time left of the lease.")
    turn: int = Field(
        0, description="The turn of a pair to rate, the last that is shown; 0 is the whole conversation."
    )
    points: int | None = Field(None, description="Of a pair.")
    scale: list[PointOut] = Field([], description="The points of a pair in words.")
    criteria: list[str] = Field([], description="Of a pair.")
    reasons: list[str] = Field([], description="Those that may be given with the rating of a pair.")
    lowest: int | None = Field(None, description="Lowest score of one answer.")
    highest: int | None = Field(None, description="Highest score of one answer.")
    questions: list[QuestionOut] = Field([], description="The requirements to check one answer against.")
    guidelines: str = Field(description="Markdown.")
    prompt: PromptOut
    first: CompletionOut | None = Field(None, description="Of a pair.")
    second: CompletionOut | None = Field(None, description="Of a pair.")
    text: CompletionOut | None = Field(None, description="The one answer to score or to check.")
    request: RequestOut | None = Field(None, description="Only for judges that are configured in the arena.")


class RenewIn(Schema):
    """Body of a renewal: the call that is still under way."""

    model_config = {"extra": "forbid"}

    key: Key | None = FROM_REQUEST
    attempt: Attempt | None = FROM_REQUEST


class LeaseOut(Schema):
    """The lease as it is now."""

    assignment: str
    leased_until: datetime
    lease_seconds: float


class FailureOfModelIn(Schema):
    """Failure of a call: why there is no reply."""

    model_config = {"extra": "forbid"}

    kind: str = Field(
        pattern=KIND,
        description='One word, such as "timeout"; "abandoned": the call was cut off and nothing failed.',
    )
    detail: Annotated[Name, Field(max_length=600)] = ""
    retryable: bool = Field(True, description="Whether asking again can help.")
    retry_after: Name = Field("", max_length=100, description="The endpoint's Retry-After, as sent.")

    @property
    def error(self) -> NoReplyError:
        return NoReplyError(self.kind, self.detail, retryable=self.retryable, retry_after=self.retry_after)


class FailureIn(FailureOfModelIn):
    """Body of a report that there is no answer, and why."""

    model_config = {
        "json_schema_extra": {
            "examples": [{"kind": "timeout", "detail": "No reply in 120 s.", "attempt": 1}]
        },
    }

    key: Key | None = FROM_REQUEST
    attempt: Attempt | None = FROM_REQUEST
    seconds: Seconds | None = Field(None, description="Time it took to fail.")
    call: CallIn | None = Field(
        None, description='With "abandoned": the record of a reply that came too late to count.'
    )


class RepliedIn(Schema):
    """Body with the reply to one question of several."""

    model_config = {
        "extra": "forbid",
        "json_schema_extra": {
            "examples": [
                {"raw_reply": "YES", "call": {"model": "some-model", "key": "next.2", "attempt": 1}},
            ]
        },
    }

    raw_reply: Text = Field("", description="The reply as the model sent it.")
    expected: float | None = Field(
        None, allow_inf_nan=False, description="Expected score over the answer tokens, where they are known."
    )
    call: CallIn = Field(description="The call; key and attempt are those of the request.")


class ReplyOfModelIn(Schema):
    """The reply of a model."""

    model_config = {"extra": "forbid"}

    text: Text = ""
    finish_reason: Annotated[Name, Field(max_length=50)] = ""
    model: Annotated[Name, Field(max_length=200)] = Field("", description="The model that says it replied.")
    refusal: Text = Field("", description="Text of a separate refusal field.")
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    tokens: list[tuple[Bytes, Logprob, list[tuple[Bytes, Logprob]]]] = Field(
        [],
        max_length=MOST_TOKENS,
        description="Its tokens with their log-probabilities, and each token's likeliest alternatives with "
        "theirs. A token is given by its bytes, each as the character of its number.",
    )


class ResultIn(Schema):
    """Result of a claimed call: a reply, or why there is none."""

    model_config = {"extra": "forbid"}

    assignment: Name = Field(max_length=24)
    key: Key
    attempt: Attempt
    seconds: Seconds | None = None
    reply: ReplyOfModelIn | None = None
    failure: FailureOfModelIn | None = None

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        if (self.reply is None) == (self.failure is None):
            raise ValueError("Give a reply or a failure.")
        return self

    @property
    def result(self) -> Reply | NoReplyError:
        if self.failure:
            return self.failure.error
        assert self.reply is not None  # noqa: S101 - checked
        return Reply(**{**vars(self.reply), "tokens": unpacked(self.reply.tokens)})


class ResultsIn(Schema):
    """Results of several calls of one judge."""

    model_config = {"extra": "forbid"}

    replies: list[ResultIn] = Field(min_length=1, max_length=MOST_AT_ONCE)


class ResultOut(Schema):
    """Outcome of a call that was handed in."""

    assignment: str
    outcome: str = Field(description="scored or unscored, where all replies are there.")
    detail: str = Field(description="Why the reply does not count; empty if it does.")


class ResultsOut(Schema):
    """Outcomes of the calls, in their order."""

    results: list[ResultOut]


class StateOut(Schema):
    """State of the assignment after a report."""

    assignment: str
    state: Annotated[Assignment.State, written_out(Assignment.State)]
    due_at: datetime | None = Field(description="When it is asked again; null if it is not.")


class JudgeOut(Schema):
    """A judge as its worker needs to know it, and how much is left to do."""

    slug: str
    name: str
    model: str
    base_url: str
    task: Annotated[Assignment.Kind, written_out(Assignment.Kind)] = Field(
        description="The kind of its assignments."
    )
    key_variable: str = Field(description="Environment variable with the key; empty if no key is needed.")
    protocol: str
    prompt_hash: str
    form: str = Field(description="The answer scale: the form of the verdict.")
    points: int
    parameters: dict[str, Any]
    wording: dict[str, str]
    runs: int = Field(description="Remote runs that have not ended.")
    waiting: int = Field(description="Their assignments that have not ended.")


@router.post(
    "/",
    response={200: AssignmentOut, 201: AssignmentOut, 204: None, 404: ErrorOut, **ERRORS},
    summary="Claim an assignment",
)
def claim(request: HttpRequest, given: ClaimIn) -> Status[object]:
    """A pair to rate, or an answer to score or to check, leased for a while.

    201, or 200 if you hold it already; 204 if there is nothing to do now; ask again later.
    """
    rater = rater_of(request)
    study = _rated_by(rater, given.study) if given.study is not None else None
    if given.study is not None and study is None:
        detail = f'This rater has no study "{given.study}".'
        return Status(404, ErrorOut(detail=detail, field="study"))
    try:
        if rater.kind == Rater.Kind.PERSON:
            return _claim_of_person(rater, study)
        claimed = remote_services.claim(rater, study, given.worker)
    except NotAllowedError as error:
        return Status(403, ErrorOut(detail=str(error), field="study"))
    if claimed is None:
        return Status(204, None)
    return Status(201, _shown(claimed) if isinstance(claimed, Assignment) else _shown_call(claimed))


def _rated_by(rater: Rater, slug: str) -> Study | None:
    """The study with this address, if the rater may rate in it. Asked in one query, also if there is none."""
    may_rate = Q(pk__in=Membership.objects.filter(rater=rater).values("study"))
    if rater.kind == Rater.Kind.JUDGE:
        may_rate |= Q(visibility=Study.Visibility.PUBLIC) | Q(Exists(Judge.objects.filter(rater=rater)))
    return Study.objects.filter(may_rate, slug=slug).first()


def _claim_of_person(rater: Rater, study: Study | None) -> Status[object]:
    if study is None:
        return Status(422, ErrorOut(detail="study: Name the study you rate in.", field="study"))
    held = Assignment.objects.live().filter(rater=rater, study=study).exists()
    assignment = rating.claim(study, rater)
    if assignment is None:
        return Status(204, None)
    rating.mark_shown(assignment)
    shown = _shown(Assignment.objects.for_page().get(pk=assignment.pk))
    return Status(200 if held else 201, shown)


def _shown_call(claimed: Claimed) -> AssignmentOut:
    assignment = claimed.work.assignment
    assignment.leased_until = claimed.call.deadline
    return _shown(assignment, claimed)


def _shown(assignment: Assignment, claimed: Claimed | None = None) -> AssignmentOut:
    study, about = assignment.study, assignment.pair or assignment.completion
    assert about is not None  # noqa: S101 - held by a constraint
    assert assignment.leased_until is not None  # noqa: S101 - just claimed
    until = assignment.turn or None
    return AssignmentOut(
        assignment=assignment.public_id,
        turn=assignment.turn,
        kind=Assignment.Kind(assignment.kind),
        study=study.slug,
        leased_until=assignment.leased_until,
        lease_seconds=_left(assignment.leased_until),
        guidelines=study.guidelines,
        prompt=PromptOut(
            turns=about.prompt.turns[:until],
            asides=_asides(about.prompt.asides, assignment.turn),
            input=about.prompt.input,
            category=about.prompt.category,
            references=[each[:until] for each in about.prompt.reference_turns if study.shows_references],
        ),
        request=_request(claimed) if claimed else None,
        **_asked(assignment, claimed and claimed.work.judge),
    )


def _asides(asides: Sequence[Mapping[str, Any]], until: int) -> list[AsideOut]:
    return [AsideOut(**each) for each in asides if not until or each["turn"] <= until]


def _completion(completion: Completion, study: Study, until: int = 0) -> CompletionOut:
    asides = _asides(shown_asides(completion, study), until)
    return CompletionOut(turns=shown_turns(completion, study)[: until or None], asides=asides)


def _asked(assignment: Assignment, judge: Judge | None) -> dict[str, Any]:
    """What is shown for its kind of assignment only."""
    study = assignment.study
    if assignment.pair:
        points = judge.points if judge else study.points
        captions = enumerate(scales.CAPTIONS[points], 1)
        first, second = assignment.pair.shown(assignment.swapped)
        return {
            "points": points,
            "scale": [PointOut(rating=rating, caption=caption) for rating, caption in captions],
            "criteria": study.criteria,
            "reasons": study.reasons,
            "first": _completion(first, study, assignment.turn),
            "second": _completion(second, study, assignment.turn),
        }
    assert assignment.completion is not None  # noqa: S101 - held by a constraint
    text: dict[str, Any] = {"text": _completion(assignment.completion, study)}
    if assignment.kind == Assignment.Kind.CHECK:
        asked = assignment.completion.prompt.questions.asked()
        return text | {"questions": [QuestionOut(position=one.position, text=one.text) for one in asked]}
    lowest, highest = study.score_lowest, study.score_highest
    if judge:
        lowest, highest = judge.configured_protocol.score_range
    return text | {"lowest": lowest, "highest": highest}


def _request(claimed: Claimed) -> RequestOut:
    work, call, asked = claimed
    sent = {name: getattr(asked.request, name) for name in OF_REQUEST}
    return RequestOut(
        **{name: getattr(work.judge, name) for name in ("protocol", "form", "points")},
        **sent,
        reply_schema=asked.request.schema,
        base_url=asked.model.base_url,
        key_variable=asked.model.endpoint.api_key_env,
        prompt_hash=call.prompt_hash,
        key=call.key,
        attempt=call.attempt,
    )


def _refused(error: LeaseLostError | NotAllowedError) -> Status[object]:
    status = 409 if isinstance(error, LeaseLostError) else 403
    return Status(status, ErrorOut(detail=str(error), field="assignment"))


def _left(leased_until: datetime) -> float:
    return max(0.0, (leased_until - timezone.now()).total_seconds())


@router.post(
    "/{assignment}/renew/", response={200: LeaseOut, 409: ErrorOut, **ERRORS}, summary="Renew a lease"
)
def renew(request: HttpRequest, assignment: str, given: RenewIn) -> Status[object]:
    """Keep an assignment while you work on it. 409 if it was answered or given to another worker."""
    try:
        leased_until = remote_services.renew(
            rater_of(request), assignment, CallName(given.key, given.attempt)
        )
    except (LeaseLostError, NotAllowedError) as error:
        return _refused(error)
    lease = LeaseOut(assignment=assignment, leased_until=leased_until, lease_seconds=_left(leased_until))
    return Status(200, lease)


@router.post("/replied/", response={200: ResultsOut, **ERRORS}, summary="Hand in replies", auth=ALSO_PAUSED)
def report_replies(request: HttpRequest, given: ResultsIn) -> ResultsOut:
    """Hand in what came of claimed calls. The arena reads the verdicts and stores them."""
    results = [
        HandedIn(each.assignment, CallName(each.key, each.attempt), each.result, each.seconds)
        for each in given.replies
    ]
    remote = not caller_of(request).is_here
    outcomes = remote_services.replied(rater_of(request), results, remote=remote)
    return ResultsOut(
        results=[
            ResultOut(assignment=each.assignment, outcome=outcome, detail=detail)
            for each, (outcome, detail) in zip(results, outcomes, strict=True)
        ]
    )


@router.post(
    "/{assignment}/replied/",
    response={200: StateOut, 409: ErrorOut, **ERRORS},
    summary="Hand in a reply",
    auth=ALSO_PAUSED,
)
def report_reply(request: HttpRequest, assignment: str, given: RepliedIn) -> Status[object]:
    """Hand in the reply to one question about an answer, then claim: the next question follows.

    After the last reply the arena reads the verdict and stores it. The same reply again changes nothing.
    409 if the question already has a reply of another call; this one is only kept for the record.
    """
    try:
        found, due_at = remote_services.keep_reply(
            rater_of(request),
            assignment,
            given.raw_reply,
            given.expected,
            given.call.model_dump(mode="json", exclude_none=True),
        )
    except (LeaseLostError, NotAllowedError) as error:
        return _refused(error)
    return Status(200, StateOut(assignment=assignment, state=Assignment.State(found.state), due_at=due_at))


@router.post("/{assignment}/failed/", response={200: StateOut, **ERRORS}, summary="Report a failure")
def report_failure(request: HttpRequest, assignment: str, given: FailureIn) -> Status[object]:
    """Report that there is no reply. Submit a reply without a rating as unscored instead."""
    try:
        found, due_at = remote_services.report_failure(
            rater_of(request),
            assignment,
            given.error,
            name=CallName(given.key, given.attempt),
            seconds=given.seconds,
            record=given.call.model_dump(mode="json", exclude_none=True) if given.call else {},
        )
    except NotAllowedError as error:
        return _refused(error)
    return Status(200, StateOut(assignment=assignment, state=Assignment.State(found.state), due_at=due_at))


@judges.get("/{slug}/", response={200: JudgeOut, 404: ErrorOut, **ERRORS}, summary="Look up your judge")
def show_judge(request: HttpRequest, slug: str) -> Status[object]:
    """How to ask the judge. Only its own token may."""
    rater = rater_of(request)
    judge = Judge.objects.whole().filter(rater=rater).first()
    if judge is None or judge.slug != slug:
        return Status(404, ErrorOut(detail=f'This token belongs to no judge "{slug}".', field="slug"))
    runs, waiting = remote_services.work_left(judge)
    return Status(
        200,
        JudgeOut(
            **{name: getattr(judge, name) for name in OF_JUDGE},
            key_variable=judge.asks.api_key_env,
            prompt_hash=judge.current_prompt_hash(),
            runs=runs,
            waiting=waiting,
        ),
    )
