"""Whether judges can be trusted, in words, from stored tables.

First the interval of its correlation decides whether a judge agrees with people at all
(leaderboard.pages.claim). One that does is held against people in the place of each person: its Pearson r
with the other people beside that person's, on the same pairs. The interval of the difference decides the
words, never the two numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import combinations
from typing import Any, Final, Protocol

import numpy as np

from leaderboard.pages.claim import Claim, claim, measured, pairs_of, people_said, said, unsaid
from leaderboard.pages.format import counted, signed, whole_percent
from leaderboard.pages.wording import (
    judge_called,
    number_word,
    paragraph,
    share_of,
    some_judges,
    verb,
)
from leaderboard.raters.agreement.table import with_people
from leaderboard.raters.bias.content import in_one_order
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.method_names import METHOD_NAMES
from leaderboard.stats.coefficients import rank_coefficients_of_rows
from leaderboard.stats.plain_values import Estimate, plain

MARGIN: Final = 0.1
"""A judge that is surely less than this below people agrees as well as they do."""

SELDOM: Final = 0.1
"""A verdict that may change in no more pairs than this share is no reason for doubt."""

_PEOPLE: Final = "people"


class Standing(Enum):
    """How a judge agrees with people, and where it does beside how people agree with each other."""

    BETTER = "better than"
    AS_WELL = "as well as"
    SLIGHTLY_LESS = "slightly less than"
    LESS = "clearly less than"
    UNCERTAIN = "agrees, but the difference is uncertain"
    ALONE = "agrees, and nothing shows that people do"
    NOT_SHOWN = Claim.NOT_SHOWN
    CONTRADICTS = Claim.CONTRADICTS
    TOO_FEW = Claim.TOO_FEW
    NO_INTERVAL = Claim.NO_INTERVAL
    UNDEFINED = Claim.UNDEFINED
    EMPTY = Claim.EMPTY


_DECIDED: Final = (Standing.BETTER, Standing.AS_WELL, Standing.SLIGHTLY_LESS, Standing.LESS)
_PRAISED: Final = (Standing.BETTER, Standing.AS_WELL, Standing.UNCERTAIN, Standing.ALONE)
_AGREEMENT: Final = {
    Standing.ALONE: Claim.AGREES,
    Standing.NOT_SHOWN: Claim.NOT_SHOWN,
    Standing.CONTRADICTS: Claim.CONTRADICTS,
}


class Tables(Protocol):
    def get(
        self, kind: str, raters: str, category: str = "", ties: str = "", method: str = ""
    ) -> Content | None: ...


@dataclass(frozen=True)
class Order:
    """A judge's order of models beside people's: of all ``pairs`` of models both tell ``apart`` some, and put
    the other way round those ``reversed``.
    """

    same: bool
    apart: int
    reversed: int
    pairs: int
    models: int
    spearman: float | None  # none where either puts all models on one rank


@dataclass(frozen=True)
class Doubt:
    """A reason not to trust a judge; ``weight`` from 0 to 1 compares reasons."""

    weight: float
    words: str


@dataclass(frozen=True)
class Judge:
    """``row`` holds its agreement with people."""

    label: str
    standing: Standing
    row: Content
    order: Order | None = None
    doubts: Sequence[Doubt] = ()
    panel: bool = False

    @property
    def is_praised(self) -> bool:
        """Whether a sentence speaks for it."""
        return self.standing in _PRAISED or bool(self.order and self.order.same and self.order.apart)


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
    of_people = about.row(_PEOPLE)
    if not judges:
        known = claim(of_people) is not Claim.EMPTY
        return Verdict(rest=paragraph([people_said(of_people)])) if known else Verdict()
    if people is None:
        unknown = "only ratings by judges count so far, so nothing shows whether they rate as people would"
        return Verdict(paragraph([unknown]), paragraph(_doubt(judges)))
    first, *others = _agreement(judges, people["raters"], of_people)
    doubts = _doubt(judges, but=any(judge.is_praised for judge in judges))
    return Verdict(paragraph([first]), paragraph([*others, *_order(judges, method), *doubts]))


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
        row: Content = self.row(selector) or {}
        order, doubts = self._order(selector), tuple(self._doubts(selector))
        standing, panel = _standing(row, self.row(_PEOPLE)), entry.get("panel", False)
        return Judge(judge_called(entry["label"]), standing, row, order, doubts, panel)

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
        side = Estimate.of(at, "share_first").side(0.5)
        if side and not in_one_order(ratings["swapped"], ratings["comparisons"]):
            share = at["share_first"]
            which = "first" if side > 0 else "second"
            words = (
                f"prefers the answer shown {which}, in {whole_percent(share_of(side, share))} of its choices"
            )
            yield Doubt(2 * abs(share - 0.5), words)
        yield from self._length(selector)

    def _length(self, selector: str) -> Iterator[Doubt]:
        own, people = self._longer(selector), self._longer(_PEOPLE)
        most = Estimate.of(people, "longer").high or 0.5
        if own and (Estimate.of(own, "longer").low or 0.0) > max(most, 0.5):
            beside = (people or {}).get("longer_wins")
            more = "" if beside is None else f" (people: {whole_percent(beside)})"
            words = f"lets the longer answer win {whole_percent(own['longer_wins'])} of points{more}"
            yield Doubt(2 * (own["longer_wins"] - (beside or 0.5)), words)

    def _longer(self, selector: str) -> Content | None:
        measures = (self.tables.get("length", selector, self.category) or {}).get("measures", ())
        return next((each for each in measures if each["name"] == "words"), None)


def _standing(row: Content, of_people: Content | None) -> Standing:
    found = claim(row)
    if found is not Claim.AGREES:
        return Standing(found)
    if row.get("pearson_people") is None or claim(of_people) is not Claim.AGREES:
        return Standing.ALONE
    if claim(row, "pearson_people") is not Claim.AGREES:
        return Standing.UNCERTAIN
    return _beside_people(row)


def _beside_people(row: Content) -> Standing:
    found = Estimate.of(row, "pearson_difference")
    if found.side() < 0:
        return Standing.SLIGHTLY_LESS if row["pearson_difference"] > -MARGIN else Standing.LESS
    if found.side(-MARGIN) <= 0:
        return Standing.UNCERTAIN
    return Standing.BETTER if found.side() else Standing.AS_WELL


def _compared(people: Sequence[Content], judge: Sequence[Content]) -> Order | None:
    """Two standings over the models in both; those that share a letter cannot be told apart."""
    own, others = _placed(judge), _placed(people)
    both = [(own[name], others[name]) for name in others if name in own]
    if len(both) < 2:
        return None
    turns = [
        (_told_apart(one, other), [int(np.sign(one[by][0] - other[by][0])) for by in (0, 1)])
        for one, other in combinations(both, 2)
    ]
    sure = [judged * said for apart, (judged, said) in turns if apart]
    of_both = (np.array([[each[by][0] for each in both]], dtype=float) for by in (0, 1))
    spearman = plain(rank_coefficients_of_rows(*of_both)[0, 0])
    same = all(judged == said for _, (judged, said) in turns)
    return Order(same, len(sure), sure.count(-1), len(turns), len(both), spearman)


def _placed(standings: Sequence[Content]) -> Mapping[str, tuple[int, frozenset[str]]]:
    """Rank and letters of each model that was compared with the first."""
    ranked = (row for row in standings if row["rank"] is not None and not row["component"])
    return {row["contestant"]: (row["rank"], _letters(row)) for row in ranked}


_Placed = tuple[tuple[int, frozenset[str]], tuple[int, frozenset[str]]]
"""A model's rank and letters by the judge, and those by people."""


