"""Asking a model one question. Nothing is written here."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from judging.endpoints import costs
from judging.endpoints.client import Client, NoReplyError, Reply, Request, attempt
from judging.endpoints.keys import KeyVariableError, read_key, unset_key
from judging.endpoints.openai_client import OpenAIClient
from judging.endpoints.reaching import RefusedAddressError
from judging.endpoints.simulated import SimulatedClient, Simulation
from judging.judges.services import JudgeError
from judging.models import Judge
from judging.protocols.conversation import Question
from judging.protocols.protocol import About, ConfiguredProtocol
from judging.runs.work import Work

OTHER_JUDGE: Final = "judge:"
"""Prefix of an author that is another judge's model, at that judge's endpoint and with its key."""


@dataclass(frozen=True)
class Endpoint:
    """The fields are those of judging.models.Judge."""

    base_url: str
    model: str
    api_key_env: str
    max_tokens: int | None
    temperature: float | None
    timeout: float
    options: Mapping[str, Any]

    @property
    def reply_limit(self) -> int | None:
        return costs.reply_limit(self.max_tokens, self.options)


def endpoint_of(judge: Judge, author: str = "") -> Endpoint:
    """The endpoint for an author: "" is the judge, ``judge:SLUG`` another judge, else a model beside the
    judge's.

    Raises JudgeError if there is no such judge.
    """
    if not author.startswith(OTHER_JUDGE):
        return _of(judge, author or judge.model)
    slug = author.removeprefix(OTHER_JUDGE)
    other = Judge.objects.select_related("rater").filter(rater__slug=slug).first()
    if other is None or other.is_simulated:
        raise JudgeError(f'{judge.name} needs the judge "{author}", which does not exist or has no model.')
    return _of(other, other.model)


def endpoints(judge: Judge) -> list[Endpoint]:
    """Everyone who is asked for a judge; raises JudgeError."""
    return [endpoint_of(judge, author) for author in authors(judge.configured_protocol)]


def authors(configured: ConfiguredProtocol) -> list[str]:
    """The authors that a protocol and its parts name, each once."""
    return list(dict.fromkeys(_authors(configured)))


def _authors(configured: ConfiguredProtocol) -> Iterator[str]:
    for step in configured.steps:
        yield str(configured.value(step.author)) if step.author else ""
    for part in configured.protocol.parts:
        yield from _authors(configured.of_part(part))


def _of(judge: Judge, model: str) -> Endpoint:
    return Endpoint(
        base_url=judge.base_url,
        model=model,
        api_key_env=judge.api_key_env,
        max_tokens=judge.max_tokens,
        temperature=judge.temperature,
        timeout=judge.timeout,
        options=judge.options,
    )


GRACE = timedelta(seconds=30)  # how long after its timeout a call counts as abandoned


@dataclass(frozen=True)
class PreparedCall:
    question: Question
    endpoint: Endpoint
    request: Request
    request_hash: str  # "" if the reply must not be shared
    lease: timedelta  # until the call counts as abandoned
    problem: str = ""  # why it cannot be asked


@dataclass
class CallBuilder:
    """Prepares calls; looks up each endpoint once."""

    _known: dict[tuple[int, str], tuple[Endpoint, str]] = field(default_factory=dict)

    def build(self, work: Work, question: Question) -> PreparedCall:
        endpoint, problem = self._endpoint(work, question.author)
        request = request_to(endpoint, question, logprobs=work.judge.logprobs)
        name = ""
        if not (work.judge.is_simulated or problem):
            name = request_hash(endpoint, request, question, work.assignment.repeat, work.row.round)
        return PreparedCall(
            question, endpoint, request, name, timedelta(seconds=request.timeout) + GRACE, problem
        )

    def _endpoint(self, work: Work, author: str) -> tuple[Endpoint, str]:
        key = (work.judge.pk, author)
        if key not in self._known:
            try:
                self._known[key] = endpoint_of(work.judge, author), ""
            except JudgeError as error:
                self._known[key] = endpoint_of(work.judge), str(error)
        return self._known[key]


def request_to(endpoint: Endpoint, question: Question, *, logprobs: bool) -> Request:
    return Request(
        model=endpoint.model,
        messages=question.messages,
        timeout=endpoint.timeout,
        max_tokens=endpoint.max_tokens,
        temperature=endpoint.temperature if question.temperature is None else question.temperature,
        options=endpoint.options,
        logprobs=logprobs and question.scale is not None,
    )


def request_hash(
    endpoint: Endpoint, request: Request, question: Question, repeat: int = 0, asking_round: int = 0
) -> str:
    """SHA-256 in hex of all that shapes the reply.

    A verdict asked for again (``repeat``, ``asking_round``) is a new sample. A question about the prompt or
    one answer that asks for no verdict is the same in every order, pair and run.
    """
    is_aid = question.about is not About.PAIR and question.scale is None
    shape = [
        endpoint.base_url.rstrip("/"),
        request.model,
        [request.max_tokens, request.temperature, request.options, request.logprobs],
        list(request.messages),
        [question.sample, *((0, 0) if is_aid else (repeat, asking_round))],
    ]
    return hashlib.sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()


def ask(work: Work, asked: PreparedCall) -> tuple[Reply | NoReplyError, float]:
    """The result and the seconds it took. Never raises."""
    about = f"assignment {work.assignment.pk} for {work.judge.slug}"
    return attempt(lambda: _client(work, asked).ask(asked.request), about)


def _client(work: Work, asked: PreparedCall) -> Client:
    if asked.problem:
        raise NoReplyError("configuration", asked.problem, retryable=False)
    if work.judge.is_simulated:
        return _simulated(work, asked.question)
    return client_of(asked.endpoint)


def client_of(endpoint: Endpoint) -> Client:
    """Raises NoReplyError if there is no key that can be sent, or the address may not be asked."""
    try:
        key = read_key(endpoint.api_key_env, os.environ)
    except KeyVariableError as error:
        raise NoReplyError("configuration", str(error), retryable=False) from error
    if not key:
        raise NoReplyError("configuration", unset_key(endpoint.api_key_env), retryable=False)
    try:
        return OpenAIClient(endpoint.base_url, key)
    except RefusedAddressError as error:
        raise NoReplyError("configuration", str(error), retryable=False) from error


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
