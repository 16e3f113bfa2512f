"""Going through a protocol with made-up replies, to see what it would ask. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from judging.protocols import conversation
from judging.protocols.answer_scales import GRADES, LETTERS, AnswerScale
from judging.protocols.conversation import Question
from judging.protocols.protocol import ConfiguredProtocol, Protocol
from judging.protocols.rendering import Texts
from judging.protocols.replies import Place, ReplyText

LONG: Final = 1000  # bytes added to made-up replies to measure how much of them later questions quote


@dataclass(frozen=True)
class Rehearsed:
    """A question when all earlier replies are minimal."""

    question: Question
    quotes: Decimal  # how often it quotes a reply
    is_certain: bool  # it is asked whatever the replies are


def rehearse(configured: ConfiguredProtocol, pair_texts: Texts) -> list[Rehearsed]:
    every, certain = _needing(configured, needed=True), _needing(configured, needed=False)
    long = {question.key: size(question) for question in _walk(every, pair_texts, 1 + LONG)}
    sure = {question.key for question in _walk(certain, pair_texts, 1)}
    return [
        Rehearsed(question, Decimal(long[question.key] - size(question)) / LONG, question.key in sure)
        for question in questions(configured, pair_texts)
    ]


def questions(configured: ConfiguredProtocol, pair_texts: Texts) -> Iterator[Question]:
    return _walk(_needing(configured, needed=True), pair_texts, 1)


def size(question: Question) -> int:
    return sum(len(message["content"].encode("utf-8", "surrogatepass")) for message in question.messages)


def _needing(configured: ConfiguredProtocol, *, needed: bool) -> ConfiguredProtocol:
    """The protocol with its conditional steps always asked, or never."""

    def settled(protocol: Protocol) -> Protocol:
        return replace(
            protocol,
            steps=tuple(
                replace(step, needed=None if needed else lambda _: False) if step.needed else step
                for step in protocol.steps
            ),
            parts=tuple(replace(part, protocol=settled(part.protocol)) for part in protocol.parts),
        )

    return replace(configured, protocol=settled(configured.protocol))


def _walk(configured: ConfiguredProtocol, pair_texts: Texts, length: int) -> Iterator[Question]:
    """Every question about a pair, each replied to with a text of this length."""
    replies = conversation.given(configured, pair_texts)
    while asked := conversation.next_questions(configured, pair_texts, replies):
        yield from asked
        replies |= {question.key: _reply(question, length) for question in asked}


def _reply(question: Question, length: int) -> ReplyText:
    """A reply that prefers what is shown first, so that both sides of a contradiction are quoted."""
    text = "x" * length
    if question.scale is None or question.place is None:
        return ReplyText(text)
    return ReplyText(placed(verdict(0, question.scale), question.place, text))


NOTE: Final = "Simulated reply: no model was asked."  # stands in every simulated reply that has room for it


def verdict(share: float, scale: AnswerScale) -> str:
    """A verdict for a belief from 0 to 1 in the second answer, or in the one that is scored."""
    if scale.form == "score":
        return str(scale.lowest + step_of(share, scale.highest - scale.lowest + 1))
    if scale.form == "yes_no":
        return ("NO", "YES")[share >= 0.5]
    if scale.form == "scores":
        widest = scale.highest - scale.lowest
        ahead = step_of(share, 2 * widest + 1) - widest
        return f"{scale.highest - max(0, ahead)} {scale.highest + min(0, ahead)}"
    step = step_of(share, scale.points)
    return {
        "likert": str(step + 1),
        "binary": f"Answer {'AB'[step % 2]}",
        "grades": GRADES[step % 5],
        "letters": LETTERS[step % 3],
    }[scale.form]


def step_of(share: float, steps: int) -> int:
    """Which of so many equal steps a share falls on, from 0."""
    return min(steps - 1, int(share * steps))


def placed(words: str, place: Place, note: str = NOTE, numbers: Iterable[int] = ()) -> str:
    """A reply with the verdict in its place, of all ``numbers`` alike; one line has no room for a note."""
    return {
        Place.FIRST_LINE: f"{words}\n{note}",
        Place.ONLY_LINE: words,
        Place.LAST_LINE: f"{note}\n{words}",
        Place.FIELD: f"{note}\nVerdict: {words}",
        Place.OPENING: f"{words}\n{note}",
        Place.LINES: "\n".join(f"{number}: {words}" for number in numbers) or words,
    }[place]
