"""Everything that stands side by side, as plain values: the content of the page, the table and the JSON."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from leaderboard.ablation.same_pairs import PEOPLE, NothingInCommonError, same_pairs
from leaderboard.slices.table import Table, canonical

if TYPE_CHECKING:
    from leaderboard.ablation.beside import Beside
    from leaderboard.ablation.same_pairs import SamePairs
    from leaderboard.reading.games import Choice, Opinions
    from leaderboard.stats import Method

FORM: Final = 1
"""Of the content; raised when a key changes its meaning or goes."""


def judges_table(opinions: Opinions, beside: Beside, selectors: str, method: Method) -> Table:
    """The table of a page: selectors with commas in between; says so where there is nothing to show."""
    try:
        content = side_by_side(opinions, beside, selectors.split(","), method)
    except NothingInCommonError as error:
        content = {"nothing": str(error)}
    return Table("judges", selectors, canonical(content))


def side_by_side(
    opinions: Opinions, beside: Beside, selectors: Sequence[str], method: Method
) -> dict[str, Any]:
    """The selected raters on the pairs that all judges among them have rated.

    Standings are by Elo and all intervals at the level, rounds and seed of ``method``; those of shares and
    means take prompts as wholes. Raises NothingInCommonError.
    """
    same = same_pairs(opinions, selectors, beside.identical)
    correlated = _correlations(same, method)
    return {
        "form": FORM,
        "pairs": same.pairs,
        "prompts": same.prompts,
        "level": method.interval,
        "rounds": method.rounds,
        "seed": method.seed,
        "band": str(method.tie_band) if method.tie_band else None,
        "warnings": same.warnings(),
        "raters": [
            _of(choice, same, beside, method)
            | {
                "correlation": correlated.get(choice.selector, []),
                "own_family": _own_family(choice, same, beside.kin.get(choice.selector, ()), method.interval),
            }
            for choice in same.choices
        ],
    }


def _of(choice: Choice, same: SamePairs, beside: Beside, method: Method) -> dict[str, Any]:
    """One kind of raters."""
    from leaderboard.ablation import measures
    from leaderboard.slices import ratings

    own, level, band = same.rated.by(choice.ids), method.interval, method.tie_band
    judged = choice.selector != PEOPLE
    return {
        "selector": choice.selector,
        "label": choice.label,
        "simulated": choice.simulated,
        "pairs": len(set(own.rows["pair"].tolist())),
        "pairs_in_both_orders": same.in_both_orders(choice),
        "ratings": ratings(own, level, band),
        "unscored": measures.unscored(same.asked.by(choice.ids), level) if judged else None,
        "place": measures.places(own, level),
        "retest": measures.retest(own, level, band),
        "controls": measures.controls(beside.controls, choice.ids, level, band),
        "expected": measures.expectation(own, beside.expected, level, band),
        "standings": {ties: _standings(own, method, ties) for ties in ("on", "off")},
    }


def _own_family(choice: Choice, same: SamePairs, kin: Collection[str], level: float) -> dict[str, Any] | None:
    from leaderboard.slices.own_family import own_family

    return own_family(same.rated, choice, kin, level) if kin else None


def _standings(own: Opinions, method: Method, ties: str) -> dict[str, Any] | None:
    """Elo as ``rank`` computes it, None where there is no game."""
    from leaderboard.slices.standings import standings
    from leaderboard.stats import StatsError

    players = own.present()
    band = method.tie_band if ties == "on" else None
    try:
        return standings(
            players, players.ratings(), replace(method, name="elo", ties=ties == "on", tie_band=band)
        )
    except StatsError:
        return None


def _correlations(same: SamePairs, method: Method) -> dict[str, list[dict[str, Any]]]:
    """The correlation of each judge with people by category, and of people with each other, by selector."""
    import json

    from leaderboard.slices.agreement import agreement

    found = [table for table in agreement(same.rated, method) if table.kind == "correlation"]
    return {table.raters: json.loads(table.payload)["rows"] for table in found}
