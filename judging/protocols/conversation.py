"""A protocol about one pair or answer: what to ask next, given the replies so far, and the verdict. Pure.

Keys of questions: ``rate``, ``analyse.second`` (about one answer), ``debate.3`` (item of a list, or the
position of a requirement), ``rate.turn-2`` (a turn of an answer), ``2/rate`` (second sample),
``prepair/compare`` (part of a protocol that votes), ``clarity: rate`` (by a criterion).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from arena.texts.dialogue import Message
from arena.texts.marks import without_thinking
from judging.protocols import published, rendering
from judging.protocols.answer_scales import AnswerScale
from judging.protocols.deciding import TextScore, Verdicts, combined, majority
from judging.protocols.examples import Example
from judging.protocols.neutralizing import neutral
from judging.protocols.parsing import no_text, read_lines, read_verdict
from judging.protocols.protocol import (
    FAVOURING,
    QUESTIONS,
    SIDES,
    About,
    ConfiguredProtocol,
    Slot,
    Step,
)
from judging.protocols.rendering import OneText, PairTexts, Texts
from judging.protocols.replies import Place, ReplyText, Verdict, mirrored, side_of


@dataclass(frozen=True)
class Question:
    """One call to make."""

    key: str
    messages: Sequence[Message]
    about: About
    sample: int = 0  # tells calls with equal messages apart
    author: str = ""  # the model asked instead of the judge's
    temperature: float | None = None  # instead of the judge's
    scale: AnswerScale | None = None  # of its verdict, if it asks for one
    place: Place | None = None
    side: str = ""  # of the answer it is about, first or second in the assignment
    other_order: bool = False  # answers are shown in the other order


class Conversation:
    """A protocol with steps of its own about one pair or answer, with the replies so far.

    prefix: its path among the parts of other protocols; sample: its number among samples, from 0.
    """

    def __init__(
        self,
        configured: ConfiguredProtocol,
        replies: Mapping[str, ReplyText],
        prefix: str = "",
        sample: int = 0,
    ) -> None:
        self._configured, self._replies = configured, replies
        self._prefix, self._sample = prefix, sample
        self._steps = configured.steps

    def slots(self) -> Iterator[Slot]:
        """Every question there can be."""
        for step in self._steps:
            yield from self._configured.slots(step)

    def asks_alike(self, sent: Mapping[str, str]) -> bool:
        """Tell whether texts sent earlier, by key, show the requirements as they are now."""
        return all(
            rendering.holds_block(sent[self.key(slot)], label, body)
            for slot in self.slots()
            if self.key(slot) in sent
            for label, body in self._requirements(slot)
        )

    def _requirements(self, slot: Slot) -> Iterator[tuple[str, str]]:
        """The blocks of requirements that a question shows: label and body."""
        named = rendering.placeholders(self._configured.template(slot.step))
        every = self._configured.questions
        if "question" in named and slot.step.each == QUESTIONS:
            yield "QUESTION", every[slot.number]
        if "questions" in named and every:
            yield "QUESTIONS", rendering.numbered(every)

    def is_given(self, slot: Slot) -> bool:
        """Tell whether the prompt's own references answer a question, where there are any."""
        return bool(slot.step.given and self._configured.value(slot.step.given))

    def key(self, slot: Slot) -> str:
        sample = f"{self._sample + 1}/" if self._sample and self._is_sampled(slot.step) else ""
        criterion = f"{name}: " if (name := self._criterion(slot.step)) else ""
        return f"{criterion}{self._prefix}{sample}{slot.key}"

    def _criterion(self, step: Step) -> str:
        """The criterion that a step asks by; what is about the prompt alone serves all."""
        return self._configured.criterion if step.about is not About.PROMPT else ""

    def open_slots(self) -> list[Slot]:
        """Questions that can be asked now and have no reply."""
        if self._unusable() or self._has_stopped():
            return []
        return [
            slot
            for step in self._steps
            if self._is_ready(step) and self._is_needed(step)
            for slot in self._next_of(step)
        ]

    def verdict(self) -> Verdict:
        """The verdict; unscored if a reply that others build on is empty or a refusal."""
        return self._unusable() or self._configured.protocol.decide(self._verdicts(self._steps))

    def checks(self) -> dict[int, Verdict]:
        """The verdict on each requirement that was asked about, by its position; 1 is yes and 2 is no."""
        found: dict[int, Verdict] = {}
        for slot, reply in self._replied():
            if self._configured.place_of(slot.step) is Place.LINES:
                found |= read_lines(reply, self._configured.questions)
            else:
                found[slot.number] = self._read(slot, reply)
        return found

    def by_turn(self) -> dict[int, Verdict]:
        """The verdict on each turn of an answer, or on all of it as turn 0."""
        if (unusable := self._unusable()) or self._configured.turns == 1:
            turns = dict.fromkeys(slot.turn for slot in self.slots() if slot.step.asks_verdict)
            return dict.fromkeys(turns, unusable or self.verdict())
        return {slot.turn: self._read(slot, reply) for slot, reply in self._replied()}

    def question(self, slot: Slot, pair_texts: Texts) -> Question:
        step, configured = slot.step, self._configured
        asked_again = step.each not in ("", QUESTIONS) and isinstance(configured.value(step.each), int)
        return Question(
            key=self.key(slot),
            messages=self._messages(slot, pair_texts),
            about=step.about,
            # A number for each sample of a step within each sample of the protocol.
            sample=(self._sample if self._is_sampled(step) else 0)
            + (1000 * (slot.number - 1) if asked_again else 0),
            author=str(configured.value(step.author)) if step.author else "",
            temperature=configured.protocol.temperature if step.temperature is None else step.temperature,
            scale=configured.scale_of(step) if step.asks_verdict else None,
            place=configured.place_of(step) if step.asks_verdict else None,
            side=slot.side,
            other_order=step.other_order,
        )

    # Which questions are open

    @staticmethod
    def _is_sampled(step: Step) -> bool:
        """Tell whether each sample of the protocol asks it; other aids are asked once."""
        return step.about is About.PAIR or step.asks_verdict

    def _reply(self, slot: Slot) -> ReplyText | None:
        return self._replies.get(self.key(slot))

    def _before(self, step: Step) -> tuple[Step, ...]:
        return self._steps[: self._steps.index(step)]

    def _builds_on(self, step: Step) -> list[Step]:
        """The steps that must be done before it."""
        named = rendering.placeholders(self._configured.template(step))
        every = step.needed is not None or not named.isdisjoint(FAVOURING)
        return [
            earlier
            for earlier in self._before(step)
            if every or earlier.name == step.continues or not named.isdisjoint(step.sees(earlier))
        ]

    def _has_stopped(self) -> bool:
        """Tell whether a reply that cannot be read has ended the conversation."""
        if not self._configured.values.get("stop_at_unreadable"):
            return False
        return any(self._read(slot, reply).rating is None for slot, reply in self._replied())

    def _replied(self) -> Iterator[tuple[Slot, ReplyText]]:
        """The replies that hold verdicts."""
        for slot in self.slots():
            if slot.step.asks_verdict and (reply := self._reply(slot)):
                yield slot, reply

    def _is_ready(self, step: Step) -> bool:
        return all(self._is_done(earlier) for earlier in self._builds_on(step))

    def _is_done(self, step: Step) -> bool:
        return self._is_ready(step) and (not self._is_needed(step) or not self._missing(step))

    def _is_needed(self, step: Step) -> bool:
        return step.needed is None or step.needed(self._verdicts(self._before(step)))

    def _missing(self, step: Step) -> list[Slot]:
        return [slot for slot in self._configured.slots(step) if self._reply(slot) is None]

    def _next_of(self, step: Step) -> list[Slot]:
        missing = self._missing(step)
        if not step.in_turn:
            return missing
        return [slot for slot in missing if all(self._reply(one) for one in self._earlier_in_turn(slot))]

    def _earlier_in_turn(self, slot: Slot) -> list[Slot]:
        """Earlier questions of the step about the same answer."""
        slots = self._configured.slots(slot.step)
        return [one for one in slots if one.number < slot.number and one.side == slot.side]

    # What the replies amount to

    def _verdicts(self, steps: Sequence[Step]) -> Verdicts:
        read = {
            step.name: [
                self._read(slot, reply)
                for slot in self._configured.slots(step)
                if (reply := self._reply(slot))
            ]
            for step in steps
            if step.asks_verdict
        }
        return Verdicts(
            {name: verdicts for name, verdicts in read.items() if verdicts},
            self._configured.scale,
            self._configured.values,
        )

    def _read(self, slot: Slot, reply: ReplyText) -> Verdict:
        """The verdict of a reply, in the order of the assignment."""
        step = slot.step
        found = read_verdict(reply, self._configured.scale_of(step), self._configured.place_of(step))
        return mirrored(found, self._configured.scale.points) if step.other_order else found

    def _unusable(self) -> Verdict | None:
        """Reason why a reply without a verdict leaves nothing to build on, as a verdict; else None."""
        for slot in self.slots():
            reply = None if slot.step.asks_verdict else self._reply(slot)
            if reply is not None and (reason := no_text(reply)):
                return Verdict(None, reason)
        return None

    # What a question says

    def _messages(self, slot: Slot, pair_texts: Texts) -> list[Message]:
        if slot.step.published:
            return self._as_published(slot, pair_texts)
        before = self._said_before(slot, pair_texts)
        return [*before, {"role": "user", "content": self._content(slot, pair_texts, before)}]

    def _as_published(self, slot: Slot, pair_texts: Texts) -> list[Message]:
        template, shown = self._configured.template(slot.step), _shown(slot, pair_texts)
        *before, last = published.messages(template, shown)
        if _is_about_last_turns(slot.step, shown) and not published.names_turns(template):
            last["content"] = rendering.about_last_turns(last["content"])
        if criterion := self._criterion(slot.step):
            last["content"] = rendering.by_criterion(criterion, last["content"])
        return [*before, last]

    def _said_before(self, slot: Slot, pair_texts: Texts) -> list[Message]:
        """The messages that the question continues: a conversation, or examples."""
        previous = self._previous(slot)
        if previous is None:
            return list(self._examples(slot.step, pair_texts))
        reply = self._reply(previous)
        if reply is None:
            return []
        said = neutral(without_thinking(reply.text)[0].strip())
        return [*self._messages(previous, pair_texts), {"role": "assistant", "content": said or NO_REPLY}]

    def _examples(self, step: Step, pair_texts: Texts) -> Iterator[Message]:
        """The examples of a protocol of single answers, each asked about in the words of the step."""
        for example in map(Example.read, self._configured.examples):
            configured = self._configured.asking({1: example.question})
            shown = OneText([example.instruction], example.input, [example.answer], pair_texts.secret)
            said = Conversation(configured, {})._content(configured.slots(step)[0], shown, [])
            yield {"role": "user", "content": said}
            is_listed = self._configured.place_of(step) is Place.LINES
            yield {"role": "assistant", "content": f"1: {example.reply}" if is_listed else example.reply}

    def _previous(self, slot: Slot) -> Slot | None:
        """The question whose conversation this one continues."""
        steps = [step for step in self._before(slot.step) if step.name == slot.step.continues]
        slots = [one for step in steps for one in self._configured.slots(step)]
        candidates = [one for one in slots if one.side in ("", slot.side)]
        if slot.step.continues and slot.step.in_turn:
            candidates += self._earlier_in_turn(slot)
        return candidates[-1] if candidates else None

    def _content(self, slot: Slot, pair_texts: Texts, before: Sequence[Message]) -> str:
        step, configured = slot.step, self._configured
        template = configured.template(step)
        shown = _shown(slot, pair_texts)
        answers = _answers(slot, shown)
        quotes = list(self._quotes(slot, shown))
        texts = [*shown.prompt, shown.input, *(turn for answer in answers.values() for turn in answer)]
        texts += [text for *_, text in quotes] + [message["content"] for message in before]
        texts += configured.questions.values()
        word = rendering.boundary(shown.secret, template, texts)
        blocks = {
            name: rendering.answer_block(name.replace("_", " ").upper(), word, shown, answer)
            for name, answer in answers.items()
        }
        values: dict[str, object] = {
            **dict.fromkeys(configured.protocol.placeholders(step), ""),
            **{name: configured.wording_of(name) for name in configured.protocol.parameters},
            **rendering.examples(configured.scale),
            **blocks,
            "answers": "\n\n".join(blocks.values()),
            "query": rendering.query(shown, word),
            "input": rendering.given_input(shown, word),
            "instruction": self._instruction(shown, word),
            **self._questions(slot, word),
            "notice": rendering.notice(word),
            "boundary": word,
            "item": configured.item(slot),
            "number": slot.number,
        }
        if step.asks_verdict:
            values["verdict"] = rendering.verdict_text(configured.scale_of(step), configured.place_of(step))
        for placeholder, label, text in quotes:
            block = rendering.block(label, word, text)
            values[placeholder] = f"{values[placeholder]}\n\n{block}".strip()
        text = rendering.fill(template, values)
        if slot.turn > 1:
            text = rendering.about_last_turn(text)
        elif _is_about_last_turns(step, shown):
            text = rendering.about_last_turns(text)
        criterion = self._criterion(step)
        return rendering.by_criterion(criterion, text) if criterion else text

    def _instruction(self, shown: Texts, word: str) -> str:
        """The prompt, where a protocol that does not show it by default is told to."""
        if not self._configured.values.get("with_instruction"):
            return ""
        return rendering.block("INSTRUCTION", word, *shown.prompt)

    def _questions(self, slot: Slot, word: str) -> dict[str, str]:
        every, one = self._configured.questions, ""
        if slot.step.each == QUESTIONS:
            one = rendering.block("QUESTION", word, every[slot.number])
        listed = rendering.block("QUESTIONS", word, rendering.numbered(every)) if every else ""
        return {"question": one, "questions": listed}

    def _quotes(self, slot: Slot, shown: Texts) -> Iterator[tuple[str, str, str]]:
        """The earlier replies that the text shows: placeholder, label and text of each."""
        named = rendering.placeholders(self._configured.template(slot.step))
        asked = [one for step in self._builds_on(slot.step) for one in self._configured.slots(step)]
        if slot.step.in_turn:
            asked += self._earlier_in_turn(slot)
        for one in asked:
            reply = self._reply(one)
            if reply is not None:
                verdict = self._verdict_seen_by(slot, one, reply)
                exchange = one.step.about is About.PAIR and one.step.other_order != slot.step.other_order
                text = rendering.quoted(
                    reply, verdict, self._configured.scale_of(one.step), exchange=exchange
                )
                if slot.turn and shown.references and self.is_given(one):
                    text = rendering.own_reference(shown.references)
                for placeholder, label in self._headings(slot, one, verdict):
                    if placeholder in named:
                        yield placeholder, label.upper(), text

    def _verdict_seen_by(self, slot: Slot, one: Slot, reply: ReplyText) -> Verdict | None:
        """An earlier reply's verdict in the order of a later question."""
        if not one.step.asks_verdict:
            return None
        found = self._read(one, reply)
        turned = slot.step.other_order and one.step.about is About.PAIR
        return mirrored(found, self._configured.scale.points) if turned else found

    def _headings(self, slot: Slot, one: Slot, verdict: Verdict | None) -> Iterator[tuple[str, str]]:
        """Placeholders by which a question can show an earlier reply, each with its label."""
        label = one.step.label or one.step.name.replace("_", " ")
        item = self._configured.item(one).partition(":")[0]
        label = f"{label} {item}".strip()
        if one.step is slot.step:
            yield "earlier", label
        elif one.side and not slot.side:
            letter = "ab"[SIDES.index(one.side) ^ slot.step.other_order]
            yield f"{one.step.name}_{letter}", f"{label} {letter}"
        elif one.side == slot.side or not one.side:
            yield one.step.name, label
        if verdict is not None and one.step.about is About.PAIR:
            side = side_of(verdict, self._configured.scale.points)
            for placeholder, favoured in FAVOURING.items():
                if side == favoured:
                    yield placeholder, f"evaluation in favour of answer {placeholder[-1]}"


