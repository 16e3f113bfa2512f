"""Orders of models by single answers, and what is said of them."""

import numpy as np
import pytest

from leaderboard.scores.table import bins, slope_sentence
from leaderboard.stats.pointwise_standings import OrderAgreement, score_standings
from leaderboard.stats.scores import make_scores
from leaderboard.texts.beside_pairs import compared
from leaderboard.texts.table import lead, order_sentence


def agreement(spearman, low=None, high=None):
    return OrderAgreement(5, spearman, low, high, None, None, None).as_dict()


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (agreement(1.0), "is 1.00 over 5 models. They put models in the same order."),
        (agreement(0.9, 0.2, 1.0), "is 0.90 (0.20–1.00) over 5 models. They put models in much the same"),
        (agreement(0.6, 0.1, 0.9), "is 0.60 (0.10–0.90) over 5 models. Their orders of models differ."),
        (
            agreement(0.9, -0.1, 1.0),
            "is 0.90 (−0.10 to 1.00) over 5 models. They may have nothing in",
        ),
        (agreement(-0.9, -1.0, -0.5), "over 5 models. Their orders of models differ."),
        (
            agreement(None),
            "All models are equal in one of them, so text scores and pairs have no",
        ),
    ],
)
def test_the_sentence_about_two_orders(found, said):
    assert said in order_sentence("text scores", "pairs", found)


def test_only_models_that_are_shown_and_compared_are_in_an_order():
    # Cleo shares no prompt with the others, Bob is not shown.
    score = make_scores(
        [0] * 7, [0, 1, 3, 0, 1, 3, 2], [0, 0, 0, 1, 1, 1, 2], range(1, 8), lowest=1, highest=9
    )
    names = ["Ada", "Bob", "Cleo", "Dan"]
    standings = score_standings(score, names, rounds=20)
    found = compared(standings, names, [{"contestant": name} for name in ("Ada", "Cleo", "Dan")])
    assert found.ratings == {"Dan": 1, "Ada": -1}
    ratings, samples = found.of(["Ada", "Dan"])
    assert ratings.tolist() == [-1, 1]
    assert samples is not None
    assert np.array_equal(samples, standings.estimate.samples[:, [0, 3]])


def test_the_lead_and_who_shares_its_group():
    rows = [
        {"contestant": name, "group": group, "mean": mean}
        for name, group, mean in (
            ("Ada", "ab", 4.0),
            ("Bob", "b", 3.0),
            ("Cleo", "c", 2.0),
            ("Dan", "a", None),
        )
    ]
    first, alike = lead(rows, "mean")
    assert (first, alike) == (rows[0], ["Bob"])
    assert lead(rows[3:], "mean") == (None, [])


def test_bins_are_named_by_whole_scores_or_by_their_ends():
    assert bins([0.5, 1.5, 2.5]) == ["1", "2"]
    assert bins([1.0, 1.25, 1.5]) == ["1–1.25", "1.25–1.5"]
    assert bins([0.0, 1.0, 2.0]) == ["0–1", "1–2"]


def test_slopes_that_may_be_noise_are_not_named():
    found = [
        (name, {"slope": low + 0.5, "low": low, "high": low + 1})
        for name, low in (("Ada", 0.1), ("Bob", -0.5), ("Cleo", -2.0))
    ]
    assert (
        slope_sentence(found, "They rise with", "They fall with")
        == "They rise with Ada. They fall with Cleo."
    )
    assert slope_sentence(found[1:2], "They rise with", "They fall with") == "No effect is clear."
