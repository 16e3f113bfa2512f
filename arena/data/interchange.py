"""Votes as Chatbot Arena and evalica have them, and preference pairs. Pure."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple

from arena.data.writing import Table, Type
from arena.rating import scales

WINNERS: Final[Mapping[float, str]] = {1.0: "model_a", 0.5: "tie", 0.0: "model_b"}
"""By the first completion's score."""

SIDES: Final[Mapping[float, str]] = {1.0: "left", 0.5: "tie", 0.0: "right"}  # by the first completion's score
LANGUAGE_NOT_KNOWN: Final = "unknown"
NO_MARGIN: Final = 1e-9  # a mean of zero may be off by so little

_MESSAGES: Final = dict.fromkeys(("prompt", "chosen", "rejected"), Type.MESSAGES)
_TEXTS: Final = dict.fromkeys(("prompt", "chosen", "rejected"), Type.TEXT)
_JUDGED: Final = {
    "margin": Type.NUMBER,
    "n_raters": Type.INTEGER,
    "agreement": Type.NUMBER,
    "prompt_id": Type.TEXT,
    "category": Type.TEXT,
    "simulated": Type.FLAG,
}

ARENA: Final = Table(
    "arena",
    {
        **dict.fromkeys(("question_id", "model_a", "model_b", "winner", "judge"), Type.TEXT),
        "turn": Type.INTEGER,
        "anony": Type.FLAG,
        "language": Type.TEXT,
        "tstamp": Type.NUMBER,
        "tstamp_known": Type.FLAG,
        "score_1_8": Type.INTEGER,
        "rating": Type.INTEGER,
        "points": Type.INTEGER,
        **dict.fromkeys(("shown_first", "category", "protocol", "protocol_version", "rater_kind"), Type.TEXT),
        "simulated": Type.FLAG,
    },
    complete=True,
)
"""One row per scored comparison."""

EVALICA: Final = Table(
    "evalica",
    dict.fromkeys(("left", "right", "winner", "prompt", "prompt_id"), Type.TEXT),
    complete=True,
    marked=False,
)
"""One row per game; ``prompt`` numbers what the bootstrap drew together."""

PREFERENCES: Final = Table("preferences", {**_TEXTS, **_JUDGED}, complete=True)
"""One row per pair, texts as strings."""

CONVERSATIONS: Final = Table("preferences", {**_MESSAGES, **_JUDGED}, complete=True)
"""One row per pair, texts as lists of messages."""


def winner(rating: int, points: int, words: Mapping[float, str], *, ties: bool) -> str | None:
    """The rating in another format's words; None if it takes no side with ties off."""
    found = scales.score(rating, points, ties=ties)
    return None if found is None else words[found]


def question(external_id: str, subset: str) -> str:
    """A prompt's id, unique across subsets."""
    return f"{subset}/{external_id}" if subset else external_id


def messages(role: str, text: str) -> list[dict[str, Any]]:
    return [{"role": role, "content": text}]


class PairRating(NamedTuple):
    """A rating of a pair; ``swapped`` if the pair's second completion was shown first."""

    rater: Hashable
    rating: int
    points: int
    swapped: bool


class LeftOut(Enum):
    """Why a pair is no preference."""

    TIE = "as many raters on one side as on the other, or all tied"
    NO_MAJORITY = "no side with more than half of the raters"
    MIXED = "a majority on one side, but the mean of the ratings not on that side"
    SAME_TEXT = "both completions have the same text"
    TEXT_NOT_KNOWN = "the prompt or a completion has no known text"
    SEVERAL_TURNS = "several turns, which only lists of messages can hold"


@dataclass(frozen=True)
class Preference:
    """The preferred side of a pair.

    ``margin`` is the mean preference for it, in (0, 1], ``agreement`` the share of ``raters`` who prefer it.
    """

    first_chosen: bool
    margin: float
    raters: int
    agreement: float


def preference(ratings: Iterable[PairRating], *, ties: bool) -> Preference | LeftOut | None:
    """The raters' preference; None without ratings that count.

    A rating that takes no side is a tie, or with ties off does not count.
    """
    raters: dict[Hashable, list[tuple[float, float]]] = {}
    for said in ratings:
        score = scales.score(said.rating, said.points, ties=ties)
        if score is not None:
            towards_first = -scales.preference(said.rating, said.points)
            turned = (1.0 - score, -towards_first) if said.swapped else (score, towards_first)
            raters.setdefault(said.rater, []).append(turned)
    if not raters:
        return None
    sides = [sum(score for score, _ in own) / len(own) for own in raters.values()]
    # By fsum, so that the order in which raters came cannot change the last digit.
    means = [math.fsum(strength for _, strength in own) / len(own) for own in raters.values()]
    return _decided(sides, math.fsum(means) / len(means))


def _decided(sides: Sequence[float], mean: float) -> Preference | LeftOut:
    first, second = sum(side > 0.5 for side in sides), sum(side < 0.5 for side in sides)
    if first == second:
        return LeftOut.TIE
    agreement = max(first, second) / len(sides)
    if agreement <= 0.5:
        return LeftOut.NO_MAJORITY
    margin = mean if first > second else -mean
    return Preference(first > second, margin, len(sides), agreement) if margin > NO_MARGIN else LeftOut.MIXED


@dataclass(frozen=True)
class Texts:
    """Turns of a prompt (with its input) and its completions; no turns if unknown."""

    prompt: Sequence[str]
    input: str
    first: Sequence[str]
    second: Sequence[str]


def texts_row(texts: Texts, first_chosen: bool, *, conversational: bool) -> dict[str, Any] | LeftOut:
    """``prompt``, ``chosen`` and ``rejected`` as strings, or as messages if ``conversational``."""
    if not (texts.prompt and texts.first and texts.second):
        return LeftOut.TEXT_NOT_KNOWN
    if list(texts.first) == list(texts.second):
        return LeftOut.SAME_TEXT
    if not conversational and max(map(len, (texts.prompt, texts.first, texts.second))) > 1:
        return LeftOut.SEVERAL_TURNS
    opening = f"{texts.prompt[0]}\n\n{texts.input}" if texts.input else texts.prompt[0]
    first, second = (
        _answer(texts.prompt[1:], turns) if conversational else turns[0]
        for turns in (texts.first, texts.second)
    )
    chosen, rejected = (first, second) if first_chosen else (second, first)
    prompt = messages("user", opening) if conversational else opening
    return {"prompt": prompt, "chosen": chosen, "rejected": rejected}


def _answer(asked: Sequence[str], answered: Sequence[str]) -> list[dict[str, Any]]:
    found = messages("assistant", answered[0])
    for question, answer in zip(asked, answered[1:], strict=False):
        found += [*messages("user", question), *messages("assistant", answer)]
    return found
