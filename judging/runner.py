"""Running the steps of a protocol: what to ask next, given the replies so far. Pure."""

from collections.abc import Sequence

from judging import rendering
from judging.parsers import ReplyText, Verdict
from judging.protocol import Protocol
from judging.rendering import Material

Message = dict[str, str]
"""A chat message: role and content."""


def next_messages(
    protocol: Protocol, material: Material, points: int, replies: Sequence[ReplyText]
) -> list[Message] | None:
    """The messages of the next step, the conversation so far included; None when every step has a reply."""
    if len(replies) >= len(protocol.steps):
        return None
    messages: list[Message] = []
    for number, step in enumerate(protocol.steps[: len(replies) + 1]):
        messages.append({"role": "user", "content": rendering.fill(step.template, material, points)})
        if number < len(replies):
            messages.append({"role": "assistant", "content": replies[number].text})
    return messages


def verdict(protocol: Protocol, points: int, replies: Sequence[ReplyText]) -> Verdict:
    """The verdict, read from the reply to the last step."""
    return protocol.parse(replies[-1], points)
