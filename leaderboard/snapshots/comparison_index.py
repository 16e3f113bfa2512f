"""A study's answers as small arrays: any filter over a million of them takes milliseconds. Pure."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from arena.rules.verdicts import NEITHER, TEXT_REASONS
from leaderboard.snapshots import pair_turns
from leaderboard.snapshots.rows import Rows
from leaderboard.stats.sums import group_means
from leaderboard.stats.verdicts import preference, verdicts_of_means

Array = npt.NDArray[Any]

TIE: Final = 1
"""The rating is a tie while ties are on."""
FLIPPED: Final = 2
"""The same rater's verdict on the pair depends on the order."""
UNLIKE_PEOPLE: Final = 4
"""A judge whose verdict on the pair is not that of the people, or a person on such a pair."""
PEOPLE_DIFFER: Final = 8
"""A person on a pair on which the people have more than one verdict."""

REASONS: Final = ("", *TEXT_REASONS, "identical", NEITHER)
"""Why an answer has no rating, by its number in the index; empty for a rating."""

NOBODY: Final = 0


@dataclass(frozen=True, eq=False)
class Index:
    """The current answers of a study, sorted by pair, and their pairs, sorted by id.

    Of an answer: the ``place`` of its pair, ``rater`` (id), ``points``, ``rating`` (0 for none), ``reason``
    (number in REASONS), ``flags``. Of a pair: its id, ``prompt``, ``first`` and ``second`` contestant (ids,
    or NOBODY), ``newest`` answer (id), and ``spread``, how far apart the means of its raters lie, from 0 to
    2; NaN with fewer than two.
    """

    place: Array
    rater: Array
    points: Array
    rating: Array
    reason: Array
    flags: Array
    pair: Array
    prompt: Array
    first: Array
    second: Array
    newest: Array
    spread: Array

    def answers(self, place: int) -> slice:
        """Where the answers of a pair are."""
        return slice(*np.searchsorted(self.place, [place, place + 1]).tolist())

    def packed(self) -> bytes:
        """The arrays as an .npz file, an eighth of their size.

        NumPy itself compresses six times as long for a quarter less.
        """
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, array in vars(self).items():
                with archive.open(f"{name}.npy", "w") as file:
                    np.lib.format.write_array(file, array, allow_pickle=False)
        return out.getvalue()

    @classmethod
    def unpacked(cls, data: bytes) -> Index:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return cls(**{field.name: arrays[field.name] for field in fields(cls)})


def build(rows: Rows, people: Collection[int], contestants: Mapping[int, int]) -> Index:
    """The index of ``Opinions.rows``; ``people`` are ids, ``contestants`` those of completions by id.

    Preferences are towards the pair's second completion. A rater who answered a pair more than once counts
    once, with the mean.
    """
    pairs = pair_turns.pair_ids(rows["pair"])
    order = np.lexsort((rows["id"], rows["rater"], pairs))
    begins = np.diff(pairs[order], prepend=-1) != 0
    start, place = np.flatnonzero(begins), np.cumsum(begins, dtype=np.int32) - 1
    rater = rows["rater"][order]
    columns = {"rater": rater} | {name: rows[name][order] for name in ("points", "rating", "swapped")}
    # First, while little else is held: it takes the most memory.
    flags, spread = _flags(columns, place, len(start), np.isin(rater, list(people)))
    heads = rows[order[start]]
    pair = pair_turns.pair_ids(heads["pair"])
    first = np.where(heads["swapped"], heads["second_text"], heads["first_text"])
    second = np.where(heads["swapped"], heads["first_text"], heads["second_text"])
    reasons = np.array([reason.encode() for reason in REASONS])
    by_name = np.argsort(reasons)
    return Index(
        place=place,
        rater=rater,
        points=columns["points"].astype(np.int8),
        rating=columns["rating"].astype(np.int8),
        reason=by_name.astype(np.int8)[np.searchsorted(reasons[by_name], rows["reason"])][order],
        flags=flags,
        pair=pair,
        prompt=heads["prompt"],
        first=_contestants(first, contestants),
        second=_contestants(second, contestants),
        newest=np.maximum.reduceat(rows["id"][order], start) if len(rows) else pair,
        spread=spread,
    )


