"""A scripted model that answers any question of any protocol, as it reads it in the messages alone."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from judging.protocols import conversation
from judging.protocols.answer_scales import GRADES, LETTERS, POINTS, AnswerScale, answer_scale
from judging.protocols.catalogue import PROTOCOLS
from judging.protocols.conversation import Question
from judging.protocols.protocol import ConfiguredProtocol, Task
from judging.protocols.rehearsal import placed
from judging.protocols.rendering import Texts, verdict_text
from judging.protocols.replies import Place, ReplyText
from tests.judging.endpoints.server import Answer, Script

Opinion = Callable[[str, str], int]
"""Which of two texts is better: -1 the first, 1 the second, 0 neither. A single answer is the second."""

BLOCK: Final = re.compile(
    r"<<<BEGIN (?P<label>[^\n]*) (?P<word>\w{12})>>>\n(?P<text>.*?)\n<<<END (?P=label) (?P=word)>>>",
    re.DOTALL,
)
"""A text between its markers."""

COMPARING: Final = {
    name: one for name, one in PROTOCOLS.items() if one.task is Task.COMPARE and name != "published"
}
"""The protocols that show pairs in words of the arena's own."""

GOOD: Final = "excellent"
"""A word that the better answer holds."""


def configured(name: str, form: str = "", **options: Any) -> ConfiguredProtocol:
    """A protocol on the largest scale of a form, its usual one unless told."""
    form = form or PROTOCOLS[name].forms[0]
    return ConfiguredProtocol(PROTOCOLS[name], answer_scale(form, POINTS[form][-1]), **options)


def by_content(first: str, second: str) -> int:
    """Prefers the answer that holds the good word, wherever it is shown."""
    return (GOOD in second) - (GOOD in first)


def by_position(first: str, second: str) -> int:
    """Prefers whatever is shown first."""
    return -1


def blocks(text: str) -> Mapping[str, str]:
    """The fenced texts of a question by their labels."""
    return {match["label"]: match["text"] for match in BLOCK.finditer(text)}


def outside(text: str) -> str:
    """A question without what is fenced."""
    return BLOCK.sub("", text)


def reply_to(messages: Sequence[Mapping[str, str]], opinion: Opinion = by_content) -> str:
    """What the model replies; without a verdict asked for, a remark of its own on what it was shown."""
    question = messages[-1]["content"]
    shown = blocks(question)
    asked = verdict_asked_for(outside(question))
    if asked is None:
        return f"scripted remark {len(messages)} on {', '.join(shown)}"
    scale, place = asked
    if scale.form == "score":
        better = opinion("", shown["ANSWER"])
        words = str({1: scale.highest, 0: scale.lowest, -1: scale.lowest + 1}[better])
    else:
        words = verdict_words(opinion(shown["ANSWER A"], shown["ANSWER B"]), scale)
    return placed(words, place).replace("Simulated", "Scripted")


def ask_all(
    configured: ConfiguredProtocol, texts: Texts, said: Callable[[Question], str]
) -> tuple[list[Sequence[Question]], dict[str, ReplyText]]:
    """Ask until nothing is left: the questions in waves, each once, and the replies."""
    waves: list[Sequence[Question]] = []
    replies: dict[str, ReplyText] = {}
    while wave := conversation.next_questions(configured, texts, replies):
        assert not replies.keys() & {question.key for question in wave}
        waves.append(wave)
        replies |= {question.key: ReplyText(said(question), "stop") for question in wave}
    return waves, replies


def verdict_words(better: int, scale: AnswerScale) -> str:
    """A verdict for the first (-1), the second (1) or neither, in the form of the scale."""
    if scale.form == "binary":
        return f"Answer {'AB'[better > 0]}"
    if scale.form == "scores":
        return {-1: "8 3", 0: "6 6", 1: "3 8"}[better]
    ratings = {2: (1, 1, 2), 3: (1, 2, 3), 5: (2, 3, 4), 8: (2, 4, 7)}[scale.points]
    rating = ratings[better + 1]
    words = {"grades": GRADES, "letters": LETTERS}.get(scale.form)
    return words[rating - 1] if words else str(rating)


def verdict_asked_for(text: str) -> tuple[AnswerScale, Place] | None:
    """The answer scale and the place that a question asks for a verdict in."""
    found = [(scale, place) for scale in scales() for place in Place if verdict_text(scale, place) in text]
    assert len(found) <= 1, "two forms of verdict in one question"
    return found[0] if found else None


def scales() -> Iterator[AnswerScale]:
    """Every answer scale there is, those of single scores included."""
    for form, points in POINTS.items():
        for each in points:
            yield AnswerScale(form, each)  # type: ignore[arg-type]
    steps = [step for protocol in COMPARING.values() for step in protocol.steps]
    for lowest, highest in sorted({step.score for step in steps if step.score}):
        yield AnswerScale("score", 2, lowest, highest)


def scripted(opinion: Opinion = by_content) -> Script:
    """The script of a loopback server that answers so."""

    def script(body: dict[str, Any]) -> Answer:
        return Answer(reply_to(body["messages"], opinion), model=body["model"])

    return script
