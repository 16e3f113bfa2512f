"""What the pages about the errors of judges share.

Of a study that is open only its operators see them, because they tell the right answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.urls import reverse

from arena.models import Study
from arena.pages.permissions import can_operate
from leaderboard.models import Snapshot
from leaderboard.pages.page import NoNumbersError, NoRatingsError, Page
from leaderboard.pages.rater_kinds.choices import ending, one_of
from leaderboard.snapshots.settings import LABELS
from leaderboard.stats.checks import BoolArray, IntArray
from leaderboard.stats.sides import FIRST, NOT_ASKED, SECOND, TIE, UNSCORED
from leaderboard.trust import tags
from leaderboard.trust.errors import ORDERS, Errors, errors
from leaderboard.trust.reading import Gold, NothingToJudgeError

AT_ONCE: Final = 20
LETTERS: Final = {FIRST: "A", TIE: "tie", SECOND: "B", UNSCORED: "not rated", NOT_ASKED: "not asked"}
VALUES: Final = {FIRST: "first", TIE: "tie", SECOND: "second", UNSCORED: "unscored", NOT_ASKED: None}


@dataclass(frozen=True)
class Said:
    """A judge's verdict in one order."""

    shown_first: str
    words: str
    state: str  # right, wrong, unscored or none


def said(verdict: int, gold: int, order: int) -> Said:
    state = {UNSCORED: "unscored", NOT_ASKED: "none"}.get(verdict, "right" if verdict == gold else "wrong")
    return Said("AB"[order], LETTERS[verdict], state)


@dataclass(frozen=True)
class Other:
    """How another judge did on a pair: right, half (wrong in one order), wrong, or none (no verdict)."""

    name: str
    state: str


@dataclass(frozen=True, kw_only=True)
class View:
    """What an address asks for; empty texts stand for any, or what is usual."""

    judge: str
    subset: str = ""
    orders: str = ""
    tag: str = ""
    sort: str = ""
    gold: str = ""

    def query(self, **changes: Any) -> str:
        return ending(list(vars(replace(self, **changes)).items()))


@dataclass(frozen=True, kw_only=True)
class JudgePage(Page):
    """What the pages share: the verdicts and the judge that is looked at."""

    errors: Errors = field(repr=False)
    view: View
    operates: bool

    tab: ClassVar[str] = "study-trust"

    @property
    def number(self) -> int:
        return self.errors.slugs.index(self.view.judge)

    @property
    def judge(self) -> str:
        return self.errors.choices[self.number].label

    @cached_property
    def tags(self) -> dict[int, str]:
        """Of the judge, by pair."""
        return tags.of_judge(self.study, self.errors.choices[self.number].ids)

    @property
    def list_url(self) -> str:
        return reverse("study-wrong", args=[self.study.slug])

    def pair_url(self, place: int, **changes: Any) -> str:
        pair = int(self.errors.instances.pair[place])
        return reverse("study-instance", args=[self.study.slug, pair]) + self.view.query(**changes)

    def verdicts(self, judge: int, place: int) -> list[Said]:
        gold = int(self.errors.instances.gold[place])
        return [
            said(int(verdict), gold, order) for order, verdict in enumerate(self.errors.said[judge, :, place])
        ]

    def state(self, judge: int, place: int) -> str:
        found = self.errors
        if found.right[judge, place]:
            return "right"
        wrong = int(found.wrong[judge, place])
        half = "half" if found.in_both_orders[judge, place] else "wrong"
        return {0: "none", 1: half, 2: "wrong"}[wrong]

    def others(self, place: int) -> list[Other]:
        return [
            Other(choice.label, self.state(judge, place))
            for judge, choice in enumerate(self.errors.choices)
            if judge != self.number
        ]

    def gold(self, place: int) -> str:
        return LETTERS[int(self.errors.instances.gold[place])]

    def tag(self, place: int) -> str:
        return self.tags.get(int(self.errors.instances.pair[place]), "")

    @cached_property
    def within(self) -> BoolArray:
        """Instances of the subset."""
        return self.errors.within(self.view.subset)

    def mask(self, orders: str, tag: str) -> BoolArray:
        found = self.within & self.errors.of(self.number, orders)
        if tag:
            named = ["" if tag == tags.UNTAGGED else tag]
            own = [self.tags.get(pair, "") for pair in self.errors.instances.pair.tolist()]
            found = found & np.isin(np.array(own), named)
        return found

    @cached_property
    def order(self) -> IntArray:
        return self.errors.easiest_first[:: -1 if self.view.sort else 1]

    @cached_property
    def found(self) -> list[int]:
        """Places of the pairs in the list, in its order."""
        chosen = self.mask(self.view.orders, self.view.tag)
        return [int(place) for place in self.order[chosen[self.order]]]


def check_open_to(request: HttpRequest, study: Study) -> None:
    """Raises PermissionDenied."""
    if not (study.is_closed or can_operate(request.user, study)):
        raise PermissionDenied


def judged(request: HttpRequest, study: Study, snapshot: Snapshot) -> tuple[Errors, str]:
    """The verdicts that an address asks for, and its source of right answers, empty for labels.

    Raises PermissionDenied, UnknownSettingError and NoNumbersError.
    """
    check_open_to(request, study)
    if not snapshot.counts["raters"]:
        raise NoRatingsError(study)
    known = [each["selector"] for each in snapshot.counts["raters"]]
    people = [each for each in known if not each.startswith("judge:")]
    wanted = one_of(request.GET, "gold", people, LABELS)
    try:
        found = errors(study, snapshot, Gold(wanted))
    except NothingToJudgeError as error:
        raise NoNumbersError(f"{str(error)[0].upper()}{str(error)[1:]}.") from error
    return found, "" if wanted == LABELS else wanted


def parts_of(request: HttpRequest, study: Study, snapshot: Snapshot) -> dict[str, Any]:
    found, gold = judged(request, study, snapshot)
    wanted = request.GET
    named = [tags.UNTAGGED, *tags.known(study)]
    view = View(
        judge=one_of(wanted, "judge", found.slugs, found.slugs[0]),
        subset=one_of(wanted, "subset", found.instances.subsets, ""),
        orders=one_of(wanted, "orders", ORDERS, ""),
        tag=one_of(wanted, "tag", named, ""),
        sort=one_of(wanted, "sort", ("hard",), ""),
        gold=gold,
    )
    return {
        "study": study,
        "snapshot": snapshot,
        "address": request.path,
        "query": view.query(),
        "errors": found,
        "view": view,
        "operates": can_operate(request.user, study),
    }
