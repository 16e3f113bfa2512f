"""Protocols: the questions a judge is asked, and how replies become a verdict. Pure."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from judging.protocols import published, rendering
from judging.protocols.answer_scales import FORMS, AnswerScale, answer_scale
from judging.protocols.deciding import Decide, Verdicts, last_verdict
from judging.protocols.replies import Place


class Task(StrEnum):
    """Work that a judge is asked for, named like the kinds of assignments."""

    COMPARE = "compare"
    SCORE = "score"
    CHECK = "check"


class About(StrEnum):
    """Texts that a step shows the model, which decide what pairs share its reply."""

    PROMPT = "prompt"  # the prompt alone: one reply serves every pair of the prompt
    COMPLETION = "completion"
    """The prompt and one answer: asked about each, one reply serves every pair with that answer."""
    PAIR = "pair"  # the prompt and both answers in their order


@dataclass(frozen=True)
class Step:
    """One question to the model, or several of one kind, with the text ``prompts/PROTOCOL/NAME.txt``.

    A text with ``$verdict`` asks for a verdict. A step is asked as soon as all is there that it quotes,
    continues or depends on.
    """

    name: str
    template: str
    about: About = About.PAIR
    each: str = ""  # parameter with a number of samples, or with a list of values for $item; or QUESTIONS
    which: str = ""  # of the questions: "first" or "rest"; "" for all
    rounds: str = ""  # parameter with how often the list is repeated
    in_turn: bool = False  # items are asked one by one, each seeing $earlier replies
    continues: str = ""  # the step whose conversation it continues; its own name with in_turn
    other_order: bool = False  # the answers change places
    author: str = ""  # parameter that names the model to ask
    temperature: float | None = None
    only: str = ""  # parameter that says if there is such a step
    given: str = ""  # parameter that says if the prompt's own references stand in for its reply
    needed: Callable[[Verdicts], bool] | None = None  # whether it is asked, given the verdicts before it
    score: tuple[int, int] | None = None  # lowest and highest score of one answer
    place: Place | None = None  # where its verdict stands, if not in the protocol's place
    label: str = ""  # heads its replies in quotations, instead of its name
    text: str = ""  # name of its text, if not its own
    published: bool = False  # its text is a file as others published it

    @property
    def asks_verdict(self) -> bool:
        return self.published or "verdict" in rendering.placeholders(self.template)

    def sees(self, earlier: "Step") -> frozenset[str]:
        """The placeholders for an earlier step's replies; none if that step shows more than this one."""
        if earlier.about is About.COMPLETION and self.about is About.PAIR:
            return frozenset({f"{earlier.name}_a", f"{earlier.name}_b"})
        return frozenset({earlier.name} if earlier.about in (About.PROMPT, self.about) else ())


@dataclass(frozen=True)
class Slot:
    """One question of a step."""

    step: Step
    number: int = 0  # of its item, from 1; 0 where the step does not repeat
    side: str = ""  # first or second in the assignment; "" where it is about no single answer
    turn: int = 0  # of the answer, from 1; 0 where it is about no single turn

    @property
    def key(self) -> str:
        """Names it among the questions of its protocol: ``debate.3``, ``analyse.first``, ``judge.turn-2``."""
        turn = f"turn-{self.turn}" if self.turn else ""
        return ".".join(filter(None, (self.step.name, str(self.number or ""), self.side, turn)))


SIDES: Final = ("first", "second")

SHOTS: Final = "shots"  # parameter with the number of examples

QUESTIONS: Final = "questions"  # what a step is asked for each of: the requirements of the prompt

FAVOURING: Final = {"for_a": "first", "for_b": "second"}
"""Placeholders for earlier evaluations that prefer one of the answers."""

GENERAL: Final = frozenset(
    {
        *("query", "input", "instruction", "question", "questions", "notice", "boundary", "item", "number"),
        *("earlier", "prefers_a", "prefers_b"),
    }
)
"""Placeholders that every text can use."""

SHOWING: Final = {
    About.PROMPT: frozenset[str](),
    About.COMPLETION: frozenset({"answer"}),
    About.PAIR: frozenset({"answers", "answer_a", "answer_b", *FAVOURING}),
}
"""Placeholders for what a step shows."""


Value = bool | int | str | tuple[str, ...]  # the value of a protocol's parameter


@dataclass(frozen=True)
class Parameter:
    """Something a protocol leaves open."""

    default: Value
    meaning: str
    choices: tuple[Value, ...] = ()  # all values it can have, if not every one of the default's type
    texts: Mapping[Value, str] = field(default_factory=dict)  # for $name in prompts, if not the value itself


