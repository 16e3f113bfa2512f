"""What another comparison of two contestants, or of two texts, is worth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from arena.rating import worth as rating_worth
from arena.rating.worth import disagreement

COUNTS = arrays(np.float64, (4, 4), elements=st.integers(0, 30)).map(lambda wins: wins * (1 - np.eye(4)))


def variances_apart(covariance: np.ndarray) -> float:
    """Sum of the variances of strengths relative to their mean."""
    centre = np.eye(len(covariance)) - 1 / len(covariance)
    return float(np.trace(centre @ covariance @ centre))


def test_two_contestants_by_hand() -> None:
    """Even wins: strengths 0, p = 1/2. Information 10 * 1/4 [[1, -1], [-1, 1]] + 1/2.25 I."""
    found = rating_worth.fit(np.array([[0.0, 5.0], [5.0, 0.0]]))
    assert found.strengths == pytest.approx([0, 0])
    precision = 1 / 2.25
    of_difference = 1 / (2.5 + precision / 2)  # variance of strength 0 minus strength 1
    assert found.covariance[0, 0] + found.covariance[1, 1] - 2 * found.covariance[0, 1] == pytest.approx(
        of_difference
    )
    # One more adds 1/4; the two centred variances are half of that of the difference together.
    less = (of_difference - 1 / (2.75 + precision / 2)) / 2
    assert rating_worth.gains(found)[0, 1] == pytest.approx(less)


@given(COUNTS)
def test_the_fit_is_the_one_an_independent_optimiser_finds(wins: np.ndarray) -> None:
    def unlikely(strengths: np.ndarray) -> float:
        apart = strengths[:, None] - strengths[None, :]
        prior = (strengths**2).sum() / (2 * rating_worth.PRIOR_DEVIATION**2)
        return float((wins * np.logaddexp(0, -apart)).sum() + prior)

    reference = minimize(unlikely, np.zeros(4), method="BFGS", options={"gtol": 1e-8}).x
    assert rating_worth.fit(wins).strengths == pytest.approx(reference, abs=1e-4)


@given(COUNTS)
def test_the_gain_is_what_a_fit_with_one_more_game_loses(wins: np.ndarray) -> None:
    """The closed form against inverting the information with the game added, at the same strengths."""
    found = rating_worth.fit(wins)
    gains = rating_worth.gains(found)
    chance = 1 / (1 + np.exp(found.strengths[1] - found.strengths[2]))
    apart = np.array([0.0, 1.0, -1.0, 0.0])
    information = np.linalg.inv(found.covariance) + chance * (1 - chance) * np.outer(apart, apart)
    less = variances_apart(found.covariance) - variances_apart(np.linalg.inv(information))
    assert gains[1, 2] == pytest.approx(less, rel=1e-6, abs=1e-12)
    assert np.allclose(gains, gains.T)
    assert (gains >= 0).all()
    assert (np.diag(gains) == 0).all()


def test_what_was_compared_less_or_is_open_says_more() -> None:
    wins = np.full((3, 3), 20.0) * (1 - np.eye(3))
    wins[2, :2] = wins[:2, 2] = 2.0
    gains = rating_worth.gains(rating_worth.fit(wins))
    assert gains[0, 2] == pytest.approx(gains[1, 2])
    assert gains[0, 2] > 5 * gains[0, 1]
    gains = rating_worth.gains(rating_worth.Fit(np.array([0.0, 0.0, 3.0]), np.eye(3)))
    assert gains[0, 2] == gains[1, 2] < gains[0, 1] / 3


def test_unconnected_contestants_are_joined_first_along_chains_of_games() -> None:
    games = np.zeros((6, 6))
    for a, b in [(0, 2), (2, 4), (1, 5)]:
        games[a, b] = games[b, a] = 1
    assert rating_worth.components(games).tolist() == [0, 1, 0, 3, 0, 1]
    wins = np.zeros((4, 4))
    wins[0, 1] = wins[2, 3] = 3.0
    worth = rating_worth.worth(wins)
    assert worth[0, 1] == worth[2, 3] == 0
    assert all(worth[a, b] > 0 for a in (0, 1) for b in (2, 3))
    wins[1, 2] = 1.0
    assert (rating_worth.worth(wins) > 0).sum() == 12
    worth = rating_worth.worth(np.zeros((5, 5)))
    assert worth[~np.eye(5, dtype=bool)] == pytest.approx(worth[0, 1])
    assert worth[0, 1] > 0


def test_an_extreme_table_does_not_break_the_fit() -> None:
    wins = np.zeros((3, 3))
    wins[0, 1] = wins[1, 2] = 1e6
    found = rating_worth.fit(wins)
    assert np.isfinite(found.strengths).all()
    assert found.strengths[0] > found.strengths[1] > found.strengths[2]
    assert np.linalg.eigvalsh(found.covariance).min() > 0


def test_judges_and_a_feature_disagree_by_hand() -> None:
    """Two contestants, two prompts: each has its own mean, deviation and so -1 and 1."""
    feature, contestants = {1: 10.0, 2: 0.4, 3: 20.0, 4: 0.2}, {1: 7, 2: 8, 3: 7, 4: 8}
    # The feature says the second text of the first prompt and the first of the other, each two deviations.
    found = disagreement(feature, contestants, {(1, 2): 1 / 7, (3, 4): 1 / 7})
    assert found == {(1, 2): pytest.approx(2 * 6 / 7)}
    assert disagreement(feature, contestants, {(1, 2): 1.0, (3, 4): 0.0}) == {}
    assert disagreement({1: 1.0, 3: 2.0}, contestants, {(1, 2): 1 / 7}) == {}
