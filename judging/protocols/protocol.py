"""What a protocol is: which questions a judge is asked, and how the replies become a verdict. Pure."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Final

from judging.protocols import rendering
from judging.protocols import rendering as protocols_rendering
from judging.protocols.answer_scales import POINTS, AnswerScale
from judging.protocols.deciding import Decide, Verdicts, last_verdict
from judging.protocols.replies import Place


class About(StrEnum):
    """What a step shows the model, and therefore how often its reply can be used again."""

    PROMPT = "prompt"
    """The prompt alone: one reply serves every pair of the prompt, in both orders."""
    COMPLETION = "completion"
    """The prompt and one answer: asked about each of the two, one reply serves every pair with the answer."""
    PAIR = "pair"
    """The prompt and both answers in their order."""


@dataclass(frozen=True)
class Step:
    """One question to the model, or several of one kind: the text of ``prompts/PROTOCOL/NAME.txt``.

    A step whose text holds ``$verdict`` asks for a verdict.

    each: the parameter it repeats over; a number of samples, or a list whose items the text sees as
    ``$item``. rounds: the parameter that says how often a list is gone through. in_turn: the items one after
    the other, each seeing the earlier replies as ``$earlier``.
    continues: the step whose conversation it carries on; its own name with ``in_turn``.
    other_order: the two answers change places. author: the parameter that names another model to ask.
    temperature: instead of the judge's. only: the parameter that says whether there is such a step.
    needed: whether it is asked at all, given the verdicts of the steps before it.
    score: lowest and highest score, where the step asks for one score of one answer (About.COMPLETION).
    place: where its verdict stands, if elsewhere than the protocol says. label: heads its replies where later
    texts quote them, by default its name. text: the name of its text where steps share one, by default its
    own.

    It is asked as soon as everything is there that its text quotes, that it continues or that decides
    whether it is needed; what does not build on each other is asked at the same time.
    """

    name: str
    template: str
    about: About = About.PAIR
    each: str = ""
    rounds: str = ""
    in_turn: bool = False
    continues: str = ""
    other_order: bool = False
    author: str = ""
    temperature: float | None = None
    only: str = ""
    needed: Callable[[Verdicts], bool] | None = None
    score: tuple[int, int] | None = None
    place: Place | None = None
    label: str = ""
    text: str = ""

    @property
    def asks_verdict(self) -> bool:
        return "verdict" in rendering.placeholders(self.template)

    def sees(self, earlier: "Step") -> frozenset[str]:
        """The placeholders for replies to an earlier step; none where that one shows more than this one."""
        if earlier.about is About.COMPLETION and self.about is About.PAIR:
            return frozenset({f"{earlier.name}_a", f"{earlier.name}_b"})
        return frozenset({earlier.name} if earlier.about in (About.PROMPT, self.about) else ())

    def problems(self, before: Sequence["Step"], placeholders: frozenset[str]) -> Iterator[str]:
        """What is wrong with it after the steps before it, in sentences without a full stop."""
        for unknown in sorted(rendering.placeholders(self.template) - placeholders):
            yield f"step {self.name} has no placeholder ${unknown}"
        names = [earlier.name for earlier in before]
        if self.name in names or self.name in GENERAL or not self.name.isidentifier():
            yield f"a step cannot be named {self.name}"
        if self.other_order and self.about is not About.PAIR:
            yield f"step {self.name} shows no order to change"
        if (self.score is not None) != (self.asks_verdict and self.about is About.COMPLETION):
            yield f"step {self.name} asks for one score if, and only if, it shows one answer"
        if self.continues and not (self.continues == self.name and self.in_turn):
            shown = [(one.about, one.other_order) for one in before if one.name == self.continues]
            if shown != [(self.about, self.other_order)]:
                yield f"step {self.name} continues no earlier step that shows the same"


@dataclass(frozen=True)
class Slot:
    """One question of a step: the number of its item, from 1, and the side of the answer it is about.

    number is 0 where the step repeats over nothing, side "" where it is about no single answer; sides are
    those of the assignment, first and second.
    """

    step: Step
    number: int = 0
    side: str = ""

    @property
    def key(self) -> str:
        """Names it among the questions of its protocol, as in ``debate.3`` or ``analyse.first``."""
        return ".".join(part for part in (self.step.name, str(self.number or ""), self.side) if part)


SIDES: Final = ("first", "second")

FAVOURING: Final = {"for_a": "first", "for_b": "second"}
"""Placeholders for the evaluations of earlier steps that prefer one of the two answers."""

GENERAL: Final = frozenset(
    {"query", "notice", "boundary", "item", "number", "earlier", "prefers_a", "prefers_b"}
)
"""Placeholders that every text can use."""

SHOWING: Final = {
    About.PROMPT: frozenset[str](),
    About.COMPLETION: frozenset({"answer"}),
    About.PAIR: frozenset({"answers", "answer_a", "answer_b", *FAVOURING}),
}
"""Placeholders for what a step shows."""


def read_step(protocol: str, name: str, *, text: str = "", **options: object) -> Step:
    """The step whose text stands in ``prompts/protocol/name.txt``; options are the other fields of Step.

    text: the name of the text where it is not the step's.
    """
    template = rendering.read_text(f"{protocol}/{text or name}")
    return Step(name, template, text=text, **options)  # type: ignore[arg-type]


Value = bool | int | str | tuple[str, ...]
"""What a parameter of a protocol can be."""


@dataclass(frozen=True)
class Parameter:
    """Something a protocol leaves open, with a default.

    choices are the values it can have, where not every value of the default's type will do. texts is what
    ``$name`` stands for in prompts at each value; without it the value itself.
    """

    default: Value
    meaning: str
    choices: tuple[Value, ...] = ()
    texts: Mapping[Value, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """A protocol as a voter of another one: asked on its own, its verdict is one vote."""

    name: str
    protocol: "Protocol"
    parameters: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Protocol:
    """How a judge is asked.

    place says where in a reply the verdict stands, the only place that is read. forms are the answer scales
    it may end in. family groups protocols of one source, citation names it; aliases are other names in use.
    parts: instead of steps of its own, the majority of other protocols' verdicts decides. samples: how
    often all of it is asked where the judge names no number; the majority decides. note: what the source
    leaves open, or where we depart from it, for people.
    """

    name: str
    title: str
    family: str
    citation: str
    steps: tuple[Step, ...] = ()
    place: Place = Place.FIRST_LINE
    forms: tuple[str, ...] = ("likert", "binary")
    decide: Decide = last_verdict
    aliases: tuple[str, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    samples: int = 1
    temperature: float | None = None
    note: str = ""

    @property
    def points(self) -> tuple[int, ...]:
        """The rating scales its verdicts can be stored on."""
        return tuple(sorted({points for form in self.forms for points in POINTS[form]}))

    def __post_init__(self) -> None:
        problem = next(self._problems(), None)
        if problem:
            raise ValueError(f"protocol {self.name}: {problem}")

    def placeholders(self, step: Step) -> frozenset[str]:
        """The placeholders that the text of a step can use."""
        before = self.steps[: self.steps.index(step)]
        quotes = [step.sees(earlier) for earlier in before]
        asked = {"verdict"} if step.asks_verdict else set()
        return GENERAL.union(SHOWING[step.about], self.parameters, asked, *quotes)

    def _problems(self) -> Iterator[str]:
        """What is wrong with the definition, in sentences without a full stop."""
        if bool(self.steps) == bool(self.parts):
            yield "it has steps of its own or parts, one of the two"
        if self.steps and not any(step.asks_verdict for step in self.steps):
            yield "no step asks for a verdict"
        taken = GENERAL.union(*SHOWING.values(), {"verdict"}, {step.name for step in self.steps})
        for name in sorted(taken & set(self.parameters)):
            yield f"a parameter cannot be named {name}"
        for number, step in enumerate(self.steps):
            named = {step.each, step.rounds, step.author, step.only} - {"", *self.parameters}
            yield from (f"step {step.name} names no parameter {name}" for name in sorted(named))
            yield from step.problems(self.steps[:number], self.placeholders(step))

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Every text an operator can word differently, by name: its steps', and PART/STEP of its parts."""
        own = {step.text or step.name: step.template for step in self.steps}
        return own | {
            f"{part.name}/{name}": text for part in self.parts for name, text in part.protocol.texts.items()
        }