NO_REPLY: Final = "(no reply)"  # in place of an empty one, which many endpoints refuse to read again


def _shown(slot: Slot, texts: Texts) -> Texts:
    """The texts in the order of a question, or up to the turn that it is about."""
    shown = texts.swapped() if slot.step.other_order else texts
    return shown.at_turn(slot.turn) if slot.turn and isinstance(shown, OneText) else shown


def _is_about_last_turns(step: Step, shown: Texts) -> bool:
    return isinstance(shown, PairTexts) and shown.turn > 1 and step.about is not About.PROMPT


def _answers(slot: Slot, shown: Texts) -> dict[str, Sequence[str]]:
    if isinstance(shown, OneText):
        return {"answer": shown.text} if slot.step.about is About.COMPLETION else {}
    if slot.step.about is About.PAIR:
        return {"answer_a": shown.first, "answer_b": shown.second}
    if slot.step.about is About.COMPLETION:
        return {"answer": shown.first if slot.side == SIDES[0] else shown.second}
    return {}


def next_questions(
    configured: ConfiguredProtocol, pair_texts: Texts, replies: Mapping[str, ReplyText]
) -> list[Question]:
    """Every question that can be asked now and has no reply; none when the verdict can be given."""
    asked = {
        conversation.key(slot): partial(conversation.question, slot, pair_texts)
        for conversation in _conversations(configured, replies)
        for slot in conversation.open_slots()
    }
    return [question() for question in asked.values()]


