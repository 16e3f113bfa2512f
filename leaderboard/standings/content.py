"""Standings and matrices of one choice of raters and category, as a snapshot stores them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from leaderboard.snapshots.canonical import FORM, Table, canonical
from leaderboard.snapshots.presentation import STORED_METHODS
from leaderboard.snapshots.reading import Choice, Opinions
from leaderboard.stats import METHODOLOGY, Games, Method, Ratings, matrices, rank_ratings

TIES: Final = ("on", "off")

BOOTSTRAPPED: Final = ("elo", "bradley-terry", "elo-study")
"""Methods with bootstrapped intervals; the sandwich of the others takes a tenth of the time."""


def rankings(
    choice: Choice,
    category: str,
    chosen: Opinions,
    method: Method,
    computed: dict[str, str],
    wanted: Callable[[str, str, str, str], bool] = lambda *place: True,
) -> Iterator[Table]:
    """Matrices, and standings by the stored methods and tie rules that are ``wanted``.

    It is asked for raters, ties, category and method; ``computed`` holds payloads by digest.
    """
    players = chosen.present()
    given = players.ratings()
    for ties in TIES:
        games = given.games(ties=ties == "on", resample="games")
        if not len(games):
            continue
        place = {"raters": choice.selector, "ties": ties, "category": category}
        yield Table("matrices", payload=canonical(matrix_table(games, players.names)), **place)
        for name in STORED_METHODS:
            if name == "ordinal" and ties == "off":
                continue  # it takes every rating as given
            if not wanted(choice.selector, ties, category, name):
                continue
            used = published(method, name, ties, category)
            inputs = digest(players, given, used)
            if inputs not in computed:
                computed[inputs] = canonical(standings(players, given, used))
            yield Table("standings", payload=computed[inputs], method=name, inputs=inputs, **place)


def published(method: Method, name: str, ties: str, category: str) -> Method:
    """The method as pages use it."""
    return replace(
        method,
        name=name,
        ties=ties == "on",
        tie_band=method.tie_band if ties == "on" and name != "ordinal" else None,
        intervals="bootstrap" if name in BOOTSTRAPPED else "sandwich",
        robustness=not category,
    )


def digest(players: Opinions, ratings: Ratings, method: Method) -> str:
    """SHA-256 of everything that standings depend on."""
    uncounted = players.unscored.sum(), (players.scored & ~players.ranked).sum()
    # The number of threads changes the time taken, not the numbers.
    words = [
        METHODOLOGY,
        FORM,
        replace(method, threads=None),
        players.names,
        players.kinds,
        *map(int, uncounted),
    ]
    found = hashlib.sha256(repr(words).encode())
    # Resampling prompts looks at raters too, to say whether they are the same ones.
    rater = None if method.resample == "games" else ratings.rater
    given = (ratings.first, ratings.second, ratings.rating, ratings.points, ratings.prompt, rater)
    more = [] if ratings.expected is None else [ratings.expected]
    for array in (*given, *ratings.covariates.values(), *more):
        found.update(b"|" if array is None else array.tobytes())
    return found.hexdigest()


def standings(players: Opinions, ratings: Ratings, method: Method) -> dict[str, Any]:
    """Standings as ``rank`` prints them, and how many comparisons became no game."""
    ranked = rank_ratings(ratings, players.names, method).as_dict()
    kinds = dict(zip(players.names, players.kinds, strict=True))
    for row in ranked["standings"]:
        row["kind"] = kinds[row["contestant"]]
    return ranked | {
        "unscored": int(players.unscored.sum()),
        "not_ranked": int((players.scored & ~players.ranked).sum()),
    }


def matrix_table(games: Games, names: tuple[str, ...]) -> dict[str, Any]:
    counted = matrices(games)
    return {
        "contestants": list(names),
        "wins": counted.wins.tolist(),
        "ties": counted.ties.tolist(),
        "games": counted.games.tolist(),
    }
