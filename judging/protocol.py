"""What a protocol is: which questions a judge is asked, and how the replies become a verdict. Pure."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from judging import rendering
from judging.answer_scales import POINTS, AnswerScale
from judging.deciding import Decide, Verdicts, last_verdict
from judging.parsers import Place

Value = bool | int | str | tuple[str, ...]
"""What a parameter of a protocol can be."""


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
    temperature: instead of the judge's. needed: whether it is asked at all, given the verdicts so far.
    score: lowest and highest score, where the step asks for one score of one answer (About.COMPLETION).
    place: where its verdict stands, if elsewhere than the protocol says. label: heads its replies where later
    texts quote them, by default its name.
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
    needed: Callable[[Verdicts], bool] | None = None
    score: tuple[int, int] | None = None
    place: Place | None = None
    label: str = ""

    @property
    def asks_verdict(self) -> bool:
        return "$verdict" in self.template


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
    often all of it is asked where the judge names no number; the majority decides.
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

    @property
    def points(self) -> tuple[int, ...]:
        """The rating scales its verdicts can be stored on."""
        return tuple(sorted({points for form in self.forms for points in POINTS[form]}))

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Every text an operator can word differently, by name: its steps', and PART/STEP of its parts."""
        own = {step.name: step.template for step in self.steps}
        return own | {
            f"{part.name}/{name}": text for part in self.parts for name, text in part.protocol.texts.items()
        }


@dataclass(frozen=True)
class Manner:
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

    def template(self, step: Step) -> str:
        """The text of a step, as this judge words it."""
        return self.wording.get(step.name, step.template)

    def of_part(self, part: Part) -> "Manner":
        """How a part of the protocol is asked."""
        prefix = f"{part.name}/"
        wording = {
            key.removeprefix(prefix): text for key, text in self.wording.items() if key.startswith(prefix)
        }
        return Manner(part.protocol, self.scale, part.parameters, wording)

    def items(self, step: Step) -> tuple[str, ...]:
        """What a step repeats over; one empty item where it does not."""
        if not step.each:
            return ("",)
        value = self.value(step.each)
        if isinstance(value, tuple):
            return value * (int(self.value(step.rounds)) if step.rounds else 1)  # type: ignore[arg-type]
        return tuple(str(number) for number in range(1, int(value) + 1))

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
        yield {name: self.wording.get(name, text) for name, text in self.protocol.texts.items()}
        for step in self.protocol.steps:
            if step.asks_verdict:
                yield rendering.verdict_text(self.scale_of(step), self.place_of(step))
        for name, parameter in sorted(self.protocol.parameters.items()):
            yield [name, self.value(name), [[str(key), text] for key, text in parameter.texts.items()]]
        for part in self.protocol.parts:
            yield self.of_part(part).prompt_hash


def read_step(protocol: str, name: str, **options: object) -> Step:
    """The step whose text stands in ``prompts/protocol/name.txt``; options are the other fields of Step."""
    return Step(name, rendering.read_text(f"{protocol}/{name}"), **options)  # type: ignore[arg-type]


class UnknownProtocolError(ValueError):
    """There is no protocol of this name."""


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
            raise UnknownProtocolError(f'there is no protocol "{name}"; choose one of {", ".join(self)}')
        return found
