"""A study's queue of pairs in memory, for simulations: what arena.rating.offering asks of the database."""

from itertools import combinations

import numpy as np

from arena.rating.schedule import Schedule
from arena.rating.worth import worth
from arena.rules import pairing

REFIT = 0.01  # growth of the comparisons after which the arena fits its model again


class Queue:
    """Pairs as parallel arrays: prompt, the contestants a < b, turn and load; see ``pairing.Free``."""

    def __init__(self, texts, size, disagreement=()):
        """texts: prompts with their contestants; disagreement: by prompt and contestants."""
        schedule = Schedule(dict.fromkeys(texts, ""), range(size))
        disagreement = dict(disagreement)
        pairs = [(prompt, a, b) for prompt, some in texts.items() for a, b in combinations(sorted(some), 2)]
        self.prompt, self.a, self.b = np.array(pairs).T
        slot = schedule.slot
        turns = (schedule.turn(prompt, slot[a], slot[b]) for prompt, a, b in pairs)
        found = zip(pairs, turns, strict=True)
        self.turn = np.array([-disagreement.get(pair, -turn) for pair, turn in found])
        self.load = np.zeros(len(pairs), dtype=np.int64)
        self.free = np.ones(len(pairs), dtype=bool)
        self.wins = np.zeros((size, size))
        self._worth, self._fitted = {}, -1.0

    def choose(self, strategy, rng):
        return pairing.STRATEGIES[strategy].choose(self, rng)

    def at_random(self, rng):
        return int(rng.choice(np.flatnonzero(self.free)))

    def least_rated(self, contestants=None):
        free = self.free
        if contestants:
            free = free & (self.a == contestants[0]) & (self.b == contestants[1])
        places = np.flatnonzero(free)
        return int(places[np.lexsort((self.turn[places], self.load[places]))[0]]) if len(places) else None

    def take(self, place):
        self.load[place] += 1
        self.free[place] = False

    def worth(self):
        games = float(self.wins.sum())
        if self._fitted < 0 or games - self._fitted > REFIT * self._fitted:
            found = worth(self.wins)
            self._worth = {(a, b): found[a, b] for a, b in combinations(range(len(found)), 2)}
            self._fitted = games
        return self._worth
