"""Running the steps of a protocol: what to ask next, given the replies so far, and what they amount to. Pure.

Every question has a key that names it among those about one assignment, such as ``rate``, ``analyse.second``
(of a step about one answer), ``debate.3`` (the third of a list), ``2/rate`` (the second sample of a
protocol) or ``prepair/compare`` (a part of a protocol that lets others vote).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from arena import scales
from judging import parsers, rendering
from judging.answer_scales import AnswerScale
from judging.deciding import Verdicts, majority
from judging.parsers import Place, ReplyText, Verdict
from judging.protocol import About, Manner, Step
from judging.rendering import Material

Message = dict[str, str]
"""A chat message: role and content."""

SIDES: Final = ("first", "second")

OWN_LABEL: Final = re.compile(r"\b((?:answer|output|response|assistant)s?\s+\(?)([AB])\b", re.IGNORECASE)
"""How a reply calls one of the two answers."""


@dataclass(frozen=True)
class Question:
    """One call to make.

    sample numbers calls that are to be made although their messages are the same. author is the model that
    is asked instead of the judge's, temperature what it is asked with, where not as the judge is configured.
    scale and place are those of its verdict, None where it asks for none.
    """

    key: str
    messages: Sequence[Message]
    about: About
    sample: int = 0
    author: str = ""
    temperature: float | None = None
    scale: AnswerScale | None = None
    place: Place | None = None


@dataclass(frozen=True)
class _Voter:
    """A protocol with steps of its own, as one of those whose verdicts are counted together."""

    manner: Manner
    part: str = ""
    sample: int = 0
    temperature: float | None = None

    def key(self, step: Step, slot: str) -> str:
        """Steps that do not see the pair are the same for every sample, so they are asked once."""
        sample = f"{self.sample + 1}/" if self.sample and step.about is About.PAIR else ""
        return f"{self.part}{sample}{step.name}{slot}"


def next_questions(manner: Manner, material: Material, replies: Mapping[str, ReplyText]) -> list[Question]:
    """Every question that can be asked now and has no reply; none when the verdict can be given."""
    questions = {
        question.key: question
        for voter in _voters(manner)
        for question in _Conversation(voter, replies).next(material)
    }
    return list(questions.values())


def verdict(manner: Manner, replies: Mapping[str, ReplyText]) -> Verdict:
    """What the judge says, once there is nothing left to ask."""
    return _verdict(manner, replies)


def keys(manner: Manner) -> list[str]:
    """Every key there can be, in the order of asking; steps that may turn out not to be needed included."""
    every = [
        voter.key(step, slot)
        for voter in _voters(manner)
        for step in voter.manner.protocol.steps
        for slot in _slots(voter.manner, step)
    ]
    return list(dict.fromkeys(every))


def _samples(manner: Manner) -> int:
    return manner.samples if manner.samples > 1 else manner.protocol.samples


def _voters(manner: Manner, part: str = "", sample: int = 0) -> Iterator[_Voter]:
    for number in range(_samples(manner)):
        # Unique among the samples of samples, which nobody has asked for yet.
        this = sample * _samples(manner) + number
        if manner.protocol.parts:
            for each in manner.protocol.parts:
                yield from _voters(manner.of_part(each), f"{part}{each.name}/", this)
        else:
            yield _Voter(manner, part, this, manner.protocol.temperature)


def _verdict(manner: Manner, replies: Mapping[str, ReplyText], part: str = "", sample: int = 0) -> Verdict:
    votes = []
    for number in range(_samples(manner)):
        this = sample * _samples(manner) + number
        if manner.protocol.parts:
            each = [
                _verdict(manner.of_part(one), replies, f"{part}{one.name}/", this)
                for one in manner.protocol.parts
            ]
            votes.append(majority(each))
        else:
            voter = _Voter(manner, part, this)
            votes.append(_Conversation(voter, replies).verdict())
    return votes[0] if len(votes) == 1 else majority(votes)


def _slots(manner: Manner, step: Step) -> list[str]:
    """What follows the step's name in its keys: the number of the item, the side it is about."""
    items = [f".{number}" for number, _ in enumerate(manner.items(step), 1)] if step.each else [""]
    sides = [f".{side}" for side in SIDES] if step.about is About.COMPLETION else [""]
    return [item + side for item in items for side in sides]


