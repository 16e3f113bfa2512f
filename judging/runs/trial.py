"""Asking a judge that may not be stored yet one question about built-in texts. Only its cost is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from arena.pages.permissions import Visitor
from arena.rules import scales
from judging.endpoints.client import NoReplyError, Reply, attempt, refusal
from judging.endpoints.costs import Prices, reply_tokens
from judging.endpoints.logprobs import lacks_mass
from judging.judges.asked import asked_by
from judging.judges.rights import check_may_ask
from judging.judges.services import JudgeError, check, missing_key
from judging.models import Judge
from judging.protocols import conversation
from judging.protocols.conversation import Question
from judging.protocols.parsing import read_lines, read_verdict, remedy
from judging.protocols.protocol import Task
from judging.protocols.rendering import OneText, PairTexts, Texts
from judging.protocols.replies import Place, Verdict, mirrored, side_of
from judging.runs import limiting
from judging.runs.asking import request_to
from judging.runs.work import boundary_secret
from judging.spending import trials

LONGEST_WAIT: Final = 30.0  # seconds that a page waits for the reply

PROMPT: Final = "What is the capital of France?"
GOOD: Final = "The capital of France is Paris."
BAD: Final = "I like trains."
"""The first answer shown is the good one, which no judge should get wrong; alone it is shown, too."""

REQUIREMENT: Final = "Does the answer name the capital of France?"

WHY: Final[Mapping[str, str]] = {
    "timeout": "The endpoint gave no reply in time ({}).",
    "unreachable": "The endpoint cannot be reached. Check the address. ({})",
    "connection": "The connection broke ({}).",
    "malformed": "The address answers, but not like an OpenAI-compatible endpoint ({}).",
    "rate_limited": "The endpoint asks you to wait (429: {}).",
    "error": "The endpoint sends an error in place of a reply ({}).",
}


@dataclass(frozen=True)
class Trial:
    """What came of one call; ``problem`` says why there is no reply."""

    problem: str = ""
    reply: Reply | None = None
    verdict: Verdict | None = None  # None if the question asks for no rating
    read: str = ""  # the verdict in words
    remedy: str = ""  # what helps where no verdict could be read
    logprobs: str = ""  # what is wrong with the log-probabilities that were asked for
    habits: Sequence[str] = ()  # what was found out about asking the model
    is_odd: bool = False  # it prefers the bad answer, or thinks badly of the good one
    task: str = Task.COMPARE
    calls: int = 1  # that the protocol makes about a pair or answer, at most; of requirements, about each
    seconds: float = 0.0
    cost: Decimal | None = None


def tested(judge: Judge, prices: Prices | None, by: Visitor) -> Trial:
    """Ask once, if nobody else of this account waits for a test. Raises JudgeError as ``try_out`` does."""
    if problem := missing_key(judge.endpoint):  # nobody is asked, so the next test need not wait
        raise JudgeError(problem)
    trial = f"trial by {by.pk if by else 'command'}"
    if wait := limiting.start_trial(trial):
        raise JudgeError(f"Wait {max(1, round(wait))} s before you test again.")
    try:
        return try_out(judge, prices, by)
    finally:
        limiting.end_trial(trial)


def try_out(judge: Judge, prices: Prices | None, by: Visitor) -> Trial:
    """Ask once, which costs one call.

    Raises JudgeError for settings that no judge can have, and if the budget of the day has no room.
    """
    check(judge)
    check_may_ask(judge, by)
    if judge.is_simulated:
        raise JudgeError("A simulated judge asks no model, so there is nothing to test.")
    configured = judge.configured_protocol
    texts: Texts = PairTexts([PROMPT], "", [GOOD], [BAD], boundary_secret())
    if not judge.compares:
        configured = configured.asking({1: REQUIREMENT})
        texts = OneText([PROMPT], "", [GOOD], boundary_secret())
    question = conversation.next_questions(configured, texts, {})[0]
    model = asked_by(judge, question.author)
    request = request_to(model, question, judge)
    request = replace(request, timeout=min(request.timeout, LONGEST_WAIT))
    call = trials.begin(model, request.messages, prices=prices, by=by)
    reply, seconds = attempt(lambda: model.client().ask(request), f"a test of {model.model}")
    habits = model.client().habits(model.model) if isinstance(reply, Reply) else []
    trials.end(call, reply)
    if isinstance(reply, NoReplyError):
        return Trial(_why(reply), seconds=seconds)
    verdict = _verdict(question, reply)
    return Trial(
        reply=reply,
        verdict=verdict,
        read=_in_words(verdict, question) if verdict else "",
        remedy=remedy(reply.as_text),
        logprobs=_about_logprobs(reply, question) if request.logprobs else "",
        habits=habits,
        is_odd=_is_odd(verdict, question),
        task=judge.task,
        calls=len(conversation.keys(configured)),
        seconds=seconds,
        cost=_cost(reply, prices),
    )


def _about_logprobs(reply: Reply, question: Question) -> str:
    if not reply.tokens:
        return "The judge asks for logprobs, and the endpoint sends none, so there is no expected rating."
    if question.scale and question.place and lacks_mass(reply, question.scale, question.place):
        return (
            "Hardly any of the likeliest tokens that the endpoint lists for the rating are ratings, as with "
            "a grammar, so there is no expected rating."
        )
    return ""


def _why(error: NoReplyError) -> str:
    if words := refusal(error):
        return words
    if error.kind == "rate_limited" and error.retry_after:
        return f"The endpoint asks you to wait {error.retry_after} s (429: {error})."
    if error.kind.startswith("http_"):
        return f"The endpoint rejects the request ({error.kind.removeprefix('http_')}: {error})."
    return WHY.get(error.kind, "{}").format(error)


def _verdict(question: Question, reply: Reply) -> Verdict | None:
    if question.scale is None or question.place is None:
        return None
    if question.place is Place.LINES:
        return read_lines(reply.as_text, [1])[1]
    read = read_verdict(reply.as_text, question.scale, question.place)
    return mirrored(read, question.scale.points) if question.other_order else read


def _in_words(verdict: Verdict, question: Question) -> str:
    if verdict.rating is None or question.scale is None:
        return ""
    if question.scale.form == "yes_no":
        return "met" if verdict.rating == 1 else "not met"
    if question.scale.form == "score":
        which = f" for the {question.side} answer" if question.side else ""
        return f"{verdict.rating} of {question.scale.highest}{which}"
    points = question.scale.points
    return f"{verdict.rating} of {points}: {scales.CAPTIONS[points][verdict.rating - 1]}"


def _is_odd(verdict: Verdict | None, question: Question) -> bool:
    if verdict is None or verdict.rating is None or question.scale is None or question.side:
        return False
    if question.scale.form == "yes_no":
        return verdict.rating != 1
    if question.scale.form == "score":
        return 2 * verdict.rating < question.scale.lowest + question.scale.highest
    return side_of(verdict, question.scale.points) == "second"


def _cost(reply: Reply, prices: Prices | None) -> Decimal | None:
    if prices is None or reply.prompt_tokens is None or reply.completion_tokens is None:
        return None
    return prices.of(reply.prompt_tokens, reply_tokens(reply.completion_tokens, reply.reasoning_tokens))
