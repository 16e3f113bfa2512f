import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leaderboard.stats.checks import StatsError
from leaderboard.stats.pointwise_standings import orders_agree, requirement_standings, score_standings
from leaderboard.stats.requirements import NO, NOT_ASKED, YES, make_answers, make_questions, requirements
from leaderboard.stats.scores import make_scores

NAN = float("nan")


def scored(values):
    """Scores from 0 to 10 (contestants, prompts) of one rater."""
    contestant, prompt = (grid.ravel() for grid in np.indices(np.shape(values)))
    return make_scores(0, contestant, prompt, np.ravel(values), lowest=0, highest=10)


def test_scores_by_hand():
    """Prompts of means 4, 6 and 2: A scores 2, 1 and 0 above the mean of its prompt, B as much below."""
    found = score_standings(scored([[2, 5, 2], [6, 7, 2]]), ["B", "A"])
    first, last = found.rows
    assert [(row.contestant, row.rank, row.games) for row in found.rows] == [("A", 1, 3), ("B", 2, 3)]
    assert (first.rating, last.rating) == pytest.approx((1, -1))
    assert (first.low, first.high) == pytest.approx(stats.t.interval(0.95, 2, 1, stats.sem([2, 1, 0])))
    assert (first.group, first.rank_ub) == ("a", 1)
    # A prompt of one contestant says nothing.
    more = score_standings(scored([[2, 5, 2, 9], [6, 7, 2, NAN]]), ["B", "A"]).rows[0]
    assert (more.rating, more.low, more.high) == pytest.approx((first.rating, first.low, first.high))


def test_prompts_of_different_difficulty():
    """B and C are each scored beside A only, C on a prompt where everybody scores high."""
    found = score_standings(scored([[3, 9], [4, NAN], [NAN, 8]]), ["A", "B", "C"], level=80)
    assert {row.contestant: row.rating for row in found.rows} == pytest.approx({"A": 0, "B": 1, "C": -1})


def test_who_is_not_connected():
    found = score_standings(
        scored([[3, 4, NAN], [5, 5, NAN], [NAN, NAN, 9], [NAN] * 3]), ["A", "B", "alone", "none"]
    )
    assert [(row.contestant, row.games, row.component) for row in found.rows] == [
        ("B", 2, 0),
        ("A", 2, 0),
        ("alone", 1, 1),
        ("none", 0, None),
    ]
    alone = found.rows[2].as_dict()
    places = ("rank", "rank_ub", "p_first", "group", "groups_at", "rank_ub_at")
    assert (alone["rating"], {alone[name] for name in ("low", *places)}) == (0, {None})
    assert None not in [found.rows[0].as_dict()[name] for name in places]
    nothing = score_standings(scored([[NAN], [3]]), ["A", "B"])
    assert [(row.low, row.group) for row in nothing.rows] == [(None, None)] * 2
    with pytest.raises(StatsError, match="contestant 1 has no name; there are 1"):
        score_standings(scored([[3], [4]]), ["A"])


def test_the_only_model_with_answers_has_a_share_and_no_rank():
    questions, answers = make_questions([0, 1]), make_answers([0, 1], 0, [0, 0], [YES, NO])
    only, other = requirement_standings(questions, answers, ["A", "B"]).rows
    assert (only.rating, only.rank, only.rank_ub, other.rank) == (0.5, None, None, None)


def test_as_statsmodels():
    """Least squares with dummies and clustered errors; four contestants, a third of the scores missing."""
    generator = np.random.default_rng(7)
    values = (
        5 + generator.normal(size=60) + generator.normal(size=(4, 60)) + np.array([[0], [0.2], [0.5], [1]])
    )
    values[generator.random(values.shape) < 0.3] = NAN
    values[:, (~np.isnan(values)).sum(axis=0) < 2] = NAN
    found = score_standings(scored(np.clip(values, 0, 10)), list("ABCD"))
    contestant, prompt = np.nonzero(~np.isnan(values))
    design = np.column_stack((contestant[:, None] == range(1, 4), prompt[:, None] == np.unique(prompt)))
    fit = sm.OLS(np.clip(values, 0, 10)[contestant, prompt], design.astype(float)).fit(
        cov_type="cluster", cov_kwds={"groups": prompt, "use_correction": False}
    )
    rating, error = found.estimate.rating, found.estimate.standard_error
    assert rating[1:] - rating[0] == pytest.approx(fit.params[:3])
    centre = np.vstack((np.zeros(3), np.eye(3))) - np.full((4, 3), 0.25)
    units = len(np.unique(prompt))
    wanted = centre @ fit.cov_params()[:3, :3] @ centre.T * units / (units - 1)
    assert error == pytest.approx(np.sqrt(np.diag(wanted)))
    assert np.cov(found.estimate.samples.T) == pytest.approx(wanted, abs=0.15 * wanted.max())


def test_requirements_by_hand():
    questions = make_questions([0, 0, 1, 2])
    values = [[YES, NO, YES, YES], [YES, YES, YES, YES], [NOT_ASKED] * 4, [NO, NO, NO, YES]]
    contestant, question = (grid.ravel() for grid in np.indices((4, 4)))
    answers = make_answers(0, contestant, question, np.ravel(values))
    found = requirement_standings(questions, answers, ["A", "B", "none", "D"])
    assert [(row.contestant, row.rating, row.rank, row.games) for row in found.rows] == [
        ("B", 1.0, 1, 4),
        ("A", 0.75, 2, 4),
        ("D", 0.25, 3, 4),
        ("none", None, None, 0),
    ]
    for row, number in zip(found.rows, (1, 0, 3), strict=False):
        own = requirements(questions, answers.only(answers.contestant == number)).overall
        assert (row.low, row.high) == (own.low, own.high)
    counted = requirement_standings(questions, answers, ["A", "B", "none", "D"], "no")
    assert counted.rows[-1].rating == 0


def test_orders_by_hand():
    found = orders_agree(np.array([4.0, 3, 2, NAN]), np.array([1.0, 2, 0, 3]))
    assert (found.n, found.spearman) == (3, (pytest.approx(0.5), None, None))
    assert found.kendall.value == pytest.approx(1 / 3)
    drawn = np.random.default_rng(8).normal(size=(200, 3)) * 0.01 + [4, 3, 2]
    found = orders_agree(np.array([4.0, 3, 2]), np.array([1.0, 2, 0]), drawn, drawn)
    # Rounds always agree, half from the estimate: as far to the other side.
    assert found.spearman[1:] == pytest.approx((0, 1))
    assert orders_agree(np.array([1.0, 1]), np.array([2.0, 1])).kendall.value is None


@given(
    st.lists(st.integers(0, 10), min_size=12, max_size=12),
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
    st.permutations(range(3)),
)
def test_harder_prompts_and_other_names_change_no_rating(values, easier, names):
    table = np.array(values, dtype=float).reshape(3, 4) / 2
    found = score_standings(scored(table), "ABC", rounds=5).estimate
    moved = score_standings(scored(table + easier), "ABC", rounds=5).estimate
    assert moved.rating == pytest.approx(found.rating, abs=1e-9)
    assert moved.standard_error == pytest.approx(found.standard_error, abs=1e-9)
    renamed = score_standings(scored(table[list(names)]), "ABC", rounds=5).estimate
    assert renamed.rating == pytest.approx(found.rating[list(names)], abs=1e-9)
    assert found.rating == pytest.approx((table - table.mean(axis=0)).mean(axis=1), abs=1e-9)
