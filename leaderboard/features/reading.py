"""Features of a study's answers, and what raters said of the same answers: the bridge to feature_worth.

Everything about answers is parallel to ``Answers.ids``, NaN where it is not known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from arena.features.known import FEATURES, Named, Variant
from arena.models import Completion, CompletionFeature, Study
from leaderboard.scores.reading import ScoreRows
from leaderboard.snapshots.reading import Choice, Opinions
from leaderboard.snapshots.text_sizes import characters, measure_missing
from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.clustered_means import sums
from leaderboard.stats.token_features import entropy_variance_sum

SUM: Final = "entropy_variance_sum"
_SUMMED: Final = ("entropy", "logprob_variance")
_KNOWN: Final = tuple(FEATURES)
_VARIANTS: Final = tuple(Variant)


class Series(NamedTuple):
    """A feature of one variant from one source. Bounds are two features, and each is called a bound."""

    name: str
    variant: Variant
    source: str = ""

    @property
    def label(self) -> str:
        return Named.read(self.name).whole_label

    @property
    def higher_is_better(self) -> bool | None:
        return Named.read(self.name).higher_is_better(self.variant)

    @property
    def direction(self) -> int:
        """-1 where better answers are expected to have lower values."""
        return -1 if self.higher_is_better is False else 1


@dataclass(frozen=True, eq=False)
class Answers:
    """The current answers of models that are not retired, in the order of their ids.

    ``contestant`` is an index into ``names``; ``length`` is in characters.
    """

    ids: IntArray
    contestant: IntArray
    prompt: IntArray
    length: FloatArray
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def places(self, ids: npt.NDArray[Any]) -> IntArray:
        """Where the answers of these ids are, -1 for an unknown one."""
        if not len(self):
            return np.full(len(ids), -1, dtype=np.int64)
        found = np.searchsorted(self.ids, ids).clip(max=len(self) - 1)
        return np.where(self.ids[found] == ids, found, -1)


@dataclass(frozen=True, eq=False)
class Measured:
    """``values`` by series; ``computed`` are those that nobody imported."""

    answers: Answers
    values: Mapping[Series, FloatArray]
    computed: frozenset[Series] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.values)

    @property
    def given(self) -> int:
        return sum(int((~np.isnan(each)).sum()) for each in self.values.values())


@dataclass(frozen=True, eq=False)
class Quality:
    """What some raters said of answers.

    ``key`` is people, judge:SLUG or group:NAME for pairs compared, scores:SLUG for text scores; ``raters``
    is the selector. ``value`` of an answer is a mean over ``opinions``: the preference for it, from -1 to 1,
    or its score. Pairs are places of answers, and ``preference`` how much better the first is.
    """

    key: str
    label: str
    raters: str
    simulated: bool
    value: FloatArray
    opinions: IntArray
    first: IntArray
    second: IntArray
    preference: FloatArray


_SCORES: Final = "scores:"


def measured(study: Study) -> Measured:
    """The features of whole answers; the sum of entropy and variance where both are there and it is not."""
    read = _answers(study)
    found: defaultdict[Series, FloatArray] = defaultdict(lambda: np.full(len(read), np.nan))
    rows = CompletionFeature.objects.of(study).filter(turn=0).order_by()
    given = list(rows.values_list("completion", "name", "variant", "source", "value"))
    places = read.places(np.array([each[0] for each in given], dtype=np.int64))
    for place, (_, name, variant, source, value) in zip(places.tolist(), given, strict=True):
        if place >= 0:
            found[Series(name, Variant(variant), source)][place] = value
    summed = dict(_sums(read, found))
    ordered = sorted({**found, **summed}, key=_place)
    return Measured(
        read, {one: found[one] if one in found else summed[one] for one in ordered}, frozenset(summed)
    )


def _place(one: Series) -> tuple[int, str, int, str]:
    """In the order of the known features, others last."""
    base = Named.read(one.name).base
    number = _KNOWN.index(base) if base in _KNOWN else len(_KNOWN)
    return number, one.name, _VARIANTS.index(one.variant), one.source


def _answers(study: Study) -> Answers:
    rows = Completion.objects.rated().filter(
        prompt__study=study, is_current=True, contestant__retired_at__isnull=True, contestant__isnull=False
    )
    read = list(rows.order_by("pk").values_list("pk", "prompt", "contestant__name"))
    measure_missing(study)
    names = sorted({name for *_, name in read})
    number, length = {name: place for place, name in enumerate(names)}, characters(study)
    return Answers(
        np.array([pk for pk, *_ in read], dtype=np.int64),
        np.array([number[name] for *_, name in read], dtype=np.int64),
        np.array([prompt for _, prompt, _ in read], dtype=np.int64),
        np.array([length.get(pk, np.nan) for pk, *_ in read], dtype=np.float64),
        tuple(names),
    )


def _sums(read: Answers, found: Mapping[Series, FloatArray]) -> Iterator[tuple[Series, FloatArray]]:
    """Scaled over the answers of each model by itself."""
    for one in list(found):
        named = Named.read(one.name)
        both = [one._replace(name=".".join((base, *named.ways))) for base in _SUMMED]
        made = one._replace(name=".".join((SUM, *named.ways)))
        if one != both[0] or both[1] not in found or made in found:
            continue
        values = np.full(len(read), np.nan)
        for contestant in range(len(read.names)):
            own = read.contestant == contestant
            values[own] = entropy_variance_sum(*(found[each][own] for each in both))
        yield made, values


@dataclass(frozen=True, eq=False)
class Said:
    """All that raters said of answers: the pairs they compared, and the scores they gave."""

    answers: Answers
    opinions: Opinions
    scores: ScoreRows | None = None

    def qualities(self) -> Iterator[Quality]:
        """Of each kind of raters who said something of an answer; comparisons first."""
        for choice in self.opinions.raters:
            yield from self._compared(choice)
        if self.scores is not None and self.scores.rows:
            yield from self._scored(self.scores)

    def ranking(self, quality: Quality) -> tuple[str, Opinions]:
        """Whose pairs rank the models, and these: of the same raters, or else of the first who compared."""
        known = [each for each in self.opinions.raters if len(self.opinions.by(each.ids))]
        same = [each for each in known if each.selector == quality.raters]
        chosen = next(iter([*same, *known]), None)
        return (chosen.label, self.opinions.by(chosen.ids)) if chosen else ("", self.opinions.by(()))

    def _compared(self, choice: Choice) -> Iterator[Quality]:
        own = self.opinions.by(choice.ids)
        rows = own.rows[own.scored]
        points = rows["points"].astype(np.float64)
        preference = (points + 1.0 - 2.0 * rows["rating"]) / (points - 1.0)
        first, second = (self.answers.places(rows[f"{side}_text"]) for side in ("first", "second"))
        place, liked = np.concatenate([first, second]), np.concatenate([preference, -preference])
        pairs = self._pairs(first, second, preference)
        yield from self._quality(choice, choice.selector, choice.label, place, liked, pairs)

    def _pairs(
        self, first: IntArray, second: IntArray, preference: FloatArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Each pair of two answers once, with the mean preference for the one that comes first."""
        known = (first >= 0) & (second >= 0) & (first != second)
        one, other = np.minimum(first, second)[known], np.maximum(first, second)[known]
        signed = np.where(first < second, preference, -preference)[known]
        pair, number = np.unique(one * max(len(self.answers), 1) + other, return_inverse=True)
        mean = sums(number, signed) / np.maximum(np.bincount(number), 1)
        return pair // max(len(self.answers), 1), pair % max(len(self.answers), 1), mean

    def _scored(self, scores: ScoreRows) -> Iterator[Quality]:
        """The mean of all scores of an answer, on the scale of most of them."""
        read = scores.arrays()
        value = read.scores(read.scale).value
        places = self.answers.places(np.array([row.text for row in scores.rows], dtype=np.int64))
        for choice in scores.raters:
            own = np.isin(read.rows["rater"], list(choice.ids)) & ~np.isnan(value)
            mean, _ = _means(places[own], value[own], len(self.answers))
            key, label = _SCORES + choice.selector.removeprefix("judge:"), f"{choice.label}, text scores"
            yield from self._quality(choice, key, label, places[own], value[own], self._differences(mean))

    def _differences(self, mean: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """All pairs of scored answers to one prompt."""
        of_prompt: defaultdict[int, list[int]] = defaultdict(list)
        for place in np.flatnonzero(~np.isnan(mean)).tolist():
            of_prompt[int(self.answers.prompt[place])].append(place)
        pairs = [pair for places in of_prompt.values() for pair in combinations(places, 2)]
        first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return first, second, mean[first] - mean[second]

    def _quality(
        self,
        choice: Choice,
        key: str,
        label: str,
        place: IntArray,
        said: FloatArray,
        pairs: tuple[IntArray, IntArray, FloatArray],
    ) -> Iterator[Quality]:
        value, opinions = _means(place, said, len(self.answers))
        if opinions.any():
            yield Quality(key, label, choice.selector, choice.simulated, value, opinions, *pairs)


def _means(place: IntArray, said: FloatArray, length: int) -> tuple[FloatArray, IntArray]:
    """The mean of what was said at each place, and how much."""
    known = place >= 0
    count = np.bincount(place[known], minlength=length)
    total = np.bincount(place[known], weights=said[known], minlength=length)
    with np.errstate(invalid="ignore"):
        return total / count, count
