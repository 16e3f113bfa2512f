"""Protocols described: as plain data, for a terminal, and as docs/protocols.md. Pure."""

import textwrap
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from string import Template
from typing import Any, Final

from judging.protocols.answer_scales import FORMS, POINTS, UNUSED
from judging.protocols.protocol import QUESTIONS, About, ConfiguredProtocol, Protocol, Step, Task
from judging.protocols.rehearsal import rehearse
from judging.protocols.rendering import OneText, PairTexts

A_PAIR: Final = PairTexts(prompt=["prompt"], input="", first=["first"], second=["second"], secret=b"")

AN_ANSWER: Final = OneText(prompt=["prompt"], input="", text=["text"], secret=b"")
REQUIREMENTS: Final = {1: "first?", 2: "second?"}


@dataclass(frozen=True)
class Calls:
    """Calls for a pair in one order, or for an answer, the first time, with a protocol's own parameters."""

    least: int  # about the pair or the answer
    most: int
    once_a_prompt: int = 0
    once_an_answer: int = 0  # so twice for the pair
    once_a_requirement: int = 0  # of the answer's prompt

    @property
    def words(self) -> str:
        """As in "2 to 3 + 1 once per prompt"."""
        pair = f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"
        once = {
            "prompt": self.once_a_prompt,
            "answer": self.once_an_answer,
            "requirement": self.once_a_requirement,
        }
        terms = [f"{number} once per {what}" for what, number in once.items() if number]
        return " + ".join([pair] * bool(self.most) + terms)


