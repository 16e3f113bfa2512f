"""Simulated studies with people and a judge, and how often intervals hold what very many people would say."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import root
from scipy.special import expit

from leaderboard.stats.anchored import anchored

POINTS = 400 / np.log(10)
FIVE = (150.0, 80.0, 0.0, -80.0, -150.0)
"""How good five contestants are, in points."""
QUALITY = 250.0 / POINTS
"""Standard deviation, over prompts, of how good a contestant's completion is."""
TIES = 0.15


@dataclass(frozen=True)
class Judge:
    """How it errs, in points.

    It is ``kind`` to the last contestant, sees each completion through ``noise``, and leans by ``position``
    to what it reads first. A ``coin`` looks at nothing.
    """

    kind: float = 0.0
    noise: float = 120.0
    position: float = 0.0
    coin: bool = False


JUDGES = {
    "good": Judge(),
    "kind to one by 200 points": Judge(kind=200.0),
    "noisy": Judge(noise=500.0),
    "swayed by position, half ties": Judge(position=300.0),
    "kind, noisy and swayed": Judge(kind=200.0, noise=300.0, position=200.0),
    "useless": Judge(coin=True),
}


@cache
def truth(strength):
    """The Bradley-Terry fit of very many people on all pairs of very many prompts, by integration."""
    level, (a, b) = np.array(strength) / POINTS, np.triu_indices(len(strength), 1)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    spread = np.sqrt(2) * QUALITY * nodes
    chance = expit((level[a] - level[b])[:, None] + spread) @ weights / weights.sum()
    share = (1 - TIES) * chance + TIES / 2
    x = np.eye(len(level))[a] - np.eye(len(level))[b]
    theta = root(lambda t: x.T @ (expit(x @ t) - share) + t.mean(), level, tol=1e-12).x
    return 1000 + POINTS * (theta - theta.mean())


@dataclass(frozen=True)
class Design:
    """How many prompts the judge rated, how many of them people, and on how many random pairs of each.

    ``rated_pairs`` is how many of the pairs of a prompt people rated, at most ``pairs``; ``strength`` says
    how good each contestant is, in points.
    """

    rated: int
    judged: int = 1000
    pairs: int = 10
    rated_pairs: int = 1000
    strength: tuple[float, ...] = FIVE


def simulated(judge, design, seed):
    """A study, with one person's verdict for each pair people rated."""
    generator = np.random.default_rng(seed)
    level = np.array(design.strength) / POINTS
    a, b = np.triu_indices(len(level), 1)
    quality = level + generator.normal(0.0, QUALITY, (design.judged, len(level)))
    human = (generator.random((design.judged, len(a))) < expit(quality[:, a] - quality[:, b])).astype(float)
    human[generator.random(human.shape) < TIES] = 0.5
    verdicts = _verdicts(judge, quality, generator)
    place = generator.random(human.shape).argsort(axis=1).argsort(axis=1)
    human[place >= min(design.pairs, design.rated_pairs)] = np.nan
    human[design.rated :] = np.nan
    there = (place < design.pairs).ravel()
    prompt, pair = np.divmod(np.flatnonzero(there), len(a))
    scores = (values.ravel()[there] for values in (human, verdicts))
    return anchored(a[pair], b[pair], *scores, len(level), prompt=prompt)


def _verdicts(judge, quality, generator):
    """The judge's mean score over both orders, (prompts, pairs)."""
    contestants = quality.shape[1]
    a, b = np.triu_indices(contestants, 1)
    if judge.coin:
        return generator.integers(0, 3, (len(quality), len(a))) / 2
    last = np.arange(contestants) == contestants - 1
    seen = quality + (judge.kind * last + generator.normal(0.0, judge.noise, quality.shape)) / POINTS
    ahead = seen[:, a] - seen[:, b]
    pull = judge.position / POINTS
    return ((ahead + pull > 0).astype(float) + (ahead - pull > 0)) / 2


@dataclass(frozen=True)
class Outcome:
    """Over many studies: shares of intervals that hold the truth, and means of what the judge was worth.

    ``worst`` is the share of the contestant farthest from 95 %, ``width`` that of anchored intervals over
    people's. ``worth`` is effective votes over votes as estimated, ``gain`` what it estimates: the squared
    error of people alone over that of the anchored ratings.
    """

    anchored: float
    human: float
    judge: float
    worst: float
    width: float
    worth: float
    gain: float
    power: float


def coverage(judge, design, studies):
    found, true = [simulated(judge, design, seed) for seed in range(studies)], truth(design.strength)

    def held(name):
        estimates = [getattr(result, name) for result in found]
        return np.array([(one.low <= true) & (true <= one.high) for one in estimates])

    def squared_error(name):
        return float(np.mean([(getattr(result, name).value - true) ** 2 for result in found]))

    each = held("best").mean(axis=0)
    return Outcome(
        anchored=float(each.mean()),
        human=float(held("human").mean()),
        judge=float(held("judge").mean()),
        worst=float(each[np.abs(each - 0.95).argmax()]),
        width=float(np.mean([(r.high - r.low).mean() / (r.human.high - r.human.low).mean() for r in found])),
        worth=float(np.mean([r.effective_votes_overall / r.counts.human_pairs for r in found])),
        gain=squared_error("human") / squared_error("best"),
        power=float(np.mean([r.power for r in found])),
    )