def given(configured: ConfiguredProtocol, pair_texts: Texts) -> dict[str, ReplyText]:
    """The prompt's own references, by the questions that need not be asked for them."""
    if not pair_texts.references:
        return {}
    own = ReplyText(rendering.own_reference(pair_texts.references))
    return {one.key(slot): own for one, slot in _slots(configured) if one.is_given(slot)}


def open_keys(configured: ConfiguredProtocol, replies: Mapping[str, ReplyText]) -> list[str]:
    """The keys of next_questions, without the work of wording them."""
    conversations = _conversations(configured, replies)
    return list(dict.fromkeys(one.key(slot) for one in conversations for slot in one.open_slots()))


def verdict(configured: ConfiguredProtocol, replies: Mapping[str, ReplyText]) -> Verdict:
    """The judge's overall verdict; only once nothing is left to ask."""
    return _vote(configured, replies).verdict()


def scores(configured: ConfiguredProtocol, replies: Mapping[str, ReplyText]) -> dict[int, TextScore]:
    """The judge's score of each turn of an answer, or of all of it as turn 0.

    Only once nothing is left to ask.
    """
    samples = [one.by_turn() for one in _conversations(configured, replies)]
    how = str(configured.values.get("combine", "mean"))
    return {turn: combined([each[turn] for each in samples], how) for turn in samples[0]}


