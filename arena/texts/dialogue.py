"""A prompt and its answers as messages to a model. Pure."""

from collections.abc import Sequence

Message = dict[str, str]  # a chat message: role and content


def dialogue(turns: Sequence[str], material: str, answers: Sequence[str]) -> list[Message]:
    """The turns of the user, each with its answer, up to the first turn without one.

    The material that a prompt is about stands below its first turn.
    """
    messages: list[Message] = []
    for number, turn in enumerate(turns[: len(answers) + 1]):
        asked = f"{turn}\n\n{material}" if material and not number else turn
        messages.append({"role": "user", "content": asked})
        if number < len(answers):
            messages.append({"role": "assistant", "content": answers[number]})
    return messages
