"""The first page: the studies one may see, each with its leaders as its newest snapshot stores them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Final

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_cookie

from arena.models import Contestant, Membership, Role, Study
from arena.pages.permissions import Visitor, may_sign_up, viewable
from arena.rating import trying
from judging.battles.visitors import open_to_strangers
from leaderboard.answers.asked import CHECKS, SCORES, Known
from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.pages.cards import Card, cards
from leaderboard.pages.dots import Axis
from leaderboard.pages.format import counted
from leaderboard.pages.kept import MARKS
from leaderboard.pages.marks import MarksOfAll
from leaderboard.pages.standings.sentences import leading_sentence, ranks_written
from leaderboard.pages.standings.table import Row, ranks_shown, standing_rows
from leaderboard.pages.tabs import landing
from leaderboard.snapshots.canonical import Content
from leaderboard.snapshots.levels import at_level
from leaderboard.snapshots.settings import Setting, choice_of, parse
from leaderboard.trust.page import TrustPage
from leaderboard.trust.table import RIGHT

LEADERS: Final = 3
LEADS_TO: Final = {"study": "See the leaderboard", "study-trust": "See judge accuracy"}
"""What the button of a study says, by its first tab."""


@dataclass(frozen=True)
class Leader:
    """A model, or a judge where no model is ranked; ``dots`` draws score and interval, ``ends`` says it."""

    rank: str
    name: str
    score: str
    ends: str
    dots: SafeString
    is_people: bool = False
    provisional: bool = False


@dataclass(frozen=True)
class Leaders:
    """The first of ``ranked``; ``axis`` draws the scale, ``by`` completes "Raters:"."""

    rows: tuple[Leader, ...] = ()
    axis: SafeString | None = None
    ranked: int = 0
    name: str = "Model"
    score: str = "Score"
    by: str = ""

    @property
    def has_intervals(self) -> bool:
        return any(leader.ends for leader in self.rows)


@dataclass(frozen=True)
class Entry:
    """A study on the first page: its leaders; whether the visitor can rate, after joining.

    ``verdict`` says who leads, ``given`` who rated how often.
    """

    card: Card
    tab: str
    verdict: str
    given: str
    leaders: Leaders
    may_rate: bool
    battles: bool

    @property
    def address(self) -> str:
        return reverse(self.tab, args=[self.card.study.slug])

    @property
    def leads_to(self) -> str:
        return LEADS_TO.get(self.tab, "See the results")


@require_safe
@cache_control(private=True, no_cache=True)
@vary_on_cookie
def home(request: HttpRequest) -> HttpResponse:
    found = cards(viewable(request.user))
    opened = {
        card.snapshot.pk: setting
        for card in found
        if card.snapshot and (setting := parse({}, card.snapshot.known))
    }
    standings = _standings(opened)
    own = _rated_by(request.user)
    battling = open_to_strangers([card.study for card in found])
    entries = []
    for card in found:
        snapshot = card.snapshot
        tab = landing(card.study, snapshot)
        verdict, leaders = "", Leaders()
        if snapshot and tab == TrustPage.tab:
            verdict, leaders = _judges(card.study, snapshot)
        elif snapshot and (content := standings.get(snapshot.pk)):
            by = choice_of(snapshot.counts, opened[snapshot.pk].raters)["label"]
            verdict, leaders = leading_sentence(content), _models(standing_rows(content, None), by)
        takes_ratings = not (card.study.is_closed or card.study.is_draft)
        may_rate = takes_ratings and (card.study.pk in own or may_sign_up(card.study, request.user))
        battles = card.study.pk in battling
        entries.append(Entry(card, tab, verdict, _given(card, tab), leaders, may_rate, battles))
    entries.sort(key=lambda entry: (not entry.leaders.rows, entry.tab != "study"))
    examples = [entry for entry in entries if entry.card.study.simulated]
    groups = [("Studies", [entry for entry in entries if entry not in examples]), ("Examples", examples)]
    may_rate = any(entry.may_rate for entry in entries)
    shown = {
        "groups": [group for group in groups if group[1]],
        "may_rate": may_rate,
        "may_try": trying.pairs().exists(),
    }
    return render(request, "leaderboard/home.html", shown)


MARKS[home] = MarksOfAll().for_everybody


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


def _given(card: Card, tab: str) -> str:
    """Who rated how often; empty for nobody."""
    if not card.ratings and tab not in LEADS_TO:
        counts = card.snapshot.counts if card.snapshot else {}
        known = (
            (Known.of(counts, kind).given, word) for kind, word in ((SCORES, "score"), (CHECKS, "check"))
        )
        return ", ".join(counted(number, word) for number, word in known if number)
    people = f"{card.people:,} {'person' if card.people == 1 else 'people'}"
    judges = (card.judges, counted(card.judges, "judge")), (card.panels, counted(card.panels, "panel"))
    numbers = (card.people, people), *judges
    said = [words for number, words in numbers if number]
    # What a panel says is no rating of its own, and may stand alone.
    return ", ".join([*said, *([counted(card.ratings, "rating")] if card.ratings else [])])


def _models(rows: Sequence[Row], by: str) -> Leaders:
    ranks, first = ranks_shown(rows), rows[:LEADERS]
    axis = Axis.around(
        value for row in first for value in (row.low, row.rating, row.high) if value is not None
    )
    if axis is None:
        return Leaders()
    # Drawings hold numbers only.
    leaders = (
        Leader(
            ranks[row.contestant],
            row.contestant,
            f"{row.rating:.0f}",
            "" if row.low is None else f"{row.low:.0f} and {row.high:.0f}",
            SafeString(axis.row(row.rating, row.low, row.high)),
            row.kind == Contestant.Kind.PEOPLE,
            bool(row.provisional),
        )
        for row in first
    )
    return Leaders(tuple(leaders), SafeString(axis.heading()), len(rows), by=by)


def _judges(study: Study, snapshot: Snapshot) -> tuple[str, Leaders]:
    """The verdict on judges, and those that are right most often."""
    page = TrustPage.read(study, snapshot, {}, operator=False)
    found = [row for row in page.view.rows if row.slug and RIGHT.value(row) is not None]
    drawn = [RIGHT.estimate(row).times(100) for row in found[:LEADERS]]
    axis = Axis.around(share for each in drawn for share in each if share is not None)
    if axis is None:
        return page.verdict[0], Leaders()
    shares = list(map(RIGHT.value, found))
    ranks = ranks_written((0, 1 + shares.index(share)) for share in shares)
    leaders = (
        Leader(
            rank,
            row.name,
            RIGHT.text(row),
            "" if own.low is None else f"{own.low:.1f}% and {own.high:.1f}%",
            SafeString(axis.row(*own)),
        )
        for row, rank, own in zip(found, ranks, drawn, strict=False)
    )
    heading = SafeString(axis.heading())
    return page.verdict[0], Leaders(tuple(leaders), heading, len(found), "Judge", "Right")


def _rated_by(user: Visitor) -> set[int]:
    """The ids of studies in which this account is a rater or an operator."""
    if not user.is_authenticated:
        return set()
    held = Membership.objects.filter(rater__user=user).exclude(role=Role.VIEWER)
    return set(held.values_list("study", flat=True))
