"""Sentences that must stand beside a ranking whose numbers could mislead."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from leaderboard.stats.bradley_terry_bootstrap import BradleyTerryBootstrap
from leaderboard.stats.elo import EloParameters
from leaderboard.stats.elo_bootstrap import EloBootstrap
from leaderboard.stats.games import IntArray

FEWEST_CLUSTERS: Final = 30
"""Below this many prompts a percentile interval covers less than its level."""

NAMES_SHOWN: Final = 3


@dataclass(frozen=True, eq=False)
class Findings:
    """What a ranking found: ``played`` holds games, wins, losses and ties of each contestant in ``names``.

    ``groups`` are the connected groups, ``prior`` whether Bradley-Terry needed its prior for all games,
    ``units`` how many prompts or games a round of the bootstrap draws from, ``elo`` Elo's parameters or None
    for another method.
    """

    names: tuple[str, ...]
    played: tuple[IntArray, IntArray, IntArray, IntArray]
    groups: tuple[tuple[str, ...], ...]
    prior: bool
    bootstrap: EloBootstrap | BradleyTerryBootstrap | None
    units: int
    elo: EloParameters | None


def cautions(found: Findings) -> tuple[str, ...]:
    """The sentences that apply, the most serious first."""
    return tuple(
        sentence
        for check in (_disconnected, _without_games, _no_maximum, _not_settled, _few_clusters)
        for sentence in check(found)
    )


def _disconnected(found: Findings) -> Iterator[str]:
    if len(found.groups) > 1:
        groups = "; ".join(_listed(group) for group in found.groups[:NAMES_SHOWN])
        yield (
            f"The contestants form {len(found.groups)} groups that never met ({groups}): ratings and ranks "
            "can be compared within a group only."
        )


def _without_games(found: Findings) -> Iterator[str]:
    idle = [name for name, games in zip(found.names, found.played[0], strict=True) if not games]
    if idle:
        yield f"Without a game, and so without a rating: {_listed(idle)}."


def _no_maximum(found: Findings) -> Iterator[str]:
    if found.prior:
        games, wins, losses, _ = found.played
        rows = list(zip(found.names, games, wins, losses, strict=True))
        never_lost = [name for name, n, won, _ in rows if n and won == n]
        never_won = [name for name, n, _, lost in rows if n and lost == n]
        causes = [f"{_listed(never_lost)} won every game"] if never_lost else []
        causes += [f"{_listed(never_won)} lost every game"] if never_won else []
        cause = " and ".join(causes) or "some contestants won every game against all the others"
        yield (
            f"Bradley-Terry has no finite answer here because {cause}; one drawn game against the average "
            "was added for each contestant to keep the ratings finite."
        )
        return
    if isinstance(found.bootstrap, BradleyTerryBootstrap) and found.bootstrap.prior_rounds:
        yield (
            f"In {found.bootstrap.prior_rounds} of {found.bootstrap.rounds} rounds Bradley-Terry had no "
            "finite answer and one drawn game against the average was added for each contestant."
        )


def _not_settled(found: Findings) -> Iterator[str]:
    if found.elo is None:
        return
    needed = found.elo.settling_games
    few = sorted(
        (int(games), name)
        for name, games in zip(found.names, found.played[0], strict=True)
        if 0 < games < needed
    )
    if few:
        fewest, name = few[0]
        more = f", and {len(few) - 1} more have too few" if len(few) > 1 else ""
        yield (
            f"Elo with K={found.elo.k:g} needs about {needed:.0f} games per contestant to settle; "
            f"{name} has {fewest}{more}: ratings are drawn towards the start, so look at Bradley-Terry too."
        )


def _few_clusters(found: Findings) -> Iterator[str]:
    if found.bootstrap is None:
        return
    if found.units == 1:
        unit = "game" if found.bootstrap.clusters is None else "prompt"
        yield f"There is only one {unit} to resample, which says nothing about uncertainty: no intervals."
    elif found.bootstrap.clusters is not None and found.units < FEWEST_CLUSTERS:
        yield (
            f"The intervals resample only {found.units} prompts; with fewer than {FEWEST_CLUSTERS} they tend "
            "to be too narrow."
        )


def _listed(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(names[:NAMES_SHOWN])
    rest = len(names) - NAMES_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown
