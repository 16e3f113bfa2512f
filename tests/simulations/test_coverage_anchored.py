"""How often human-anchored intervals hold the truth, and a judge's own do not."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.stats.anchored import anchor_pairs
from leaderboard.stats.anchored_pairs import rated_pairs
from leaderboard.stats.ratings import make_ratings
from tests.leaderboard.stats.anchored_studies import JUDGES, Design, coverage

STUDIES = 1000
STUDIES_OF_MANY = 200
SPLITS = 30
DESIGNS = {
    "15 prompts by people, 1000 by the judge": Design(15),
    "30 prompts by people, 1000 by the judge": Design(30),
    "60 prompts by people, 1000 by the judge": Design(60),
    "100 prompts by people, 1000 by the judge": Design(100),
    "300 prompts by people, 1000 by the judge": Design(300),
    "100 by people, 1000 by the judge, 2 of 10 pairs each": Design(100, pairs=2),
    "200 by both, 2 of 10 pairs each by people": Design(200, judged=200, rated_pairs=2),
    "59 contestants, 165 of 1711 pairs each: 13 by people, 100 by the judge": Design(
        13, judged=100, pairs=165, strength=tuple(np.linspace(150.0, -150.0, 59).tolist())
    ),
}
HEADER = ("judge", "anchored", "farthest", "people", "judge", "width", "worth", "gain", "power")


def row(name, found):
    shares = (found.anchored, found.worst, found.human, found.judge)
    numbers = (
        *(f"{100 * share:.1f}" for share in shares),
        *(f"{x:.2f}" for x in (found.width, found.worth, found.gain, found.power)),
    )
    return " | ".join((f"{name:32}", *(f"{number:>8}" for number in numbers)))


@pytest.mark.parametrize("name", DESIGNS)
def test_coverage(name):
    """Shares of 95 % intervals in percent, for each judge; seeds are fixed, so the numbers are too."""
    design = DESIGNS[name]
    lowest, highest = (0.93, 0.97) if design.rated >= 100 else (0.92, 0.98)
    studies = STUDIES if len(design.strength) == 5 else STUDIES_OF_MANY
    print(f"\n\n{name}: {studies} studies of {len(design.strength)} contestants\n")
    print(" | ".join((f"{HEADER[0]:32}", *(f"{title:>8}" for title in HEADER[1:]))))
    for judge, errs in JUDGES.items():
        found = coverage(errs, design, studies)
        print(row(judge, found), flush=True)
        assert lowest < found.anchored < highest
        assert lowest < found.human < highest
        assert found.judge < 0.8 or not errs.kind or studies < STUDIES
        assert found.width < 1.02


def pairs_of_llmfao(folder, judge):
    """A public study: crowd workers on 13 prompts and 59 models, and what a judge said of the same pairs."""
    rows = [
        (row, by_judge)
        for name, by_judge in (("crowd", False), (f"{judge}-crowd", True))
        for row in csv.DictReader((folder / "llmfao" / f"{name}-comparisons.csv").open(newline=""))
    ]
    names = sorted({row[side] for row, _ in rows for side in ("left", "right")})
    first, second = ([names.index(row[side]) for row, _ in rows] for side in ("left", "right"))
    rating = [{"left": 1, "tie": 2, "right": 3}[row["winner"]] for row, _ in rows]
    ratings = make_ratings(first, second, rating, 3, len(names), prompt=[row["prompt"] for row, _ in rows])
    of_judge = np.array([by_judge for _, by_judge in rows])
    return rated_pairs(ratings, ~of_judge, of_judge)


def surprises(pairs, found):
    """Correlation of people's and the judge's scores of a pair, each less what its own ratings expect."""
    both, left = pairs.both, []
    for score, estimate in ((pairs.human, found.human), (pairs.judge, found.judge)):
        ahead = (estimate.value[pairs.a] - estimate.value[pairs.b]) / 400
        left.append((score - 1 / (1 + 10**-ahead))[both])
    return float(np.corrcoef(left)[0, 1])


@pytest.mark.parametrize("judge", ["gpt4", "gpt3"])
def test_hidden_people(judge, reference_data):
    """How far from everybody's ratings one gets with some of the people's pairs, in points."""
    pairs = pairs_of_llmfao(reference_data, judge)
    everybody = anchor_pairs(pairs)
    print(f"\n\n{judge}, {len(pairs)} pairs, {everybody.counts.human_prompts} prompts, {SPLITS} choices")
    print(f"correlation of the surprises at a pair: {surprises(pairs, everybody):.2f}\n")
    print("people's pairs kept | anchored | people alone | judge alone | power | worth")
    for kept in (0.2, 0.3, 0.5):
        errors, power, worth = [], [], []
        for seed in range(SPLITS):
            chosen = np.random.default_rng(seed).random(len(pairs)) < kept
            found = anchor_pairs(replace(pairs, human=np.where(chosen, pairs.human, np.nan)))
            ratings = (found.rating, found.human.value, found.judge.value)
            errors.append([np.nanmean((one - everybody.human.value) ** 2) for one in ratings])
            power.append(found.power)
            worth.append(found.effective_votes_overall / found.counts.human_pairs)
        best, people, alone = np.sqrt(np.mean(errors, axis=0))
        means = f"{np.mean(power):5.2f} | {np.mean(worth):5.2f}"
        print(f"{kept:19.0%} | {best:8.1f} | {people:12.1f} | {alone:11.1f} | {means}", flush=True)
        assert best < 1.1 * people
        assert best < alone
