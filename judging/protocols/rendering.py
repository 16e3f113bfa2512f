"""Filling prompt templates. Pure.

Prompts, completions and replies are hostile data. Each stands between markers with a boundary that its author
could not know, so no text can close its own block or forge the end of another.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from string import Template
from typing import Final

from arena.rules import scales
from arena.texts.marks import without_thinking
from judging.protocols.answer_scales import GRADES, LETTERS, AnswerScale
from judging.protocols.neutralizing import neutral
from judging.protocols.parsing import ANSWER
from judging.protocols.replies import Place, ReplyText, Verdict, mirrored

VERSION: Final = (
    4  # raised whenever this module or neutralizing changes what a judge reads; part of the prompt hash
)
PROMPTS: Final = Path(__file__).parent / "prompts"  # one folder per protocol, one file per step


@dataclass(frozen=True)
class PairTexts:
    """A prompt and two completions in presentation order, as lists of turns.

    secret: makes boundaries that nobody can foresee, yet the same for the same texts, so that equal questions
    are equal. references: the prompt's own reference answers, each a list of turns. turn: the one that is
    rated, the last of all; 0 is the whole conversation.
    """

    prompt: Sequence[str]
    input: str
    first: Sequence[str]
    second: Sequence[str]
    secret: bytes = field(repr=False)
    references: Sequence[Sequence[str]] = ()
    turn: int = 0

    def swapped(self) -> "PairTexts":
        return replace(self, first=self.second, second=self.first)

    def at_turn(self, turn: int) -> "PairTexts":
        """The texts up to a turn, from 1."""
        first, second = (list(said[:turn]) + [""] * (turn - len(said)) for said in (self.first, self.second))
        references = [each[:turn] for each in self.references]
        return replace(
            self, prompt=self.prompt[:turn], first=first, second=second, references=references, turn=turn
        )


@dataclass(frozen=True)
class OneText:
    """A prompt and one completion, as lists of turns; the other fields are those of PairTexts.

    dialogue: the prompt holds what both said before, the user first, and the text is the answer to its end.
    """

    prompt: Sequence[str]
    input: str
    text: Sequence[str]
    secret: bytes = field(repr=False)
    references: Sequence[Sequence[str]] = ()
    dialogue: bool = False

    def swapped(self) -> "OneText":
        return self

    def at_turn(self, turn: int) -> "OneText":
        """The answer to one turn, from 1, after all that was said before."""
        before = [said for both in zip(self.prompt, self.text[: turn - 1], strict=False) for said in both]
        return replace(
            self,
            prompt=[*before, self.prompt[turn - 1]],
            text=self.text[turn - 1 : turn],
            references=[each[:turn] for each in self.references],
            dialogue=turn > 1,
        )


Texts = PairTexts | OneText


def boundary(secret: bytes, template: str, texts: Sequence[str]) -> str:
    """A word that occurs in none of the texts, made of them and the secret alone."""
    body = "\x00".join((template, *texts)).encode("utf-8", "surrogatepass")
    attempt = 0
    while True:
        word = hmac.new(secret, b"%d\x00%s" % (attempt, body), hashlib.sha256).hexdigest()[:12]
        if not any(word in text for text in texts):
            return word
        attempt += 1


def block(label: str, word: str, *texts: str, dialogue: bool = False) -> str:
    """A text of others between markers; several turns stand below lines that carry the boundary."""
    turns = [neutral(text) for text in texts]
    names = [f"turn {number}" for number in range(1, len(turns) + 1)]
    if dialogue:
        names = [f"turn {place // 2 + 1}, {('user', 'assistant')[place % 2]}" for place in range(len(turns))]
    if len(turns) > 1:
        turns = [f"--- {name} {word} ---\n{text}" for name, text in zip(names, turns, strict=True)]
    body = "\n".join(turns)
    return f"<<<BEGIN {label} {word}>>>\n{body}\n<<<END {label} {word}>>>"


def answer_block(label: str, word: str, texts: Texts, answer: Sequence[str]) -> str:
    """The block of an answer; of a conversation, each turn of the user and how it was answered.

    It is no part of VERSION, so that judges of single turns keep their hash.
    """
    alternates = len(texts.prompt) == len(answer) > 1 and not (isinstance(texts, OneText) and texts.dialogue)
    if not alternates:
        return block(label, word, *answer)
    both = zip(texts.prompt, answer, strict=True)
    return block(label, word, *(said for exchange in both for said in exchange), dialogue=True)


def holds_block(text: str, label: str, body: str) -> bool:
    """Tell whether a text that was sent has this block, with any boundary."""
    return f">>>\n{neutral(body)}\n<<<END {label} " in text


def query(texts: Texts, word: str) -> str:
    dialogue = isinstance(texts, OneText) and texts.dialogue
    asked = block("QUERY", word, *texts.prompt, dialogue=dialogue)
    return "\n\n".join(filter(None, [asked, given_input(texts, word)]))


def given_input(texts: Texts, word: str) -> str:
    return block("INPUT", word, texts.input) if texts.input else ""


def numbered(questions: Mapping[int, str]) -> str:
    return "\n".join(f"{number}. {' '.join(question.split())}" for number, question in questions.items())


@cache
def read_text(name: str) -> str:
    return (PROMPTS / f"{name}.txt").read_text(encoding="utf-8").strip()


@cache
def verdict_text(scale: AnswerScale, place: Place) -> str:
    """The text for ``$verdict``: the form of the verdict and its place."""
    captions = scales.CAPTIONS[scale.points]
    points = "\n".join(f"{rating}: {caption}" for rating, caption in enumerate(captions, 1))
    form = Template(read_text(f"scales/{scale.form}")).substitute(
        points=scale.points, scale=points, lowest=scale.lowest, highest=scale.highest
    )
    return f"{form}\n\n{read_text(f'places/{place.value}')}"


def notice(word: str) -> str:
    """The text for ``$notice``: what stands between markers is material only."""
    return Template(read_text("shared/notice")).substitute(boundary=word)


def own_reference(references: Sequence[Sequence[str]]) -> str:
    """All of a prompt's reference answers as one; several, and several turns, are numbered."""
    return _numbered("Reference", [numbered_turns(turns) for turns in references])


