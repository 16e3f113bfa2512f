"""Telling which model is the slow one from when a visitor sees the characters of both answers."""

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Final

PERMUTATIONS: Final = 1200
ALPHA: Final = 0.001
"""Of each clue: by chance a test of four fails once in 250 other seeds."""

_SENTENCE: Final = re.compile(r"[.!?](?= |$)")


@dataclass(frozen=True)
class Look:
    """The characters of A and B that are seen at a moment, and whether all of each is."""

    lengths: tuple[int, int]
    complete: tuple[bool, bool] = (False, False)


@dataclass(frozen=True)
class Course:
    """A battle as its visitor saw it, look by look, with both texts as they were in the end."""

    texts: tuple[str, str]
    looks: Sequence[Look]
    slow: int  # the side of the slow model

    @property
    def open_looks(self) -> list[Look]:
        """While more of both can come."""
        return [look for look in self.looks if not any(look.complete) and any(look.lengths)]

    @property
    def stops(self) -> list[Look]:
        """Where nothing had come since the look before, while more of both can come."""
        return [now for before, now in pairwise(self.open_looks) if before.lengths == now.lengths]


def ahead(course: Course) -> float:
    """By how many characters A is ahead while both are written."""
    return _mean(look.lengths[0] - look.lengths[1] for look in course.open_looks)


def at_ends(course: Course) -> float:
    """How much more often A stops where a sentence of it ends than B does."""
    return _mean(_is_end(course, look, 0) - _is_end(course, look, 1) for look in course.stops)


def before_ends(course: Course) -> float:
    """How much more of a sentence is to come of A than of B, where both stop."""
    return _mean(_to_come(course, look, 0) - _to_come(course, look, 1) for look in course.stops)


def alone(course: Course) -> float:
    """How often the answer that goes on alone stops; with the sign of its side."""
    looks = [look for look in course.looks if any(look.complete) and not all(look.complete)]
    if len(looks) < 2:
        return 0.0
    side = 0 if looks[0].complete[1] else 1
    stopped = _mean(before.lengths == now.lengths for before, now in pairwise(looks))
    return stopped if side == 0 else -stopped


CLUES: Final[Sequence[Callable[[Course], float]]] = (ahead, at_ends, before_ends, alone)


def chances(courses: Sequence[Course], seed: int = 7) -> dict[str, float]:
    """Return how likely each clue would be as telling as it is, were the slow side drawn anew."""
    rng = random.Random(seed)
    return {clue.__name__: _chance([clue(each) for each in courses], courses, rng) for clue in CLUES}


def _chance(values: Sequence[float], courses: Sequence[Course], rng: random.Random) -> float:
    sides = [course.slow for course in courses]
    found = _difference(values, sides)
    as_far = sum(
        _difference(values, rng.sample(sides, len(sides))) >= found - 1e-9 for _ in range(PERMUTATIONS)
    )
    return (as_far + 1) / (PERMUTATIONS + 1)


def _difference(values: Sequence[float], sides: Sequence[int]) -> float:
    """How far the means are apart of battles whose slow side is A, and of those whose slow side is B."""
    means = [_mean(v for v, side in zip(values, sides, strict=True) if side == wanted) for wanted in (0, 1)]
    return abs(means[0] - means[1])


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return fmean(found) if found else 0.0


def _is_end(course: Course, look: Look, side: int) -> bool:
    return bool(_SENTENCE.search(course.texts[side][: look.lengths[side]].rstrip()[-1:]))


def _to_come(course: Course, look: Look, side: int) -> int:
    rest = course.texts[side][max(look.lengths[side] - 1, 0) :]
    end = _SENTENCE.search(rest)
    return end.end() if end else len(rest)
