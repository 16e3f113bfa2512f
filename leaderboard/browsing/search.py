"""Finding pairs: a question and an index in, the places of pairs in their order out. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from leaderboard.browsing.index import FLIPPED, PEOPLE_DIFFER, REASONS, TIE, UNLIKE_PEOPLE, Index

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

ONLY: Final = {"judges": UNLIKE_PEOPLE, "people": PEOPLE_DIFFER, "flipped": FLIPPED}
"""Kinds of disagreement by their names in addresses."""


@dataclass(frozen=True)
class Question:
    """Which pairs are wanted; None and empty mean any.

    A pair is found where one of its answers fulfils everything that is asked of answers: that it is by one
    of ``raters`` (ids), its ``answer`` (scored, unscored, tie, side, or a reason), its ``rating`` (rating and
    points), and ``only`` (a name in ONLY). ``prompts`` are ids, ``contestants`` at most two of them.
    """

    prompts: Collection[int] | None = None
    contestants: tuple[int, ...] = ()
    raters: Collection[int] | None = None
    answer: str = ""
    rating: tuple[int, int] | None = None
    only: str = ""
    widest: bool = False

    @property
    def asks_of_answers(self) -> bool:
        return self.raters is not None or bool(self.answer or self.rating or self.only)


def places(index: Index, question: Question) -> Array:
    """The places of the pairs wanted: newest answer first, or the widest disagreement first."""
    import numpy as np

    wanted = np.ones(len(index.pair), dtype=bool)
    if question.prompts is not None:
        wanted &= _isin(index.prompt, question.prompts)
    for contestant in question.contestants:
        wanted &= (index.first == contestant) | (index.second == contestant)
    if question.asks_of_answers:
        answered = np.zeros(len(index.pair), dtype=bool)
        answered[index.place[_answers(index, question)]] = True
        wanted &= answered
    found = np.flatnonzero(wanted)
    newest = index.newest[found]
    if question.widest:
        return found[np.lexsort((-newest, -np.nan_to_num(index.spread[found], nan=-1.0)))]
    return found[np.argsort(-newest)]


def _answers(index: Index, question: Question) -> Array:
    """Which answers fulfil what is asked of answers."""
    import numpy as np

    wanted = np.ones(len(index.rating), dtype=bool)
    if question.raters is not None:
        wanted &= _isin(index.rater, question.raters)
    if question.rating:
        rating, points = question.rating
        wanted &= (index.rating == rating) & (index.points == points)
    if question.only:
        wanted &= (index.flags & ONLY[question.only]) > 0
    if question.answer == "scored":
        wanted &= index.rating > 0
    elif question.answer == "unscored":
        wanted &= (index.rating == 0) & (index.reason != REASONS.index("identical"))
    elif question.answer in ("tie", "side"):
        wanted &= (index.rating > 0) & (((index.flags & TIE) > 0) == (question.answer == "tie"))
    elif question.answer:
        wanted &= index.reason == REASONS.index(question.answer)
    return wanted


def _isin(values: Array, ids: Collection[int]) -> Array:
    import numpy as np

    return np.isin(values, np.fromiter(ids, dtype=np.int64, count=len(ids)))
