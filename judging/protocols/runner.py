"""Running a protocol: what to ask next, given the replies so far, and what they amount to. Pure.

Every question has a key that names it among those about one assignment, such as ``rate``, ``analyse.second``
(of a step about one answer), ``debate.3`` (the third of a list), ``2/rate`` (the second sample of a
protocol) or ``prepair/compare`` (a part of a protocol that lets others vote).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from judging.protocols.conversation import Conversation, Message, Question
from judging.protocols.deciding import majority
from judging.protocols.protocol import Manner
from judging.protocols.rendering import Material
from judging.protocols.replies import ReplyText, Verdict

__all__ = ["Message", "Question", "is_complete", "keys", "next_questions", "open_keys", "verdict"]


def next_questions(manner: Manner, material: Material, replies: Mapping[str, ReplyText]) -> list[Question]:
    """Every question that can be asked now and has no reply; none when the verdict can be given."""
    asked = {
        conversation.key(slot): partial(conversation.question, slot, material)
        for conversation in _vote(manner, replies).conversations()
        for slot in conversation.open_slots()
    }
    return [question() for question in asked.values()]


def open_keys(manner: Manner, replies: Mapping[str, ReplyText]) -> list[str]:
    """The keys of next_questions, without the work of wording them."""
    conversations = _vote(manner, replies).conversations()
    return list(dict.fromkeys(one.key(slot) for one in conversations for slot in one.open_slots()))


def is_complete(manner: Manner, replies: Mapping[str, ReplyText]) -> bool:
    """Whether there is nothing left to ask."""
    return not open_keys(manner, replies)


def verdict(manner: Manner, replies: Mapping[str, ReplyText]) -> Verdict:
    """What the judge says, once there is nothing left to ask."""
    return _vote(manner, replies).verdict()


def keys(manner: Manner) -> list[str]:
    """Every key there can be, in the order of asking; steps that may turn out not to be needed included."""
    return list(dict.fromkeys(key for one in _vote(manner, {}).conversations() for key in one.every_key()))


@dataclass(frozen=True)
class _Vote:
    """Voters whose majority decides: samples of one protocol, or parts of one that lets others vote."""

    voters: Sequence["_Vote | Conversation"]
    points: int

    def conversations(self) -> Iterator[Conversation]:
        """Everything that is asked, in order."""
        for voter in self.voters:
            if isinstance(voter, Conversation):
                yield voter
            else:
                yield from voter.conversations()

    def verdict(self) -> Verdict:
        """What the voters decide; one alone says what it says."""
        verdicts = [voter.verdict() for voter in self.voters]
        return verdicts[0] if len(verdicts) == 1 else majority(verdicts, self.points)


def _vote(manner: Manner, replies: Mapping[str, ReplyText], prefix: str = "", sample: int = 0) -> _Vote:
    """All samples of a protocol; ``sample`` is the one of the protocol around it."""
    count = manner.samples if manner.samples > 1 else manner.protocol.samples
    # Numbers are unique among the samples of samples.
    return _Vote(
        [_sample(manner, replies, prefix, sample * count + number) for number in range(count)],
        manner.scale.points,
    )


def _sample(
    manner: Manner, replies: Mapping[str, ReplyText], prefix: str, sample: int
) -> "_Vote | Conversation":
    parts = manner.protocol.parts
    if not parts:
        return Conversation(manner, replies, prefix, sample)
    return _Vote(
        [_vote(manner.of_part(part), replies, f"{prefix}{part.name}/", sample) for part in parts],
        manner.scale.points,
    )
