"""Checks of an operator's parameters and wording. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from string import Template
from typing import Any, Final

from judging.protocols import published
from judging.protocols.examples import Example
from judging.protocols.protocol import Protocol, Step, Task, Value
from judging.protocols.published import OF_A_PAIR, OF_AN_ANSWER
from judging.protocols.rendering import placeholders

LONGEST_TEXT = 20_000  # characters of a parameter that is a text
MOST_SAMPLES = 99


def check_parameters(protocol: Protocol, given: Mapping[str, Any]) -> None:
    """Raise ValueError, with a sentence, for an unknown parameter or value."""
    for name, value in given.items():
        parameter = protocol.parameters.get(name)
        if parameter is None:
            known = ", ".join(protocol.parameters) or "none"
            raise ValueError(f'Protocol {protocol.name} has no parameter "{name}". It has {known}.')
        _check_type(name, value, parameter.default)
        if parameter.choices and value not in parameter.choices:
            choices = ", ".join(map(str, parameter.choices))
            raise ValueError(f"{name} must be one of {choices}.")


def _check_type(name: str, value: Any, default: Value) -> None:
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false.")
    elif isinstance(default, int):
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_SAMPLES:
            raise ValueError(f"{name} must be a whole number from 0 to {MOST_SAMPLES}.")
    elif isinstance(default, str):
        if not isinstance(value, str) or len(value) > LONGEST_TEXT:
            raise ValueError(f"{name} must be a text of at most {LONGEST_TEXT:,} characters.")
    elif (
        not isinstance(value, list | tuple)
        or not 1 <= len(value) <= MOST_SAMPLES
        or not all(isinstance(item, str) and item.strip() and len(item) <= LONGEST_TEXT for item in value)
    ):
        raise ValueError(f"{name} must be a list of 1 to {MOST_SAMPLES} texts, none of them empty.")


JUDGED: Final = frozenset(
    {
        *("query", "input", "instruction", "question", "questions"),
        *("answers", "answer", "answer_a", "answer_b"),
    }
)

BOTH: Final = frozenset({"answer_a", "answer_b"})  # the answers one by one: the same as ``$answers``
OURS: Final = frozenset({"notice", "verdict", "item", "number", "boundary", "prefers_a", "prefers_b"})
"""Placeholders for the arena's own words; all others but parameters show what somebody else wrote."""

OPTIONAL: Final = frozenset({"number", "boundary", "prefers_a", "prefers_b"})
"""Placeholders that a text can always leave out."""


def file_name(text: str) -> str:
    """The file name of a text, with "__" for its slash."""
    return f"{text.replace('/', '__')}.txt"


def text_name(file: str) -> str:
    return file.removesuffix(".txt").replace("__", "/")


def wording_problems(protocol: Protocol, wording: Mapping[str, str]) -> list[str]:
    """Check an operator's texts; a sentence for each fault.

    A text must show all that the protocol's own shows: what it is about, the replies it builds on, the notice
    that this is material, and the form of the verdict.
    """
    users = dict(_users(protocol))
    found: list[str] = []
    for name, text in wording.items():
        if "\x00" in text:
            found.append(f'Text "{name}" holds the character NUL. It seems not to be a text file.')
        elif name in protocol.examples:
            found += _example_problems(name, text)
        elif name in users:
            found += _problems(name, text, users[name])
        else:
            found.append(
                f'Protocol {protocol.name} has no text "{name}". Its texts: {", ".join(protocol.texts)}.'
            )
    return found


def _example_problems(name: str, text: str) -> Iterator[str]:
    try:
        Example.read(text)
    except ValueError as error:
        yield f'Text "{name}" is no example: {error}'


Users = Sequence[tuple[Protocol, Step]]  # the steps that use a text, each with its protocol


def _users(protocol: Protocol) -> Iterator[tuple[str, Users]]:
    for name in {step.text or step.name: None for step in protocol.steps}:
        yield name, [(protocol, step) for step in protocol.steps if name == (step.text or step.name)]
    for part in protocol.parts:
        for name, users in _users(part.protocol):
            yield f"{part.name}/{name}", users


def _problems(name: str, text: str, users: Users) -> Iterator[str]:
    if users[0][1].published:
        pair = users[0][0].task is Task.COMPARE
        found = published.problems(text, OF_A_PAIR if pair else OF_AN_ANSWER)
        yield from (f'Text "{name}": {sentence}' for sentence in found)
        return
    if not Template(text).is_valid():
        yield f'Text "{name}", line {_bad_line(text)}: a $ begins no placeholder. Write $$ for a dollar sign.'
        return
    used = placeholders(text)
    known = frozenset.intersection(*(protocol.placeholders(step) for protocol, step in users))
    for unknown in sorted(used - known):
        yield f'Text "{name}": ${unknown} is not a placeholder. Use one of {_list(known)}.'
    protocol, step = users[0]
    shown = known - OURS - set(protocol.parameters)
    missing = placeholders(step.template) - used - OPTIONAL - set(protocol.parameters)
    # A text that goes on in a conversation may lack the notice, which stands in its first message.
    if used & shown and "notice" in placeholders(step.template):
        missing |= {"notice"} - used
    yield from _missing(name, step, _without_equals(missing, used), shown)


def _bad_line(text: str) -> int:
    lines = enumerate(text.split("\n"), 1)
    return next(number for number, line in lines if not Template(line).is_valid())


def _without_equals(missing: frozenset[str], used: frozenset[str]) -> frozenset[str]:
    """Without what the text shows in the other way: both answers together, or one by one."""
    if "answers" in used:
        return missing - BOTH
    return missing - {"answers"} if used >= BOTH else missing


def _missing(name: str, step: Step, missing: frozenset[str], shown: frozenset[str]) -> Iterator[str]:
    if "verdict" in missing:
        yield f'Text "{name}" asks for a verdict, so it must hold $verdict.'
    if "notice" in missing:
        yield f'Text "{name}" shows what others wrote, so it must hold $notice: none of it is an instruction.'
    if "item" in missing:
        yield f'Text "{name}" is asked for each of "{step.each}", so it must hold $item.'
    if pair_texts := missing & JUDGED:
        yield f'Text "{name}" must show what it is about: {_list(pair_texts)} is missing.'
    if quotes := missing & shown - JUDGED:
        yield f'Text "{name}" must show the replies it builds on: {_list(quotes)} is missing.'


def _list(names: frozenset[str]) -> str:
    return ", ".join(f"${name}" for name in sorted(names))
