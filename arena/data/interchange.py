"""Votes as Chatbot Arena and evalica have them, and preference pairs. Pure."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Final, NamedTuple

from arena.files.writing import Table, Type
from arena.rules import scales

WINNERS: Final[Mapping[float, str]] = {1.0: "model_a", 0.5: "tie", 0.0: "model_b"}
"""By the first completion's score."""

BOTH_BAD: Final = "tie (bothbad)"
"""Chatbot Arena's word for a pair of which neither answer is acceptable."""

SIDES: Final[Mapping[float, str]] = {1.0: "left", 0.5: "tie", 0.0: "right"}  # by the first completion's score
LANGUAGE_NOT_KNOWN: Final = "unknown"
NO_MARGIN: Final = 1e-9  # a mean of zero may be off by so little

_MESSAGES: Final = dict.fromkeys(("prompt", "chosen", "rejected"), Type.MESSAGES)
_TEXTS: Final = dict.fromkeys(("prompt", "chosen", "rejected"), Type.TEXT)
_CONSENSUS: Final = {"consensus": Type.TEXT, "consensus_by": Type.TEXT}
_JUDGED: Final = {
    "margin": Type.NUMBER,
    "n_raters": Type.INTEGER,
    "agreement": Type.NUMBER,
    **_CONSENSUS,
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
        **_CONSENSUS,
        "simulated": Type.FLAG,
        "derived_from": Type.TEXTS,
    },
    complete=True,
)
"""One row per scored comparison; ``derived_from``: of a panel, its judges."""

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


def winner(
    rating: int | None, points: int, words: Mapping[float, str], *, ties: bool, neither: bool = False
) -> str | None:
    """The rating in another format's words; None if it takes no side with ties off.

    With ``neither`` a tie, and no rating, are Chatbot Arena's tie of two bad answers.
    """
    found = None if rating is None else scales.score(rating, points, ties=ties)
    if neither and found in (None, 0.5):
        return BOTH_BAD
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
    SAME_TEXT = "both answers have the same text"
    TEXT_NOT_KNOWN = "the text of the prompt or of an answer is unknown"
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
    raters = _by_rater(ratings, ties=ties)
    if not raters:
        return None
    # By fsum, so that the order in which raters came cannot change the last digit.
    means = [math.fsum(strength for _, strength in own) / len(own) for own in raters.values()]
    return _decided(_sides(raters), math.fsum(means) / len(means))


_Turned = Mapping[Hashable, Sequence[tuple[float, float]]]
"""By rater the scores of the pair's first completion and the preferences for it."""


def _by_rater(ratings: Iterable[PairRating], *, ties: bool) -> _Turned:
    raters: dict[Hashable, list[tuple[float, float]]] = {}
    for said in ratings:
        score = scales.score(said.rating, said.points, ties=ties)
        if score is not None:
            towards_first = -scales.preference(said.rating, said.points)
            turned = (1.0 - score, -towards_first) if said.swapped else (score, towards_first)
            raters.setdefault(said.rater, []).append(turned)
    return raters


def _sides(raters: _Turned) -> list[float]:
    return [sum(score for score, _ in own) / len(own) for own in raters.values()]


def _decided(sides: Sequence[float], mean: float) -> Preference | LeftOut:
    first, second = sum(side > 0.5 for side in sides), sum(side < 0.5 for side in sides)
    if first == second:
        return LeftOut.TIE
    agreement = max(first, second) / len(sides)
    if agreement <= 0.5:
        return LeftOut.NO_MAJORITY
    margin = mean if first > second else -mean
    return Preference(first > second, margin, len(sides), agreement) if margin > NO_MARGIN else LeftOut.MIXED


class By(StrEnum):
    """How a consensus came about."""

    ADJUDICATED = "adjudicated"
    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    NONE = "none"


LABELS: Final = ("first", "tie", "second")


class Consensus(NamedTuple):
    """The verdict held to be right: first, tie, second or nothing; and how many people said what."""

    label: str
    by: By
    first: int
    ties: int
    second: int

    def in_words(self, first: str, tie: str, second: str) -> str:
        return dict(zip(LABELS, (first, tie, second), strict=True)).get(self.label, "")


def consensus(people: Iterable[PairRating], settled: PairRating | None, *, ties: bool) -> Consensus:
    """The adjudicated verdict, or else the one that more than half of the people share.

    A tie is a verdict like the others; whoever rated a pair several times has the verdict of the mean. With
    ties off a rating without a side counts for nothing, an adjudicated one too.
    """
    votes = _verdicts(people, ties=ties)
    first, tied, second = (votes.count(label) for label in LABELS)
    if settled is None:
        label = next((label for label in LABELS if 2 * votes.count(label) > len(votes)), "")
        by = By.UNANIMOUS if votes.count(label) == len(votes) else By.MAJORITY
    else:
        label, by = next(iter(_verdicts([settled], ties=ties)), ""), By.ADJUDICATED
    return Consensus(label, by if label else By.NONE, first, tied, second)


def _verdicts(ratings: Iterable[PairRating], *, ties: bool) -> list[str]:
    sides = _sides(_by_rater(ratings, ties=ties))
    return ["first" if side > 0.5 else "second" if side < 0.5 else "tie" for side in sides]


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
