"""How often intervals of requirements and scores hold the truth, by simulation.

Seeds are fixed, so the numbers are the same every time (to the rounding of another machine).
"""

import numpy as np
import pytest
from scipy.special import expit

from leaderboard.stats.pointwise_standings import score_standings
from leaderboard.stats.requirements import make_answers, make_questions, requirements
from leaderboard.stats.score_agreement import MEASURES, people_agreement, score_agreement
from leaderboard.stats.scores import make_scores, score_difference, score_length, score_summary

STUDIES = 2000
DRAWN = 1000
"""Studies whose intervals need resamples."""
ROUNDS = 300
PROMPTS = (10, 20, 60, 250)
LARGE = 40_000
CONTESTANTS = (-0.6, -0.2, 0.2, 0.6)


def checked(prompts, seed, ease):
    """One contestant's answers to one to six questions a prompt, one in eight of them about a number.

    Prompts differ in how hard they are, and questions about numbers are harder.
    """
    generator = np.random.default_rng(seed)
    prompt = np.repeat(np.arange(prompts), generator.integers(1, 7, prompts))
    number = generator.random(len(prompt)) < 1 / 8
    chance = expit(ease + generator.normal(0.0, 1.0, prompts)[prompt] - number)
    labels = [("Number",) if own else ("Content",) for own in number]
    answers = make_answers(0, 0, np.arange(len(prompt)), (generator.random(len(prompt)) < chance).astype(int))
    found = requirements(make_questions(prompt, labels), answers)
    label = found.labels.get("Number")
    return {
        "DRFR": ends(found.overall, "drfr"),
        "one label": ends(label, "drfr") if label else None,
        "mean over prompts": found.macro.estimate,
        "all met": found.all_met.estimate,
    }


def ends(found, name):
    return getattr(found, name), found.low, found.high


def scored(prompts, seed, noise):
    """Two raters' scores of four contestants, whose texts score higher the longer they are."""
    generator = np.random.default_rng(seed)
    doublings = generator.normal(9.0, 1.0, (4, prompts))
    hard, text = generator.normal(size=prompts), generator.normal(size=(4, prompts))
    quality = 6 + 1.5 * np.array(CONTESTANTS)[:, None] + hard + text + 0.3 * (doublings - 9)
    values = np.clip(np.rint(quality + generator.normal(0.0, noise, (3, 4, prompts))), 1, 10)
    rater, contestant, prompt = (grid.ravel() for grid in np.indices(values.shape))
    scores = make_scores(rater, contestant, prompt, values.ravel(), lowest=1, highest=10)
    return scores, np.tile(np.exp2(doublings).ravel(), 3)


def single(prompts, seed, noise):
    """What one rater's scores say."""
    scores, length = scored(prompts, seed, noise)
    first = scores.rater == 0
    own = scores.only(first)
    of = [own.only(own.contestant == number) for number in range(2)]
    ranked = score_standings(own, "ABCD", rounds=1).rows
    best = next(row for row in ranked if row.contestant == "D")
    return {
        "mean": score_summary(of[0]).mean,
        "difference": score_difference(*of).estimate,
        "standing": ends(best, "rating"),
        "length": ends(score_length(own, length[first]).within_prompt, "slope"),
        "length, alike": ends(score_length(own, length[first]).alike, "slope"),
    }


def several(prompts, seed, noise):
    """How far raters agree."""
    scores, _ = scored(prompts, seed, noise)
    one, other = (scores.only(scores.rater == number) for number in range(2))
    found = score_agreement(one, other, rounds=ROUNDS, seed=seed)
    people = people_agreement(scores, rounds=ROUNDS, seed=seed)
    return {name: getattr(found, name) for name in MEASURES} | {"ceiling, pearson": people.pearson}


@pytest.mark.parametrize(
    ("study", "setting", "studies"),
    [
        *((checked, ease, STUDIES) for ease in (2.5, 1.0)),
        *((single, noise, STUDIES) for noise in (0.5, 1.5)),
        *((several, noise, DRAWN) for noise in (0.5, 1.5)),
    ],
)
def test_coverage(study, setting, studies):
    """Shares of the 95 % intervals there are that hold the value of 40,000 prompts."""
    truth = {name: found[0] for name, found in study(LARGE, 999_999, setting).items()}
    print(f"\n\n{study.__name__}, {setting}, {studies} studies each")
    print("| prompts | " + " | ".join(truth) + " |")
    print("|--:|" + "--:|" * len(truth))
    print("| *true value* | " + " | ".join(f"{value:.3f}" for value in truth.values()) + " |", flush=True)
    for prompts in PROMPTS:
        found = [study(prompts, seed, setting) for seed in range(studies)]
        held = []
        for name, value in truth.items():
            known = [each[name] for each in found if each[name] is not None and each[name][1] is not None]
            held.append(np.mean([low <= value <= high for _, low, high in known]))
        print(f"| {prompts} | " + " | ".join(f"{100 * share:.1f}" for share in held) + " |", flush=True)
        assert min(held) > 0.92
