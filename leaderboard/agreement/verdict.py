"""Whether judges can be trusted, in words, from stored tables.

A judge is held against people in the place of each person: its Pearson r with the other people beside that
person's, on the same pairs. The interval of the difference decides the words, never the two numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import combinations
from math import comb
from typing import Any, Final, Protocol

from leaderboard.agreement.table import with_people
from leaderboard.pages.wording import (
    FEWEST_PAIRS,
    clear_side,
    counted,
    judge_called,
    number_range,
    number_word,
    paragraph,
    share_of,
    signed,
    some_judges,
    verb,
    whole_percent,
)
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.presentation import METHOD_NAMES

MARGIN: Final = 0.1
"""A judge that is surely less than this below people agrees as well as they do."""

SELDOM: Final = 0.1
"""A verdict that may change in no more pairs than this share is no reason for doubt."""

_PEOPLE: Final = "people"


class Standing(Enum):
    """How a judge agrees with people beside how people agree with each other."""

    BETTER = "better than"
    AS_WELL = "as well as"
    SLIGHTLY_LESS = "slightly less than"
    LESS = "clearly less than"
    UNCERTAIN = "cannot tell"
    NO_PEOPLE_FIGURE = "no figure of people"
    FEW_PAIRS = "too few pairs"
    UNKNOWN = "unknown"


_DECIDED: Final = (Standing.BETTER, Standing.AS_WELL, Standing.SLIGHTLY_LESS, Standing.LESS)


class Tables(Protocol):
    def get(
        self, kind: str, raters: str, category: str = "", ties: str = "", method: str = ""
    ) -> Content | None: ...


@dataclass(frozen=True)
class Order:
    """A judge's order of models beside people's: ``reversed`` counts the ``pairs`` of models that both tell
    apart and put the other way round.
    """

    same: bool
    reversed: int
    pairs: int
    models: int
    spearman: float


@dataclass(frozen=True)
class Doubt:
    """A reason not to trust a judge; ``weight`` from 0 to 1 compares reasons."""

    weight: float
    words: str


@dataclass(frozen=True)
class Judge:
    label: str
    standing: Standing
    pairs: int
    r: float | None = None
    order: Order | None = None
    doubts: Sequence[Doubt] = ()


@dataclass(frozen=True)
class Verdict:
    """``short`` is one sentence and ``rest`` what follows; empty where there is nothing to say."""

    short: str = ""
    rest: str = ""


def verdict(
    raters: Iterable[Mapping[str, Any]], tables: Tables, category: str = "", *, method: str, ties: str = "on"
) -> Verdict:
    """From the raters of a snapshot's counts and its tables.

    ``method`` and ``ties`` are those of the orders that are compared.
    """
    listed = [one for one in raters if one.get("same_as") is None]
    about = _About(tables, category, method, ties)
    judges = [about.judge(one) for one in listed if one["selector"].startswith("judge:")]
    people = next((one for one in listed if one["selector"] == _PEOPLE), None)
    if not judges:
        own = about.row(_PEOPLE)
        if own is None or own["pearson"] is None:
            return Verdict()
        return Verdict(rest=f"People agree with each other (r {signed(own['pearson'])}).")
    if people is None:
        unknown = "only judges have rated so far, so nothing shows whether they rate as people would"
        return Verdict(paragraph([unknown]), paragraph(_doubt(judges)))
    trusted = any(
        judge.standing in (Standing.BETTER, Standing.AS_WELL) or (judge.order and judge.order.same)
        for judge in judges
    )
    first, *others = _agreement(judges, people["raters"])
    others += [*_order(judges, method), *_doubt(judges, but=trusted)]
    return Verdict(paragraph([first]), paragraph(others))


@dataclass(frozen=True)
class _About:
    tables: Tables
    category: str
    method: str
    ties: str

    def row(self, raters: str) -> Content | None:
        return with_people(self.tables.get("correlation", raters), self.category)

    def judge(self, entry: Mapping[str, Any]) -> Judge:
        selector = entry["selector"]
        row = self.row(selector) or {}
        pairs = row.get("n", 0)
        order, doubts = self._order(selector), tuple(self._doubts(selector))
        if row.get("pearson_people") is not None:
            standing = _standing(row)
        elif row.get("pearson") is None:
            standing = Standing.UNKNOWN
        else:
            standing = Standing.NO_PEOPLE_FIGURE if pairs >= FEWEST_PAIRS else Standing.FEW_PAIRS
        return Judge(judge_called(entry["label"]), standing, pairs, row.get("pearson"), order, doubts)

    def _order(self, selector: str) -> Order | None:
        place = (self.category, self.ties, self.method)
        people, judge = (self.tables.get("standings", one, *place) for one in (_PEOPLE, selector))
        return _compared(people["standings"], judge["standings"]) if people and judge else None

    def _doubts(self, selector: str) -> Iterator[Doubt]:
        ratings: Mapping[str, Any] = self.tables.get("ratings", selector, self.category) or {}
        flips, scales = ratings.get("flips"), ratings.get("scales", ())
        if flips and flips["rate"] is not None and (flips["low"] or 0) > SELDOM:
            swapped = whole_percent(flips["rate"])
            yield Doubt(flips["rate"], f"changes its verdict in {swapped} of pairs when the order is swapped")
        used: Mapping[str, Any] = max(scales, key=lambda scale: scale["scored"], default={})
        at = used.get("position") or {}
        if side := clear_side(at.get("share_first_low"), at.get("share_first_high")):
            share = at["share_first"]
            which = "first" if side > 0 else "second"
            words = (
                f"prefers the answer shown {which}, in {whole_percent(share_of(side, share))} of its choices"
            )
            yield Doubt(2 * abs(share - 0.5), words)
        yield from self._length(selector)

    def _length(self, selector: str) -> Iterator[Doubt]:
        own, people = self._longer(selector), self._longer(_PEOPLE)
        most = (people or {}).get("longer_high") or 0.5
        if own and own.get("longer_low") is not None and own["longer_low"] > max(most, 0.5):
            beside = (people or {}).get("longer_wins")
            more = "" if beside is None else f" (people: {whole_percent(beside)})"
            words = f"prefers the longer answer in {whole_percent(own['longer_wins'])} of its choices{more}"
            yield Doubt(2 * (own["longer_wins"] - (beside or 0.5)), words)

    def _longer(self, selector: str) -> Content | None:
        measures = (self.tables.get("length", selector, self.category) or {}).get("measures", ())
        return next((each for each in measures if each["name"] == "words"), None)


def _standing(place: Content) -> Standing:
    low, high = place["pearson_difference_low"], place["pearson_difference_high"]
    if place["n"] < FEWEST_PAIRS:
        return Standing.FEW_PAIRS
    if low is None or high is None:
        return Standing.UNCERTAIN
    if low > 0:
        return Standing.BETTER
    if high < 0:
        return Standing.SLIGHTLY_LESS if place["pearson_difference"] > -MARGIN else Standing.LESS
    return Standing.AS_WELL if low > -MARGIN else Standing.UNCERTAIN


def _compared(people: Sequence[Content], judge: Sequence[Content]) -> Order | None:
    """Two standings over the models in both; those that share a letter cannot be told apart."""
    own = {row["contestant"]: (place, _letters(row)) for place, row in enumerate(judge)}
    both = [(*own[row["contestant"]], _letters(row)) for row in people if row["contestant"] in own]
    if len(both) < 2:
        return None
    turned = [(one, other) for one, other in combinations(both, 2) if one[0] > other[0]]
    sure = [
        1
        for (_, judged, rated), (_, other_judged, other_rated) in turned
        if judged and rated and other_judged and other_rated
        if not judged & other_judged and not rated & other_rated
    ]
    places = sorted(place for place, *_ in both)
    moved = sum((place - places.index(judged)) ** 2 for place, (judged, *_) in enumerate(both))
    spearman = 1 - 6 * moved / (len(both) * (len(both) ** 2 - 1))
    return Order(not turned, len(sure), comb(len(both), 2), len(both), spearman)


def _letters(row: Content) -> frozenset[str]:
    group = row.get("group") or ""
    return frozenset(group.split() if " " in group else group)


def _order(judges: Sequence[Judge], method: str) -> Iterator[str]:
    known = [(judge, judge.order) for judge in judges if judge.order]
    everybody = [judge for judge, _ in known]
    if both := [(judge.r, order) for judge, order in known if judge.r is not None and order.models > 2]:
        models = number_word(max(order.models for _, order in both))
        yield (
            f"agreement with people is {_span(r for r, _ in both)} (Pearson) on single pairs and "
            f"{_span(order.spearman for _, order in both)} (Spearman) on the order of the {models} models, "
            "which averages many pairs"
        )
    if same := [judge for judge, order in known if order.same]:
        yield f"{_who(same, everybody)} {verb('give', len(same))} the same order of models as people"
    if close := [judge for judge, order in known if not order.same and not order.reversed]:
        yield (
            f"in the order of models, {_who(close, everybody)} {verb('differ', len(close))} from people only "
            "where scores are too close to call"
        )
    if turned := [(judge, order) for judge, order in known if order.reversed]:
        judge, order = max(turned, key=lambda each: each[1].reversed)
        some = [judge for judge, _ in turned]
        many = f"{order.reversed:,} of {order.pairs:,} pairs of models (ranked by {METHOD_NAMES[method]})"
        yield (
            f"{_who(some, everybody)} clearly {verb('reverse', len(some))} people’s order"
            f"{f', most of all {judge.label},' if len(some) > 1 else ''} in {many}"
        )


def _span(values: Iterable[float]) -> str:
    found = sorted(values)
    low, high = signed(found[0]), signed(found[-1])
    return low if low == high else number_range(found[0], found[-1])


def _agreement(judges: Sequence[Judge], people: int) -> Iterator[str]:
    """``people`` have rated."""
    by = {standing: [one for one in judges if one.standing is standing] for standing in Standing}
    named = partial(_who, everybody=judges)
    told, unsure = [one for one in _DECIDED if by[one]], by[Standing.UNCERTAIN]
    if told:
        first, *others = told
        parts = [
            f"{named(by[first])} {verb('agree', len(by[first]))} with people {first.value} people agree with "
            "each other",
            *(f"{named(by[one])} {one.value.removesuffix(' than')}" for one in others),
            *([f"for {named(unsure)} the interval is too wide to tell"] if unsure else ()),
        ]
        yield "; ".join(parts)
    elif unsure:
        yield (
            f"the intervals are too wide to tell whether {named(unsure)} {verb('agree', len(unsure))} with "
            "people as well as people agree with each other"
        )
    if some := by[Standing.NO_PEOPLE_FIGURE]:
        whom, why = (
            ("the only person who rated", "with one person")
            if people == 1
            else ("people", "no two people rated the same pairs, so")
        )
        yield f"{named(some)} {verb('agree', len(some))} with {whom}"
        yield f"{why} nothing shows how far people agree with each other"
    if some := by[Standing.FEW_PAIRS]:
        pairs = counted(max(one.pairs for one in some), "pair")
        yield (
            f"{_who(some, judges)} and people both rated only {pairs}, too few to compare them "
            f"({FEWEST_PAIRS} are needed)"
        )
    if some := by[Standing.UNKNOWN]:
        who = "no judge can" if len(some) == len(judges) else f"{_who(some, judges)} cannot"
        yield f"{who} be compared with people yet"


def _who(some: Sequence[Judge], everybody: Sequence[Judge]) -> str:
    return some_judges([one.label for one in some], len(everybody))


def _doubt(judges: Sequence[Judge], *, but: bool = False) -> Sequence[str]:
    """The strongest reason for doubt of all judges; nothing where there is none."""
    found = [(doubt, judge) for judge in judges for doubt in judge.doubts]
    if not found:
        return ()
    doubt, judge = max(found, key=lambda each: each[0].weight)
    return (f"{'but ' if but else ''}{judge.label} {doubt.words}",)