def _contestants(completions: Array, contestants: Mapping[int, int]) -> Array:
    ids, place = np.unique(completions, return_inverse=True)
    return np.array([contestants.get(pk, NOBODY) for pk in ids.tolist()], dtype=np.int64)[place]


def _flags(rows: Mapping[str, Array], place: Array, pairs: int, person: Array) -> tuple[Array, Array]:
    """The flags of every answer, and the spread of every pair."""
    scored = rows["rating"] > 0
    leaning = preferences(rows)
    changes = (np.diff(place, prepend=-1) != 0) | (np.diff(rows["rater"], prepend=-1) != 0)
    group = np.cumsum(changes, dtype=np.int32) - 1  # one for each rater of each pair
    of_pair, by_person = place[changes], person[changes]
    mean = group_means(group[scored], leaning[scored], len(of_pair))
    verdict = verdicts_of_means(mean)

    in_order = (2 * group + rows["swapped"])[scored]
    both = verdicts_of_means(group_means(in_order, leaning[scored], 2 * len(of_pair)))
    straight, swapped = both[::2], both[1::2]
    flipped = np.isfinite(straight) & np.isfinite(swapped) & (straight != swapped)

    given = by_person & np.isfinite(mean)
    of_people = verdicts_of_means(group_means(of_pair[given], mean[given], pairs))
    unlike = (
        ~by_person & np.isfinite(verdict) & np.isfinite(of_people[of_pair]) & (verdict != of_people[of_pair])
    )
    contested = np.bincount(of_pair[unlike], minlength=pairs) > 0
    kinds = np.zeros(pairs, dtype=int)
    for side in (-1, 0, 1):
        kinds += np.bincount(of_pair[given & (verdict == side)], minlength=pairs) > 0
    found = (
        np.int8(TIE) * (verdicts_of_means(leaning) == 0)
        + np.int8(FLIPPED) * flipped[group]
        + np.int8(UNLIKE_PEOPLE) * np.where(person, contested[place], unlike[group])
        + np.int8(PEOPLE_DIFFER) * (person & (kinds > 1)[place])
    )
    return np.where(scored, found, np.int8(0)), _spread(of_pair, mean, pairs)


def preferences(rows: Rows | Array | Mapping[str, Array]) -> Array:
    """From -1 (the pair's first is much better) to 1, of rows with points, rating and swapped."""
    points = rows["points"].astype(float)
    shown = preference(rows["rating"], points)
    return np.where(rows["swapped"], -shown, shown)


def _spread(of_pair: Array, mean: Array, pairs: int) -> Array:
    """Largest minus smallest mean of each pair; NaN with fewer than two. ``of_pair`` is sorted."""
    given = np.isfinite(mean)
    number, start, counted = np.unique(of_pair[given], return_index=True, return_counts=True)
    found = np.full(pairs, math.nan, dtype=np.float32)
    if len(number):
        # Rounded, because equal means may differ in their last bits, and pairs are ordered by their spread.
        values = mean[given].round(9)
        range_ = np.maximum.reduceat(values, start) - np.minimum.reduceat(values, start)
        found[number] = np.where(counted > 1, range_, math.nan)
    return found


ONLY: Final = {"judges": UNLIKE_PEOPLE, "people": PEOPLE_DIFFER, "flipped": FLIPPED}


@dataclass(frozen=True)
class Question:
    """Which pairs are wanted; None and empty mean any.

    One answer to the pair must match ``raters`` (ids), ``answer`` (scored, unscored, tie, side, or a reason),
    ``rating`` (rating and points) and ``only`` (a name in ONLY).
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
    return np.isin(values, np.fromiter(ids, dtype=np.int64, count=len(ids)))
