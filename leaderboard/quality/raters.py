"""The raters of a study with their figures and what stands out, for its operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Final

from arena.models import Comparison, Membership, Rater, Study
from arena.people.rater_data import pseudonym
from arena.rating import scales
from leaderboard.pages.table import DataTable
from leaderboard.quality import kept
from leaderboard.quality.cells import COLUMNS, FILE_COLUMNS, Shown, file_row, shown
from leaderboard.quality.figures import Compared, Figures
from leaderboard.stats.intervals import Share
from leaderboard.stats.rater_quality import ALPHA

# What stands out in a rater's figures, in words, and how much of it chance would bring. Pure.


FEWEST: Final = 10
"""Comparisons, repeats or known pairs from which something may stand out."""

MUCH_TOO_FAST: Final = 0.1
"""Nobody is remarked on for a smaller share of comparisons in less time than anybody could read."""

_ONE_END: Final = 0.025
"""How often one end of a 95 % interval lies on the wrong side of the truth."""


@dataclass(frozen=True)
class Remark:
    """Something that stands out; ``key`` names it in files."""

    key: str
    words: str


def remarks(own: Figures, everybody: Figures) -> list[Remark]:
    """What stands out in a rater's figures against those of everybody."""
    return [remark for remark, found in _checked(own, everybody) if found]


def by_chance(compared: Compared) -> float:
    """How many remarks there would be about at most if all raters were alike: every check errs at times.

    Speed is not among the checks counted here: reading is either possible in the time or not.
    """
    rates = {
        "agreement": _ONE_END,
        "repeats": _ONE_END,
        "known": _ONE_END,
        "side": 2 * _ONE_END,
        "votes": ALPHA,
    }
    return sum(
        rates.get(remark.key, 0.0)
        for own in compared.raters.values()
        for remark, found in _checked(own, compared.everybody)
        if found is not None
    )


def _checked(own: Figures, everybody: Figures) -> list[tuple[Remark, bool | None]]:
    """Every check with what it found; None where there is too little to look at."""
    agreement, all_agree = own.agreement.share, everybody.agreement.share
    too_fast = own.speed.below
    less = None
    if agreement.n >= FEWEST and agreement.high is not None and all_agree.value is not None:
        less = agreement.high < all_agree.value
    side = None if own.first.n < FEWEST else _not_half(own.first)
    bets = own.outlier
    return [
        (Remark("agreement", "agrees less with others than people here do"), less),
        (
            Remark("repeats", "changes the verdict on repeats more often than others"),
            _below(own.consistency.same, everybody.consistency.same),
        ),
        (
            Remark("known", "is right on known pairs less often than others"),
            _below(own.known, everybody.known),
        ),
        (
            Remark("speed", f"often faster than {own.speed.floor:g} s"),
            None if too_fast.n < FEWEST else (too_fast.low or 0.0) > MUCH_TOO_FAST,
        ),
        (Remark("side", f"prefers the {'first' if (own.first.value or 0) > 0.5 else 'second'} answer"), side),
        (
            Remark("votes", "keeps voting against what others prefer"),
            None if bets is None or bets.votes < FEWEST else bets.flagged,
        ),
    ]


def _below(own: Share, everybody: Share) -> bool | None:
    """Whether the whole interval lies below the share of everybody."""
    if own.n < FEWEST or own.high is None or everybody.value is None:
        return None
    return own.high < everybody.value


def _not_half(share: Share) -> bool:
    return share.low is not None and share.high is not None and not share.low <= 0.5 <= share.high


# One rater's comparisons day by day, and how often each point of the scale was chosen, as shown.


@dataclass(frozen=True)
class Day:
    """What was rated on one day; ``share`` of the busiest day, in percent, is the length of its bar."""

    day: str
    comparisons: int
    seconds: float | None
    share: float


@dataclass(frozen=True)
class Point:
    """How often one point of a scale was chosen; ``width`` is that of its bar, in percent."""

    rating: int
    caption: str
    side: str
    count: int
    width: float


@dataclass(frozen=True)
class History:
    """``days`` from the first to the last with a comparison; ``scales`` by their number of points."""

    days: list[Day]
    scales: list[tuple[int, list[Point]]]
    simulated: bool


