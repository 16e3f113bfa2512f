"""The tables of a snapshot, made without a database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np

from leaderboard.data.counting import data
from leaderboard.raters.agreement.coefficients import agreement
from leaderboard.raters.bias.measures import leanings
from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.copying import Payloads
from leaderboard.snapshots.reading import Choice, Opinions
from leaderboard.snapshots.settings import TrustSetting
from leaderboard.snapshots.standings import rankings
from leaderboard.snapshots.text_sizes import Texts
from leaderboard.stats.ranking_method import Method
from leaderboard.trust.content import known_table
from leaderboard.trust.trial import Known

Wanted = Callable[[str, str, str, str], bool]
"""Whether standings are: of raters, ties, category and method."""


def tables(
    opinions: Opinions,
    method: Method,
    known: Payloads,
    texts: Texts | None = None,
    labelled: Known | None = None,
    wanted: Wanted = lambda *place: True,
) -> Iterator[Table]:
    """The tables of a snapshot: raters x ties x category x method, at the parameters of ``method``.

    ``wanted`` says which standings, as for leaderboard.snapshots.standings. What is ``known`` is copied, and
    grows. Without ``texts`` there are no lengths, and without ``labelled`` no judge is held against right
    answers. Neither tables nor order depend on ``method.threads``.
    """
    with Making(opinions, method, known) as making:
        yield from making.tables(texts, labelled, wanted)


class Making:
    """Makes tables on threads; begins, when entered, with how raters agree, which takes longest."""

    def __init__(self, opinions: Opinions, method: Method, known: Payloads) -> None:
        self._opinions, self._known = opinions, known
        together = method.threads or 1
        self._method = replace(method, threads=1) if together > 1 else method
        self.pool = ThreadPoolExecutor(together, "tables")

    def __enter__(self) -> Making:
        self._agreeing = self.pool.submit(lambda: list(agreement(self._opinions, self._method, self._known)))
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(cancel_futures=True)

    def tables(self, texts: Texts | None, labelled: Known | None, wanted: Wanted) -> Iterator[Table]:
        opinions, pool = self._opinions, self.pool
        first, twins = _twins(opinions.raters)
        running = [pool.submit(part) for choice in first for part in self._parts(choice, texts, wanted)]
        judged = pool.submit(self._judged, labelled) if labelled else None
        if texts is not None:
            yield Table("data", "", canonical(data(opinions, texts)))
        for each in running:
            yield from each.result()
        for choice in twins:  # all of their tables are known by now
            for part in self._parts(choice, texts, wanted):
                yield from part()
        yield from self._agreeing.result()
        if judged is not None:
            yield judged.result()

    def _parts(
        self, choice: Choice, texts: Texts | None, wanted: Wanted
    ) -> Iterator[Callable[[], list[Table]]]:
        """What makes the tables of each category; all and a category that holds everything go together."""
        own, method, known = self._opinions.by(choice.ids), self._method, self._known

        def made(*categories: str) -> list[Table]:
            parts = ((category, own.about(category)) for category in categories)
            return [
                table
                for category, chosen in parts
                for table in (
                    *leanings(choice, category, chosen, texts, method, known),
                    *rankings(choice, category, chosen, method, known, wanted),
                )
            ]

        used = [own.categories[number] for number in np.unique(own.rows["category"])]
        parts = dict.fromkeys(("", *used)) if used else {}
        yield from [partial(made, *parts)] if len(used) == 1 else (partial(made, part) for part in parts)

    def _judged(self, labelled: Known) -> Table:
        return known_table(labelled, self._opinions, TrustSetting(""), self._method)


def _twins(choices: Iterable[Choice]) -> tuple[list[Choice], list[Choice]]:
    """The choices, and apart those of raters that an earlier choice has."""
    first: dict[frozenset[int], Choice] = {}
    twins = [choice for choice in choices if first.setdefault(choice.ids, choice) is not choice]
    return list(first.values()), twins
