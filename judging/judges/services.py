import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from arena.audit.recording import Kind, record
from arena.models import Rater
from arena.pages.names import check_name
from arena.pages.permissions import Visitor
from arena.texts.slugs import free_slug, slug_from
from judging.endpoints.costs import Prices
from judging.endpoints.keys import KeyVariableError, check_key_variable, read_key, unset_key
from judging.endpoints.reaching import RefusedAddressError, check_address, is_address
from judging.endpoints.simulated import Simulation
from judging.models import Author, Endpoint, Judge, JudgeCall, Panel, Price
from judging.protocols.answer_scales import POINTS, UNUSED
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.customization import MOST_SAMPLES, check_parameters, wording_problems
from judging.protocols.protocol import Protocol, Task

RESERVED = frozenset(
    {"model", "messages", "stream", "n", "best_of", "max_tokens", "temperature", "logprobs", "top_logprobs"}
)
"""Fields of a request that options must not set: the judge's own fields do, or none may."""


LARGEST = {
    "concurrency": 10_000,
    "requests_per_minute": 2**31 - 1,
    "tokens_per_minute": 2**31 - 1,
}
"""Limits of an endpoint. The smallest is 1."""

MOST_TOKENS: Final = 2**31 - 1


class JudgeError(Exception):
    """The message is a sentence for the operator. field: which of the given values it is about, if one is."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class MissingError(JudgeError):
    """Something that the operator named is not there."""


OF_ENDPOINT: Final = (*Endpoint.IDENTITY, *Endpoint.SHARED)

SETTINGS: Final = [
    field.name
    for field in Judge._meta.fields
    if field.name not in ("id", "rater", "endpoint", "prompt_hash", "created_at")
]


@contextmanager
def storing() -> Iterator[None]:
    """A transaction that saves what has to be one of its kind. Raises JudgeError if another just did."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise JudgeError("Somebody saved the same at this moment. Look whether it is there.") from error


def store_with_rater(owner: Judge | Panel) -> None:
    """Save a judge or panel and its rater; raises JudgeError for what the models' own checks find."""
    rater = owner.rater
    others = Rater.objects.filter(kind=Rater.Kind.JUDGE, study=None).exclude(pk=rater.pk or 0)
    if others.filter(slug=rater.slug).exists():
        raise JudgeError(f'Another judge or panel has the short name "{rater.slug}".', "slug")
    before = Rater.objects.filter(pk=rater.pk or 0).values_list("name", flat=True).first()
    try:
        check_name(rater.name, others, before)
        rater.full_clean()
        owner.full_clean(exclude=["rater"])
    except ValidationError as error:
        raise _refusal(error, "name") from error
    rater.save(update_fields=["name", "simulated", "derived_from"] if rater.pk else None)
    owner.rater = rater
    owner.save()


def _refusal(error: ValidationError, field: str = "") -> JudgeError:
    return JudgeError("; ".join(error.messages), next(iter(getattr(error, "error_dict", ())), field))


def known_endpoint(wanted: Endpoint) -> Endpoint | None:
    """The stored one that asks the same model at the same address with the same key."""
    same = {name: getattr(wanted, name) for name in Endpoint.IDENTITY}
    return Endpoint.objects.filter(**{**same, "base_url": wanted.base_url.rstrip("/")}).first()


def store_endpoint(wanted: Endpoint) -> Endpoint:
    """Find or make what is wanted; the rest then holds for all who share it. Raises JudgeError."""
    check_endpoint(wanted)
    stored = known_endpoint(wanted) or Endpoint()
    for name in OF_ENDPOINT:
        setattr(stored, name, getattr(wanted, name))
    try:
        stored.full_clean()
    except ValidationError as error:
        raise _refusal(error) from error
    stored.save()
    return stored


def drop_unused(endpoint: Endpoint) -> None:
    """Remove an endpoint that nobody asks any more."""
    Endpoint.objects.filter(pk=endpoint.pk, judges=None, authors=None).delete()


