"""How raters lean, to a place or to longer texts: the tables of one choice of raters and category."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from leaderboard.slices.length import length
from leaderboard.slices.ratings import ratings
from leaderboard.slices.table import Table, canonical

if TYPE_CHECKING:
    from leaderboard.reading.games import Choice, Opinions
    from leaderboard.reading.measures import Texts
    from leaderboard.stats import Method


def leanings(
    choice: Choice, category: str, chosen: Opinions, texts: Texts | None, method: Method
) -> Iterator[Table]:
    """Ratings and, with ``texts``, the effect of length, at the level and with the ties of ``method``."""
    place = {"raters": choice.selector, "category": category}
    level, band = method.interval, method.tie_band
    yield Table("ratings", payload=canonical(ratings(chosen, level, band)), **place)
    if texts is not None:
        yield Table("length", payload=canonical(length(chosen, texts, level, band)), **place)
