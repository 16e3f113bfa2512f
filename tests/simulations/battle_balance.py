"""Simulated live battles: models of known strengths drawn as visitors come, one battle after the other."""

import random
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from judging.battles import weighing
from judging.battles.weighing import Pair, Tallies, pair_of

WARM_UP = 20
IN_HAND = 10  # battles that are open at a time, whose votes are not known yet


@dataclass
class Season:
    """What was drawn, and what is known from it."""

    strengths: Sequence[float]  # in Elo points
    rng: random.Random
    random_share: float = 0.2
    ties: float = 0.2
    pairs: Counter[Pair] = field(default_factory=Counter)
    at_random: int = 0
    drawn: list[Pair] = field(default_factory=list)
    open: list[Pair] = field(default_factory=list)
    rated: Counter[int] = field(default_factory=Counter)
    won: Counter[int] = field(default_factory=Counter)

    def play(self, battles: int, able: Callable[[int], Collection[int]] | None = None) -> None:
        """Draw so many battles; ``able``: which models can be asked at the n-th."""
        for number in range(battles):
            self._draw(able(number) if able else range(len(self.strengths)))
            if len(self.open) > IN_HAND:
                self._vote(self.open.pop(self.rng.randrange(len(self.open))))

    def _draw(self, able: Collection[int]) -> None:
        is_random = self.rng.random() < self.random_share
        self.at_random += is_random
        weights = weighing.pair_weights(able, self.known, random_share=float(is_random), warm_up=WARM_UP)
        [pair] = self.rng.choices(list(weights), list(weights.values()))
        self.pairs[pair] += 1
        self.drawn.append(pair)
        self.open.append(pair)

    @property
    def known(self) -> Tallies:
        return Tallies(self.battles, self.rated, self.won, self.pairs)

    @property
    def battles(self) -> Counter[int]:
        found: Counter[int] = Counter()
        for pair, count in self.pairs.items():
            found.update(dict.fromkeys(pair, count))
        return found

    def _vote(self, pair: Pair) -> None:
        one, other = pair
        share = 1 / (1 + 10 ** ((self.strengths[other] - self.strengths[one]) / 400))
        luck = self.rng.random()
        score = 0.5 if luck < self.ties else float(self.rng.random() < share)
        self.rated.update(pair)
        self.won[one] += score
        self.won[other] += 1 - score

    def least_to_mean(self, since: int = 0) -> float:
        """How often the least drawn model was drawn, beside the mean."""
        found: Counter[int] = Counter()
        for pair in self.drawn[since:]:
            found.update(pair)
        return min(found[each] for each in range(len(self.strengths))) * len(self.strengths) / found.total()

    def unmet(self) -> set[Pair]:
        return {pair_of(*pair) for pair in combinations(range(len(self.strengths)), 2)} - self.pairs.keys()
