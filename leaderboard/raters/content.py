"""How all kinds of raters lean in every category, and how they agree, at a setting that no snapshot holds."""

from collections.abc import Iterator
from typing import Final

from leaderboard.raters.agreement.coefficients import agreement
from leaderboard.raters.bias.measures import leanings
from leaderboard.snapshots.canonical import Table
from leaderboard.snapshots.copying import Payloads
from leaderboard.snapshots.declarations import OnDemand, Request
from leaderboard.snapshots.reading import Opinions
from leaderboard.snapshots.settings import Scope, parse_for_all
from leaderboard.snapshots.text_sizes import Texts, texts
from leaderboard.stats.ranking_method import Method


def rater_tables(
    opinions: Opinions, method: Method, known: Payloads, texts: Texts | None = None
) -> Iterator[Table]:
    """Tables about every kind of raters. What is ``known`` is copied, and grows.

    Without ``texts`` there are no lengths.
    """
    for choice in opinions.raters:
        for category in ("", *filter(None, opinions.categories)):
            chosen = opinions.by(choice.ids).within(category)
            if len(chosen):
                yield from leanings(choice, category, chosen, texts, method, known)
    yield from agreement(opinions, method, known)


def _tables(request: Request) -> Iterator[Table]:
    return rater_tables(request.rated, request.method, request.known, texts(request.study))


RATERS: Final = OnDemand(Scope.RATERS, parse_for_all, _tables)
