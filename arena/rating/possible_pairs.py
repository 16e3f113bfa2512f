"""A study's possible pairs as arrays, for arena.rating.pairing. Pure."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]

PairKey = tuple[int, int]  # two completion ids, the smaller first

TOLERANCE = 1e-9


class Text(NamedTuple):
    """A completion that can be compared. contestant: None if nobody is ranked by it."""

    pk: int
    prompt: int
    category: str
    contestant: int | None


@dataclass(frozen=True)
class Possible:
    """The pairs that can be offered as parallel arrays, ordered by their completion ids ``first`` <
    ``second``.

    The other arrays hold indices; prompt points into ``prompts``, a and b into ``contestants``, or behind it
    for a text of nobody.
    """

    first: IntArray
    second: IntArray
    prompt: IntArray
    category: IntArray
    a: IntArray
    b: IntArray
    contestants: tuple[int, ...]
    prompts: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def _completions(self) -> IntArray:
        return np.unique(np.concatenate([self.first, self.second]))

    @cached_property
    def _codes(self) -> IntArray:
        return self._code(self.first, self.second)

    def _code(self, first: IntArray, second: IntArray) -> IntArray:
        ids = self._completions
        return np.searchsorted(ids, first) * len(ids) + np.searchsorted(ids, second)

    def places(self, pairs: Sequence[PairKey]) -> IntArray:
        """The indices of these pairs; -1 for those that are not possible."""
        found = np.full(len(pairs), -1, dtype=np.int64)
        if len(self) == 0 or not pairs:
            return found
        keys, ids = np.asarray(pairs, dtype=np.int64), self._completions
        near = ids[np.minimum(np.searchsorted(ids, keys), len(ids) - 1)]
        known = np.flatnonzero((near == keys).all(axis=1))
        code = self._code(keys[known, 0], keys[known, 1])
        at = np.minimum(np.searchsorted(self._codes, code), len(self) - 1)
        there = self._codes[at] == code
        found[known[there]] = at[there]
        return found

    def about(self, prompts: Set[int]) -> BoolArray:
        """Which pairs are of one of these prompts."""
        own = [number for number, prompt in enumerate(self.prompts) if prompt in prompts]
        found: BoolArray = np.isin(self.prompt, own)
        return found

    def prompts_among(self, chosen: BoolArray) -> list[int]:
        """The prompts of these pairs."""
        return [self.prompts[number] for number in np.unique(self.prompt[chosen]).tolist()]

    @cached_property
    def _in_category(self) -> IntArray:
        return np.bincount(self.category)

    @cached_property
    def _in_prompt(self) -> IntArray:
        return np.bincount(self.prompt)

    @cached_property
    def _of_contestant(self) -> IntArray:
        size = len(self.contestants) + 1
        return np.bincount(self.a, minlength=size) + np.bincount(self.b, minlength=size)

    def category_fill(self, load: IntArray) -> FloatArray:
        return np.bincount(self.category, weights=load) / np.maximum(self._in_category, 1)

    def prompt_fill(self, load: IntArray) -> FloatArray:
        return np.bincount(self.prompt, weights=load) / np.maximum(self._in_prompt, 1)

    def contestant_fill(self, load: IntArray) -> FloatArray:
        size = len(self.contestants) + 1
        given = np.bincount(self.a, weights=load, minlength=size)
        given += np.bincount(self.b, weights=load, minlength=size)
        fill = given / np.maximum(self._of_contestant, 1)
        fill[-1] = 0.0
        return fill


def possible_pairs(texts: Iterable[Text], without: Set[PairKey] = frozenset()) -> Possible:
    """All pairs of texts of the same prompt, except those in ``without``."""
    by_prompt: dict[int, list[Text]] = {}
    for text in sorted(texts, key=lambda text: text.pk):
        by_prompt.setdefault(text.prompt, []).append(text)
    known = sorted({t.contestant for some in by_prompt.values() for t in some if t.contestant is not None})
    place: dict[int | None, int] = {contestant: number for number, contestant in enumerate([*known, None])}
    categories: dict[str, int] = {}
    rows = []
    for number, some in enumerate(by_prompt.values()):
        category = categories.setdefault(some[0].category, len(categories))
        rows += [
            (one.pk, other.pk, number, category, place[one.contestant], place[other.contestant])
            for one, other in combinations(some, 2)
            if (one.pk, other.pk) not in without
        ]
    first, second, prompt, category_of, a, b = np.array(sorted(rows), dtype=np.int64).reshape(len(rows), 6).T
    return Possible(first, second, prompt, category_of, a, b, tuple(known), tuple(by_prompt))


def choose_window(
    pairs: Mapping[int, int], ratings: Mapping[int, int], most: int, rng: random.Random
) -> set[int]:
    """Whole prompts with about ``most`` pairs in all, the least rated per pair first.

    Arguments are by prompt.
    """
    prompts = [prompt for prompt, number in pairs.items() if number]
    rng.shuffle(prompts)
    chosen: set[int] = set()
    room = most
    for prompt in sorted(prompts, key=lambda prompt: ratings.get(prompt, 0) / pairs[prompt]):
        if room <= 0:
            break
        chosen.add(prompt)
        room -= pairs[prompt]
    return chosen


@dataclass(frozen=True)
class Candidates:
    """The possible pairs as they stand when a rater asks; ``load``: ratings and live claims."""

    possible: Possible
    load: IntArray
    free: BoolArray
    worth: Callable[[], FloatArray]
    disagreement: Callable[[], FloatArray] = lambda: np.empty(0)

    @cached_property
    def places(self) -> IntArray:
        return np.flatnonzero(self.free)

    def draw(self, rng: random.Random) -> int | None:
        """A free pair, each equally likely."""
        return int(self.places[rng.randrange(len(self.places))]) if len(self.places) else None

    def least_rated(self, places: IntArray, rng: random.Random) -> int | None:
        """One of the least rated pairs, of the least rated category, then contestants, then prompt.

        Counted per possible pair, so that contestants and categories with few texts get no more than others.
        """
        if len(places) == 0:
            return None
        possible, load = self.possible, self.load
        contestants = possible.contestant_fill(load)
        places = places[load[places] == load[places].min()]
        places = _smallest(places, possible.category_fill(load)[possible.category[places]])
        places = _smallest(places, contestants[possible.a[places]] + contestants[possible.b[places]])
        places = _smallest(places, possible.prompt_fill(load)[possible.prompt[places]])
        return int(places[rng.randrange(len(places))])

    def of_contestants_drawn(self, weights: FloatArray, rng: random.Random) -> IntArray:
        """The free pairs of two contestants drawn by ``weights``; all free pairs if every weight is 0."""
        a, b, size = self.possible.a, self.possible.b, len(weights)
        places = self.places[(a[self.places] < size) & (b[self.places] < size)]
        codes = a[places] * size + b[places]
        given = np.where(np.bincount(codes, minlength=weights.size) > 0, weights.ravel(), 0.0)
        sums = np.cumsum(given)
        if not (weights.size and sums[-1] > 0):
            return self.places
        drawn = np.searchsorted(sums, rng.random() * sums[-1], side="right")
        of_two: IntArray = places[codes == min(drawn, np.flatnonzero(given)[-1])]
        return of_two

    def most_disputed(self) -> IntArray:
        """Of the least rated free pairs those with most disagreement; all free pairs where there is none."""
        found, places = self.disagreement(), self.places
        if len(found) == 0 or len(places) == 0:
            return places
        disputed = places[(self.load[places] == self.load[places].min()) & (found[places] > 0)]
        return _smallest(disputed, -found[disputed]) if len(disputed) else places


def _smallest(places: IntArray, values: FloatArray) -> IntArray:
    kept: IntArray = places[values <= values.min() + TOLERANCE]
    return kept


# What another comparison of two contestants would say about the standings. A Bradley-Terry model with a
# Gaussian prior is fitted to the comparisons so far; its covariance tells by how much one more would narrow
# the strengths (an A-optimal design; Glickman and Jensen 2005, "Adaptive paired comparison design").

PRIOR_DEVIATION = 1.5
"""Standard deviation of strengths before any comparison, in logits: about 260 Elo points."""

REFIT = 0.01  # growth of the comparisons after which the model is fitted again

STEPS = 50


@dataclass(frozen=True)
class Fit:
    """Strengths in logits with their posterior covariance."""

    strengths: FloatArray
    covariance: FloatArray


def fit(wins: FloatArray, deviation: float = PRIOR_DEVIATION) -> Fit:
    """The most likely strengths; wins[i, j]: how often i was preferred to j, with ties as halves."""
    size = len(wins)
    games = wins + wins.T
    strengths = np.zeros(size)
    precision = np.eye(size) / deviation**2
    information = precision
    for _ in range(STEPS):
        chance = _chances(strengths)
        slope = (wins - games * chance).sum(axis=1) - strengths / deviation**2
        information = precision + laplacian(games * chance * (1 - chance))
        step = np.linalg.solve(information, slope)
        # A step of two logits is more than any first step needs, and keeps later ones from overshooting.
        strengths = strengths + np.clip(step, -2.0, 2.0)
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    return Fit(strengths, np.linalg.inv(information).astype(np.float64))


def _chances(strengths: FloatArray) -> FloatArray:
    chances: FloatArray = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    return chances


def laplacian(weights: FloatArray) -> FloatArray:
    """The information about strengths in comparisons with these weights."""
    information: FloatArray = np.diag(weights.sum(axis=1)) - weights
    return information


def gains(found: Fit) -> FloatArray:
    """By how much one more comparison of i and j lessens the sum of the variances of the strengths.

    Strengths are relative to their mean. With x = e_i - e_j, w = p(1 - p) and covariance S, a comparison adds
    w x x' to the information, so S shrinks by w S x x' S / (1 + w x'S x) (Sherman and Morrison 1950); the
    gain is the trace of that, centred.
    """
    chance = _chances(found.strengths)
    weight = chance * (1 - chance)
    centred = found.covariance - found.covariance.mean(axis=0, keepdims=True)
    gain = weight * _between(centred.T @ centred) / (1 + weight * _between(found.covariance))
    np.fill_diagonal(gain, 0.0)
    return np.maximum(gain, 0.0)


def _between(products: FloatArray) -> FloatArray:
    """x'Px for every x = e_i - e_j."""
    own = np.diag(products)
    return own[:, None] + own[None, :] - 2 * products


def components(games: FloatArray) -> NDArray[np.int64]:
    """A number for each contestant, equal if comparisons connect them."""
    size = len(games)
    number = np.full(size, -1, dtype=np.int64)
    for start in range(size):
        if number[start] >= 0:
            continue
        reached, number[start] = [start], start
        while reached:
            near = np.flatnonzero((games[reached.pop()] > 0) & (number < 0))
            number[near] = start
            reached.extend(int(each) for each in near)
    return number


def worth(wins: FloatArray) -> FloatArray:
    """The weights by which pairs of contestants are drawn.

    Unconnected contestants cannot be ranked together: while there are any, only comparisons between them
    count.
    """
    gain = gains(fit(wins))
    number = components(wins + wins.T)
    apart = number[:, None] != number[None, :]
    return np.where(apart, gain, 0.0) if apart.any() else gain


def disagreement(possible: Possible, feature: Mapping[int, float], preference: FloatArray) -> FloatArray:
    """How far a feature says the other text of a pair than judges do; below 0 where both say the same.

    ``feature`` by completion, more for the better; ``preference`` of judges for the first of each pair, from
    -1 to 1. That is the distance of the two by the feature, times how unsure judges are; NaN where either is
    not known. Features of different contestants have no common scale, so it is in standard deviations of the
    contestant's own texts.
    """
    first, second = _standardised(possible, feature)
    return -np.sign(preference) * (first - second) * (1.0 - np.abs(preference))


def _standardised(possible: Possible, feature: Mapping[int, float]) -> tuple[FloatArray, FloatArray]:
    """The feature of both texts, less the mean of their contestant's texts, over its deviation."""
    texts = np.concatenate([possible.first, possible.second])
    by = np.concatenate([possible.a, possible.b])
    ids, at, place = np.unique(texts, return_index=True, return_inverse=True)
    value = np.array([feature.get(pk, np.nan) for pk in ids.tolist()])
    for contestant in np.unique(by[at]):
        own = (by[at] == contestant) & ~np.isnan(value)
        if own.any():
            spread = value[own].std()
            value[own] = (value[own] - value[own].mean()) / (spread if spread > 0 else 1.0)
    first, second = value[place].reshape(2, len(possible))
    return first, second
