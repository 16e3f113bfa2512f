"""The comparison browser of a closed study: who answered what about which pair, with the texts.

While a study is open nobody may browse: see docs/decisions/0011.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
from django.core.paginator import Page as Leaf
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest
from django.urls import reverse

from arena.models import Study
from leaderboard.comparisons.filters import Filters, Known, Select
from leaderboard.models import Snapshot
from leaderboard.pages.page import NoRatingsError, Page
from leaderboard.pages.pairs import LARGEST_ID, Entry, entries
from leaderboard.pages.shown_pair import ShownPair
from leaderboard.snapshots import comparison_store as stored
from leaderboard.snapshots.comparison_index import FLIPPED, PEOPLE_DIFFER, UNLIKE_PEOPLE, Array, Index, places

AT_ONCE: Final = 10


MARKS: Final = {
    UNLIKE_PEOPLE: "Judge and people disagree",
    PEOPLE_DIFFER: "People disagree",
    FLIPPED: "Changed with the order",
}


@dataclass(frozen=True)
class Sealed(Page):
    template: ClassVar[str] = "leaderboard/comparisons_sealed.html"
    tab: ClassVar[str] = "study-comparisons"


@dataclass(frozen=True)
class Waiting(Page):
    template: ClassVar[str] = "leaderboard/comparisons_waiting.html"
    tab: ClassVar[str] = "study-comparisons"


@dataclass(frozen=True, kw_only=True)
class Browsing(Page):
    known: Known = field(repr=False)
    filters: Filters
    index: Index = field(repr=False)
    found: Array = field(repr=False)

    tab: ClassVar[str] = "study-comparisons"

    @property
    def list_url(self) -> str:
        return reverse("study-comparisons", args=[self.study.slug])

    @property
    def total(self) -> int:
        return len(self.index.pair)

    def marks(self, place: int) -> list[str]:
        flags = int(np.bitwise_or.reduce(self.index.flags[self.index.answers(place)], initial=0))
        return [words for flag, words in MARKS.items() if flags & flag]


@dataclass(frozen=True, kw_only=True)
class PairList(Browsing):
    number: str

    template: ClassVar[str] = "leaderboard/comparisons.html"

    @cached_property
    def selects(self) -> tuple[Select, ...]:
        return self.known.selects(self.filters)

    @property
    def more_changed(self) -> bool:
        return any(select.changed for select in self.selects if not select.usual)

    @cached_property
    def leaf(self) -> Leaf[int]:
        return Paginator(self.found, AT_ONCE).get_page(self.number)

    @cached_property
    def shown(self) -> list[tuple[Entry, list[str], str]]:
        """Pairs with marks and address."""
        here = [int(place) for place in self.leaf.object_list]
        by_pair = {int(self.index.pair[place]): place for place in here}
        return [
            (
                entry,
                self.marks(by_pair[entry.pair.pk]),
                f"{self.list_url}{entry.pair.pk}/{self.filters.query()}",
            )
            for entry in entries(self.study, list(by_pair))
        ]

    @property
    def links(self) -> list[tuple[str, str]]:
        leaf, found = self.leaf, []
        if leaf.has_previous():
            found.append(("Previous", self.list_url + self.filters.query(leaf.previous_page_number())))
        if leaf.has_next():
            found.append(("Next", self.list_url + self.filters.query(leaf.next_page_number())))
        return found


@dataclass(frozen=True, kw_only=True)
class PairPage(Browsing):
    entry: Entry
    shown: ShownPair

    template: ClassVar[str] = "leaderboard/comparison.html"

    @cached_property
    def _place(self) -> int | None:
        """The place of the pair in the index; None where it was answered only later."""
        place = int(np.searchsorted(self.index.pair, self.entry.pair.pk))
        there = place < self.total and int(self.index.pair[place]) == self.entry.pair.pk
        return place if there else None

    @property
    def shown_marks(self) -> list[str]:
        return [] if self._place is None else self.marks(self._place)

    @property
    def back(self) -> str:
        return self.list_url + self.filters.query()

    @property
    def neighbours(self) -> list[tuple[str, str]]:
        """Words and address of the pairs before and after this one."""
        at = np.flatnonzero(self.found == (-1 if self._place is None else self._place))
        if len(at) == 0:
            return []
        here, query = int(at[0]), self.filters.query()
        places = [("Previous pair", here - 1), ("Next pair", here + 1)]
        return [
            (words, f"{self.list_url}{self.index.pair[self.found[place]]}/{query}")
            for words, place in places
            if 0 <= place < len(self.found)
        ]


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> Page:
    if not study.is_closed:
        return Sealed(study, snapshot, request.path)
    index = stored.newest(study)
    if index is None:
        return Waiting(study, snapshot, request.path)
    return PairList(**_browsing(request, study, snapshot, index), number=request.GET.get("page", "1"))


def read_one(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> Page:
    """Raises Http404 for a pair that is not the study's, or that nobody answered."""
    if not study.is_closed:
        return Sealed(study, snapshot, request.path)
    index = stored.newest(study)
    if index is None:
        return Waiting(study, snapshot, request.path)
    found: Sequence[Entry] = entries(study, [place["pair"]]) if place["pair"] <= LARGEST_ID else ()
    if not found or not found[0].answers:
        raise Http404("This study has no such pair.")
    shown = ShownPair.of(found[0].pair)
    return PairPage(**_browsing(request, study, snapshot, index), entry=found[0], shown=shown)


def _browsing(request: HttpRequest, study: Study, snapshot: Snapshot, index: Index) -> dict[str, Any]:
    if len(index.pair) == 0:
        raise NoRatingsError(study)
    points = np.flatnonzero(np.bincount(index.points)).tolist()
    known = Known.of(study, snapshot.counts, points)
    filters = known.parse(request.GET)
    return {
        "study": study,
        "snapshot": snapshot,
        "address": request.path,
        "query": filters.query(),
        "known": known,
        "filters": filters,
        "index": index,
        "found": places(index, known.question(study, filters)),
    }
