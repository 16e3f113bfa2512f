"""Orders of models by single answers, and what is said of them."""

import numpy as np
import pytest

from leaderboard.answers.beside_pairs import compared
from leaderboard.answers.features.table import expected
from leaderboard.answers.scores.table import bins, slope_sentence
from leaderboard.answers.table import few_prompts, lead, order_sentence, strength
from leaderboard.pages.units import Estimate
from leaderboard.stats.pointwise_standings import OrderAgreement, score_standings
from leaderboard.stats.scores import make_scores


def agreement(spearman, low=None, high=None):
    return OrderAgreement(5, Estimate(spearman, low, high), Estimate()).as_dict()


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (agreement(1.0), "is 1.00 over 5 models."),
        (agreement(1.0, 0.4, 1.0), "is 1.00 (0.40–1.00) over 5 models. They put models in the same order."),
        (agreement(0.9, 0.8, 1.0), "over 5 models. They put models in much the same order."),
        (agreement(0.9, 0.2, 1.0), "over 5 models. Their orders of models have something in common."),
        (
            agreement(0.6, 0.1, 0.7),
            "over 5 models. Their orders of models have something in common, but they differ.",
        ),
        (
            agreement(0.9, -0.1, 1.0),
            "is 0.90 (−0.10 to 1.00) over 5 models. Whether their orders of models have anything in common "
            "cannot be told.",
        ),
        (agreement(-0.9, -1.0, -0.5), "over 5 models. Their orders of models tend to be opposite."),
        (agreement(-1.0, -1.0, -0.5), "over 5 models. Their orders of models are opposite."),
        (agreement(-1.0), "is −1.00 over 5 models."),
        (
            agreement(None),
            "Text scores and pairs have no correlation, because all models are equal in one of them.",
        ),
    ],
)
def test_the_sentence_about_two_orders_says_what_its_interval_allows(found, said):
    assert order_sentence("text scores", "pairs", found).endswith(said)


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


def models(*rows):
    names = ("contestant", "mean", "rank", "group", "prompts", "component")
    return [dict(zip(names, row, strict=False)) for row in rows]


@pytest.mark.parametrize(
    ("rows", "who", "told"),
    [
        (models(("Ada", 4, 1, "a", 9)), "Ada", ""),
        (models(("Ada", 4, 1, "a", 9), ("Bob", 3, 2, "b", 9)), "Ada", "Its lead is more than noise."),
        (
            models(("Ada", 4, 1, "a", 9), ("Bob", 3, 2, "b", 5)),
            "Ada",
            "So few prompts cannot tell whether its lead is more than noise.",
        ),
        (
            models(("Ada", 4, 1, None, 1), ("Bob", 3, 2, None, 1)),
            "Ada",
            "So few prompts cannot tell whether its lead is more than noise.",
        ),
        (
            models(("Ada", 4, 1, "ab", 9), ("Bob", 3, 2, "b", 9), ("Cleo", 2, 3, "c", 9), ("Dan", None)),
            "Ada",
            "It cannot be told apart from Bob.",
        ),
        (models(("Ada", 4, 1, "a", 9), ("Bob", 4, 1, "a", 9)), "Both models here", ""),
        (models(("Ada", 4, 1, None, 1), ("Bob", 4, 1, None, 1), ("Dan", None)), "Ada and Bob", ""),
        (
            models(("Ada", 4, 1, "a", 9), ("Bob", 4, 1, "a", 9), ("Cleo", 2, 3, "b", 9)),
            "Ada and Bob",
            "Their lead is more than noise.",
        ),
        (
            models(("Ada", 4, 1, "a", 9), ("Bob", 4, 1, "ab", 9), ("Cleo", 2, 3, "b", 9)),
            "Ada and Bob",
            "At least one of them cannot be told apart from Cleo.",
        ),
        # Nothing compares the second with the first.
        (models(("Ada", 4, 1, "a", 9, 0), ("Bob", 3, 1, "b", 9, 1)), "Ada", ""),
        # Beyond 26 groups the letters of a model are spaced, and "aa" is not "a".
        (models(("Ada", 4, 1, "a", 9), ("Bob", 3, 2, "aa", 9)), "Ada", "Its lead is more than noise."),
        (models(("Ada", 4, 1, "a b", 9), ("Bob", 3, 2, "c d", 9)), "Ada", "Its lead is more than noise."),
    ],
)
def test_who_is_first_and_what_is_told_of_the_lead(rows, who, told):
    found = lead(rows, "mean")
    assert (found.who, " ".join(found.sentences())) == (who, told)


def test_without_a_figure_nobody_is_first():
    assert lead(models(("Dan", None)), "mean") is None


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


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (None, None, "."),
        (-0.1, 0.9, ", which may be chance."),
        (0.1, 0.9, ": moderate."),
        (-0.9, -0.1, ": moderate."),
    ],
)
def test_a_correlation_has_a_word_where_its_interval_leaves_out_0(low, high, said):
    assert strength(Estimate(0.4, low, high), "moderate") == said


@pytest.mark.parametrize(
    ("prompts", "models", "said"),
    [
        (0, 3, []),
        (1, 3, ["Only 1 prompt: others may give another order."]),
        (29, 1, ["Only 29 prompts: others may give other numbers."]),
        (30, 3, []),
    ],
)
def test_few_prompts_may_give_another_order_only_where_there_is_one(prompts, models, said):
    assert [*few_prompts(prompts, models)] == said


def worth(better, whole, *models):
    """What ``expected`` reads of a feature: ends of its intervals over all answers, and of each model."""
    ends = [dict(zip(("spearman_low", "spearman_high"), each, strict=True)) for each in (whole, *models)]
    rows = [
        {"contestant": name, "correlation": own}
        for name, own in zip(("Ada", "Bob", "Cleo"), ends[1:], strict=False)
    ]
    return {"feature": {"higher_is_better": better}, "correlation": ends[0], "contestants": rows}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (worth(True, (0.1, 0.5)), ""),
        (worth(True, (-0.5, 0.1)), ""),
        (worth(True, (None, None), (-0.9, -0.1)), ""),  # of the only model there is nothing else to say
        (worth(True, (-0.5, -0.1)), "Better answers clearly have lower values here, against"),
        (worth(False, (0.1, 0.5)), "Better answers clearly have higher values here, against"),
        (
            worth(False, (-0.2, 0.5), (0.1, 0.4), (-0.3, 0.4), (0.2, 0.3)),
            "Better answers clearly have higher values among those of Ada and Cleo, against",
        ),
        (
            worth(False, (0.2, 0.5), (0.1, 0.4), (-0.3, 0.4)),
            "Better answers clearly have higher values here and among those of Ada, against",
        ),
        (worth(None, (0.2, 0.5)), "Whether better answers have higher or lower values is not known, so none"),
    ],
)
def test_what_ratings_say_against_what_is_expected(found, said):
    told = " ".join(expected(found))
    assert told.startswith(said)
    assert bool(told) == bool(said)
