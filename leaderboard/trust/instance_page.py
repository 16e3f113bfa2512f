"""A pair with a right answer: both answers, and the verdicts and replies of every judge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse

from arena.models import Comparison, Pair, Rater, Study
from leaderboard.models import Snapshot
from leaderboard.pages.pairs import LARGEST_ID
from leaderboard.pages.shell import Published
from leaderboard.pages.shown_pair import ShownPair
from leaderboard.trust import tags
from leaderboard.trust.judge_page import (
    JudgePage,
    Said,
    check_open_to,
    parts_of,
)

LONGEST_REPLY: Final = 20_000
"""Characters of a reply that a page shows; the rest has an address of its own."""


@dataclass(frozen=True)
class Reply:
    said: Said
    comparison: Comparison | None
    address: str

    @property
    def text(self) -> str:
        return (self.comparison.raw_reply or self.comparison.rationale) if self.comparison else ""

    @property
    def is_cut(self) -> bool:
        return len(self.text) > LONGEST_REPLY

    @property
    def shown(self) -> str:
        return self.text[:LONGEST_REPLY]

    @property
    def reason(self) -> str:
        return self.comparison.get_reason_display() if self.comparison and self.comparison.reason else ""


@dataclass(frozen=True)
class JudgeCard:
    name: str
    address: str
    replies: list[Reply]
    chosen: bool

    @property
    def verdicts(self) -> list[Said]:
        return [reply.said for reply in self.replies]


@dataclass(frozen=True, kw_only=True)
class InstancePage(JudgePage):
    place: int
    shown: ShownPair

    template: ClassVar[str] = "leaderboard/wrong_pair.html"

    @property
    def right(self) -> str:
        return self.gold(self.place)

    @property
    def source(self) -> str:
        return f"majority of {self.view.gold}" if self.view.gold else self.shown.pair.gold_source

    @property
    def back(self) -> str:
        return self.list_url + self.view.query()

    @property
    def neighbours(self) -> list[tuple[str, str, str]]:
        """Words, rel and address of the pairs of the list before and after this one, be it in the list or
        not any more."""
        rank = {int(place): number for number, place in enumerate(self.order)}
        here = rank[self.place]
        before = [place for place in self.found if rank[place] < here][-1:]
        after = [place for place in self.found if rank[place] > here][:1]
        named = [("Previous", "prev", before), ("Next", "next", after)]
        return [(words, rel, self.pair_url(place)) for words, rel, places in named for place in places]

    @property
    def offered(self) -> list[str]:
        return tags.offered(self.study)

    @property
    def own_tag(self) -> str:
        return self.tag(self.place)

    @property
    def can_tag(self) -> bool:
        return self.operates and bool(self.errors.of(self.number)[self.place] or self.own_tag)

    @property
    def tag_address(self) -> str:
        return reverse("operate-tag", args=[self.study.slug, self.shown.pair.pk]) + self.view.query()

    @cached_property
    def cards(self) -> list[JudgeCard]:
        """The judge looked at, then the others that were asked."""
        replies = self._comparisons()
        order = sorted(range(len(self.errors.slugs)), key=lambda judge: judge != self.number)
        return [
            JudgeCard(
                self.errors.choices[judge].label,
                self.pair_url(self.place, judge=self.errors.slugs[judge], tag="", orders=""),
                [
                    self._reply(verdict, replies.get((judge, order)))
                    for order, verdict in enumerate(self.verdicts(judge, self.place))
                ],
                judge == self.number,
            )
            for judge in order
            if self.errors.asked[judge, self.place]
        ]

    def _reply(self, verdict: Said, comparison: Comparison | None) -> Reply:
        address = ""
        if comparison:
            where = [self.study.slug, self.shown.pair.pk, comparison.pk]
            address = reverse("study-instance-reply", args=where)
        return Reply(verdict, comparison, address)

    def _comparisons(self) -> dict[tuple[int, int], Comparison]:
        """The first of each judge in each order, which gave the verdict."""
        judges = {pk: judge for judge, choice in enumerate(self.errors.choices) for pk in choice.ids}
        read = Comparison.objects.counted(self.study).filter(pair=self.shown.pair, rater__in=list(judges))
        until = read.filter(pk__lte=self.snapshot.last_comparison).order_by("-pk")
        return {(judges[each.rater_id], int(each.swapped)): each for each in until}


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> InstancePage:
    """Raises Http404 for a pair without a right answer, or of another study."""
    parts = parts_of(request, study, snapshot)
    pair = place["pair"]
    where = np.flatnonzero(parts["errors"].instances.pair == min(pair, LARGEST_ID))
    texts = ("prompt", "first__contestant", "second__contestant")
    found = (
        Pair.objects.published().select_related(*texts).filter(pk=pair, prompt__study=study).first()
        if len(where)
        else None
    )
    if found is None:
        raise Http404("This study has no such pair.")
    return InstancePage(**parts, place=int(where[0]), shown=ShownPair.of(found))


def reply(request: HttpRequest, now: Published, pair: int, comparison: int) -> HttpResponse:
    """The whole of a judge's reply, as plain text."""
    check_open_to(request, now.study)
    if max(pair, comparison) > LARGEST_ID:
        raise Http404
    own = Comparison.objects.counted(now.study).filter(
        pair=pair, pair__prompt__is_private=False, rater__kind=Rater.Kind.JUDGE
    )
    found = get_object_or_404(own, pk=comparison)
    return HttpResponse(found.raw_reply or found.rationale, content_type="text/plain; charset=utf-8")
