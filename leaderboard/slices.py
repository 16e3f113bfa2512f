"""What a snapshot holds: opinions in, tables as canonical JSON out. No database here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from leaderboard.games import Choice, Opinions
    from leaderboard.stats import Games, Method, Ratings

TIES: Final = ("on", "off")

BOOTSTRAPPED: Final = ("elo", "bradley-terry")
"""Methods whose intervals are bootstrapped; the others' come from the sandwich, in a tenth of the time."""


@dataclass(frozen=True)
class Table:
    """One slice: what it is about, and its content as canonical JSON."""

    kind: str
    raters: str
    payload: str
    ties: str = ""
    category: str = ""
    method: str = ""
    inputs: str = ""


def canonical(content: Mapping[str, Any]) -> str:
    """One line of JSON with sorted keys; NaN is refused."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def tables(opinions: Opinions, method: Method, known: Mapping[str, str]) -> Iterator[Table]:
    """Every table of a snapshot: raters x ties x category x method at the parameters of ``method``.

    Raters are people, each judge and each group; categories are all together and each named one. A setting
    without a game has no standings. ``known`` holds the payloads of earlier standings by the digest of their
    inputs; what is known is not computed again.
    """
    computed = dict(known)  # a group that holds the same raters as another choice costs nothing
    for choice in opinions.raters:
        own = opinions.by(choice.ids)
        for category in ("", *(name for name in opinions.categories if name)):
            chosen = own.about(category)
            if len(chosen):
                yield Table("ratings", choice.selector, canonical(ratings(chosen)), category=category)
                yield from _rankings(choice, category, chosen, method, computed)
    yield from _correlations(opinions)


def _rankings(
    choice: Choice, category: str, chosen: Opinions, method: Method, computed: dict[str, str]
) -> Iterator[Table]:
    from leaderboard.stats import METHODS

    players = chosen.present()
    given = players.ratings()
    for ties in TIES:
        games = given.games(ties=ties == "on")
        if not len(games):
            continue
        place = {"raters": choice.selector, "ties": ties, "category": category}
        yield Table("matrices", payload=canonical(matrix_table(games, players.names)), **place)
        for name in METHODS:
            if name == "ordinal" and ties == "off":
                continue  # it takes every rating as given
            wanted = replace(
                method,
                name=name,
                ties=ties == "on",
                intervals="bootstrap" if name in BOOTSTRAPPED else "sandwich",
                robustness=not category,
            )
            inputs = digest(players, given, wanted)
            if inputs not in computed:
                computed[inputs] = canonical(standings(players, given, wanted))
            yield Table("standings", payload=computed[inputs], method=name, inputs=inputs, **place)


def digest(players: Opinions, ratings: Ratings, method: Method) -> str:
    """SHA-256 of everything standings depend on: equal digests mean equal standings."""
    from leaderboard.stats import METHODOLOGY

    uncounted = (~players.scored).sum(), (players.scored & ~players.ranked).sum()
    # The number of threads changes the time taken, not the numbers.
    words = [METHODOLOGY, replace(method, threads=None), players.names, players.kinds, *map(int, uncounted)]
    found = hashlib.sha256(repr(words).encode())
    for array in (ratings.first, ratings.second, ratings.rating, ratings.points, ratings.prompt):
        found.update(b"|" if array is None else array.tobytes())
    return found.hexdigest()


def standings(players: Opinions, ratings: Ratings, method: Method) -> dict[str, Any]:
    """Standings as ``rank`` prints them, with the comparisons that became no game counted beside them."""
    from leaderboard.stats import rank_ratings

    ranked = rank_ratings(ratings, players.names, method).as_dict()
    kinds = dict(zip(players.names, players.kinds, strict=True))
    for row in ranked["standings"]:
        row["kind"] = kinds[row["contestant"]]
    return ranked | {
        "unscored": int((~players.scored).sum()),
        "not_ranked": int((players.scored & ~players.ranked).sum()),
    }


def matrix_table(games: Games, names: tuple[str, ...]) -> dict[str, Any]:
    """Wins, ties and games of each contestant (row) against each other (column)."""
    from leaderboard.stats import matrices

    counted = matrices(games)
    return {
        "contestants": list(names),
        "wins": counted.wins.tolist(),
        "ties": counted.ties.tolist(),
        "games": counted.games.tolist(),
    }


def ratings(chosen: Opinions) -> dict[str, Any]:
    """Histograms of ratings as shown, one for each scale in use, with the unscored by reason."""
    import numpy as np

    from leaderboard.stats import rating_histogram

    rows, scored = chosen.rows, chosen.scored
    scales = []
    for points in np.unique(rows["points"]).tolist():
        own = rows["points"] == points
        reasons = [reason.decode() for reason in rows["reason"][own & ~scored].tolist()]
        scales.append(rating_histogram(rows["rating"][own & scored], points, reasons).as_dict())
    return {"comparisons": len(rows), "swapped": int(rows["swapped"].sum()), "scales": scales}


def _correlations(opinions: Opinions) -> Iterator[Table]:
    """Each judge with people, on the pairs both rated."""
    from leaderboard.stats import correlate

    choices = {choice.selector: choice for choice in opinions.raters}
    judges = [selector for selector in choices if selector.startswith("judge:")]
    if "people" not in choices or not judges:
        return
    people = _pair_means(opinions.by(choices["people"].ids))
    names, rows = opinions.categories, opinions.rows
    numbers = zip(rows["pair"].tolist(), rows["category"].tolist(), strict=True)
    category = {pair: names[number] for pair, number in numbers if names[number]}
    for judge in judges:
        found = correlate(people, _pair_means(opinions.by(choices[judge].ids)), category)
        yield Table("correlation", judge, canonical({"rows": [row.as_dict() for row in found]}))


def _pair_means(chosen: Opinions) -> Any:
    from leaderboard.stats import pair_means

    rows = chosen.rows[chosen.scored]
    return pair_means(rows["pair"].tolist(), rows["rating"], rows["points"], rows["swapped"])


def counts(opinions: Opinions) -> dict[str, Any]:
    """What the header of a board counts; ``raters`` lists the selectors in the order of the switch."""
    import numpy as np

    players = opinions.present()
    total, scored, ranked = len(opinions), opinions.scored, opinions.ranked
    return {
        "prompts": opinions.prompts,
        "contestants": len(opinions.names),
        "in_play": len(players.names),
        "pairs": len(np.unique(opinions.rows["pair"])),
        "comparisons": total,
        "unscored": total - int(scored.sum()),
        "not_ranked": int((scored & ~ranked).sum()),
        "categories": [name for name in opinions.categories if name],
        "raters": [
            {
                "selector": choice.selector,
                "label": choice.label,
                "raters": len(choice.ids),
                "comparisons": len(opinions.by(choice.ids)),
                "simulated": choice.simulated,
                "same_as": _first_with(choice.ids, opinions.raters[:number]),
            }
            for number, choice in enumerate(opinions.raters)
        ],
    }


def _first_with(ids: frozenset[int], choices: Sequence[Choice]) -> str | None:
    """The selector of the first choice that holds exactly these raters."""
    return next((choice.selector for choice in choices if choice.ids == ids), None)
