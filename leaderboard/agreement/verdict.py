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
from typing import Any, Final, Protocol

from leaderboard.agreement.table import same_category
from leaderboard.pages.wording import (
    FEWEST_PAIRS,
    counted,
    enumerated,
    number_range,
    number_word,
    paragraph,
    signed,
    whole_percent,
)
from leaderboard.snapshots.canonical import Content

MARGIN: Final = 0.1
"""A judge that is surely less than this below people agrees as well as they do."""

SELDOM: Final = 0.1
"""A verdict that may change in no more pairs than this share is no reason for doubt."""

_PEOPLE: Final = "people"
_MOST_NAMED: Final = 3


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


@dataclass(frozen=True)
class Doubt:
    """A reason not to trust a judge; ``weight`` from 0 to 1 compares reasons."""

    weight: float
    words: str


@dataclass(frozen=True)
class Judge:
    label: str
    standing: Standing
    r: float | None
    people: float | None
    pairs: int
    order: Order | None = None
    doubts: Sequence[Doubt] = ()


@dataclass(frozen=True)
class Verdict:
    """``short`` is one sentence for the leaderboard and ``rest`` what follows there on demand.

    All are empty where there is nothing to say. The leaderboard says by itself that ratings are simulated.
    """

    short: str = ""
    rest: str = ""
    long: str = ""


HOW: Final = (
    "Each judge takes the place of each person in turn. r compares its ratings with those of the other "
    "people, and that person’s with the same, on the same pairs. “As well as” means that the 95% interval of "
    f"the difference lies above −{MARGIN:g}. “Better” and “less” mean that it excludes 0."
)


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
    simulated = any(one.get("simulated") for one in listed)
    if not judges:
        own = about.row("correlation", _PEOPLE)
        if own is None or own["pearson"] is None:
            return Verdict()
        return Verdict(
            long=paragraph([f"people agree with each other (r {signed(own['pearson'])})"], simulated)
        )
    if people is None:
        unknown = "only judges have rated so far, so nothing shows whether they rate as people would"
        doubt = _doubt(judges)
        return Verdict(paragraph([unknown]), paragraph(doubt), paragraph([unknown, *doubt], simulated))
    trusted = any(
        judge.standing in (Standing.BETTER, Standing.AS_WELL) or (judge.order and judge.order.same)
        for judge in judges
    )
    order, doubt = list(_order(judges)), _doubt(judges, but=trusted)
    first, *others = _agreement(judges, people["raters"], is_short=True)
    long = [*order, *_agreement(judges, people["raters"]), *doubt]
    return Verdict(paragraph([first]), paragraph([*others, *order, *doubt]), paragraph(long, simulated))


@dataclass(frozen=True)
class _About:
    tables: Tables
    category: str
    method: str
    ties: str

    def row(self, kind: str, raters: str, part: str = "rows") -> Content | None:
        content = self.tables.get(kind, raters) or {}
        return next((row for row in content.get(part, ()) if same_category(row, self.category)), None)

    def judge(self, entry: Mapping[str, Any]) -> Judge:
        selector = entry["selector"]
        place, alone = self.row("correlation", selector, "ceiling"), self.row("correlation", selector)
        order, doubts = self._order(selector), tuple(self._doubts(selector))
        if place and place["pearson_difference"] is not None:
            standing = _standing(place)
            r, people, pairs = place["pearson"], place["pearson_people"], place["n"]
        else:
            r, people, pairs = (alone or {}).get("pearson"), None, (alone or {}).get("n", 0)
            standing = Standing.UNKNOWN if r is None else Standing.NO_PEOPLE_FIGURE
            if pairs < FEWEST_PAIRS and r is not None:
                standing = Standing.FEW_PAIRS
        return Judge(_called(entry["label"]), standing, r, people, pairs, order, doubts)

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
        low, high = at.get("share_first_low"), at.get("share_first_high")
        if low is not None and high is not None and not low <= 0.5 <= high:
            share = at["share_first"]
            which, taken = ("first", share) if share > 0.5 else ("second", 1 - share)
            words = f"prefers the answer shown {which}, in {whole_percent(taken)} of its choices"
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
    twos = list(combinations(both, 2))
    turned = [(one, other) for one, other in twos if one[0] > other[0]]
    sure = [
        1
        for (_, judged, rated), (_, other_judged, other_rated) in turned
        if judged and rated and other_judged and other_rated
        if not judged & other_judged and not rated & other_rated
    ]
    return Order(not turned, len(sure), len(twos))


def _letters(row: Content) -> frozenset[str]:
    group = row.get("group") or ""
    return frozenset(group.split() if " " in group else group)


