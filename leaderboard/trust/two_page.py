"""Two judges on the pairs with a right answer: where one alone is right, and whether that is noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
from django.core.paginator import Page as Leaf
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.urls import reverse

from arena.models import Pair, Study
from leaderboard.models import Snapshot
from leaderboard.pages.format import counted, probability
from leaderboard.pages.page import NoNumbersError, Page
from leaderboard.pages.rater_kinds.choices import choices, ending, one_of
from leaderboard.pages.rater_kinds.judge_facts import JudgeFacts, facts_of_judges
from leaderboard.pages.switches import Switch
from leaderboard.stats.checks import BoolArray, IntArray
from leaderboard.stats.p_values import holm, mcnemar
from leaderboard.trust.errors import Errors
from leaderboard.trust.judge_page import AT_ONCE, LETTERS, Said, judged, said
from leaderboard.trust.matrix import is_base
from leaderboard.trust.table import LEAST_SURE

CELLS: Final = ("both", "a", "b", "neither")


@dataclass(frozen=True, kw_only=True)
class View:
    a: str
    b: str
    subset: str = ""
    show: str = ""
    gold: str = ""

    def query(self, **changes: Any) -> str:
        return ending(list(vars(replace(self, **changes)).items()))


@dataclass(frozen=True)
class Line:
    pair: Pair
    gold: str
    subset: str
    verdicts: Sequence[tuple[str, list[Said], str]]
    """Of both judges: name, verdict in each order, and the address of the pair."""


@dataclass(frozen=True, kw_only=True)
class TwoJudgesPage(Page):
    errors: Errors = field(repr=False)
    facts: Mapping[str, JudgeFacts] = field(repr=False)
    view: View
    page_number: str

    template: ClassVar[str] = "leaderboard/two_judges.html"
    tab: ClassVar[str] = "study-trust"

    @cached_property
    def numbers(self) -> tuple[int, int]:
        return self.errors.slugs.index(self.view.a), self.errors.slugs.index(self.view.b)

    @property
    def labels(self) -> list[str]:
        return [self.errors.choices[number].label for number in self.numbers]

    @cached_property
    def within(self) -> BoolArray:
        """Instances of the subset."""
        return self.errors.within(self.view.subset)

    @cached_property
    def cells(self) -> dict[str, BoolArray]:
        """Instances by who is right in every order in which both were asked."""
        a, b = self.errors.right_throughout(*self.numbers)
        among = self.within & ~np.isnan(a + b)
        found = (a * b == 1, a > b, a < b, a + b == 0)
        return {name: np.asarray(among & cell) for name, cell in zip(CELLS, found, strict=True)}

    @cached_property
    def counts(self) -> dict[str, int]:
        return {name: int(cell.sum()) for name, cell in self.cells.items()}

    @property
    def words(self) -> tuple[str, ...]:
        """What CELLS are called."""
        one, other = self.labels
        return "Both right", f"Only {one} right", f"Only {other} right", "Both wrong"

    @property
    def table(self) -> list[tuple[str, int, str]]:
        """Words, number and address of the list of each cell."""
        named = zip(CELLS, self.words, strict=True)
        return [(text, self.counts[name], self.view.query(show=name)) for name, text in named]

    @property
    def test(self) -> tuple[float, float, int, str]:
        """McNemar's exact test by prompt: p, p by Holm over all judges compared with the base, their number,
        the base.

        That is the second of the two unless only the first is asked as a base is. Two judges of one
        model are among those of this model.
        """
        told = [self.facts.get(each.selector, JudgeFacts("", "")) for each in self.errors.choices]
        judge, base = self.numbers
        if is_base(told[judge].protocol_name) and not is_base(told[base].protocol_name):
            judge, base = base, judge
        same = told[judge].model == told[base].model
        among = [
            number
            for number, each in enumerate(told)
            if number != base and (not same or each.model == told[base].model)
        ]
        exact = np.array([mcnemar(self._leads(number, base)) for number in among])
        place = among.index(judge)
        return (
            float(exact[place]),
            float(holm(exact)[place]),
            len(among),
            self.errors.choices[base].label,
        )

    def _leads(self, one: int, other: int) -> IntArray:
        """By prompt, how many more instances one alone gets right than the other alone."""
        a, b = self.errors.right_throughout(one, other)
        lead = self.within * ((a > b).astype(np.int64) - (a < b))
        return np.bincount(self.errors.instances.prompt, lead).astype(np.int64)

    @property
    def left_out(self) -> int:
        """Instances that either was asked about."""
        asked = self.within & self.errors.asked[list(self.numbers)].any(axis=0)
        return int(asked.sum()) - sum(self.counts.values())

    @property
    def sentence(self) -> str:
        a, b = self.counts["a"], self.counts["b"]
        one, other = self.labels
        if self.view.a == self.view.b:
            return "Choose two different judges."
        if not sum(self.counts.values()):
            return f"{one} and {other} have no pair on which both have every verdict."
        if not a + b:
            return f"{one} and {other} are right on the same pairs."
        told = f"{one} alone is right on {counted(a, 'pair')}, {other} alone on {b:,}"
        alone, corrected, judges, base = self.test
        noise = "More than noise" if corrected < LEAST_SURE else "This may be noise"
        how = "McNemar’s exact test by prompt"
        if judges > 1:
            how += f", corrected for {judges} judges compared with {base}; {_p(alone)} without"
        return f"{told}. {noise}: {_p(corrected)} ({how})."

    @property
    def selects(self) -> list[tuple[str, str, str]]:
        return [("a", "Judge", self.view.a), ("b", "Against", self.view.b)]

    @property
    def offered(self) -> list[tuple[str, str]]:
        return [(slug, each.label) for slug, each in zip(self.errors.slugs, self.errors.choices, strict=True)]

    @property
    def kept(self) -> list[tuple[str, str]]:
        return [(name, value) for name, value in vars(self.view).items() if name not in ("a", "b") and value]

    @property
    def choices(self) -> list[Switch]:
        own = self.errors.instances.subsets
        subsets = [("", "All"), *((name, name) for name in own)]
        words = [("", "Where they differ"), *zip(CELLS, self.words, strict=True)]
        found = [choices("show", "Show", words, self.view.show, self.view.query)]
        if len(own) > 1:
            found.append(choices("subset", "Subset", subsets, self.view.subset, self.view.query))
        return found

    @cached_property
    def found(self) -> list[int]:
        shown = (self.view.show,) if self.view.show else ("a", "b")
        chosen = np.logical_or.reduce([self.cells[name] for name in shown])
        order = self.errors.easiest_first
        return [int(place) for place in order[chosen[order]]]

    @cached_property
    def leaf(self) -> Leaf[int]:
        return Paginator(self.found, AT_ONCE).get_page(self.page_number)

    @property
    def more(self) -> str:
        return self.view.query().replace("?", "&", 1)

    @property
    def lines(self) -> list[Line]:
        own = self.errors.instances
        places = list(self.leaf.object_list)
        ids = [int(own.pair[place]) for place in places]
        pairs = Pair.objects.published().select_related("prompt").in_bulk(ids)
        return [
            Line(
                pairs[pk],
                LETTERS[int(own.gold[place])],
                self.errors.subset(place),
                [self._told(number, place) for number in self.numbers],
            )
            for pk, place in zip(ids, places, strict=True)
            if pk in pairs
        ]

    def _told(self, number: int, place: int) -> tuple[str, list[Said], str]:
        own = self.errors
        gold = int(own.instances.gold[place])
        verdicts = [said(int(each), gold, order) for order, each in enumerate(own.said[number, :, place])]
        address = reverse("study-instance", args=[self.study.slug, int(own.instances.pair[place])])
        query = ending([("judge", own.slugs[number]), ("gold", self.view.gold)])
        return own.choices[number].label, verdicts, address + query


def _p(p: float) -> str:
    written = probability(p)
    return f"p {written}" if written.startswith("<") else f"p = {written}"


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> TwoJudgesPage:
    found, gold = judged(request, study, snapshot)
    if len(found.slugs) < 2:
        raise NoNumbersError("Only one judge has rated yet.")
    wanted = request.GET
    a = one_of(wanted, "a", found.slugs, found.slugs[0])
    view = View(
        a=a,
        b=one_of(wanted, "b", found.slugs, next(slug for slug in found.slugs if slug != a)),
        subset=one_of(wanted, "subset", found.instances.subsets, ""),
        show=one_of(wanted, "show", CELLS, ""),
        gold=gold,
    )
    return TwoJudgesPage(
        study=study,
        snapshot=snapshot,
        address=request.path,
        query=view.query(),
        errors=found,
        facts=facts_of_judges(study, [each.selector for each in found.choices], snapshot.created_at),
        view=view,
        page_number=wanted.get("page", "1"),
    )
