"""How one step shows the replies to earlier ones: as material, in the words of who reads them. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from arena.rating import scales
from judging.protocols.answer_scales import GRADES, AnswerScale
from judging.protocols.replies import ReplyText, Verdict, without_thinking
from judging.protocols.verdict_forms import ANSWER

NOUN: Final = rf"(?<![a-z])(?:{ANSWER}|reply|model)(?:en|s)?"

JOINT: Final = (
    r"/|&|,|、|\b(?:and|or|vs\.?|versus|than|over|to|und|oder|als|et|ou|y|o|que|и|или|чем)\b|和|与|或|と|比"
)
"""Between the names of the two answers."""

LABELS: Final = re.compile(
    rf"""
    # Answer A, Output (b), Response **B**, 回答A, and both: Answers A and B, Answer A/B
    {NOUN}\s*
      (?:[*_"']*(?P<one>(?-i:[AB]))(?![a-z0-9]) | [*_]*[(\[]+(?P<boxed>[AB])[)\]])
      (?:[*_"']*\s*(?:{JOINT})\s*[*_"']*(?P<other>(?-i:[AB]))(?![a-z0-9]))?
    # in the middle of a sentence, where A is no article
    | \b(?:than|over|prefers?|favou?rs?|but|while|whereas|because|since|that|als|aber|que|чем)\s+
      (?P<bare>(?-i:[AB]))\b
    # at the beginning of one, before a verb
    | (?:^|[.,;:!?(]\s*)(?P<subject>(?-i:[AB]))
      (?=\s+(?:is|was|has|does|gives|wins|seems|fails|lacks|misses|ist|hat|est|es)\b|['’]s\b)
    | \b(?P<grade>(?-i:[AB](?:>>?|=)[AB]))\b
    | \[\[\s*(?P<mark>[AB])\s*\]\]
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
"""How a reply calls one of two answers, or both. Other letters, such as those of vitamins, are left alone."""

EXCHANGED: Final = str.maketrans("ABab", "BAba")


def relabelled(text: str) -> str:
    """What a model wrote about two answers, with their names exchanged."""
    return LABELS.sub(_exchanged, text)


def _exchanged(match: re.Match[str]) -> str:
    text = match[0]
    for name in match.re.groupindex:
        if match[name]:
            start, end = (place - match.start() for place in match.span(name))
            text = text[:start] + text[start:end].translate(EXCHANGED) + text[end:]
    return text


def mirrored(verdict: Verdict, points: int) -> Verdict:
    """The same opinion for who sees the two answers the other way round."""
    if verdict.rating is None:
        return verdict
    scores = (verdict.scores[1], verdict.scores[0]) if verdict.scores else None
    return replace(verdict, rating=scales.mirror(verdict.rating, points), scores=scores)


def side_of(verdict: Verdict, points: int) -> str:
    """Which answer a verdict prefers: first, second, or "" for neither or no verdict."""
    if verdict.rating is None:
        return ""
    preference = scales.preference(verdict.rating, points)
    return "first" if preference < 0 else "second" if preference > 0 else ""


def in_words(verdict: Verdict, scale: AnswerScale) -> str:
    """A verdict in the form of its answer scale, as judges are asked to give it."""
    if verdict.rating is None:
        raise ValueError("there is no verdict to put in words")
    if scale.form == "binary":
        return f"Answer {'AB'[verdict.rating - 1]}"
    if scale.form == "grades":
        return GRADES[verdict.rating - 1]
    if scale.form == "scores" and verdict.scores:
        return f"{verdict.scores[0]} {verdict.scores[1]}"
    return str(verdict.rating)


def quoted(reply: ReplyText, verdict: Verdict | None, scale: AnswerScale, *, exchange: bool) -> str:
    """What a later step sees of a reply.

    verdict: the one that was read from it, in the order of the later step, where one was asked for; it is put
    in words anew, because a number in a reply about the other order means the opposite. exchange: whether the
    two answers have changed places since the reply was written.
    """
    text = without_thinking(reply.text)[0].strip()
    if verdict is not None and verdict.rating is not None:
        text = verdict.rationale
    if exchange:
        text = relabelled(text)
    if verdict is not None and verdict.rating is not None:
        text = f"{text}\n\nVerdict: {in_words(verdict, scale)}".strip()
    return text


def examples(scale: AnswerScale) -> Mapping[str, str]:
    """Placeholders for verdicts in texts that give examples: Answer A is better, Answer B is better."""
    if scale.form == "scores":
        return {
            "prefers_a": f"{scale.highest - 1} {scale.lowest + 2}",
            "prefers_b": f"{scale.lowest + 2} {scale.highest - 1}",
        }
    rating = scales.CAPTIONS[scale.points].index("A is better") + 1
    first = Verdict(rating)
    return {
        "prefers_a": in_words(first, scale),
        "prefers_b": in_words(mirrored(first, scale.points), scale),
    }


@dataclass(frozen=True)
class Quote:
    """An earlier reply as a text shows it: the placeholder it fills, the label of its block, and its text."""

    placeholder: str
    label: str
    text: str