def _order(judges: Sequence[Judge]) -> Iterator[str]:
    known = [(judge, judge.order) for judge in judges if judge.order]
    everybody = [judge for judge, _ in known]
    if same := [judge for judge, order in known if order.same]:
        yield f"{_who(same, everybody)} {_verb('give', same)} the same order of models as people"
    if close := [judge for judge, order in known if not order.same and not order.reversed]:
        yield (
            f"{_who(close, everybody)} {_verb('differ', close)} from people’s order only where scores are "
            "too close to call"
        )
    if turned := [(judge, order) for judge, order in known if order.reversed]:
        judge, order = max(turned, key=lambda each: each[1].reversed)
        some = [judge for judge, _ in turned]
        yield (
            f"{_who(some, everybody)} {_verb('order', some)} the models differently from people: "
            f"{judge.label if len(some) > 1 else 'it'} clearly reverses {order.reversed:,} of "
            f"{counted(order.pairs, 'pair')} of models"
        )


def _agreement(judges: Sequence[Judge], people: int, *, is_short: bool = False) -> Iterator[str]:
    """``people`` have rated. The short form counts judges instead of naming several, and leaves out r."""
    most = 1 if is_short else _MOST_NAMED
    by = {standing: [one for one in judges if one.standing is standing] for standing in Standing}
    of_people = next((one.people for one in judges if one.people is not None and not is_short), None)
    theirs = "" if of_people is None else f" (r {signed(of_people)})"
    named = partial(_names if is_short else _values, everybody=judges, most=most)
    told, unsure = [one for one in _DECIDED if by[one]], by[Standing.UNCERTAIN]
    if told:
        first, *others = told
        parts = [
            f"{named(by[first])} {_verb('agree', by[first])} with people {first.value} people agree with "
            f"each other{theirs}",
            *(f"{named(by[one])} {one.value.removesuffix(' than')}" for one in others),
            *([f"for {named(unsure)} the ratings are too few to tell"] if unsure else ()),
        ]
        yield "; ".join(parts)
    elif unsure:
        yield (
            f"the ratings are too few to tell whether {named(unsure)} {_verb('agree', unsure)} with people "
            f"as well as people agree with each other{theirs}"
        )
    if some := by[Standing.NO_PEOPLE_FIGURE]:
        whom, why = (
            ("the only person who rated", "with one person")
            if people == 1
            else ("people", "no two people rated the same pairs, so")
        )
        yield f"{named(some)} {_verb('agree', some)} with {whom}"
        yield f"{why} nothing shows how far people agree with each other"
    if some := by[Standing.FEW_PAIRS]:
        pairs = counted(max(one.pairs for one in some), "pair")
        yield (
            f"{_names(some, judges, most)} and people both rated only {pairs}, too few to compare them "
            f"({FEWEST_PAIRS} are needed)"
        )
    if some := by[Standing.UNKNOWN]:
        who = "no judge can" if len(some) == len(judges) else f"{_names(some, judges, most)} cannot"
        yield f"{who} be compared with people yet"


def _called(label: str) -> str:
    """Judges are often named like the models they rate: "judge GPT-4"."""
    return label if "judge" in label.casefold() else f"judge {label}"


def _verb(verb: str, some: Sequence[Judge]) -> str:
    return f"{verb}s" if len(some) == 1 else verb


def _who(some: Sequence[Judge], everybody: Sequence[Judge]) -> str:
    if len(some) == len(everybody) > 1:
        return "both judges" if len(some) == 2 else f"all {number_word(len(some))} judges"
    if len(some) == 1:
        return some[0].label
    return f"{number_word(len(some))} of {number_word(len(everybody))} judges"


def _values(some: Sequence[Judge], everybody: Sequence[Judge], most: int) -> str:
    """The judges with their r: "Judge A (0.70) and Judge B (0.65)", "four of five judges (0.61–0.70)"."""
    if len(some) <= most:
        return enumerated([f"{one.label} ({signed(one.r or 0.0)})" for one in some])
    found = [one.r or 0.0 for one in some]
    return f"{_who(some, everybody)} ({number_range(min(found), max(found))})"


def _names(some: Sequence[Judge], everybody: Sequence[Judge], most: int) -> str:
    return enumerated([one.label for one in some]) if len(some) <= most else _who(some, everybody)


def _doubt(judges: Sequence[Judge], *, but: bool = False) -> Sequence[str]:
    """The strongest reason for doubt of all judges; nothing where there is none."""
    found = [(doubt, judge) for judge in judges for doubt in judge.doubts]
    if not found:
        return ()
    doubt, judge = max(found, key=lambda each: each[0].weight)
    return (f"{'but ' if but else ''}{judge.label} {doubt.words}",)
