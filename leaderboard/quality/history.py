"""One rater's comparisons day by day, and how often each point of the scale was chosen, as shown."""

from collections import Counter
from dataclasses import dataclass
from statistics import median

from arena import scales
from arena.models import Comparison, Rater, Study


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
