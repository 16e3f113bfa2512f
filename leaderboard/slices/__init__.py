"""What a snapshot holds: opinions in, tables as canonical JSON out. No database here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from leaderboard.slices.agreement import agreement
from leaderboard.slices.counts import counts
from leaderboard.slices.data import data
from leaderboard.slices.leanings import leanings
from leaderboard.slices.length import length
from leaderboard.slices.ratings import ratings
from leaderboard.slices.standings import BOOTSTRAPPED, TIES, digest, matrix_table, rankings, standings
from leaderboard.slices.table import Table, canonical

if TYPE_CHECKING:
    from leaderboard.reading.games import Choice, Opinions
    from leaderboard.reading.measures import Texts
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

REMEMBERED: Final = 15_000
"""About as many games as Elo remembers of a long round, for an estimate of the work."""


def tables(
    opinions: Opinions, method: Method, known: Mapping[str, str], texts: Texts | None = None
) -> Iterator[Table]:
    """Every table of a snapshot: raters x ties x category x method at the parameters of ``method``.

    Raters are people, each judge and each group; categories are all together and each named one. A setting
    without a game has no standings. ``known`` holds the payloads of earlier standings by the digest of their
    inputs; what is known is not computed again. Without ``texts`` there is nothing about lengths.
    ``method.threads`` parts are computed at a time, which changes neither tables nor their order.
    """
    computed = dict(known)
    together = method.threads or 1
    work = _Work(opinions, replace(method, threads=1) if together > 1 else method, computed, texts)
    first, twins = _parts(opinions)
    _get_ready(first, method)
    # The longest first, so that no thread is left with one of them at the end.
    order = sorted(first, key=lambda part: -len(part.chosen))
    with ThreadPoolExecutor(together, "tables") as pool:
        try:
            agreeing = pool.submit(work.agreement)
            sizes = pool.submit(work.data)
            running = {part: pool.submit(work.of, part) for part in order}
            yield from sizes.result()
            for part in first:
                yield from running[part].result()
            for part in twins:  # all of their standings are computed by now
                yield from work.of(part)
            yield from agreeing.result()
        finally:
            pool.shutdown(cancel_futures=True)


@dataclass(frozen=True, eq=False)
class _Part:
    """What some raters said about one category."""

    choice: Choice
    category: str
    chosen: Opinions


@dataclass(frozen=True, eq=False)
class _Work:
    """The tables of each part; ``computed`` is shared by all of them."""

    opinions: Opinions
    method: Method
    computed: dict[str, str]
    texts: Texts | None

    def of(self, part: _Part) -> list[Table]:
        """Ratings, lengths, matrices and standings."""
        place = part.choice, part.category, part.chosen
        return [
            *leanings(*place, self.texts, self.method),
            *rankings(*place, self.method, self.computed),
        ]

    def agreement(self) -> list[Table]:
        return list(agreement(self.opinions, self.method))

    def data(self) -> list[Table]:
        if self.texts is None:
            return []
        return [Table("data", "", canonical(data(self.opinions, self.texts)))]


def _parts(opinions: Opinions) -> tuple[list[_Part], list[_Part]]:
    """Every choice and category with a comparison; those of raters that another choice has are apart."""
    first: list[_Part] = []
    twins: list[_Part] = []
    seen: set[frozenset[int]] = set()
    for choice in opinions.raters:
        own = opinions.by(choice.ids)
        target = twins if choice.ids in seen else first
        seen.add(choice.ids)
        for category in ("", *(name for name in opinions.categories if name)):
            chosen = own.about(category)
            if len(chosen):
                target.append(_Part(choice, category, chosen))
    return first, twins


def _get_ready(parts: list[_Part], method: Method) -> None:
    """Load compiled code where all bootstraps together are worth it, though none of them may be."""
    from leaderboard.stats.elo.backends import load_for

    games = sum(min(len(part.chosen), REMEMBERED) for part in parts)
    load_for(games * (method.rounds or 0) * len(TIES))
