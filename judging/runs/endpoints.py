"""Whom a judge asks: its own model, or another one that writes something for it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from judging.endpoints import costs
from judging.judges.services import JudgeError
from judging.models import Judge
from judging.protocols.protocol import Manner

OTHER_JUDGE: Final = "judge:"
"""Before a slug it names the model of another judge, at that judge's endpoint and with its key."""


@dataclass(frozen=True)
class Endpoint:
    """A model and how it is reached. Fields are those of judging.models.Judge."""

    base_url: str
    model: str
    api_key_env: str
    max_tokens: int | None
    temperature: float | None
    timeout: float
    options: Mapping[str, Any]

    @property
    def reply_limit(self) -> int | None:
        """The longest reply it is asked for, in tokens; None where there is no limit."""
        return costs.reply_limit(self.max_tokens, self.options)


def endpoint_of(judge: Judge, author: str = "") -> Endpoint:
    """Who is asked where a question names this author; "" is the judge itself.

    ``judge:SLUG`` is the model of that judge, anything else a model at the judge's own endpoint. Raises
    JudgeError where there is no such judge.
    """
    if not author.startswith(OTHER_JUDGE):
        return _of(judge, author or judge.model)
    slug = author.removeprefix(OTHER_JUDGE)
    other = Judge.objects.select_related("rater").filter(rater__slug=slug).first()
    if other is None or other.is_simulated:
        raise JudgeError(
            f'{judge.name} lets "{author}" write for it, and there is no such judge with a model.'
        )
    return _of(other, other.model)


def endpoints(judge: Judge) -> list[Endpoint]:
    """Everyone who is asked for this judge. Raises JudgeError as ``endpoint_of`` does."""
    return [endpoint_of(judge, author) for author in authors(judge.manner)]


def authors(manner: Manner) -> list[str]:
    """Who is asked by a protocol and its parts, each once; "" is the judge itself."""
    return list(dict.fromkeys(_authors(manner)))


def _authors(manner: Manner) -> Iterator[str]:
    for step in manner.steps:
        yield str(manner.value(step.author)) if step.author else ""
    for part in manner.protocol.parts:
        yield from _authors(manner.of_part(part))


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
