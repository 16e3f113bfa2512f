"""Features of a study's answers, and what raters said of the same answers: the bridge to feature_worth.

Everything about answers is parallel to ``Answers.ids``, NaN where it is not known. Features of turns are held
against scores of the same turns; there, an answer stands for one of its turns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from arena.models import Completion, CompletionFeature, Study
from arena.rules.feature_names import FEATURES, Named, Variant
from leaderboard.answers.scores.reading import ScoreRows
from leaderboard.snapshots.reading import Choice, Opinions
from leaderboard.snapshots.text_sizes import characters, measure_missing
from leaderboard.stats import verdicts
from leaderboard.stats.checks import FloatArray, IntArray
from leaderboard.stats.sums import group_means
from leaderboard.stats.token_features import entropy_variance_sum

SUM: Final = "entropy_variance_sum"
_SUMMED: Final = ("entropy", "logprob_variance")
_KNOWN: Final = tuple(FEATURES)
_VARIANTS: Final = tuple(Variant)

WHOLE: Final = "0"
TURNS: Final = "all"
"""What features are about, where it is not the number of a turn: whole answers, or all of their turns."""


class Series(NamedTuple):
    """A feature of one variant from one source. Bounds are two features, and each is called a bound.

    ``turn`` is WHOLE, TURNS or the number of a turn.
    """

    name: str
    variant: Variant
    source: str = ""
    turn: str = WHOLE

    @property
    def label(self) -> str:
        """Of the feature, whatever the turn."""
        return Named.read(self.name).whole_label

    @property
    def whole_label(self) -> str:
        about = {WHOLE: "", TURNS: ", all turns"}.get(self.turn, f", turn {self.turn}")
        return self.label + about

    @property
    def higher_is_better(self) -> bool | None:
        return Named.read(self.name).higher_is_better(self.variant)

    @property
    def direction(self) -> int:
        """-1 where better answers are expected to have lower values."""
        return -1 if self.higher_is_better is False else 1


@dataclass(frozen=True, eq=False)
class Answers:
    """The current answers of models that are not retired, in the order of their ids and turns.

    ``turn`` is 0 for a whole answer. ``contestant`` is an index into ``names``; ``length`` is in characters.
    """

    ids: IntArray
    turn: IntArray
    contestant: IntArray
    prompt: IntArray
    length: FloatArray
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.ids)

    def places(self, ids: npt.NDArray[Any], turn: npt.NDArray[Any] | int = 0) -> IntArray:
        """Where the answers of these ids, or their turns, are; -1 for an unknown one."""
        if not len(self):
            return np.full(len(ids), -1, dtype=np.int64)
        known, wanted = (of * _MOST_TURNS + at for of, at in ((self.ids, self.turn), (ids, turn)))
        found = np.searchsorted(known, wanted).clip(max=len(self) - 1)
        return np.where(known[found] == wanted, found, -1)

    def of_turns(self, turns: Sequence[tuple[int, int]], texts: Mapping[int, Sequence[str]]) -> Answers:
        """Turns, each as the number of its answer and its own, in this order; ``texts`` by id."""
        answer, turn = np.array(turns, dtype=np.int64).reshape(-1, 2).T
        ids = self.ids[answer]
        own = zip(ids.tolist(), turn.tolist(), strict=True)
        length = [len(texts[pk][at - 1]) if at <= len(texts[pk]) else np.nan for pk, at in own]
        columns = self.contestant[answer], self.prompt[answer], np.array(length, dtype=np.float64)
        return Answers(ids, turn, *columns, self.names)


@dataclass(frozen=True, eq=False)
class Measured:
    """``values`` by series, all of one ``turn`` as Series has it; ``computed`` are those nobody imported."""

    answers: Answers
    values: Mapping[Series, FloatArray]
    computed: frozenset[Series] = frozenset()
    turn: str = WHOLE

    @property
    def measured_models(self) -> set[str]:
        """The names of those with a value."""
        places = [self.answers.contestant[~np.isnan(each)] for each in self.values.values()]
        return {self.answers.names[place] for place in np.unique(np.concatenate(places)).tolist()}

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
_MOST_TURNS: Final = 1 << 16


def measured(study: Study) -> list[Measured]:
    """The features of whole answers, of all of their turns together where there are several, and of each.

    The sum of entropy and variance is there where both are.
    """
    read = _answers(study)
    rows = CompletionFeature.objects.of(study).order_by()
    given = list(rows.values_list("completion", "turn", "name", "variant", "source", "value"))
    places = read.places(np.array([each[0] for each in given], dtype=np.int64)).tolist()
    known = [Value._make((place, *own)) for place, (_, *own) in zip(places, given, strict=True) if place >= 0]
    turns = sorted({each.turn for each in known if each.turn})
    found = [_whole(read, [each for each in known if not each.turn])]
    if turns:
        with_turns = CompletionFeature.objects.of(study).filter(turn__gt=0).values("completion")
        texts = dict(Completion.objects.filter(pk__in=with_turns).values_list("pk", "turns"))
        parts = {TURNS: {*turns}} if len(turns) > 1 else {}
        parts |= {str(turn): {turn} for turn in turns}
        for name, wanted in parts.items():
            own = [each for each in known if each.turn in wanted]
            found.append(_of_turns(read, texts, own, name))
    return [each for each in found if each.values]


class Value(NamedTuple):
    """A stored feature of the answer at a place."""

    place: int
    turn: int
    name: str
    variant: str
    source: str
    value: float


def _whole(read: Answers, given: Sequence[Value]) -> Measured:
    return _measured(read, given, [each.place for each in given], WHOLE)


def _of_turns(
    read: Answers, texts: Mapping[int, Sequence[str]], given: Sequence[Value], turn: str
) -> Measured:
    units = sorted({(each.place, each.turn) for each in given})
    at = {unit: number for number, unit in enumerate(units)}
    places = [at[each.place, each.turn] for each in given]
    return _measured(read.of_turns(units, texts), given, places, turn)


def _measured(read: Answers, given: Sequence[Value], places: Sequence[int], turn: str) -> Measured:
    found: defaultdict[Series, FloatArray] = defaultdict(lambda: np.full(len(read), np.nan))
    for place, each in zip(places, given, strict=True):
        found[Series(each.name, Variant(each.variant), each.source, turn)][place] = each.value
    summed = dict(_sums(read, found))
    ordered = sorted({**found, **summed}, key=_place)
    values = {one: found[one] if one in found else summed[one] for one in ordered}
    return Measured(read, values, frozenset(summed), turn)


def _place(one: Series) -> tuple[int, str, int, str]:
    """In the order of the known features, others last; of one turn."""
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
        np.zeros(len(read), dtype=np.int64),
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
    """All that raters said of answers: the pairs they compared, and the scores they gave.

    Pairs are of whole answers. A whole answer has its own scores, or those of its turns where the study has
    no others; a turn has those of this turn.
    """

    answers: Answers
    opinions: Opinions
    scores: ScoreRows | None = None
    turn: str = WHOLE

    def qualities(self) -> Iterator[Quality]:
        """Of each kind of raters who said something of an answer; comparisons first."""
        for choice in self.opinions.raters if self.turn == WHOLE else ():
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
        preference = -verdicts.preference(rows["rating"], rows["points"])
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
        mean = group_means(number, signed, len(pair))
        return pair // max(len(self.answers), 1), pair % max(len(self.answers), 1), mean

    def _scored(self, scores: ScoreRows) -> Iterator[Quality]:
        """The mean of all scores of an answer, on the scale of most of them."""
        read = scores.arrays()
        value = read.scores(read.scale).value
        places = self._scored_places(scores)
        for choice in scores.raters:
            own = np.isin(read.rows["rater"], list(choice.ids)) & ~np.isnan(value)
            mean = _means(places[own], value[own], len(self.answers))
            key, label = _SCORES + choice.selector.removeprefix("judge:"), f"{choice.label}, text scores"
            yield from self._quality(choice, key, label, places[own], value[own], self._differences(mean))

    def _scored_places(self, scores: ScoreRows) -> IntArray:
        text, turn = np.array([(row.text, row.turn) for row in scores.rows], dtype=np.int64).T
        if self.turn != WHOLE:
            return self.answers.places(text, turn)
        return np.where((turn == 0) | turn.all(), self.answers.places(text), -1)

    def _differences(self, mean: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
        """All pairs of scored answers to one prompt, or to one turn of it."""
        of_prompt: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        for place in np.flatnonzero(~np.isnan(mean)).tolist():
            of_prompt[int(self.answers.prompt[place]), int(self.answers.turn[place])].append(place)
        pairs = [pair for places in of_prompt.values() for pair in combinations(places, 2)]
        first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return first, second, mean[first] - mean[second]

    def none(self, quality: Quality) -> Quality:
        """That these raters said nothing of these answers, where their ``quality`` is that of others."""
        value, nobody = np.full(len(self.answers), np.nan), np.empty(0, dtype=np.int64)
        opinions = np.zeros(len(self.answers), dtype=np.int64)
        return replace(
            quality, value=value, opinions=opinions, first=nobody, second=nobody, preference=np.empty(0)
        )

    def _quality(
        self,
        choice: Choice,
        key: str,
        label: str,
        place: IntArray,
        said: FloatArray,
        pairs: tuple[IntArray, IntArray, FloatArray],
    ) -> Iterator[Quality]:
        value, opinions = _means(place, said, len(self.answers)), _counts(place, len(self.answers))
        if opinions.any():
            yield Quality(key, label, choice.selector, choice.simulated, value, opinions, *pairs)


def _means(place: IntArray, said: FloatArray, length: int) -> FloatArray:
    """The mean of what was said at each place."""
    return group_means(place[place >= 0], said[place >= 0], length)


def _counts(place: IntArray, length: int) -> IntArray:
    """How much was said at each place."""
    return np.bincount(place[place >= 0], minlength=length)
