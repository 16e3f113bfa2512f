"""Which texts a contestant's model can read, and as which conversations."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from arena.models import Completion
from arena.texts.dialogue import Message, dialogue
from judging.endpoints.scoring import Way
from judging.models import Author, Endpoint, Trace

Text = Trace.Text


class Target(NamedTuple):
    """A text to read."""

    completion: Completion
    turn: int
    text: str


def source(endpoint: Endpoint, how: str) -> str:
    """What a trace says of where it is from; ``how`` it was taken."""
    return f"{endpoint.model} at {urlsplit(endpoint.base_url).netloc}, {how}"[:200]


def way(endpoint: Endpoint) -> Way | None:
    """How it reads a text that is there, as a probe has found."""
    return next((way for way in Way if endpoint.gives.get(way.value)), None)


def targets(author: Author, references: bool, limit: int | None) -> list[Target]:
    """The texts of at most so many answers that have no trace yet."""
    current = author.contestant.completions.filter(is_current=True, is_empty=False).exclude(turns=[])
    rows = current.select_related("prompt").prefetch_related("prompt__references").order_by("prompt", "pk")
    known = set(
        Trace.objects.filter(
            completion__contestant=author.contestant, source=source(author.endpoint, "read")
        ).values_list("completion", "turn", "text")
    )
    asked = set(
        author.calls.filter(state__in=["waiting", "in_flight"])
        .exclude(text="")
        .values_list("completion", "turn", "text")
    )
    found: list[Target] = []
    answers = 0
    for completion in rows:
        new = [each for each in _texts(completion, references) if _key(each) not in known | asked]
        if new and limit is not None and answers >= limit:
            break
        answers += bool(new)
        found += new
    return found


def _key(target: Target) -> tuple[int, int, str]:
    return target.completion.pk, target.turn, target.text


def _texts(completion: Completion, references: bool) -> Iterator[Target]:
    reference = _reference(completion) if references else []
    for number in range(1, len(completion.prompt.turns) + 1):
        if _has(completion.turns, number):
            yield Target(completion, number, Text.ANSWER)
            if reference:
                yield Target(completion, number, Text.ILLUSTRATED)
        if _has(reference, number):
            yield Target(completion, number, Text.REFERENCE)


def _has(turns: Sequence[str], number: int) -> bool:
    return bool("".join(turns[number - 1 : number]).strip())


def _reference(completion: Completion) -> list[str]:
    return next(iter(completion.prompt.reference_turns), [])


def messages(target: Target) -> list[Message]:
    """The conversation whose last message is the text."""
    completion, number, text = target
    prompt = completion.prompt
    reference = _reference(completion)
    before = dialogue(prompt.turns, prompt.input, reference) if text == Text.ILLUSTRATED else []
    answers = (reference if text == Text.REFERENCE else completion.turns)[:number]
    own = dialogue(prompt.turns[:number], prompt.input, answers)
    return [*before, *own]
