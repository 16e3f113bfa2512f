import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leaderboard.stats import coefficients as formulas
from leaderboard.stats import correlation as tables
from leaderboard.stats.agreement_opinions import opinion_rows, resample
from leaderboard.stats.correlation import (
    ceiling_entries,
    coefficients,
    correlation,
    few_levels,
    in_their_place,
    levels,
    shared_entries,
)
from leaderboard.stats.resampling import cluster_draws
from tests.leaderboard.stats import agreement_studies


def coefficients_by_scipy(x, y):
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
    monkeypatch.setattr(formulas, "MOST_EXACT", most)
    generator = np.random.default_rng(a + b)
    x, y = generator.integers(-a, a + 1, 80) / a, generator.integers(-b, b + 1, 80) / b
    y = np.where(generator.random(80) < 0.5, np.round(x * b) / b, y)
    assert coefficients(x, y) == pytest.approx(coefficients_by_scipy(x, y))


def test_levels_are_symmetric_and_many_go_on_a_grid():
    found = levels(np.array([0.5, -0.25, 0.25, 0.5]))
    assert (found.number.tolist(), found.count) == ([3, 1, 2, 3], 4)
    found = levels(np.array([0.0, -0.0, 1.0]))
    assert (found.number.tolist(), found.count) == ([1, 1, 2], 3)
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
def test_turning_any_pair_the_order_of_pairs_and_the_sides_change_nothing(rows):
    x, y, turned = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    sign = 1 - 2 * turned
    assert coefficients(x * sign, y * sign) == pytest.approx(coefficients(x, y), abs=1e-12)
    found = coefficients(x, y)
    assert (np.abs(found) <= 1 + 1e-12).all()
    assert coefficients(x[::-1], y[::-1]) == pytest.approx(found, abs=1e-12)
    assert coefficients(y, x) == pytest.approx(found, abs=1e-12)
    assert coefficients(x, -y) == pytest.approx(-found, abs=1e-12)


def by_scipy(entries, chosen):
    x, y = entries.x[chosen], entries.y[chosen]
    both = np.append(x, -x), np.append(y, -y)
    return [f(*both).statistic for f in (stats.pearsonr, stats.spearmanr, stats.kendalltau)]


def entries_of(seed=0, one=8, other=8):
    return shared_entries(
        agreement_studies.sums(agreement_studies.at_random(seed, one)),
        agreement_studies.sums(agreement_studies.at_random(seed, other, raters=2)),
    )


def test_only_pairs_of_both_are_entered():
    one = agreement_studies.sums(opinion_rows([0, 1, 1], 1, [1, 8, 4], 8, False), 4)
    other = agreement_studies.sums(opinion_rows([1, 2], 2, [2, 1], 3, [False, True]), 4)
    found = shared_entries(one, other)
    assert found.pair.tolist() == [1]
    assert (found.x.tolist(), found.y.tolist()) == ([pytest.approx(3 / 7)], [0])


@pytest.mark.parametrize(("points"), agreement_studies.RATED, ids=lambda points: points[0])
def test_each_row_equals_the_library_on_both_orientations(points):
    topics, entries = agreement_studies.topics(), entries_of(1, *points[1:])
    _, found = correlation(topics, entries)
    category = topics.of_pairs(entries.pair)
    for row, chosen in zip(found, (category >= 0, category == 0, category == 2, category != 0), strict=False):
        assert row == pytest.approx(by_scipy(entries, chosen))


def test_a_round_is_the_coefficient_of_the_prompts_it_drew():
    topics, entries = agreement_studies.topics(), entries_of(2)
    measure, _ = correlation(topics, entries)
    (samples,) = resample([measure], rounds=12, seed=5)
    for number, drawn in enumerate(cluster_draws(5, np.arange(12), len(topics.category))):
        chosen = np.concatenate([np.flatnonzero(topics.prompt[entries.pair] == each) for each in drawn])
        assert samples[0, :, number] == pytest.approx(by_scipy(entries, chosen))


