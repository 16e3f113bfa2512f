"""Which texts a contestant's model can read, and as which conversations."""

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from arena.models import Completion
from arena.texts.dialogue import Message, dialogue
from arena.texts.visible import is_blank
from judging.endpoints.scoring import Way
from judging.judges.services import JudgeError
from judging.models import Author, Endpoint, Trace, WritingCall
from judging.models.requests import LIVE

Text = Trace.Text


def source(endpoint: Endpoint, how: str) -> str:
    """What a trace says of where it is from; ``how`` it was taken."""
    return f"{endpoint.model} at {urlsplit(endpoint.base_url).netloc}, {how}"[:200]


def way(endpoint: Endpoint) -> Way | None:
    """How it reads a text that is there, as a probe has found."""
    return next((way for way in Way if endpoint.gives.get(way.value)), None)


def check_reads(author: Author) -> None:
    """Raise JudgeError unless a probe has found that the model can read a text."""
    if not author.endpoint.gives:
        raise JudgeError(
            f"Nobody knows yet what the endpoint of {author.contestant.name} gives. Probe it first."
        )
    if way(author.endpoint) is None:
        raise JudgeError(
            "The endpoint tells nothing about a text that is there. Traces come while it writes."
        )


KEY = ("completion", "turn", "text")


def to_read(author: Author, references: bool, limit: int | None) -> list[WritingCall]:
    """Requests to read the texts of at most so many answers that have no trace yet, not stored."""
    current = author.contestant.completions.filter(is_current=True, is_empty=False).exclude(turns=[])
    rows = current.select_related("prompt").prefetch_related("prompt__references").order_by("prompt", "pk")
    traces = Trace.objects.filter(
        completion__contestant=author.contestant, source=source(author.endpoint, "read")
    )
    asked = author.calls.filter(LIVE).exclude(text="")
    known = {*traces.values_list(*KEY), *asked.values_list(*KEY)}
    found: list[WritingCall] = []
    answers = 0
    for completion in rows:
        new = [
            WritingCall(
                author=author,
                prompt=completion.prompt,
                completion=completion,
                turn=turn,
                text=text,
                is_last=True,
            )
            for turn, text in _texts(completion, references)
            if (completion.pk, turn, text) not in known
        ]
        if new and limit is not None and answers >= limit:
            break
        answers += bool(new)
        found += new
    return found


def _texts(completion: Completion, references: bool) -> Iterator[tuple[int, str]]:
    """The texts that can be read about an answer: the turn and the kind of each."""
    reference = _reference(completion) if references else []
    for number in range(1, len(completion.prompt.turns) + 1):
        if _has(completion.turns, number):
            yield number, Text.ANSWER
            if reference:
                yield number, Text.ILLUSTRATED
        if _has(reference, number):
            yield number, Text.REFERENCE


def _has(turns: Sequence[str], number: int) -> bool:
    return not is_blank("".join(turns[number - 1 : number]))


def _reference(completion: Completion) -> list[str]:
    return next(iter(completion.prompt.reference_turns), [])


def messages(row: WritingCall, completion: Completion) -> list[Message]:
    """The conversation whose last message is the text that a request is about."""
    prompt = completion.prompt
    reference = _reference(completion)
    before = dialogue(prompt.turns, prompt.input, reference) if row.text == Text.ILLUSTRATED else []
    answers = (reference if row.text == Text.REFERENCE else completion.turns)[: row.turn]
    own = dialogue(prompt.turns[: row.turn], prompt.input, answers)
    return [*before, *own]
