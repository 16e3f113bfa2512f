"""How often Elo's 95 % intervals hold the truth, and how wide they are.

The truth is where Elo settles in endless games of the same contestants, found by playing them, and beside it
the strengths that the votes were drawn from.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import norm

from leaderboard.stats.elo import K
from leaderboard.stats.games import make_games
from leaderboard.stats.ranking import rank_games
from leaderboard.stats.ranking_method import Method
from tests.leaderboard.stats.rated_studies import POINTS

ESTIMATES = 4_000
"""Of each row: studies times contestants."""

ROUNDS = 500
TIES = 0.25
"""Share of ties between equals."""

CHAINS, BURN_IN, KEPT = 5_000, 3_000, 12_000


def chances(difference):
    """Win and tie for a difference in points; a tie counting half, they add up to Elo's expected score."""
    expected = 1 / (1 + np.exp(-difference / POINTS))
    tie = TIES * 4 * expected * (1 - expected)
    return np.stack((expected - tie / 2, tie))


@dataclass(frozen=True)
class Design:
    contestants: int
    prompts: int
    on_prompt: int  # pairs of each prompt
    taste: float  # standard deviation of strengths over prompts, in points

    @property
    def strengths(self):
        places = (np.arange(self.contestants) + 0.5) / self.contestants
        return 1000 + 120 * norm.ppf(places)

    @property
    def pairs(self):
        return np.triu_indices(self.contestants, 1)

    def study(self, seed):
        generator = np.random.default_rng(seed)
        low, high = self.pairs
        every = np.arange(len(low))
        drawn = [
            generator.choice(every, self.on_prompt, replace=self.on_prompt > len(every))
            for _ in range(self.prompts)
        ]
        prompt, pair = np.repeat(np.arange(self.prompts), self.on_prompt), np.concatenate(drawn)
        strength = self.strengths + generator.normal(0, self.taste, (self.prompts, self.contestants))
        a, b = low[pair], high[pair]
        win, tie = chances(strength[prompt, a] - strength[prompt, b])
        lot = generator.random(len(a))
        score = np.where(lot < win, 1.0, np.where(lot < win + tie, 0.5, 0.0))
        return make_games(a, b, score, self.contestants, cluster=prompt)

    def mean_chances(self):
        """Win and tie of each pair over all prompts, by Gauss and Hermite's rule."""
        node, weight = np.polynomial.hermite_e.hermegauss(61)
        gap = self.strengths[self.pairs[0]] - self.strengths[self.pairs[1]]
        return chances(gap[:, None] + np.sqrt(2) * self.taste * node) @ weight / weight.sum()

    def settled(self):
        """Mean strengths of Elo in long runs of random games, played side by side."""
        generator, (low, high), (win, tie) = np.random.default_rng(7), self.pairs, self.mean_chances()
        state = np.repeat(self.strengths[:, None], CHAINS, axis=1)
        total, chain = np.zeros(self.contestants), np.arange(CHAINS)
        for step in range(BURN_IN + KEPT):
            pair, lot = generator.integers(len(low), size=CHAINS), generator.random(CHAINS)
            score = np.where(lot < win[pair], 1.0, np.where(lot < win[pair] + tie[pair], 0.5, 0.0))
            a, b = low[pair], high[pair]
            gain = K * (score - 1 / (1 + np.exp((state[b, chain] - state[a, chain]) / POINTS)))
            state[a, chain] += gain
            state[b, chain] -= gain
            if step >= BURN_IN and step % 10 == 0:
                total += state.mean(axis=1)
        return total / (KEPT // 10)


DESIGNS = [
    Design(contestants, prompts, on_prompt, taste)
    for contestants, prompts, on_prompt in ((4, 60, 6), (20, 100, 20), (20, 100, 190))
    for taste in (0.0, 150.0)
]


def ends(games, name, seed):
    """Low and high end of each contestant's interval."""
    names = [f"{number:02}" for number in range(games.contestants)]
    found = rank_games(games, names, Method(name, rounds=ROUNDS, robustness=False, seed=seed))
    rows = sorted(found.standings, key=lambda row: row.contestant)
    return np.array([(row.low, row.high) for row in rows]).T


@pytest.fixture(scope="module")
def heading():
    columns = "contestants", "games", "tastes", "covers Elo's mean", "covers strengths", "bias"
    widths = "width", "Bradley-Terry", "as in the study"
    print(f"\n\n{ESTIMATES:,} estimates a row, {ROUNDS} rounds, K = {K:g}; widths in points")
    print(f"| {' | '.join((*columns, *widths))} |\n{'|--:' * 9}|", flush=True)


@pytest.mark.parametrize("design", DESIGNS)
def test_coverage(design, heading):
    settled, strengths = design.settled(), design.strengths
    inside, width = [], []
    for seed in range(ESTIMATES // design.contestants):
        games = design.study(seed)
        low, high = ends(games, "elo", seed)
        inside.append([(low <= truth) & (truth <= high) for truth in (settled, strengths)])
        width.append(
            [(np.diff(both, axis=0).mean()) for both in ((low, high), ends(games, "bradley-terry", seed))]
        )
    own, true = 100 * np.mean(inside, axis=(0, 2))
    wide, beside = np.mean(width, axis=0)
    study = np.diff(ends(design.study(0), "elo-study", 0), axis=0).mean()
    bias = 100 * (np.ptp(settled) / np.ptp(strengths) - 1)
    print(
        f"| {design.contestants} | {design.prompts * design.on_prompt:,} | {design.taste:g} | {own:.1f} % "
        f"| {true:.1f} % | {bias:+.1f} % | {wide:.0f} | {beside:.0f} | {study:.0f} |",
        flush=True,
    )
    assert 93 <= own <= 97
    assert wide < 1.3 * beside
