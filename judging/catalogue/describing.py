"""What there is to say about a protocol: its calls, steps and parameters, as plain data. Pure."""

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Final

from judging.catalogue.rehearsal import rehearse
from judging.protocols.answer_scales import POINTS, answer_scale
from judging.protocols.protocol import About, Manner, Protocol, Step, Value
from judging.protocols.rendering import Material

A_PAIR: Final = Material(prompt=["prompt"], input="", first=["first"], second=["second"], secret=b"")
"""What calls are counted with."""


@dataclass(frozen=True)
class Calls:
    """How many calls a pair takes in one order, the first time, with a protocol's own parameters.

    least and most are those about the pair; they differ where a step may turn out not to be needed. prompts
    are made once a prompt, answers once an answer (so twice for the pair), and reused by all other pairs.
    """

    least: int
    most: int
    prompts: int
    answers: int

    @property
    def words(self) -> str:
        """As in "2 to 3 + 1 once a prompt"."""
        pair = f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"
        terms = [
            pair if self.most else "",
            f"{self.prompts} once a prompt" if self.prompts else "",
            f"{self.answers} once an answer" if self.answers else "",
        ]
        return " + ".join(term for term in terms if term)


def calls(protocol: Protocol) -> Calls:
    """Counts a protocol's calls by rehearsing it; equal questions are one call."""
    form = protocol.forms[0]
    certain: dict[Hashable, bool] = {}
    about: dict[Hashable, About] = {}
    for each in rehearse(Manner(protocol, answer_scale(form, POINTS[form][-1])), A_PAIR):
        question = each.question
        said = tuple(message["content"] for message in question.messages)
        call = (said, question.sample, question.author, question.temperature)
        certain[call] = certain.get(call, False) or each.is_certain
        about[call] = question.about
    pair = [call for call in about if about[call] is About.PAIR]
    counts = Counter(about.values())
    return Calls(
        least=sum(certain[call] for call in pair),
        most=len(pair),
        prompts=counts[About.PROMPT],
        answers=counts[About.COMPLETION] // 2,
    )


def described(protocol: Protocol) -> dict[str, Any]:
    """Everything about a protocol but its texts, as JSON can hold it."""
    return {
        "name": protocol.name,
        "aliases": list(protocol.aliases),
        "title": protocol.title,
        "family": protocol.family,
        "citation": protocol.citation,
        "note": protocol.note,
        "calls": _calls_described(calls(protocol)),
        "answer_scales": list(protocol.forms),
        "verdict_stands": _verdict_stands(protocol),
        "samples": protocol.samples,
        "temperature": protocol.temperature,
        "parameters": [
            {
                "name": name,
                "default": _plain(parameter.default),
                "choices": [_plain(choice) for choice in parameter.choices],
                "meaning": parameter.meaning,
            }
            for name, parameter in protocol.parameters.items()
        ],
        "steps": [{"name": step.name, "asked": asked(step)} for step in protocol.steps],
        "majority_of": [part.protocol.name for part in protocol.parts],
    }


def asked(step: Step) -> str:
    """What a step is about, how often and of whom it is asked, in words."""
    words = [_ABOUT[step.about]]
    if step.other_order:
        words.append("in the other order")
    if step.each:
        words.append(f"for each of {step.each}")
    if step.rounds:
        words.append(f"{step.rounds} times")
    if step.in_turn:
        words.append("one after the other")
    if step.continues:
        words.append("in the same conversation" if step.continues == step.name else f"after {step.continues}")
    if step.author:
        words.append(f"by the model that {step.author} names")
    if step.temperature is not None:
        words.append(f"at temperature {step.temperature:g}")
    if step.score:
        words.append("a score from {} to {}".format(*step.score))
    if step.only:
        words.append(f"where {step.only} is set")
    if step.needed:
        words.append("only where the verdicts before it call for it")
    return ", ".join(words)


_ABOUT: Final = {
    About.PROMPT: "about the prompt",
    About.COMPLETION: "about each answer alone",
    About.PAIR: "about the pair",
}


def _calls_described(found: Calls) -> dict[str, Any]:
    return {
        "words": found.words,
        "least": found.least,
        "most": found.most,
        "once_a_prompt": found.prompts,
        "once_an_answer": found.answers,
    }


def _verdict_stands(protocol: Protocol) -> str:
    """In words; a protocol of votes has no place of its own."""
    places = {(step.place or protocol.place).words: None for step in protocol.steps if step.asks_verdict}
    return "; ".join(places)


def _plain(value: Value) -> object:
    return list(value) if isinstance(value, tuple) else value