def checks(configured: ConfiguredProtocol, replies: Mapping[str, ReplyText]) -> dict[int, Verdict]:
    """The judge's verdict on each requirement by its position, 1 for yes and 2 for no.

    Only once nothing is left to ask. What was never asked about is missing.
    """
    samples = [one.checks() for one in _conversations(configured, replies)]
    asked = [number for number in configured.questions if any(number in each for each in samples)]
    return {number: majority([each[number] for each in samples if number in each], 2) for number in asked}


def criterion_verdicts(
    configured: ConfiguredProtocol, replies: Mapping[str, ReplyText]
) -> dict[str, Verdict]:
    """The judge's verdict by each criterion; only once nothing is left to ask."""
    return {name: _vote(configured.by(name), replies).verdict() for name in configured.criteria or ()}


def keys(configured: ConfiguredProtocol) -> list[str]:
    """Every key there can be, in the order of asking, steps included that may turn out not to be needed."""
    return list(dict.fromkeys(one.key(slot) for one, slot in _slots(configured)))


def keys_about(configured: ConfiguredProtocol, position: int) -> list[str]:
    """The keys of what is asked about a requirement, by itself or together with all others."""
    return [one.key(slot) for one, slot in _slots(configured) if slot.number in (0, position)]


def keys_of_turn(configured: ConfiguredProtocol, turn: int) -> list[str]:
    """The keys of what is asked about a turn of an answer and nothing else; of turn 0, about all of it."""
    return [
        one.key(slot)
        for one, slot in _slots(configured)
        if slot.turn == turn and slot.step.about is About.COMPLETION
    ]


