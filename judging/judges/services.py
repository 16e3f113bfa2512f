"""Configuring judges."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import transaction

from arena.models import Rater
from judging.endpoints.keys import KeyVariableError, check_key_variable
from judging.endpoints.simulated import Simulation
from judging.models import Judge, JudgeCall
from judging.protocols.answer_scales import POINTS
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.customization import MOST_SAMPLES, check_parameters, wording_problems
from judging.protocols.protocol import Protocol

RESERVED = frozenset(
    {"model", "messages", "stream", "n", "best_of", "max_tokens", "temperature", "logprobs", "top_logprobs"}
)
"""Fields of a request that options must not set: the judge's own fields do, or none may."""


LARGEST = {
    "max_tokens": 2**31 - 1,
    "concurrency": 10_000,
    "requests_per_minute": 2**31 - 1,
    "tokens_per_minute": 2**31 - 1,
}
"""The largest values of a judge's numbers; the smallest is 1."""


class JudgeError(Exception):
    """A judge cannot be configured or used like this; the message is a sentence for the operator."""


@dataclass(frozen=True)
class JudgeConfig:
    """How a judge is asked; the fields are those of judging.models.Judge."""

    model: str
    provider: str = Judge.Provider.OPENAI
    base_url: str = ""
    api_key_env: str = ""
    protocol: str = "likert"
    form: str = "likert"
    points: int = 8
    parameters: dict[str, Any] = field(default_factory=dict)
    wording: dict[str, str] = field(default_factory=dict)
    samples: int = 1
    logprobs: bool = False
    temperature: float | None = 0
    max_tokens: int | None = 1024
    timeout: float = 120
    options: dict[str, Any] = field(default_factory=dict)
    simulation: dict[str, Any] = field(default_factory=dict)
    both_orders: bool = False
    concurrency: int = 8
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    active: bool = True


@contextmanager
def checks_in_words() -> Iterator[None]:
    """Raise the models' ValidationError as a JudgeError."""
    try:
        yield
    except ValidationError as error:
        raise JudgeError("; ".join(error.messages)) from error


@transaction.atomic
def create_judge(slug: str, name: str, config: JudgeConfig) -> Judge:
    """A new judge with its rater. Raises JudgeError saying what is wrong."""
    config = _checked(config)
    if Rater.objects.filter(kind=Rater.Kind.JUDGE, slug=slug, study=None).exists():
        raise JudgeError(f'There is a judge "{slug}" already.')
    rater = Rater(
        kind=Rater.Kind.JUDGE,
        slug=slug,
        name=name,
        simulated=config.provider == Judge.Provider.SIMULATED,
    )
    judge = Judge(rater=rater, **asdict(config))
    with checks_in_words():
        rater.full_clean()
        judge.full_clean(exclude=["rater"])
    rater.save()
    judge.rater = rater
    judge.save()
    return judge


@transaction.atomic
def configure_judge(judge: Judge, name: str, config: JudgeConfig) -> Judge:
    """Change a judge; raises JudgeError. What makes answers comparable is fixed once it has replied."""
    config = _checked(config)
    changed = [part for part in Judge.IDENTITY if getattr(judge, part) != getattr(config, part)]
    if changed and JudgeCall.objects.filter(run__judge=judge, state__in=["replied", "in_flight"]).exists():
        raise JudgeError(
            f"{judge.name} was asked already, so its {', '.join(changed)} cannot change; make a new judge, "
            "so that answers to different questions never mix."
        )
    for part, value in asdict(config).items():
        setattr(judge, part, value)
    if judge.prompt_hash:  # of a run that has brought no reply yet
        judge.prompt_hash = judge.current_prompt_hash()
    judge.rater.name = name
    judge.rater.simulated = judge.is_simulated
    with checks_in_words():
        judge.full_clean()
    judge.rater.save(update_fields=["name", "simulated"])
    judge.save()
    return judge


def _checked(config: JudgeConfig) -> JudgeConfig:
    """The configuration with the protocol's own name; raises JudgeError if no judge can have it."""
    protocol = _check_protocol(config)
    reserved = RESERVED & set(config.options)
    if reserved:
        raise JudgeError(f"The options must not set {', '.join(sorted(reserved))}.")
    _check_key_variable(config.api_key_env)
    if not 0 < config.timeout <= 3600:
        raise JudgeError("The timeout must be more than 0 and at most 3600 seconds.")
    for name, largest in LARGEST.items():
        limit = getattr(config, name)
        if limit is not None and not 1 <= limit <= largest:
            raise JudgeError(f"{name.replace('_', ' ').capitalize()} must be from 1 to {largest:,}.")
    if config.provider == Judge.Provider.SIMULATED:
        try:
            Simulation.from_options(config.simulation)
        except ValueError as error:
            raise JudgeError(f"Simulation: {error}.") from error
    else:
        check_url(config.base_url)
    return replace(config, protocol=protocol.name)


def _check_protocol(config: JudgeConfig) -> Protocol:
    """The protocol; raises JudgeError if it cannot be used like this."""
    try:
        protocol = PROTOCOLS.named(config.protocol)
        check_parameters(protocol, config.parameters)
    except ValueError as error:
        raise JudgeError(str(error)) from error
    wrong = wording_problems(protocol, config.wording)
    if wrong:
        raise JudgeError(" ".join(wrong))
    if config.form not in protocol.forms:
        raise JudgeError(
            f"Protocol {protocol.name} has no answer scale {config.form}; choose one of "
            f"{', '.join(protocol.forms)}."
        )
    if config.points not in POINTS[config.form]:
        raise JudgeError(f"The answer scale {config.form} has no {config.points} points.")
    if not 1 <= config.samples <= MOST_SAMPLES:
        raise JudgeError(f"Samples must be from 1 to {MOST_SAMPLES}.")
    return protocol


def _check_key_variable(name: str) -> None:
    try:
        check_key_variable(name)
    except KeyVariableError as error:
        raise JudgeError(str(error)) from error


def check_url(url: str) -> None:
    """Raise JudgeError unless a client can ask this address; it is shown, so it must hold no password."""
    try:
        parts = urlsplit(url)
        is_plain = url.isprintable() and " " not in url
        usable = is_plain and parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise JudgeError("The base URL must be like https://api.example.com/v1.")
    if "@" in parts.netloc:
        raise JudgeError("Leave user name and password out of the base URL; name a key variable instead.")
