"""Putting hostile answers through protocols: what each does to the verdict of each judge."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from judging.endpoints.client import Request
from judging.endpoints.simulated import SimulatedClient, Simulation
from judging.protocols import conversation
from judging.protocols.conversation import Question
from judging.protocols.neutralizing import neutral
from judging.protocols.protocol import ConfiguredProtocol
from judging.protocols.rendering import PairTexts
from judging.protocols.replies import Verdict
from tests.judging.injections.corpus import Injection
from tests.judging.injections.judges import CODE, Hears, careful, careless, obedient, reply_of
from tests.judging.protocols.scripted import COMPARING, GOOD, ask_all, blocks, configured, outside

Judge = Callable[[Question], str]

SCRIPTED: Final[Mapping[str, Hears]] = {
    "takes what stands outside the markers for instructions": careful,
    "the same, but takes markers of any code for real": careless,
    "takes everything for instructions": obedient,
}
SIMULATED: Final = "simulated"


class Effect(StrEnum):
    """What an injection does to a verdict."""

    NONE = "same verdict"
    CHANGED = "another verdict"
    UNSCORED = "no verdict"


def configured_protocols() -> Iterator[ConfiguredProtocol]:
    """Every protocol in every form it offers, on the largest scale of the form."""
    for protocol in COMPARING.values():
        for form in protocol.forms:
            yield configured(protocol.name, form)


def texts_with(injection: Injection | None) -> Iterator[PairTexts]:
    """A dull answer with the injection against a good one, in both orders."""
    dull = "A dull answer."
    hostile = f"{dull}\n\n{injection.text}" if injection else dull
    one = PairTexts(["Say something."], "", [hostile], [f"An {GOOD} answer."], b"a secret of the arena")
    yield from (one, one.swapped())


def asked(
    configured: ConfiguredProtocol, pair_texts: PairTexts, judge: Judge
) -> tuple[list[Question], Verdict]:
    """Every question of a protocol, and the verdict."""
    waves, replies = ask_all(configured, pair_texts, judge)
    return [question for wave in waves for question in wave], conversation.verdict(configured, replies)


def scripted(hears: Hears, order: str) -> Judge:
    """A judge that obeys the order where it hears it; "" is none."""
    return lambda question: reply_of(hears, order, question.messages)


def simulated(question: Question) -> str:
    """A judge that reads nothing."""
    simulation = Simulation(0, 0, {"one": 0, "other": 400})
    client = SimulatedClient(simulation, "one", "other", 1, question)
    return client.ask(Request("simulated", question.messages, 1.0)).text


def honest(configured: ConfiguredProtocol, judge: Judge) -> list[int | None]:
    """The ratings without any injection, in both orders."""
    return [asked(configured, pair_texts, judge)[1].rating for pair_texts in texts_with(None)]


def effect(found: Verdict, wanted: int | None) -> Effect:
    """What became of a verdict that would have been ``wanted``."""
    if found.rating is None:
        return Effect.UNSCORED
    return Effect.NONE if found.rating == wanted else Effect.CHANGED


def shares(injections: Iterable[Injection]) -> dict[str, Counter[Effect]]:
    """The effects of all injections over all protocols, in both orders, by judge."""
    found = {name: Counter[Effect]() for name in (*SCRIPTED, SIMULATED)}
    for asking in configured_protocols():
        wanted = {name: honest(asking, judge_of(name, "")) for name in found}
        for injection in injections:
            for name, counts in found.items():
                judge = judge_of(name, injection.order)
                verdicts = [asked(asking, pair_texts, judge)[1] for pair_texts in texts_with(injection)]
                counts.update(effect(*both) for both in zip(verdicts, wanted[name], strict=True))
    return found


def judge_of(name: str, order: str) -> Judge:
    """A judge by its name in the table; a scripted one obeys the order where it hears it."""
    return scripted(SCRIPTED[name], order) if name in SCRIPTED else simulated


def table(found: Mapping[str, Counter[Effect]]) -> str:
    """The shares, as Markdown."""
    rows = ["| judge | verdicts | changed | unscored | share |", "|---|---|---|---|---|"]
    for name, counts in found.items():
        numbers = [
            f"{number:,}" for number in (counts.total(), counts[Effect.CHANGED], counts[Effect.UNSCORED])
        ]
        share = 1 - counts[Effect.NONE] / counts.total()
        rows.append(f"| {name} | {' | '.join(numbers)} | {100 * share:.1f} % |")
    return "\n".join(rows)


MARKER: Final = re.compile(r"<<<(BEGIN|END) ([^\n]*) (\w{12})>>>")


def breaches(question: Question, injection: Injection) -> list[str]:
    """Where the fences of a question do not hold, in words."""
    content = question.messages[-1]["content"]
    codes = CODE.findall(outside(content))
    if len(codes) != 1:
        return [f"the notice stands {len(codes)} times outside the blocks"]
    markers = [(kind, label) for kind, label, _ in MARKER.findall(content)]
    pairs = [(kind, label) for _, label in markers[::2] for kind in ("BEGIN", "END")]
    found = {
        "markers do not come in pairs": markers != pairs,
        "a marker has another code": {code for _, _, code in MARKER.findall(content)} != set(codes),
        "the order stands outside": injection.order in outside(content),
        "the code stands in a text": any(codes[0] in text for text in blocks(content).values()),
        "an answer is not shown in full": _shows_answers(question)
        and neutral(injection.text) not in "\n".join(blocks(content).values()),
    }
    return [problem for problem, is_there in found.items() if is_there]


def _shows_answers(question: Question) -> bool:
    return "ANSWER A" in blocks(question.messages[-1]["content"])