def _told_apart(one: _Placed, other: _Placed) -> bool:
    """Whether both the judge and people tell two models apart."""
    return all(own and others and not own & others for (_, own), (_, others) in zip(one, other, strict=True))


def _letters(row: Content) -> frozenset[str]:
    group = row.get("group") or ""
    return frozenset(group.split() if " " in group else group)


def _order(judges: Sequence[Judge], method: str) -> Iterator[str]:
    known = [(judge, judge.order) for judge in judges if judge.order]
    everybody = judges  # also those without an order: “both judges” are all there are
    if both := [
        (judge.row["pearson"], order.spearman, order.models)
        for judge, order in known
        if judge.row.get("pearson") is not None and order.spearman is not None and order.models > 2
    ]:
        models = number_word(max(models for *_, models in both))
        yield (
            f"the correlation with people is {_span(r for r, _, _ in both)} (Pearson) on single pairs and "
            f"{_span(rho for _, rho, _ in both)} (Spearman) on the order of the {models} models, "
            "which averages many pairs"
        )
    if unknown := [judge for judge, order in known if not order.apart]:
        yield (
            f"no two models are told apart both by people and by {_who(unknown, everybody)}, so their orders "
            "cannot be compared"
        )
    sure = [(judge, order) for judge, order in known if order.apart]
    if same := [judge for judge, order in sure if order.same]:
        yield f"{_who(same, everybody)} {verb('give', len(same))} the same order of models as people"
    mixed = [(judge, order) for judge, order in sure if not order.same and not order.reversed]
    if close := [judge for judge, order in mixed if (order.spearman or 0) >= 0]:
        yield (
            f"in the order of models, {_who(close, everybody)} {verb('differ', len(close))} from people only "
            "where scores are too close to call"
        )
    if other := [judge for judge, order in mixed if (order.spearman or 0) < 0]:
        yield (
            f"{_who(other, everybody)} {verb('order', len(other))} models unlike people, but no two that "
            "change places are told apart by both"
        )
    if turned := [(judge, order) for judge, order in sure if order.reversed]:
        judge, order = max(turned, key=lambda each: each[1].reversed)
        some = [judge for judge, _ in turned]
        pairs = counted(order.pairs, "pair")
        many = f"{order.reversed:,} of {pairs} of models (ranked by {METHOD_NAMES[method]})"
        yield (
            f"{_who(some, everybody)} clearly {verb('reverse', len(some))} people’s order"
            f"{f', most of all {judge.label},' if len(some) > 1 else ''} in {many}"
        )