@storing()
def create_judge(slug: str, name: str, judge: Judge, by: Visitor | None = None) -> Judge:
    """Store a new judge, all set but for its rater; raises JudgeError."""
    check(judge)
    if judge.endpoint:
        judge.endpoint = store_endpoint(judge.endpoint)
    judge.rater = Rater(kind=Rater.Kind.JUDGE, slug=slug, name=name, simulated=judge.is_simulated)
    store_with_rater(judge)
    asked = "simulated" if judge.is_simulated else f"{judge.model} at {judge.base_url}"
    record(Kind.JUDGE, by, f"Judge {slug} added: {asked}.", rater=judge.rater)
    return judge


@storing()
def configure_judge(judge: Judge, name: str, wanted: Judge, by: Visitor | None = None) -> Judge:
    """Give a judge the settings of ``wanted``; raises JudgeError. Once it has replied, IDENTITY is fixed."""
    check(wanted)
    changed = [part for part in Judge.IDENTITY if getattr(judge, part) != getattr(wanted, part)]
    if changed and JudgeCall.objects.filter(run__judge=judge, state__in=["replied", "in_flight"]).exists():
        raise JudgeError(
            f"{judge.name} has replied already, so you cannot change its {', '.join(changed)}. "
            "Add a new judge."
        )
    changes = [f"Name: {name}. Before: {judge.rater.name}."] if judge.rater.name != name else []
    changes += _changes(SETTINGS, judge, wanted)
    before, after = judge.endpoint, wanted.endpoint
    if before and after:
        changes += _changes(OF_ENDPOINT, before, after)
    for part in SETTINGS:
        setattr(judge, part, getattr(wanted, part))
    judge.endpoint = store_endpoint(after) if after else None
    if judge.prompt_hash:  # of a run that has brought no reply yet
        judge.prompt_hash = judge.current_prompt_hash()
    judge.rater.name = name
    judge.rater.simulated = judge.is_simulated
    store_with_rater(judge)
    if before:
        drop_unused(before)
    if changes:
        record(Kind.JUDGE, by, f"Judge {judge.slug}. {' '.join(changes)}", rater=judge.rater)
    return judge


def _changes(parts: Iterable[str], stored: object, wanted: object) -> Iterator[str]:
    """Say each setting that differs as it is and was, without texts that may hold much or a secret."""
    for part in parts:
        label = part.replace("_", " ").capitalize()
        now, before = getattr(wanted, part), getattr(stored, part)
        if now != before and part in ("wording", "options", "parameters", "simulation"):
            yield f"{label} changed."
        elif now != before:
            yield f"{label}: {_said(now)}. Before: {_said(before)}."


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value in ("", None) else str(value)


def check(judge: Judge) -> None:
    """Raise JudgeError for settings that no judge can have; names of protocols and addresses become the usual
    ones."""
    judge.protocol = _check_protocol(judge).name
    check_sampling(judge)
    if judge.is_simulated:
        try:
            Simulation.from_options(judge.simulation)
        except ValueError as error:
            raise JudgeError(f"Simulation: {error}.", "simulation") from error
    elif judge.endpoint is None:
        raise JudgeError("The judge needs a model and its address.", "model")
    else:
        check_endpoint(judge.endpoint)


def check_sampling(asks: Judge | Author) -> None:
    """Raise JudgeError for options or a limit of tokens that no request can have."""
    if reserved := RESERVED & set(asks.options):
        raise JudgeError(f"The options must not set {', '.join(sorted(reserved))}.", "options")
    _check_largest(asks, max_tokens=MOST_TOKENS)


def check_endpoint(endpoint: Endpoint) -> None:
    """Raise JudgeError for an endpoint that cannot be asked; a slash at the end of its address goes."""
    try:
        check_key_variable(endpoint.api_key_env)
    except KeyVariableError as error:
        raise JudgeError(str(error), "api_key_env") from error
    if not 0 < endpoint.timeout <= 3600:
        raise JudgeError("The timeout must be more than 0 and at most 3600 seconds.", "timeout")
    _check_largest(endpoint, **LARGEST)
    check_url(endpoint.base_url)
    endpoint.base_url = endpoint.base_url.rstrip("/")


