"""The tables of a snapshot, made without a database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from leaderboard.agreement.coefficients import agreement
from leaderboard.bias.measures import leanings
from leaderboard.data.counting import data
from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.copying import Payloads
from leaderboard.snapshots.reading import Choice, Opinions
from leaderboard.snapshots.settings import TrustSetting
from leaderboard.snapshots.text_sizes import Texts
from leaderboard.standings.content import rankings
from leaderboard.stats import Method
from leaderboard.trust.content import known_table
from leaderboard.trust.trial import Known

Wanted = Callable[[str, str, str, str], bool]
"""Whether standings are: of raters, ties, category and method."""


def counts(opinions: Opinions, criteria: Mapping[str, Opinions]) -> dict[str, Any]:
    """What readers choose from; ``criteria`` are the opinions by each criterion."""
    in_play = opinions.in_play
    total, scored, ranked = len(opinions), opinions.scored, opinions.ranked
    return {
        "prompts": opinions.prompts,
        "contestants": len(opinions.names),
        "in_play": len(in_play),
        "pairs": len(np.unique(opinions.rows["pair"])),
        "comparisons": total,
        "unscored": int(opinions.unscored.sum()),
        "identical": int(opinions.identical.sum()),
        "not_ranked": int((scored & ~ranked).sum()),
        "kinds": dict(sorted(Counter(opinions.kinds[number] for number in in_play).items())),
        "uncounted": asdict(opinions.uncounted),
        "categories": [name for name in opinions.categories if name],
        "criteria": [name for name, rated in criteria.items() if len(rated)],
        "raters": [
            {
                "selector": choice.selector,
                "label": choice.label,
                "raters": len(choice.ids),
                **_used(opinions.by(choice.ids)),
                "by_criterion": {name: _used(rated.by(choice.ids)) for name, rated in criteria.items()},
                "simulated": choice.simulated,
                "panel": choice.panel,
                "same_as": next(
                    (one.selector for one in opinions.raters[:number] if one.ids == choice.ids), None
                ),
            }
            for number, choice in enumerate(opinions.raters)
        ],
    }


def _used(own: Opinions) -> dict[str, Any]:
    asked = ~own.identical
    numbers = np.bincount(own.rows["category"][asked], minlength=len(own.categories)).tolist()
    by_name = zip(own.categories, numbers, strict=True)
    return {
        "comparisons": int(asked.sum()),
        "unscored": int(own.unscored.sum()),
        "by_category": {name: number for name, number in by_name if name},
        "points": np.unique(own.rows["points"][asked]).tolist(),
    }


def tables(
    opinions: Opinions,
    method: Method,
    known: Payloads,
    texts: Texts | None = None,
    labelled: Known | None = None,
    wanted: Wanted = lambda *place: True,
) -> Iterator[Table]:
    """The tables of a snapshot: raters x ties x category x method, at the parameters of ``method``.

    ``wanted`` says which standings, as for leaderboard.standings.content. What is ``known`` is copied, and
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
