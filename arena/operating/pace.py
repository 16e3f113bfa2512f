"""Reads: how fast people rate at present, and how long the rest would take at that rate."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count, Q
from django.utils import timezone

from arena.models import Comparison, Study

WINDOWS: Final = {
    "the last hour": timedelta(hours=1),
    "the last 24 hours": timedelta(hours=24),
    "the last 7 days": timedelta(days=7),
}
"""What "at present" can mean. The shortest in which enough was rated is taken."""

ENOUGH: Final = 20
"""Comparisons that make a rate worth telling; with fewer it says little, and the longest window is taken."""


@dataclass(frozen=True)
class Pace:
    """Comparisons by people in a window of time that ends now."""

    comparisons: int
    hours: float
    window: str
    left: int

    @property
    def per_hour(self) -> float:
        return self.comparisons / self.hours

    @property
    def is_long(self) -> bool:
        """Whether the window holds nights, in which nobody rates."""
        return self.hours > 12

    @property
    def is_thin(self) -> bool:
        """Whether the rate rests on too few comparisons to say much."""
        return self.comparisons < ENOUGH

    @property
    def hours_left(self) -> float | None:
        """None where nobody rates."""
        return self.left / self.per_hour if self.comparisons else None

    @property
    def words(self) -> str:
        """How long the rest takes; empty where nobody can say."""
        hours = self.hours_left
        if hours is None:
            return ""
        if hours < 1:
            return "less than an hour"
        if hours < 48:
            return f"about {_counted(hours, 'hour')}"
        if hours < 24 * 60:
            return f"about {_counted(hours / 24, 'day')}"
        return "more than two months"


def of(study: Study, left: int, now: datetime | None = None) -> Pace:
    """How fast people rate here, and what that means for ``left`` comparisons. One query.

    Imported comparisons and those that only check raters were not made at that pace, and are not counted.
    """
    now = now or timezone.now()
    longest = max(WINDOWS.values())
    rated = Comparison.objects.filter(
        study=study,
        is_current=True,
        purpose="study",
        rater__kind="person",
        source__in=["web", "api"],
        created_at__gt=now - longest,
    )
    names = [f"window_{number}" for number in range(len(WINDOWS))]
    found = rated.aggregate(
        **{
            name: Count("pk", filter=Q(created_at__gt=now - window))
            for name, window in zip(names, WINDOWS.values(), strict=True)
        }
    )
    for name, (words, window) in zip(names, WINDOWS.items(), strict=True):
        if found[name] >= ENOUGH or window == longest:
            return Pace(found[name], window.total_seconds() / 3600, words, left)
    raise AssertionError("the longest window is always taken")


def _counted(number: float, word: str) -> str:
    whole = round(number)
    return f"{whole} {word}" if whole == 1 else f"{whole} {word}s"
