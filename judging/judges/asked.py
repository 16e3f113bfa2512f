"""Which models are asked for a judge or a contestant, and how."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from arena.texts.dialogue import Message
from judging.endpoints import costs
from judging.endpoints.client import NoReplyError, Request
from judging.endpoints.keys import read_key
from judging.endpoints.openai_client import OpenAIClient
from judging.endpoints.reaching import RefusedAddressError
from judging.judges.services import JudgeError, missing_key
from judging.models import Author, Endpoint, Judge
from judging.protocols import structured
from judging.protocols.protocol import ConfiguredProtocol

OTHER_JUDGE: Final = "judge:"
"""Prefix of an author that is another judge's model, at that judge's endpoint and with its key."""

GRACE = timedelta(seconds=30)  # how long after its timeout a call counts as abandoned


@dataclass(frozen=True)
class AskedModel:
    """A model at an endpoint, and how its replies are sampled."""

    endpoint: Endpoint
    model: str  # that of the endpoint, or another one there
    max_tokens: int | None
    temperature: float | None
    options: Mapping[str, Any]
    form_tokens: int = 0  # the most that asking for replies in JSON takes

    @classmethod
    def of(cls, asks: Judge | Author, endpoint: Endpoint, model: str = "") -> "AskedModel":
        """The model of a judge or contestant, or another one at its endpoint."""
        as_json = isinstance(asks, Judge) and asks.replies == Judge.Replies.JSON
        form = structured.MOST_TOKENS if as_json else 0
        return cls(endpoint, model or endpoint.model, asks.max_tokens, asks.temperature, asks.options, form)

    @property
    def base_url(self) -> str:
        return self.endpoint.base_url

    @property
    def reply_limit(self) -> int | None:
        return costs.reply_limit(self.max_tokens, self.options)

    @property
    def lease(self) -> timedelta:
        """Until a call counts as abandoned."""
        return timedelta(seconds=self.endpoint.timeout) + GRACE

    @property
    def most_tokens_beside(self) -> int:
        """The most tokens of what a request has beside its messages."""
        return costs.most_option_tokens(self.options) + self.form_tokens

    def request(
        self, messages: Sequence[Message], *, temperature: float | None = None, logprobs: bool = False
    ) -> Request:
        """``temperature``: in place of its own."""
        return Request(
            model=self.model,
            messages=messages,
            timeout=self.endpoint.timeout,
            max_tokens=self.max_tokens,
            temperature=self.temperature if temperature is None else temperature,
            options=self.options,
            logprobs=logprobs,
        )

    def client(self) -> OpenAIClient:
        """Raises NoReplyError if there is no key that can be sent, or the address may not be asked."""
        if problem := missing_key(self.endpoint):
            raise NoReplyError("configuration", problem, retryable=False)
        try:
            return OpenAIClient(self.base_url, read_key(self.endpoint.api_key_env, os.environ))
        except RefusedAddressError as error:
            raise NoReplyError("configuration", str(error), retryable=False) from error


def asked_by(judge: Judge, author: str = "") -> AskedModel:
    """The model for an author: "" is the judge's, ``judge:SLUG`` another judge's, else one beside it.

    Raises JudgeError if there is no such judge.
    """
    if not author.startswith(OTHER_JUDGE):
        return AskedModel.of(judge, judge.asks, author)
    slug = author.removeprefix(OTHER_JUDGE)
    other = Judge.objects.select_related("rater", "endpoint").filter(rater__slug=slug).first()
    if other is None or other.endpoint is None:
        raise JudgeError(f'{judge.name} needs the judge "{author}", which does not exist or has no model.')
    return AskedModel.of(other, other.endpoint)


def all_asked_by(judge: Judge) -> list[AskedModel]:
    """Every model that is asked for a judge; raises JudgeError."""
    return [asked_by(judge, author) for author in authors(judge.configured_protocol)]


def authors(configured: ConfiguredProtocol) -> list[str]:
    """The authors that a protocol and its parts name, each once."""
    return list(dict.fromkeys(_authors(configured)))


def _authors(configured: ConfiguredProtocol) -> Iterator[str]:
    for step in configured.steps:
        yield str(configured.value(step.author)) if step.author else ""
    for part in configured.protocol.parts:
        yield from _authors(configured.of_part(part))