def asks_alike(configured: ConfiguredProtocol, sent: Mapping[str, str]) -> bool:
    """Tell whether texts sent earlier, by key, are questions of the protocol with the requirements of now."""
    known = sent.keys() <= set(keys(configured))
    return known and all(one.asks_alike(sent) for one in _conversations(configured, {}))


def _slots(configured: ConfiguredProtocol) -> Iterator[tuple[Conversation, Slot]]:
    return ((one, slot) for one in _conversations(configured, {}) for slot in one.slots())


def _conversations(
    configured: ConfiguredProtocol, replies: Mapping[str, ReplyText]
) -> Iterator[Conversation]:
    """Conversations about the overall rating and about each criterion."""
    for each in (configured, *map(configured.by, configured.criteria or ())):
        yield from _vote(each, replies).conversations()


@dataclass(frozen=True)
class _Vote:
    voters: Sequence["_Vote | Conversation"]
    points: int

    def conversations(self) -> Iterator[Conversation]:
        for voter in self.voters:
            yield from [voter] if isinstance(voter, Conversation) else voter.conversations()

    def verdict(self) -> Verdict:
        verdicts = [voter.verdict() for voter in self.voters]
        return verdicts[0] if len(verdicts) == 1 else majority(verdicts, self.points)


def _vote(
    configured: ConfiguredProtocol, replies: Mapping[str, ReplyText], prefix: str = "", sample: int = 0
) -> _Vote:
    """All samples of a protocol; ``sample`` is that of the protocol around it."""
    count = configured.samples if configured.samples > 1 else configured.protocol.samples
    # Numbers are unique among the samples of samples.
    numbers = range(sample * count, (sample + 1) * count)
    parts, points = configured.protocol.parts, configured.scale.points
    if not parts:
        return _Vote([Conversation(configured, replies, prefix, number) for number in numbers], points)
    names = [(configured.of_part(part), f"{prefix}{part.name}/") for part in parts]
    return _Vote(
        [_Vote([_vote(part, replies, name, number) for part, name in names], points) for number in numbers],
        points,
    )
