"""Opinions arranged for measures of agreement: by kind of rater, pair, prompt and category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leaderboard.reading.games import Choice, Opinions
    from leaderboard.stats import TieBand
    from leaderboard.stats.agreement.opinions import OpinionRows, PairSums
    from leaderboard.stats.agreement.prompts import Topics


@dataclass(frozen=True, eq=False)
class Kind:
    """What one choice of raters said: its rows, and their sums for every pair of the study."""

    selector: str
    rows: OpinionRows
    sums: PairSums


@dataclass(frozen=True, eq=False)
class Arranged:
    """The scored opinions of a study, with pairs and prompts numbered from 0."""

    topics: Topics
    rows: OpinionRows
    choices: Sequence[Choice]

    @property
    def pairs(self) -> int:
        return len(self.topics.prompt)

    def kind(self, choice: Choice, but: frozenset[int] = frozenset()) -> Kind:
        """What the raters of a choice said, ``but`` some of them."""
        import numpy as np

        from leaderboard.stats.agreement.opinions import pair_sums

        rows = self.rows.only(np.isin(self.rows.rater, list(choice.ids - but)))
        return Kind(choice.selector, rows, pair_sums(rows, self.pairs))

    def raters(self, rows: OpinionRows, pair: Any) -> Any:
        """Of each row of the topics, how many raters have an opinion on any of these pairs."""
        import numpy as np

        asked = np.zeros(self.pairs, dtype=bool)
        asked[pair] = True
        own = rows.only(asked[rows.pair])
        names = len(self.topics.names)
        seen = np.unique(own.rater * names + self.topics.of_pairs(own.pair))
        found = np.zeros((len(self.topics.chosen), 1))
        if len(seen):
            _, number = np.unique(seen // names, return_inverse=True)
            table = np.zeros((names, number.max() + 1))
            table[seen % names, number] = 1.0
            found = self.topics.chosen @ table
        return (found > 0).sum(axis=1)


def arrange(opinions: Opinions, band: TieBand | None = None) -> Arranged:
    """Number the pairs and prompts of the scored opinions; ``band`` as in OpinionRows."""
    import numpy as np

    from leaderboard.stats.agreement.opinions import opinion_rows
    from leaderboard.stats.agreement.prompts import Topics

    rows = opinions.rows[opinions.scored]
    _, first, pair = np.unique(rows["pair"], return_index=True, return_inverse=True)
    _, start, prompt = np.unique(rows["prompt"][first], return_index=True, return_inverse=True)
    topics = Topics(prompt, rows["category"][first][start], opinions.categories)
    given = opinion_rows(pair, rows["rater"], rows["rating"], rows["points"], rows["swapped"], band)
    return Arranged(topics, given, opinions.raters)
