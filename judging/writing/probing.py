"""What an endpoint tells about the probabilities of tokens, found out by two or three calls of one token."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from django.utils import timezone

from arena.audit.recording import Kind, record
from arena.pages.permissions import Visitor
from arena.rules.feature_names import FEATURES, Needs
from arena.texts.dialogue import Message
from judging.endpoints.client import NoReplyError, Reply, refusal
from judging.endpoints.scoring import Read, ToRead, Way
from judging.judges.services import JudgeError, missing_key
from judging.models import Author, TrialCall
from judging.runs import limiting
from judging.spending import trials
from judging.writing import reading
from judging.writing.services import asked, check_may_spend

QUESTION: Final = [{"role": "user", "content": "Name a river."}]
ANSWER: Final = [{"role": "assistant", "content": "The Rhine."}]
LOGPROBS: Final = "logprobs"
LONGEST_WAIT: Final = 30.0  # seconds


def probe(author: Author, by: Visitor | None = None) -> None:
    """Find out and store what an author's endpoint gives. Raises JudgeError where nobody can tell."""
    check_may_spend(by)
    endpoint = author.endpoint
    if problem := missing_key(endpoint):
        raise JudgeError(problem)
    trial = f"probe of {endpoint.pk}"
    if wait := limiting.start_trial(trial):
        raise JudgeError(f"Wait {max(1, round(wait))} s before you probe again.")
    try:
        found = _found(author, by)
    finally:
        limiting.end_trial(trial)
    endpoint.gives = {**found, "at": timezone.now().isoformat()}
    endpoint.save(update_fields=["gives"])
    told = ", ".join(name for name, is_there in found.items() if is_there) or "nothing"
    record(Kind.JUDGE, by, f"Probed {endpoint}: it gives {told}.", study=author.contestant.study)


def _found(author: Author, by: Visitor | None) -> dict[str, bool]:
    model = replace(asked(author), max_tokens=1, options={})
    timeout = min(model.endpoint.timeout, LONGEST_WAIT)
    request = replace(model.request(QUESTION, logprobs=True), timeout=timeout)
    wanted = ToRead(model.model, [*QUESTION, *ANSWER], timeout)
    try:
        client = model.client()
    except NoReplyError as error:
        raise JudgeError(refusal(error)) from error

    def is_given(ask: Callable[[], Reply | Read], messages: Sequence[Message]) -> bool:
        return _tells(ask, trials.begin(model, messages, study=author.contestant.study, by=by))

    found = {LOGPROBS: is_given(lambda: client.ask(request), QUESTION)}
    # A text is read in one way, so the second is not tried where the first works.
    for way in Way:
        is_new = not any(found.get(each) for each in Way)
        found[way] = is_new and is_given(partial(client.read, way, wanted), wanted.messages)
    return {str(name): is_there for name, is_there in found.items()}


def _tells(ask: Callable[[], Reply | Read], call: TrialCall) -> bool:
    try:
        told = ask()
    except NoReplyError as error:
        trials.end(call, error)
        if error.retryable or error.kind in ("http_401", "http_403", "configuration"):
            raise JudgeError(refusal(error) or f"The endpoint did not answer: {error}.") from error
        return False
    trials.end(call, told)
    return bool(told.tokens)


class Gift(NamedTuple):
    """A feature, and how the endpoint gives it; "" if it does not."""

    label: str
    needs: Needs
    how: str


def gifts(author: Author) -> list[Gift]:
    """Which features the endpoint of an author can give, by its last probe."""
    endpoint = author.endpoint
    reads = reading.way(endpoint) is not None
    ways = ["while it writes"] * bool(endpoint.gives.get(LOGPROBS)) + ["by reading"] * reads
    tokens = " and ".join(ways)
    bounds = "upper and lower bounds" if endpoint.vocabulary else "a lower bound"
    given = {Needs.TOKENS: tokens, Needs.REFERENCE: "by reading" if reads else ""}
    by_name = {"entropy": f"{bounds}, {tokens}" if tokens else ""}
    return [
        Gift(each.label, each.needs, by_name.get(name, given.get(each.needs, "")))
        for name, each in FEATURES.items()
    ]
