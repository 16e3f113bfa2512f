"""The steps of a protocol: what each shows the model, when it is asked, what it asks for. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from judging import rendering
from judging.deciding import Verdicts
from judging.parsers import Place


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
