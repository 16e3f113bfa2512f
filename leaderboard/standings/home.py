"""The first page: the studies one may see, each with its leaders as its newest snapshot stores them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Final

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from arena.models import Membership, Role
from arena.people.permissions import Visitor, may_sign_up, viewable
from arena.rating import trying
from leaderboard.models import SnapshotSlice
from leaderboard.pages.cards import Card, cards
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.levels import at_level
from leaderboard.snapshots.presentation import leading_sentence
from leaderboard.snapshots.settings import Setting, choice_of, parse
from leaderboard.standings.rows import Axis
from leaderboard.standings.table import Row, ranks_shown, standing_rows

LEADERS: Final = 3


@dataclass(frozen=True)
class Leader:
    """``dots`` draws score and interval."""

    row: Row
    rank: str
    dots: SafeString


@dataclass(frozen=True)
class Entry:
    """A study on the first page: its leaders and by whom; whether the visitor can rate, after joining.

    ``verdict`` says who leads; ``ranked`` counts the models; ``axis`` draws the scale of the leaders.
    """

    card: Card
    verdict: str
    leaders: tuple[Leader, ...]
    ranked: int
    axis: SafeString
    by: str
    may_rate: bool


@require_safe
@cache_control(private=True, no_cache=True)
def home(request: HttpRequest) -> HttpResponse:
    found = cards(viewable(request.user))
    opened = {
        card.snapshot.pk: setting
        for card in found
        if card.snapshot and (setting := parse({}, card.snapshot.known))
    }
    standings = _standings(opened)
    own = _rated_by(request.user)
    entries = []
    for card in found:
        snapshot = card.snapshot
        setting = opened.get(snapshot.pk) if snapshot else None
        content = standings.get(snapshot.pk) if snapshot else None
        rows = standing_rows(content, None) if content else ()
        leaders, axis = _leaders(rows)
        by = choice_of(snapshot.counts, setting.raters)["label"] if snapshot and setting else ""
        takes_ratings = not (card.study.is_closed or card.study.is_draft)
        is_let_in = card.study.pk in own or may_sign_up(card.study, request.user)
        verdict = leading_sentence(content) if content else ""
        entries.append(Entry(card, verdict, leaders, len(rows), axis, by, takes_ratings and is_let_in))
    examples = [entry for entry in entries if entry.card.study.simulated]
    groups = [("Studies", [entry for entry in entries if entry not in examples]), ("Examples", examples)]
    may_rate = any(entry.may_rate for entry in entries)
    shown = {
        "groups": [group for group in groups if group[1]],
        "may_rate": may_rate,
        "may_try": trying.pairs().exists(),
    }
    return render(request, "leaderboard/home.html", shown)


def _standings(opened: Mapping[int, Setting]) -> dict[int, Content | None]:
    """By snapshot the standings that its leaderboard opens with, where they are stored; one query."""
    if not opened:
        return {}
    places = (
        Q(snapshot=pk, raters=one.raters, ties=one.ties, method=one.method, category=one.category)
        for pk, one in opened.items()
    )
    rows = SnapshotSlice.objects.filter(reduce(or_, places), kind="standings")
    return {row.snapshot_id: at_level(row.content, opened[row.snapshot_id].level) for row in rows}


def _leaders(rows: Sequence[Row]) -> tuple[tuple[Leader, ...], SafeString]:
    ranks, rows = ranks_shown(rows), rows[:LEADERS]
    values = (value for row in rows for value in (row.low, row.rating, row.high) if value is not None)
    axis = Axis.around(values)
    if axis is None:
        return (), SafeString()
    # Drawings hold numbers only.
    leaders = (
        Leader(row, ranks[row.contestant], SafeString(axis.row(row.rating, row.low, row.high)))
        for row in rows
    )
    return tuple(leaders), SafeString(axis.heading())


def _rated_by(user: Visitor) -> set[int]:
    """The ids of studies in which this account is a rater or an operator."""
    if not user.is_authenticated:
        return set()
    held = Membership.objects.filter(rater__user=user).exclude(role=Role.VIEWER)
    return set(held.values_list("study", flat=True))
