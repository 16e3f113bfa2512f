"""Asking a model one question. Nothing is written here."""

import hashlib
import json
from dataclasses import dataclass, field, replace
from datetime import timedelta

from django.conf import settings

from judging.endpoints.client import Client, NoReplyError, Reply, Request
from judging.endpoints.simulated import SimulatedClient, Simulation
from judging.judges.asked import AskedModel, asked_by
from judging.judges.services import JudgeError
from judging.models import Judge
from judging.protocols.conversation import Question
from judging.protocols.protocol import About
from judging.protocols.structured import asked_as_json, schema_of
from judging.runs.work import Work


@dataclass(frozen=True)
class PreparedCall:
    question: Question
    model: AskedModel
    request: Request
    request_hash: str  # "" if the reply must not be shared
    lease: timedelta  # until the call counts as abandoned
    problem: str = ""  # why it cannot be asked


@dataclass
class CallBuilder:
    """Prepares calls; looks up each model once."""

    _known: dict[tuple[int, str], tuple[AskedModel, str]] = field(default_factory=dict)

    def build(self, work: Work, question: Question) -> PreparedCall:
        model, problem = self._known_model(work, question.author)
        request = request_to(model, question, work.judge)
        name, lease = "", model.lease
        if work.run.remote:  # nobody knows if an address there is the same as here
            lease = max(lease, timedelta(seconds=settings.JUDGE_LEASE_SECONDS))
        elif not (work.judge.is_simulated or problem):
            name = request_hash(model, request, question, work.assignment.repeat, work.row.round)
        return PreparedCall(question, model, request, name, lease, problem)

    def model(self, work: Work, author: str) -> AskedModel:
        """The model that is asked for an author of the work's protocol."""
        return self._known_model(work, author)[0]

    def _known_model(self, work: Work, author: str) -> tuple[AskedModel, str]:
        key = (work.judge.pk, author)
        if key not in self._known:
            try:
                self._known[key] = asked_by(work.judge, author), ""
            except JudgeError as error:
                self._known[key] = asked_by(work.judge), str(error)
        return self._known[key]


def request_to(asked: AskedModel, question: Question, judge: Judge) -> Request:
    """The request of a question; only those for a verdict are asked as JSON, or with log-probabilities."""
    has_verdict = question.scale is not None
    request = asked.request(
        question.messages, temperature=question.temperature, logprobs=judge.logprobs and has_verdict
    )
    if question.scale is None or judge.replies != Judge.Replies.JSON:
        return request
    messages = asked_as_json(question.messages, question.scale, question.place)
    return replace(request, messages=messages, schema=schema_of(question.scale, question.place))


def request_hash(
    asked: AskedModel, request: Request, question: Question, repeat: int = 0, asking_round: int = 0
) -> str:
    """SHA-256 in hex of all that shapes the reply.

    A verdict asked for again (``repeat``, ``asking_round``) is a new sample. A question about the prompt or
    one answer that asks for no verdict is the same in every order, pair and run.
    """
    is_aid = question.about is not About.PAIR and question.scale is None
    shape = [
        asked.base_url,
        request.model,
        [request.max_tokens, request.temperature, request.options, request.logprobs, *_form(request)],
        list(request.messages),
        [question.sample, *((0, 0) if is_aid else (repeat, asking_round))],
    ]
    return hashlib.sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()


def _form(request: Request) -> list[object]:
    """Nothing for a reply in words, so that those of before are found."""
    return [] if request.schema is None else [request.schema]


def ask(work: Work, asked: PreparedCall) -> Reply:
    """Raises NoReplyError."""
    return _client(work, asked).ask(asked.request)


def _client(work: Work, asked: PreparedCall) -> Client:
    if asked.problem:
        raise NoReplyError("configuration", asked.problem, retryable=False)
    if work.judge.is_simulated:
        return _simulated(work, asked.question)
    return asked.model.client()


def _simulated(work: Work, question: Question) -> Client:
    if not work.run.study.simulated:
        raise NoReplyError(
            "configuration", "A simulated judge may only rate simulated studies", retryable=False
        )
    slugs = [one.contestant.slug if one.contestant else "" for one in work.shown]
    return SimulatedClient(
        Simulation.from_options(work.judge.simulation),
        slugs[0],
        slugs[1] if len(slugs) > 1 else None,
        work.assignment.seed,
        question,
        list(work.requirements),
    )
