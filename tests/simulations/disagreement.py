"""How soon people find the errors of judges if pairs are chosen by disagreement, by simulation.

    python -m tests.simulations.disagreement

Answers have a quality: the strength of their model plus chance. A judge sees it with an error, and so does a
feature, on a scale of each model's own; people prefer the better answer by a Bradley-Terry model. Pairs are
chosen by the arena's own functions, each once. A judge's error is a pair whose worse answer it prefers.
"""

import argparse
import random
from statistics import mean, stdev

import numpy as np

from arena.rating.worth import disagreement, fit
from tests.simulations.pair_queue import Queue

MODELS, PROMPTS = 6, 60
CONTROL = 0.2
SETTINGS = {
    "a good feature": (0.3, 1.0),
    "a fair feature": (0.3, 2.0),
    "a useless feature": (0.3, 1000.0),
    "a fair feature, uneven strengths": (1.0, 2.0),
}
"""Deviation of strengths, and of the feature's error, where that of quality is 1."""


class Study:
    def __init__(self, number, spread, noise):
        self.rng, self._chance = random.Random(number), np.random.default_rng(number)
        strength = self._chance.normal(0.0, spread, MODELS)
        quality = strength + self._chance.normal(size=(PROMPTS, MODELS))
        judged = quality + self._chance.normal(size=quality.shape)
        scale, middle = np.exp(self._chance.normal(0, 0.3, MODELS)), self._chance.normal(size=MODELS)
        feature = middle + scale * (quality - strength + noise * self._chance.normal(size=quality.shape))
        self._texts = {prompt: range(MODELS) for prompt in range(PROMPTS)}
        queue = self.queue()
        first, second = queue.prompt * MODELS + queue.a, queue.prompt * MODELS + queue.b
        better = judged.ravel()[first] - judged.ravel()[second]
        preference = np.round(3.5 * np.tanh(better) - 0.5) / 3.5 + 1 / 7  # a rating of 1 to 8
        self.gap = quality.ravel()[first] - quality.ravel()[second]
        self.is_error = np.sign(preference) != np.sign(self.gap)
        contestants = {text: text % MODELS for text in range(PROMPTS * MODELS)}
        said = dict(zip(zip(first.tolist(), second.tolist(), strict=True), preference.tolist(), strict=True))
        found = disagreement(dict(enumerate(feature.ravel().tolist())), contestants, said)
        unsure = {both: 1.0 - abs(preferred) for both, preferred in said.items()}
        self._first = {
            way: {(a // MODELS, a % MODELS, b % MODELS): value for (a, b), value in some.items()}
            for way, some in (("disagreement", found), ("unsure", unsure))
        }
        mean_quality = quality.mean(axis=0)
        self.truth = mean_quality - mean_quality.mean()

    def queue(self, first=()):
        return Queue(self._texts, MODELS, first)

    def order(self, way):
        """All pairs in the order in which they are offered."""
        queue, found = self.queue(self._first.get(way.partition(",")[0].partition(" ")[0], ())), []
        while queue.free.any():
            is_random = "random" in way and self.rng.random() < CONTROL
            place = queue.at_random(self.rng) if is_random else queue.choose("disagreement", self.rng)
            queue.take(place)
            found.append(place)
        return np.array(found)

    def slope(self, places):
        """Of strengths by people's ratings of these pairs on those by all pairs' true chances."""
        queue, wins = self.queue(), np.zeros((MODELS, MODELS))
        for place in places:
            a, b = queue.a[place], queue.b[place]
            a_wins = self._chance.random() < 1 / (1 + np.exp(-self.gap[place]))
            wins[(a, b) if a_wins else (b, a)] += 1
        found = fit(wins, deviation=10.0).strengths
        return float((found - found.mean()) @ self.truth / (self.truth @ self.truth))


def measured(study, way):
    order = study.order(way)
    errors = np.cumsum(study.is_error[order])
    half = int(np.searchsorted(errors, errors[-1] / 2)) + 1
    tenth = len(order) // 10
    return half / len(order), errors[tenth - 1] / tenth, study.slope(order[: 3 * tenth])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--studies", type=int, default=30)
    given = parser.parse_args()
    print("| feature | pairing | pairs until half of the errors | errors in the first tenth | slope |")
    print("|---|---|--:|--:|--:|")
    for name, (spread, noise) in SETTINGS.items():
        for way in ("balanced", "disagreement", "disagreement, random share", "unsure judge"):
            found = [measured(Study(number, spread, noise), way) for number in range(given.studies)]
            half, first, slope = (list(values) for values in zip(*found, strict=True))
            ends = f"{mean(half):.1%} ± {1.96 * stdev(half) / len(half) ** 0.5:.1%}"
            print(f"| {name} | {way} | {ends} | {mean(first):.1%} | {mean(slope):.3f} |", flush=True)


if __name__ == "__main__":
    main()