def relabelled(text: str) -> str:
    """What a model wrote about two answers, with their names changed about."""
    return OWN_LABEL.sub(lambda match: match[1] + {"A": "B", "B": "A", "a": "b", "b": "a"}[match[2]], text)


class _Conversation:
    """The steps of one protocol about one pair, with the replies there are."""

    def __init__(self, voter: _Voter, replies: Mapping[str, ReplyText]) -> None:
        self._voter, self._manner, self._replies = voter, voter.manner, replies
        self._steps = {step.name: step for step in self._manner.protocol.steps}

    def next(self, material: Material) -> list[Question]:
        """The questions that can be asked now."""
        for step in self._steps.values():
            if not self._is_needed(step):
                continue
            missing = [slot for slot in _slots(self._manner, step) if self._reply(step, slot) is None]
            if missing:
                return [
                    self._question(step, slot, material)
                    for slot in (missing[:1] if step.in_turn else missing)
                ]
            if self._unusable(step):
                return []
        return []

    def verdict(self) -> Verdict:
        """The verdict; unscored where a reply that the rest builds on is empty or a refusal."""
        for step in self._steps.values():
            unusable = self._unusable(step)
            if unusable:
                return unusable
        return self._manner.protocol.decide(self._verdicts())

    def _verdicts(self) -> Verdicts:
        read: dict[str, list[Verdict]] = {}
        for step in self._steps.values():
            if step.asks_verdict:
                replies = [self._reply(step, slot) for slot in _slots(self._manner, step)]
                known = [self._read(step, reply) for reply in replies if reply is not None]
                if known:
                    read[step.name] = known
        return Verdicts(read, self._manner.scale, self._manner.values)

    def _is_needed(self, step: Step) -> bool:
        return step.needed is None or step.needed(self._verdicts())

    def _read(self, step: Step, reply: ReplyText) -> Verdict:
        found = parsers.read_verdict(reply, self._manner.scale_of(step), self._manner.place_of(step))
        if not step.other_order or found.rating is None:
            return found
        scores = (found.scores[1], found.scores[0]) if found.scores else None
        return replace(found, rating=scales.mirror(found.rating, self._manner.scale.points), scores=scores)

    def _unusable(self, step: Step) -> Verdict | None:
        """Why a step that gives no verdict leaves nothing to go on with, as a verdict; else None."""
        if step.asks_verdict:
            return None
        for slot in _slots(self._manner, step):
            reply = self._reply(step, slot)
            reason = parsers.no_text(reply) if reply is not None else ""
            if reason:
                return Verdict(None, reason)
        return None

    def _reply(self, step: Step, slot: str) -> ReplyText | None:
        return self._replies.get(self._voter.key(step, slot))

    def _question(self, step: Step, slot: str, material: Material) -> Question:
        author = str(self._manner.value(step.author)) if step.author else ""
        temperature = step.temperature if step.temperature is not None else self._voter.temperature
        item = int(slot.split(".")[1]) - 1 if step.each else 0
        is_sample = step.each and not isinstance(self._manner.value(step.each), tuple)
        return Question(
            key=self._voter.key(step, slot),
            messages=self._messages(step, slot, material),
            about=step.about,
            # A number for each sample of a step within each sample of the protocol.
            sample=(self._voter.sample if step.about is About.PAIR else 0)
            + (1000 * item if is_sample else 0),
            author=author,
            temperature=temperature,
            scale=self._manner.scale_of(step) if step.asks_verdict else None,
            place=self._manner.place_of(step) if step.asks_verdict else None,
        )

    def _messages(self, step: Step, slot: str, material: Material) -> list[Message]:
        """The conversation up to the question."""
        return [
            *self._conversation_before(step, slot, material),
            {"role": "user", "content": self._content(step, slot, material)},
        ]

    def _conversation_before(self, step: Step, slot: str, material: Material) -> list[Message]:
        if not step.continues:
            return []
        earlier = self._steps[step.continues]
        slots = _slots(self._manner, earlier)
        if earlier is step:  # one conversation about all items
            before = slots[: slots.index(slot)]
        else:
            before = [slot] if slot in slots else slots
            if not earlier.in_turn:
                before = before[-1:]
        said: list[Message] = (
            [] if earlier is step else self._conversation_before(earlier, before[0], material)
        )
        for each in before:
            reply = self._reply(earlier, each)
            assert reply is not None  # noqa: S101 - steps are asked in order
            said += [
                {"role": "user", "content": self._content(earlier, each, material)},
                {"role": "assistant", "content": parsers.without_thinking(reply.text)[0].strip()},
            ]
        return said

    def _content(self, step: Step, slot: str, material: Material) -> str:
        shown = material.swapped() if step.other_order else material
        side = slot.rpartition(".")[2] if step.about is About.COMPLETION else ""
        item, number = self._item(step, slot)
        quoted = list(self._quoted(step, slot))
        answers = {"first": [shown.first], "second": [shown.second], "": [shown.first, shown.second]}[side]
        if step.about is About.PROMPT:
            answers = []
        texts = [*shown.prompt, shown.input, *(turn for each in answers for turn in each)]
        texts += [text for _, _, text in quoted]
        word = rendering.boundary(shown.secret, step.name, texts)
        values: dict[str, object] = {
            "query": rendering.query(shown, word),
            "notice": rendering.notice(word),
            "boundary": word,
            "item": item,
            "number": number,
            "earlier": "",
            **{name: self._parameter(name) for name in self._manner.protocol.parameters},
        }
        blocks = [
            rendering.block(f"ANSWER {name}", word, rendering.turns(each, word))
            for name, each in zip(("A", "B") if not side else ("",), answers, strict=False)
        ]
        if step.about is About.PAIR:
            values |= {"answer_a": blocks[0], "answer_b": blocks[1], "answers": "\n\n".join(blocks)}
        elif step.about is About.COMPLETION:
            values["answer"] = rendering.block("ANSWER", word, rendering.turns(answers[0], word))
        for placeholder, label, text in quoted:
            shown_block = rendering.block(label, word, text)
            before = str(values.get(placeholder, ""))
            values[placeholder] = f"{before}\n\n{shown_block}".strip()
        if step.asks_verdict:
            values["verdict"] = rendering.verdict_text(
                self._manner.scale_of(step), self._manner.place_of(step)
            )
        return rendering.fill(self._manner.template(step), values)

    def _item(self, step: Step, slot: str) -> tuple[str, int]:
        if not step.each:
            return "", 0
        number = int(slot.split(".")[1])
        return self._manner.items(step)[number - 1], number

    def _parameter(self, name: str) -> str:
        value = self._manner.value(name)
        texts = self._manner.protocol.parameters[name].texts
        listed = "\n".join(f"- {one}" for one in value) if isinstance(value, tuple) else str(value)
        return texts.get(value, listed)

    def _quoted(self, step: Step, slot: str) -> Iterator[tuple[str, str, str]]:
        """What the text may quote of earlier replies: placeholder, label and text of each."""
        for earlier in self._steps.values():
            if earlier is step and not step.in_turn:
                return
            for each in _slots(self._manner, earlier):
                if earlier is step and each == slot:
                    return
                reply = self._reply(earlier, each)
                if reply is None:
                    continue
                text = parsers.without_thinking(reply.text)[0].strip()
                if earlier.other_order != step.other_order:
                    text = relabelled(text)
                item, _ = self._item(earlier, each)
                label = earlier.label or earlier.name.replace("_", " ")
                if item:
                    label = f"{label} {item.partition(':')[0]}"
                placeholder = "earlier" if earlier is step else earlier.name
                if earlier.about is About.COMPLETION:
                    side = each.rpartition(".")[2]
                    if step.about is About.COMPLETION:
                        if side != slot.rpartition(".")[2]:
                            continue
                    else:
                        name = "AB"[SIDES.index(side) ^ step.other_order]
                        yield f"{placeholder}_{name.lower()}", f"{label} {name}".upper(), text
                        continue
                yield placeholder, label.upper(), text