def _span(values: Iterable[float]) -> str:
    found = sorted(values)
    low, high = signed(found[0]), signed(found[-1])
    return low if low == high else f"from {low} to {high}"


def _agreement(judges: Sequence[Judge], people: int, of_people: Content | None) -> Iterator[str]:
    """``people`` have rated, and agree with each other as ``of_people`` tells."""
    by = {standing: [one for one in judges if one.standing is standing] for standing in Standing}
    named = _in_groups(partial(_who, everybody=judges))
    whom = "the only person who rated" if people == 1 else "people"
    if parts := [*_beside(by, named), *_claims(by, named, whom)]:
        yield "; ".join(parts)
    yield from _unknown(by, named, "one person" if people == 1 else "people")
    if none := by[Standing.EMPTY]:
        who = "no judge can" if len(none) == len(judges) else f"{named(none)} cannot"
        yield f"{who} be compared with people yet"
    if len(none) < len(judges) and not any(by[each] for each in (*_DECIDED, Standing.UNCERTAIN)):
        alone = "with one person nothing shows how far people agree with each other"
        yield alone if people == 1 else people_said(of_people)


def _in_groups(named: _Named) -> _Named:
    """Names groups of judges that share none; the second group of a size is so many others."""
    sizes = set[int]()

    def who(some: Sequence[Judge]) -> str:
        if len(some) > 1 and len(some) in sizes:
            return f"{number_word(len(some))} others"
        sizes.add(len(some))
        return named(some)

    return who


_By = Mapping[Standing, Sequence[Judge]]
_Named = Callable[[Sequence[Judge]], str]


def _beside(by: _By, named: _Named) -> Iterator[str]:
    """How judges agree with people, beside how people agree with each other."""
    told = [one for one in _DECIDED if by[one]]
    for place, one in enumerate(told):
        who = named(by[one])
        agree = f"{verb('agree', len(by[one]))} with people {one.value} people agree with each other"
        yield f"{who} {one.value.removesuffix(' than') if place else agree}"
    if unsure := by[Standing.UNCERTAIN]:
        yield (
            f"{named(unsure)} {verb('agree', len(unsure))} with people ({_numbers(unsure)}), but it is too "
            "uncertain to tell whether as well as people agree with each other"
        )


def _claims(by: _By, named: _Named, whom: str) -> Iterator[str]:
    for standing, found in _AGREEMENT.items():
        if some := by[standing]:
            yield f"{said(found, named(some), whom, len(some))} ({_numbers(some)})"


def _unknown(by: _By, named: _Named, whom: str) -> Iterator[str]:
    for each in (Standing.TOO_FEW, Standing.NO_INTERVAL, Standing.UNDEFINED):
        if some := by[each]:
            yield unsaid(each.value, named(some), whom, max((one.row for one in some), key=pairs_of))


def _numbers(some: Sequence[Judge]) -> str:
    if len(some) == 1:
        return measured(some[0].row)
    return f"r\u00a0{_span(one.row['pearson'] for one in some)}"


def _who(some: Sequence[Judge], everybody: Sequence[Judge]) -> str:
    judges, panels = ([one.label for one in some if one.panel == panel] for panel in (False, True))
    return some_judges(judges, sum(not one.panel for one in everybody), panels)


def _doubt(judges: Sequence[Judge], *, but: bool = False) -> Sequence[str]:
    """The strongest reason for doubt of all judges; nothing where there is none."""
    found = [(doubt, judge) for judge in judges for doubt in judge.doubts]
    if not found:
        return ()
    doubt, judge = max(found, key=lambda each: each[0].weight)
    return (f"{'but ' if but else ''}{judge.label} {doubt.words}",)
