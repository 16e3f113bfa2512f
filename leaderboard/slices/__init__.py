"""What a snapshot holds: opinions in, tables as canonical JSON out. No database here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from leaderboard.slices.agreement import agreement
from leaderboard.slices.counts import counts
from leaderboard.slices.data import data
from leaderboard.slices.length import length
from leaderboard.slices.ratings import ratings
from leaderboard.slices.standings import BOOTSTRAPPED, TIES, digest, matrix_table, rankings, standings
from leaderboard.slices.table import Table, canonical

if TYPE_CHECKING:
    from leaderboard.games import Opinions
    from leaderboard.measures import Texts
    from leaderboard.stats import Method

__all__ = [
    "BOOTSTRAPPED",
    "TIES",
    "Table",
    "canonical",
    "counts",
    "data",
    "digest",
    "length",
    "matrix_table",
    "ratings",
    "standings",
    "tables",
]


def tables(
    opinions: Opinions, method: Method, known: Mapping[str, str], texts: Texts | None = None
) -> Iterator[Table]:
    """Every table of a snapshot: raters x ties x category x method at the parameters of ``method``.

    Raters are people, each judge and each group; categories are all together and each named one. A setting
    without a game has no standings. ``known`` holds the payloads of earlier standings by the digest of their
    inputs; what is known is not computed again. Without ``texts`` there is nothing about lengths.
    """
    level = method.interval
    if texts is not None:
        yield Table("data", "", canonical(data(opinions, texts)))
    computed = dict(known)  # a group that holds the same raters as another choice costs nothing
    for choice in opinions.raters:
        own = opinions.by(choice.ids)
        for category in ("", *(name for name in opinions.categories if name)):
            chosen = own.about(category)
            if len(chosen):
                yield Table("ratings", choice.selector, canonical(ratings(chosen, level)), category=category)
                if texts is not None:
                    about = canonical(length(chosen, texts, level))
                    yield Table("length", choice.selector, about, category=category)
                yield from rankings(choice, category, chosen, method, computed)
    yield from agreement(opinions, method)