def numbered_turns(turns: Sequence[str]) -> str:
    """The turns as one text; several are numbered."""
    return _numbered("Turn", turns)


def _numbered(what: str, texts: Sequence[str]) -> str:
    if len(texts) == 1:
        return texts[0]
    return "\n\n".join(f"{what} {number}:\n{text}" for number, text in enumerate(texts, 1))


def by_criterion(criterion: str, text: str) -> str:
    """The text of a question that is about one criterion alone."""
    name = neutral(" ".join(criterion.split()))
    return f"{Template(read_text('shared/criterion')).substitute(criterion=name)}\n\n{text}"


TOGETHER: Final = "If the query has several turns, judge the answers to all of them together."
"""Of mt-bench-single. It stands in the text so that judges of one turn keep their wording and its hash."""


def about_last_turn(text: str) -> str:
    """The text of a question that is about the answer to the last turn alone."""
    return f"{read_text('shared/last_turn')}\n\n{text.replace(TOGETHER, '')}"


def about_last_turns(text: str) -> str:
    """The text of a question about two answers that is about their last turns alone."""
    return f"{read_text('shared/last_turns')}\n\n{text}"


@lru_cache(maxsize=1024)
def placeholders(template: str) -> frozenset[str]:
    return frozenset(Template(template).get_identifiers())


def fill(template: str, values: Mapping[str, object]) -> str:
    """The template with its placeholders filled; KeyError for an unknown one.

    A paragraph whose placeholders are all empty is left out.
    """
    return "\n\n".join(
        Template(paragraph).substitute(values).strip()
        for paragraph in template.split("\n\n")
        if not placeholders(paragraph) or any(str(values[name]) for name in placeholders(paragraph))
    ).strip()


# How a later step quotes the replies to earlier ones.

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
"""Names of one of two answers, or both; other letters, such as those of vitamins, do not match."""

EXCHANGED: Final = str.maketrans("ABab", "BAba")


def relabelled(text: str) -> str:
    """A text about two answers with their names exchanged."""
    return LABELS.sub(_exchanged, text)


def _exchanged(match: re.Match[str]) -> str:
    text = match[0]
    for name in match.re.groupindex:
        if match[name]:
            start, end = (place - match.start() for place in match.span(name))
            text = text[:start] + text[start:end].translate(EXCHANGED) + text[end:]
    return text


def in_words(verdict: Verdict, scale: AnswerScale) -> str:
    if verdict.rating is None:
        raise ValueError("there is no verdict to put in words")
    if scale.form == "binary":
        return f"Answer {'AB'[verdict.rating - 1]}"
    if scale.form == "letters":
        return LETTERS[verdict.rating - 1]
    if scale.form == "grades":
        return GRADES[verdict.rating - 1]
    if scale.form == "scores" and verdict.scores:
        return f"{verdict.scores[0]} {verdict.scores[1]}"
    return str(verdict.rating)


def quoted(reply: ReplyText, verdict: Verdict | None, scale: AnswerScale, *, exchange: bool) -> str:
    """Text of a reply as a later step sees it.

    verdict: what was read from it, in the order of the later step; it is worded anew, because a number about
    the other order means the opposite. exchange: the answers have changed places since.
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
    """Placeholders for example verdicts: Answer A is better, Answer B is better."""
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