def test_rounds_on_a_grid_are_close_and_the_values_exact(monkeypatch):
    topics = agreement_studies.topics(400, each=20)
    one, other = (
        agreement_studies.sums(agreement_studies.at_random(3, 8, raters, 400, 1.0), 400) for raters in (5, 4)
    )
    entries = shared_entries(one, other)
    exact, values = correlation(topics, entries)
    monkeypatch.setattr(tables, "MOST_VALUES", 17)
    monkeypatch.setattr(tables, "GRID", 8)
    coarse, same = correlation(topics, entries)
    assert same == pytest.approx(values)
    assert coarse.estimate == pytest.approx(values, abs=0.02)
    assert (coarse.estimate != values).any()
    fine, rough = (resample([each], 200, 0)[0][0].std(axis=-1) for each in (exact, coarse))
    assert rough == pytest.approx(fine, rel=0.1)


def test_the_ceiling_by_hand():
    # Ann and Ben and Cal on pair 0 say -1, 0, 1; Ann and Ben on pair 1 say 1 and 1; Ann alone rates pair 2.
    rows = opinion_rows([0, 0, 0, 1, 1, 2], [7, 8, 9, 7, 8, 7], [1, 2, 3, 3, 3, 1], 3, False)
    found = ceiling_entries(rows, agreement_studies.sums(rows, 3))
    assert found.pair.tolist() == [0, 0, 0, 1, 1]
    assert found.x.tolist() == [-1, 0, 1, 1, 1]
    assert found.y.tolist() == [0.5, 0, -0.5, 1, 1]
    # Sum of x*y is -1/2 + 0 - 1/2 + 1 + 1 = 1; of x*x 4; of y*y 2.5.
    _, values = correlation(agreement_studies.topics(3, names=("",)), found)
    assert values[0, 0] == pytest.approx(1 / 10**0.5)
    # A judge in the place of each, on pair 0 alone: it says -1, and meets the same others.
    judge = agreement_studies.sums(opinion_rows([0, 2], 1, [1, 3], 3, False), 3)
    own, person = in_their_place(found, judge)
    assert (own.pair.tolist(), own.x.tolist(), own.y.tolist()) == ([0] * 3, [-1] * 3, [0.5, 0, -0.5])
    assert (person.x.tolist(), person.y.tolist()) == ([-1, 0, 1], [0.5, 0, -0.5])
    rows = opinion_rows([0, 0, 0], [7, 7, 8], [1, 3, 3], 3, [False, True, False])
    found = ceiling_entries(rows, agreement_studies.sums(rows, 1))
    assert (found.x.tolist(), found.y.tolist()) == ([-1, 1], [1, -1])
    rows = opinion_rows([0, 1], [7, 8], [1, 3], 3, False)
    found = ceiling_entries(rows, agreement_studies.sums(rows, 2))
    assert len(found.pair) == 0
    measure, values = correlation(agreement_studies.topics(2), found)
    assert np.isnan(values).all()
    assert np.isnan(resample([measure], 5, 0)[0]).all()


@given(
    st.integers(0, 1000),
    st.lists(st.booleans(), min_size=agreement_studies.PAIRS, max_size=agreement_studies.PAIRS),
)
def test_renaming_the_completions_of_any_pair_changes_no_value_and_no_round(seed, turned):
    topics = agreement_studies.topics()
    people, judge = agreement_studies.at_random(seed), agreement_studies.at_random(seed, 5, 1)
    found = []
    for one, other in (
        (people, judge),
        tuple(agreement_studies.mirrored(rows, np.array(turned)) for rows in (people, judge)),
    ):
        for entries in (
            shared_entries(agreement_studies.sums(one), agreement_studies.sums(other)),
            ceiling_entries(one, agreement_studies.sums(one)),
        ):
            measure, values = correlation(topics, entries)
            found.append((values, resample([measure], 4, seed)[0]))
    for before, after in zip(found[:2], found[2:], strict=True):
        for one, other in zip(before, after, strict=True):
            assert other == pytest.approx(one, abs=1e-12, nan_ok=True)


@given(st.lists(st.lists(st.sampled_from([0.0, 0.1, 0.5, np.nan]), min_size=12, max_size=12), min_size=1))
def test_rows_of_values_equal_the_library_without_gaps(drawn):
    x, y = np.array(drawn)[:, :6], np.array(drawn)[:, 6:]
    for own, other, found in zip(x, y, formulas.rank_coefficients_of_rows(x, y).T, strict=True):
        known = ~np.isnan(own + other)
        varied = min(len(set(own[known])), len(set(other[known]))) > 1
        wanted = [
            f(own[known], other[known]).statistic for f in (stats.spearmanr, stats.kendalltau) if varied
        ]
        assert found == pytest.approx(wanted or [np.nan] * 2, abs=1e-12, nan_ok=True)
