"""Standings and matrices of one choice of raters and category, as a snapshot stores them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any, Final

import numpy.typing as npt

from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.copying import Payloads, digest, kept
from leaderboard.snapshots.method_names import STORED_METHODS
from leaderboard.snapshots.reading import Choice, Opinions
from leaderboard.stats.descriptive import matrices
from leaderboard.stats.games import Games
from leaderboard.stats.ranking import drawn_by, rank_ratings
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ratings import Ratings

TIES: Final = ("on", "off")

BOOTSTRAPPED: Final = ("elo", "bradley-terry", "elo-study")
"""Methods with bootstrapped intervals; the sandwich of the others takes a tenth of the time."""


def rankings(
    choice: Choice,
    category: str,
    chosen: Opinions,
    method: Method,
    known: Payloads,
    wanted: Callable[[str, str, str, str], bool] = lambda *place: True,
) -> Iterator[Table]:
    """Matrices, and standings by the stored methods and tie rules that are ``wanted``.

    It is asked for raters, ties, category and method.
    """

    @cache
    def played() -> tuple[Opinions, Ratings]:
        players = chosen.present()
        return players, players.ratings()

    for ties in TIES:
        place = {"raters": choice.selector, "ties": ties, "category": category}
        inputs = digest(["matrices", ties, chosen.digest])
        if inputs not in known:
            players, given = played()
            games = given.games(ties=ties == "on", resample=drawn_by(method, given))
            if not len(games):
                continue
            known[inputs] = canonical(matrix_table(games, players.names))
        yield Table("matrices", payload=known[inputs], inputs=inputs, **place)
        for name in STORED_METHODS:
            if name == "ordinal" and ties == "off":
                continue  # it takes every rating as given
            if not wanted(choice.selector, ties, category, name):
                continue
            used = published(method, name, ties, category)
            inputs = inputs_of(chosen, used)
            payload = kept(known, inputs, partial(_standings, played, used))
            yield Table("standings", payload=payload, method=name, inputs=inputs, **place)


def _standings(played: Callable[[], tuple[Opinions, Ratings]], method: Method) -> dict[str, Any]:
    return standings(*played(), method)


def published(method: Method, name: str, ties: str, category: str) -> Method:
    """The method as pages use it."""
    return replace(
        method,
        name=name,
        ties=ties == "on",
        tie_band=method.tie_band if ties == "on" and name != "ordinal" else None,
        intervals="bootstrap" if name in BOOTSTRAPPED else "sandwich",
        robustness=name == "bradley-terry" and not category,
    )


def inputs_of(chosen: Opinions, method: Method, *more: npt.NDArray[Any]) -> str:
    """Digest of everything that standings depend on; ``more`` is what they need beside opinions."""
    # The number of threads changes the time taken, not the numbers.
    return digest(["standings", replace(method, threads=None), chosen.digest], *more)


def standings(players: Opinions, ratings: Ratings, method: Method) -> dict[str, Any]:
    """Standings as ``rank`` prints them, and how many comparisons became no game."""
    ranked = rank_ratings(ratings, players.names, method).as_dict()
    kinds = dict(zip(players.names, players.kinds, strict=True))
    shares = dict(zip(players.names, ratings.won_shares, strict=True)) if ratings.expected is not None else {}
    for row in ranked["standings"]:
        if row["contestant"] in shares:
            row["share"] = shares[row["contestant"]]
        row["kind"] = kinds[row["contestant"]]
        if row["contestant"] in players.provisional:
            row["provisional"] = True
    return ranked | {
        "unscored": int(players.unscored.sum()),
        "not_ranked": int((players.scored & ~players.ranked).sum()),
        "not_used": players.not_used,
    }


def matrix_table(games: Games, names: tuple[str, ...]) -> dict[str, Any]:
    counted = matrices(games)
    return {
        "contestants": list(names),
        "wins": counted.wins.tolist(),
        "ties": counted.ties.tolist(),
        "games": counted.games.tolist(),
    }