@dataclass(frozen=True)
class ConfiguredProtocol:
    """A protocol as one judge uses it: answer scale, parameters, wording and number of samples."""

    protocol: Protocol
    scale: AnswerScale
    parameters: Mapping[str, Value] = field(default_factory=dict)
    wording: Mapping[str, str] = field(default_factory=dict)
    samples: int = 1

    def value(self, parameter: str) -> Value:
        """What a parameter is for this judge."""
        return self.parameters.get(parameter, self.protocol.parameters[parameter].default)

    @cached_property
    def values(self) -> Mapping[str, Value]:
        """What every parameter is for this judge."""
        return {name: self.value(name) for name in self.protocol.parameters}

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps there are with these parameters."""
        return tuple(step for step in self.protocol.steps if not step.only or self.value(step.only))

    def wording_of(self, parameter: str) -> str:
        """What a parameter is in texts: the text for its value, else the value; of a list, a line each."""
        value = self.value(parameter)
        texts = self.protocol.parameters[parameter].texts
        if value in texts:
            return rendering.fill(texts[value], protocols_rendering.examples(self.scale))
        return "\n".join(f"- {one}" for one in value) if isinstance(value, tuple) else str(value)

    def template(self, step: Step) -> str:
        """The text of a step, as this judge words it."""
        return self.wording.get(step.text or step.name, step.template)

    def of_part(self, part: Part) -> "ConfiguredProtocol":
        """How a part of the protocol is asked."""
        prefix = f"{part.name}/"
        wording = {
            key.removeprefix(prefix): text for key, text in self.wording.items() if key.startswith(prefix)
        }
        return ConfiguredProtocol(part.protocol, self.scale, part.parameters, wording)

    def items(self, step: Step) -> tuple[str, ...]:
        """What a step repeats over; one empty item where it does not."""
        if not step.each:
            return ("",)
        value = self.value(step.each)
        if isinstance(value, tuple):
            return value * (self._count(step.rounds) if step.rounds else 1)
        return tuple(str(number) for number in range(1, self._count(step.each) + 1))

    def _count(self, parameter: str) -> int:
        value = self.value(parameter)
        if not isinstance(value, int):
            raise TypeError(f"parameter {parameter} is no number")
        return value

    def slots(self, step: Step) -> list[Slot]:
        """The questions of a step, in the order of asking."""
        numbers = range(1, len(self.items(step)) + 1) if step.each else (0,)
        sides = SIDES if step.about is About.COMPLETION else ("",)
        return [Slot(step, number, side) for number in numbers for side in sides]

    def scale_of(self, step: Step) -> AnswerScale:
        """In what form a step gives its verdict."""
        return AnswerScale("score", self.scale.points, *step.score) if step.score else self.scale

    def place_of(self, step: Step) -> Place:
        """Where a step's verdict stands."""
        return step.place or self.protocol.place

    @cached_property
    def prompt_hash(self) -> str:
        """SHA-256 of everything that shapes the wording, as hex: two wordings never share it."""
        return hashlib.sha256(json.dumps(list(self._shape()), sort_keys=True).encode()).hexdigest()

    def _shape(self) -> Iterator[object]:
        yield from (self.protocol.name, rendering.VERSION, self.scale.name, self.samples)
        yield rendering.read_text("shared/notice")
        yield {name: self.wording.get(name, text) for name, text in self.protocol.texts.items()}
        for step in self.steps:
            yield [step.name, step.label, step.about, step.in_turn, step.continues, step.other_order]
            yield step.temperature
            if step.asks_verdict:
                yield rendering.verdict_text(self.scale_of(step), self.place_of(step))
        for name, parameter in sorted(self.protocol.parameters.items()):
            yield [name, self.value(name), parameter.texts.get(self.value(name), "")]
        for part in self.protocol.parts:
            yield self.of_part(part).prompt_hash


class UnknownProtocolError(ValueError):
    """There is no protocol of this name; the message is a sentence."""


class Catalogue(dict[str, Protocol]):
    """Protocols by name. Building it refuses two of one name, or alias."""

    def __init__(self, *protocols: Protocol) -> None:
        super().__init__((protocol.name, protocol) for protocol in protocols)
        names = [name for protocol in protocols for name in (protocol.name, *protocol.aliases)]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two protocols are named {', '.join(twice)}")
        self._by_alias = {alias: protocol for protocol in protocols for alias in protocol.aliases}

    def named(self, name: str) -> Protocol:
        """The protocol of this name or alias; raises UnknownProtocolError naming those there are."""
        found = self.get(name) or self._by_alias.get(name)
        if found is None:
            raise UnknownProtocolError(f'There is no protocol "{name}"; choose one of {", ".join(self)}.')
        return found
