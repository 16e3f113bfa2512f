"""Sentences about how scores are made, for each method and each way to resample."""

import pytest

from leaderboard.snapshots.settings import Setting
from leaderboard.standings import sentences

ELO = {"k": 4, "scale": 400, "base": 10, "init": 1000, "rounds": 1000}
FITTED = {"scale": 400, "init": 1000}
MIDDLE = "4 and 5 of 8, and the middle of 3 and 5 points,"


@pytest.mark.parametrize(
    ("counts", "ratings", "said"),
    [
        ({"kinds": {"model": 2}}, (1, 0, 0, 0), "2 models, 1 prompt, 1 rating by people."),
        (
            {"kinds": {"model": 1, "people": 1}},
            (1200, 2, 3, 1),
            "1 model and answers by people, 1 prompt, 1,200 ratings by people, 2 by judges, 3 by panels, "
            "which follow from them. 1 more pair got no rating.",
        ),
        (
            {"kinds": {"people": 1}},
            (0, 2, 0, 5),
            "Answers by people, 1 prompt, 2 ratings by judges. 5 more pairs got no rating.",
        ),
        ({"contestants": 3}, (0, 0, 0, 0), "3 models, 1 prompt."),
    ],
)
def test_a_study_says_how_much_it_has(counts, ratings, said):
    assert sentences.size({"prompts": 1, "contestants": 0} | counts, *ratings) == said


@pytest.mark.parametrize(
    ("method", "used", "adjusted", "said"),
    [
        (
            "elo",
            ELO,
            "",
            "Elo, the average over random orders of the ratings. K=4, scale 400, base 10, start 1000.",
        ),
        (
            "elo-study",
            ELO | {"k": 32.5},
            "",
            "Elo, the median of 1,000 resamples. K=32.5, scale 400, base 10, start 1000.",
        ),
        ("bradley-terry", FITTED, "", "Bradley-Terry, by maximum likelihood. Scale 400, centred at 1000."),
        (
            "davidson",
            FITTED,
            "",
            "Davidson’s model, which treats a tie as an outcome of its own, by maximum likelihood. "
            "Scale 400, centred at 1000.",
        ),
        (
            "ordinal",
            FITTED,
            "length",
            "A cumulative logit model of every rating as given. It allows for being shown first and for "
            "length, by maximum likelihood. Scale 400, centred at 1000.",
        ),
    ],
)
def test_a_method_is_said_with_its_constants(method, used, adjusted, said):
    assert sentences.method(Setting("people", method=method), used, adjusted) == said


@pytest.mark.parametrize(
    ("used", "said"),
    [
        ({"resample": "games", "units": 1200}, "Each resample draws 1,200 ratings with replacement."),
        (
            {"resample": "raters", "units": 1},
            "Each resample draws 1 rater with replacement and takes all their ratings.",
        ),
        (
            {"resample": "prompts", "clusters": 2},
            "Each resample draws 2 prompts with replacement and takes all their ratings.",
        ),
        (
            {"resample": "prompts", "clusters": 2, "raters_drawn": 3},
            "Each resample draws 2 prompts and 3 raters with replacement. A rating counts as often as "
            "both were drawn, multiplied.",
        ),
    ],
)
def test_a_resample_says_what_it_draws(used, said):
    assert sentences.resampling(used) == said


@pytest.mark.parametrize(
    ("used", "drawn"),
    [
        ({"resample": "games"}, "Ratings"),
        ({"resample": "raters"}, "Raters"),
        ({"resample": "prompts"}, "Prompts"),
        ({"resample": "prompts", "raters_drawn": 3}, "Prompts and raters"),
    ],
)
def test_a_robust_covariance_says_what_it_takes_as_independent(used, drawn):
    said = sentences.resampling(used | {"intervals": "sandwich", "rounds": 1000})
    assert said == f"{drawn} count as independent. Ranks and probabilities come from 1,000 draws."


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (Setting("people"), f"{MIDDLE} count half for each side."),
        (Setting("people", method="davidson"), f"{MIDDLE} are ties."),
        (Setting("people", band="3-6"), "Ratings 3-6 are ties and count half for each side."),
        (Setting("people", band="3-6", method="davidson"), "Ratings 3-6 are ties."),
        (
            Setting("people", ties="off"),
            "Off: 4 of 8 is a win for the first and 5 for the second. The middle of 3 and 5 points is "
            "left out.",
        ),
        (
            Setting("people", method="ordinal"),
            f"The model takes every rating as given. Wins and ties are counted with {MIDDLE} as ties.",
        ),
        (
            Setting("people", ratings="expected"),
            "An expected rating E of n points is (n − E) / (n − 1) of a win for the first. Wins and ties are "
            "counted by its side of the middle.",
        ),
    ],
)
def test_ties_are_said_as_they_count(setting, said):
    assert sentences.ties(setting) == said