def calls(protocol: Protocol) -> Calls:
    """A protocol's calls by rehearsal; equal questions are one call."""
    form, compares = protocol.forms[0], protocol.task is Task.COMPARE
    configured = ConfiguredProtocol.of(protocol, form, POINTS.get(form, (UNUSED,))[-1]).asking(REQUIREMENTS)
    certain: dict[Hashable, bool] = {}
    about: dict[Hashable, About] = {}
    for each in rehearse(configured, A_PAIR if compares else AN_ANSWER):
        question = each.question
        said = tuple(message["content"] for message in question.messages)
        call = (said, question.sample, question.author, question.temperature)
        certain[call] = certain.get(call, False) or each.is_certain
        about[call] = question.about
    counts = Counter(about.values())
    if any(step.each == QUESTIONS for step in protocol.steps):
        return Calls(0, 0, once_a_requirement=counts[About.COMPLETION] // len(REQUIREMENTS))
    own = [call for call in about if about[call] is (About.PAIR if compares else About.COMPLETION)]
    return Calls(
        least=sum(certain[call] for call in own),
        most=len(own),
        once_a_prompt=counts[About.PROMPT],
        once_an_answer=counts[About.COMPLETION] // 2 if compares else 0,
    )


def described(protocol: Protocol) -> dict[str, Any]:
    """Everything about a protocol but its texts, as JSON can hold it."""
    found = calls(protocol)
    places = {(step.place or protocol.place).words: None for step in protocol.steps if step.asks_verdict}
    return {
        "name": protocol.name,
        "aliases": list(protocol.aliases),
        "title": protocol.title,
        "family": protocol.family,
        "task": protocol.task.value,
        "citation": protocol.citation,
        "note": protocol.note,
        "calls": {"words": found.words, **asdict(found)},
        "answer_scales": list(protocol.forms),
        "lacks": protocol.lacks,
        "verdict_stands": "; ".join(places),  # none where protocols vote
        "samples": protocol.samples,
        "temperature": protocol.temperature,
        "parameters": [
            {
                "name": name,
                "default": parameter.default,
                "choices": parameter.choices,
                "meaning": parameter.meaning,
            }
            for name, parameter in protocol.parameters.items()
        ],
        "steps": [{"name": step.name, "asked": asked(step, protocol.task)} for step in protocol.steps],
        "majority_of": [part.protocol.name for part in protocol.parts],
    }


def asked(step: Step, task: Task = Task.COMPARE) -> str:
    lowest, highest = step.score or (0, 0)
    is_about_one = task is not Task.COMPARE and step.about is About.COMPLETION
    which = {"first": "for the first requirement", "rest": "for each further requirement"}
    holds = {
        "about the answer" if is_about_one else _ABOUT[step.about]: True,
        "in the other order": step.other_order,
        which.get(step.which, "for each requirement"): step.each == QUESTIONS,
        f"for each of {step.each}": step.each and step.each != QUESTIONS,
        f"{step.rounds} times": step.rounds,
        "one after the other": step.in_turn,
        "in the same conversation": step.continues == step.name,
        f"after {step.continues}": step.continues not in ("", step.name),
        f"by the model that {step.author} names": step.author,
        f"at temperature {step.temperature or 0:g}": step.temperature is not None,
        f"a score from {lowest} to {highest}": step.score,
        f"if {step.only} is set": step.only,
        f"unless {step.given} is set and the prompt has a reference": step.given,
        "only if the earlier verdicts require it": step.needed,
    }
    return ", ".join(words for words, is_so in holds.items() if is_so)


_TASKS: Final = {
    "compare": "",
    "score": "score one answer",
    "check": "check one answer against each requirement of its prompt",
}

_ABOUT: Final = {
    About.PROMPT: "about the prompt",
    About.COMPLETION: "about each answer",
    About.PAIR: "about the pair",
}


WIDTH: Final = 100  # columns of a terminal
PAGE: Final = Template((Path(__file__).parent / "description.md").read_text(encoding="utf-8"))


def listing(protocols: Iterable[Protocol]) -> str:
    lines = []
    for family, members in groupby(map(described, protocols), key=lambda facts: facts["family"]):
        lines += [family, ""]
        for facts in members:
            lines.append(_wrapped("  ", f"{facts['name']}{_also(facts)}: {facts['title']}"))
            what = "calls per pair" if facts["task"] == Task.COMPARE else "calls"
            lines.append(f"      {what:<14}  {facts['calls']['words']}")
            lines.append(f"      answer scales   {_scales(facts)}")
            defaults = [f"{one['name']}={_shown(one['default'])}" for one in facts["parameters"]]
            if defaults:
                lines.append(_wrapped("      parameters      ", ", ".join(defaults)))
            lines.append(_wrapped("      source          ", facts["citation"]))
            lines.append("")
    return "\n".join(lines).rstrip()


def in_full(protocol: Protocol) -> str:
    facts = described(protocol)
    lines = [_wrapped("", f"{facts['name']}{_also(facts)}: {facts['title']}"), ""]
    lines += [_wrapped(f"{label:<16}", text) for label, text in _summary(facts) if text]
    if facts["steps"]:
        lines += ["", "Steps"]
        lines += [f"  {step['name']}: {step['asked']}" for step in facts["steps"]]
    if facts["parameters"]:
        lines += ["", "Parameters"]
        for one in facts["parameters"]:
            lines.append(_wrapped(f"  {one['name']}", f"{_default(one)}: {_meaning(one)}"))
            lines += [_wrapped("      ", line) for line in _long(one["default"])]
    for name, text in protocol.texts.items():
        lines += ["", f"--- {name} " + "-" * (WIDTH - len(name) - 5), "", text]
    return "\n".join(lines)


def markdown(protocols: Iterable[Protocol]) -> str:
    """Return docs/protocols.md: what each protocol asks, and on which answer scale it returns its verdict."""
    return PAGE.substitute(
        scales=_rows(
            (f"`{form}`", meaning, ", ".join(map(str, POINTS[form]))) for form, meaning in FORMS.items()
        ),
        families="\n".join(
            f"\n## {family}\n\n| protocol | asks | returns | calls |\n|---|---|---|---|\n"
            + _rows((f"`{one.name}`", one.title, one.forms[0], calls(one).words) for one in members)
            for family, members in groupby(protocols, key=lambda protocol: protocol.family)
        ),
    )


def _rows(rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _scales(facts: dict[str, Any]) -> str:
    return ", ".join(facts["answer_scales"])


def _summary(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "also called", ", ".join(facts["aliases"])
    yield "task", _TASKS[facts["task"]]
    yield "source", facts["citation"]
    yield "calls", facts["calls"]["words"]
    yield "answer scales", _scales(facts)
    yield "verdict", facts["verdict_stands"]
    yield "majority of", ", ".join(facts["majority_of"])
    yield "samples", f"{facts['samples']}, the majority decides" if facts["samples"] > 1 else ""
    yield "temperature", "" if facts["temperature"] is None else f"{facts['temperature']:g}"
    yield "note", facts["note"]


def _also(facts: dict[str, Any]) -> str:
    return f" (also {', '.join(facts['aliases'])})" if facts["aliases"] else ""


def _meaning(parameter: dict[str, Any]) -> str:
    if not parameter["choices"]:
        return str(parameter["meaning"])
    return f"{parameter['meaning']}; one of {', '.join(_shown(one) for one in parameter['choices'])}"


def _default(parameter: dict[str, Any]) -> str:
    value = parameter["default"]
    return "" if _long(value) else f" ({_shown(value)})"


def _long(value: object) -> list[str]:
    if isinstance(value, tuple):
        return [f"- {item}" for item in value]
    return str(value).split("\n") if "\n" in str(value) else []


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return f"{len(value)} of them"
    return str(value).partition("\n")[0] if value != "" else "empty"


def _wrapped(head: str, text: str) -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False
    )