@dataclass(frozen=True)
class Part:
    name: str
    protocol: "Protocol"
    parameters: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Protocol:
    """A way to ask a judge."""

    name: str
    title: str
    family: str  # of protocols of one source
    citation: str
    steps: tuple[Step, ...] = ()
    place: Place = Place.FIRST_LINE  # where verdicts are read
    forms: tuple[str, ...] = tuple(FORMS)  # possible answer scales, the usual one first
    lacks: str = ""  # why it has no other answer scales
    decide: Decide = last_verdict
    aliases: tuple[str, ...] = ()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()  # protocols that vote, instead of steps
    samples: int = 1  # how often all is asked by default; the majority decides, of scores their combination
    temperature: float | None = None
    examples: Mapping[str, str] = field(default_factory=dict)  # texts by name; a judge reads the first SHOTS
    note: str = ""  # what the source leaves open, or where we depart from it
    task: Task = Task.COMPARE

    def placeholders(self, step: Step) -> frozenset[str]:
        before = self.steps[: self.steps.index(step)]
        quotes = [step.sees(earlier) for earlier in before]
        asked = {"verdict"} if step.asks_verdict else set()
        return GENERAL.union(SHOWING[step.about], self.parameters, asked, *quotes)

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Texts that an operator can replace, by name: of steps and examples, and PART/STEP of its parts."""
        own = {step.text or step.name: step.template for step in self.steps}
        return {**own, **self.examples} | {
            f"{part.name}/{name}": text for part in self.parts for name, text in part.protocol.texts.items()
        }


@dataclass(frozen=True)
class ConfiguredProtocol:
    """``criteria`` are asked about beside the overall rating, each by itself; None: the judge rates none.

    ``criterion`` is the one that is asked about instead of the overall rating. ``questions`` are the
    requirements of the prompt by their position, and ``turns`` how many its answer has, each of which is
    scored by itself; they shape no wording of the judge's.
    """

    protocol: Protocol
    scale: AnswerScale
    parameters: Mapping[str, Value] = field(default_factory=dict)
    wording: Mapping[str, str] = field(default_factory=dict)
    samples: int = 1
    criteria: tuple[str, ...] | None = None
    criterion: str = ""
    questions: Mapping[int, str] = field(default_factory=dict)
    turns: int = 1

    @classmethod
    def of(
        cls,
        protocol: Protocol,
        form: str,
        points: int,
        parameters: Mapping[str, Any] | None = None,
        wording: Mapping[str, str] | None = None,
        samples: int = 1,
        criteria: tuple[str, ...] | None = None,
    ) -> "ConfiguredProtocol":
        """From settings as JSON has them; raises ValueError for an answer scale that there is not."""
        values = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in (parameters or {}).items()
        }
        return cls(protocol, answer_scale(form, points), values, wording or {}, samples, criteria)

    def by(self, criterion: str) -> "ConfiguredProtocol":
        return replace(self, criteria=None, criterion=criterion)

    def asking(self, questions: Mapping[int, str]) -> "ConfiguredProtocol":
        return replace(self, questions=questions)

    def of_turns(self, turns: int) -> "ConfiguredProtocol":
        return replace(self, turns=turns)

    @cached_property
    def takes_questions(self) -> bool:
        """True if it is shown the requirements of a prompt."""
        named = frozenset[str]().union(*(rendering.placeholders(self.template(one)) for one in self.steps))
        return not named.isdisjoint({"question", "questions"})

    def value(self, parameter: str) -> Value:
        return self.parameters.get(parameter, self.protocol.parameters[parameter].default)

    @cached_property
    def values(self) -> Mapping[str, Value]:
        return {name: self.value(name) for name in self.protocol.parameters}

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        return tuple(step for step in self.protocol.steps if not step.only or self.value(step.only))

    @cached_property
    def takes_references(self) -> bool:
        """True if it is shown a prompt's own references."""
        own = any(
            published.takes_references(self.template(step))
            if step.published
            else step.given and self.value(step.given)
            for step in self.steps
        )
        return own or any(self.of_part(part).takes_references for part in self.protocol.parts)

    def wording_of(self, parameter: str) -> str:
        """A parameter as texts show it; of a list, a line each."""
        value = self.value(parameter)
        texts = self.protocol.parameters[parameter].texts
        if value in texts:
            return rendering.fill(texts[value], rendering.examples(self.scale))
        return "\n".join(f"- {one}" for one in value) if isinstance(value, tuple) else str(value)

    def template(self, step: Step) -> str:
        return self.wording.get(step.text or step.name, step.template)

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """The texts of the examples that are shown."""
        every = [self.wording.get(name, text) for name, text in self.protocol.examples.items()]
        return tuple(every[: self._count(SHOTS)]) if every else ()

    def of_part(self, part: Part) -> "ConfiguredProtocol":
        prefix = f"{part.name}/"
        wording = {
            key.removeprefix(prefix): text for key, text in self.wording.items() if key.startswith(prefix)
        }
        return ConfiguredProtocol(
            part.protocol, self.scale, part.parameters, wording, criterion=self.criterion
        )

    def items(self, step: Step) -> tuple[str, ...]:
        """Items that a step repeats over; one empty item if it does not."""
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
        is_about_each = step.about is About.COMPLETION and self.protocol.task is Task.COMPARE
        sides = SIDES if is_about_each else ("",)
        is_by_turn = step.about is About.COMPLETION and self.protocol.task is Task.SCORE and self.turns > 1
        turns = range(1, self.turns + 1) if is_by_turn else (0,)
        return [
            Slot(step, number, side, turn)
            for number in self._numbers(step)
            for side in sides
            for turn in turns
        ]

    def _numbers(self, step: Step) -> Sequence[int]:
        if step.each == QUESTIONS:
            every = list(self.questions)
            return {"first": every[:1], "rest": every[1:]}.get(step.which, every)
        return range(1, len(self.items(step)) + 1) if step.each else (0,)

    def item(self, slot: Slot) -> str:
        if slot.step.each == QUESTIONS:
            return self.questions[slot.number]
        return self.items(slot.step)[slot.number - 1]

    def scale_of(self, step: Step) -> AnswerScale:
        return AnswerScale("score", self.scale.points, *step.score) if step.score else self.scale

    @property
    def score_range(self) -> tuple[int, int]:
        """The lowest and highest score that a protocol of single answers gives."""
        return next(step.score for step in self.steps if step.score)

    def place_of(self, step: Step) -> Place:
        chosen = self.values.get("place")
        return Place(str(chosen)) if chosen else step.place or self.protocol.place

    @cached_property
    def prompt_hash(self) -> str:
        """SHA-256 in hex of ``shape`` as JSON with sorted keys."""
        return hashlib.sha256(json.dumps(self.shape, sort_keys=True).encode()).hexdigest()

    @property
    def shape(self) -> list[object]:
        """Everything that shapes the wording, as JSON values."""
        return list(self._shape())

    def _shape(self) -> Iterator[object]:
        yield from (self.protocol.name, rendering.VERSION, self.scale.name, self.samples)
        yield rendering.read_text("shared/notice")
        # Judges from before there were examples keep their hash.
        apart = {SHOTS, *self.protocol.examples} if self.protocol.examples else set[str]()
        texts = self.protocol.texts.items()
        yield {name: self.wording.get(name, text) for name, text in texts if name not in apart}
        for step in self.steps:
            yield [step.name, step.label, step.about, step.in_turn, step.continues, step.other_order]
            yield step.temperature
            if step.asks_verdict and not step.published:
                yield rendering.verdict_text(self.scale_of(step), self.place_of(step))
        for name in sorted(self.protocol.parameters.keys() - apart):
            yield [name, self.value(name), self.protocol.parameters[name].texts.get(self.value(name), "")]
        for part in self.protocol.parts:
            yield self.of_part(part).prompt_hash
        if self.criteria is not None:
            yield rendering.read_text("shared/criterion")
        if self.examples:
            yield list(self.examples)


class UnknownProtocolError(ValueError):
    """The message is a sentence."""


class Catalogue(dict[str, Protocol]):
    """Protocols by name; raises ValueError for a name or alias that is used twice."""

    def __init__(self, *protocols: Protocol) -> None:
        super().__init__((protocol.name, protocol) for protocol in protocols)
        names = [name for protocol in protocols for name in (protocol.name, *protocol.aliases)]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two protocols are named {', '.join(twice)}")
        self._by_alias = {alias: protocol for protocol in protocols for alias in protocol.aliases}

    def named(self, name: str) -> Protocol:
        """The protocol of this name or alias; raises UnknownProtocolError."""
        found = self.get(name) or self._by_alias.get(name)
        if found is None:
            raise UnknownProtocolError(f'Unknown protocol "{name}"; choose one of {", ".join(self)}.')
        return found