def history(study: Study, rater: Rater) -> History:
    """Of the comparisons for the study: hidden repeats and checks are none of what a rater chose to do."""
    own = Comparison.objects.current().filter(study=study, rater=rater, purpose="study")
    rows = list(own.order_by("created_at").values_list("created_at", "seconds", "rating", "points"))
    by_day: dict[str, list[float | None]] = {}
    for created, seconds, _, _ in rows:
        by_day.setdefault(f"{created:%Y-%m-%d}", []).append(seconds)
    most = max(map(len, by_day.values()), default=1)
    days = [Day(day, len(each), _median(each), 100 * len(each) / most) for day, each in by_day.items()]
    counts = Counter((points, rating) for _, _, rating, points in rows if rating)
    used = sorted({points for points, _ in counts})
    return History(days, [(points, _points(points, counts)) for points in used], rater.simulated)


def _median(seconds: list[float | None]) -> float | None:
    known = [each for each in seconds if each is not None]
    return median(known) if known else None


def _points(points: int, counts: Counter[tuple[int, int]]) -> list[Point]:
    most = max(counts[points, rating] for rating in range(1, points + 1))
    return [
        Point(
            rating=rating,
            caption=scales.CAPTIONS[points][rating - 1],
            side=_side(rating, points),
            count=counts[points, rating],
            width=100 * counts[points, rating] / most,
        )
        for rating in range(1, points + 1)
    ]


def _side(rating: int, points: int) -> str:
    preference = scales.preference(rating, points)
    return "a" if preference < 0 else "b" if preference > 0 else "tie"


NAME: Final = "name"
REMARKS: Final = "remarks"
SORTS: Final = (NAME, *COLUMNS, REMARKS)
"""What the table can be ordered by."""


@dataclass(frozen=True)
class Line:
    """One rater of the table."""

    rater: Rater
    membership: Membership | None
    figures: Figures
    remarks: list[Remark]

    @property
    def cells(self) -> dict[str, Shown]:
        return shown(self.figures)

    @property
    def left_out(self) -> bool:
        return bool(self.membership and self.membership.left_out_at)

    @property
    def paused(self) -> bool:
        return bool(self.rater.paused_at or (self.membership and self.membership.paused_at))


@dataclass(frozen=True)
class Table:
    """All raters of a study, and everybody together."""

    study: Study
    lines: list[Line]
    compared: Compared

    @property
    def everybody(self) -> Figures:
        return self.compared.everybody

    @property
    def found(self) -> int:
        """How many remarks there are."""
        return sum(len(line.remarks) for line in self.lines)

    @property
    def by_chance(self) -> float:
        """How many there would be at most if all raters were alike."""
        return by_chance(self.compared)

    @property
    def simulated(self) -> bool:
        return any(line.rater.simulated for line in self.lines)

    def ordered(self, sort: str, *, descending: bool) -> list[Line]:
        """The lines by a column of SORTS; those without a number come last either way."""
        by_name = sorted(self.lines, key=lambda line: (line.rater.name.casefold(), line.rater.pk))
        if sort == NAME:
            return by_name[::-1] if descending else by_name
        number = {line.rater.pk: _number(line, sort) for line in by_name}
        known = [line for line in by_name if number[line.rater.pk] is not None]
        known.sort(key=lambda line: number[line.rater.pk] or 0.0, reverse=descending)
        return known + [line for line in by_name if number[line.rater.pk] is None]

    def file(self) -> DataTable:
        """The figures with pseudonyms in place of names."""
        return DataTable("Raters", FILE_COLUMNS, tuple(self._rows()))

    def _rows(self) -> Iterator[tuple[str | int | float | None, ...]]:
        for line in sorted(self.lines, key=lambda line: line.rater.pk):
            name = pseudonym(self.study, line.rater.pk)
            who = (name, line.rater.simulated, line.left_out, line.paused)
            yield file_row(line.figures, who, [remark.key for remark in line.remarks])


def _number(line: Line, sort: str) -> float | None:
    return float(len(line.remarks)) if sort == REMARKS else line.cells[sort].sort


def table(study: Study) -> Table:
    """Everybody who rated in a study."""
    compared = kept.compared(study)
    raters = Rater.objects.in_bulk(list(compared.raters))
    members = {each.rater_id: each for each in Membership.objects.filter(study=study)}
    lines = [
        Line(raters[pk], members.get(pk), own, remarks(own, compared.everybody))
        for pk, own in compared.raters.items()
        if pk in raters
    ]
    return Table(study, lines, compared)
