import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leaderboard.stats import correlation as tested
from leaderboard.stats.correlation import coefficients, few_levels, levels


def by_scipy(x, y):
    both_x, both_y = np.append(x, -x), np.append(y, -y)
    return [f(both_x, both_y).statistic for f in (stats.pearsonr, stats.spearmanr, stats.kendalltau)]


def test_by_hand():
    # x = -1, 0, 1 and y = -1, 1, 1, each with its mirror image: the table of the three levels of x (rows)
    # by the two of y is [[2, 0], [1, 1], [0, 2]]. Ranks from the middle, doubled: -4, 0, 4 and -3, 3.
    # Spearman: (2*4*3 + 2*4*3) / sqrt((2*16 + 2*16) * 6*9) = 48 / sqrt(64 * 54).
    # Kendall: concordant pairs 2*1 + 2*2 + 1*2 = 8, discordant 0; pairs that differ in x: 12, in y: 9.
    found = coefficients(np.array([-1.0, 0, 1]), np.array([-1.0, 1, 1]))
    assert found == pytest.approx([2 / 6**0.5, 48 / (64 * 54) ** 0.5, 8 / 108**0.5])


@pytest.mark.parametrize("most", [0, 400])
@pytest.mark.parametrize(("a", "b"), [(8, 8), (5, 2), (300, 40)])
def test_they_equal_the_library(monkeypatch, most, a, b):
    monkeypatch.setattr(tested, "MOST_EXACT", most)
    generator = np.random.default_rng(a + b)
    x, y = generator.integers(-a, a + 1, 80) / a, generator.integers(-b, b + 1, 80) / b
    y = np.where(generator.random(80) < 0.5, np.round(x * b) / b, y)
    assert coefficients(x, y) == pytest.approx(by_scipy(x, y))


def test_levels_are_symmetric():
    found = levels(np.array([0.5, -0.25, 0.25, 0.5]))
    assert (found.number.tolist(), found.count) == ([3, 1, 2, 3], 4)
    found = levels(np.array([0.0, -0.0, 1.0]))
    assert (found.number.tolist(), found.count) == ([1, 1, 2], 3)


def test_many_levels_go_on_a_grid_and_few_do_not():
    values = np.linspace(-1, 1, 999)
    found = few_levels(values)
    assert (found.count, found.on_grid) == (63, True)
    assert (found.number + few_levels(-values).number == 62).all()
    assert not few_levels(values[::100]).on_grid


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("which", [0, 1])
def test_a_rater_without_any_preference_has_none(which):
    sides = [np.zeros(4), np.array([1.0, -1, 0.5, 1])]
    assert np.isnan(coefficients(sides[which], sides[1 - which])).all()


values = st.lists(
    st.tuples(st.integers(-7, 7), st.integers(-2, 2), st.booleans()), min_size=1, max_size=30
).filter(lambda rows: any(x for x, _, _ in rows) and any(y for _, y, _ in rows))


@given(values)
def test_turning_any_pair_changes_nothing(rows):
    x, y, turned = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    sign = 1 - 2 * turned
    assert coefficients(x * sign, y * sign) == pytest.approx(coefficients(x, y), abs=1e-12)


@given(values)
def test_the_order_of_pairs_and_the_sides_change_nothing(rows):
    x, y, _ = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    found = coefficients(x, y)
    assert (np.abs(found) <= 1 + 1e-12).all()
    assert coefficients(x[::-1], y[::-1]) == pytest.approx(found, abs=1e-12)
    assert coefficients(y, x) == pytest.approx(found, abs=1e-12)
    assert coefficients(x, -y) == pytest.approx(-found, abs=1e-12)