def _check_protocol(judge: Judge) -> Protocol:
    try:
        protocol = PROTOCOLS.named(judge.protocol)
        check_parameters(protocol, judge.parameters)
    except ValueError as error:
        raise JudgeError(str(error), "protocol") from error
    if protocol.task is not Task.COMPARE:
        judge.form, judge.points = protocol.forms[0], UNUSED
        judge.both_orders = False
        if judge.rates_criteria:
            why = f"Protocol {protocol.name} shows one answer, which criteria do not rate."
            raise JudgeError(why, "rates_criteria")
    if wrong := wording_problems(protocol, judge.wording):
        raise JudgeError(" ".join(wrong))
    if judge.form not in protocol.forms:
        raise JudgeError(
            f"Protocol {protocol.name} has no answer scale {judge.form}: {protocol.lacks}. Choose one of "
            f"{', '.join(protocol.forms)}.",
            "form",
        )
    offered_points = POINTS.get(judge.form, (UNUSED,))
    if judge.points not in offered_points:
        offered = ", ".join(map(str, offered_points))
        raise JudgeError(
            f"The answer scale {judge.form} has no {judge.points} points. Choose one of {offered}.", "points"
        )
    _check_largest(judge, samples=MOST_SAMPLES)
    return protocol


def _check_largest(row: Judge | Author | Endpoint, **largest: int) -> None:
    """Raise JudgeError for a column, where it is set, below 1 or above its largest value."""
    for name, most in largest.items():
        if (value := getattr(row, name)) is not None and not 1 <= value <= most:
            words = name.replace("_", " ").capitalize()
            raise JudgeError(f"{words} must be from 1 to {most:,}.", name)


UNNAMED: Final = "judge"
ROOM: Final = 10  # characters kept free for a number


def slug_of(name: str) -> str:
    """A slug that no judge has, made of the name."""
    longest = (Rater._meta.get_field("slug").max_length or 0) - ROOM
    base = slug_from(name, UNNAMED, longest)
    judges = Rater.objects.filter(kind=Rater.Kind.JUDGE, study=None, slug__startswith=base)
    return free_slug(base, set(judges.values_list("slug", flat=True)))


def missing_key(endpoint: Endpoint | None) -> str:
    """Reason why an endpoint's key cannot be read where the arena runs; "" if it can, or none is needed."""
    try:
        key = read_key(endpoint.api_key_env if endpoint else "", os.environ)
    except KeyVariableError as error:
        return str(error)
    return "" if key or not endpoint else unset_key(endpoint.api_key_env)


def check_model(judge: Judge, could: str) -> None:
    """Raise JudgeError for a judge that has no model which can be asked to do something beside judging."""
    if not judge.active:
        raise JudgeError(f"{judge.name} is inactive.", "judge")
    if judge.is_simulated:
        raise JudgeError(f"A simulated judge has no model that could {could}.", "judge")
    if problem := missing_key(judge.endpoint):
        raise JudgeError(problem, "judge")


def price_of(model: str, base_url: str) -> Price | None:
    """The price of a model at its endpoint, or else wherever it is asked."""
    places = Price.objects.filter(model=model, base_url__in=["", base_url.rstrip("/")])
    return places.order_by("-base_url").first()


def enter_price(endpoint: Endpoint, prices: Prices | None, by: Visitor | None = None) -> None:
    """Set what a model costs at its endpoint, for all who ask it there; None changes nothing."""
    known, place = price_of(endpoint.model, endpoint.base_url), endpoint.base_url
    if prices is None or (known and known.prices == prices):
        return
    Price.objects.update_or_create(model=endpoint.model, base_url=place, defaults=vars(prices))
    now, before = _price_in_words(prices), _price_in_words(known.prices if known else None)
    record(Kind.JUDGE, by, f"Price of {endpoint.model} at {place}: {now}. Before: {before}.")


def _price_in_words(prices: Prices | None) -> str:
    """Per million tokens, of input and output."""
    return ", ".join(f"{name} {value}" for name, value in vars(prices).items()) if prices else "none"


def check_url(url: str) -> None:
    """Raise JudgeError unless a client can ask this address; it is shown, so it must hold no password."""
    if not is_address(url):
        raise JudgeError("Enter an address like https://api.example.com/v1.", "base_url")
    if "@" in urlsplit(url).netloc:
        why = "Leave the user name and password out of the address. Use a key variable."
        raise JudgeError(why, "base_url")
    try:
        check_address(url)
    except RefusedAddressError as error:
        raise JudgeError(str(error), "base_url") from error
