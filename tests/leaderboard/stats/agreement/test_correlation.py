"""Correlation by category, the ceiling people set, and rounds of the bootstrap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leaderboard.stats import correlation as tables
from leaderboard.stats.agreement_opinions import opinion_rows, resample
from leaderboard.stats.correlation import ceiling_entries, correlation, shared_entries
from leaderboard.stats.resampling import cluster_draws
from tests.leaderboard.stats.agreement import rated


def by_scipy(entries, chosen):
    x, y = entries.x[chosen], entries.y[chosen]
    both = np.append(x, -x), np.append(y, -y)
    return [f(*both).statistic for f in (stats.pearsonr, stats.spearmanr, stats.kendalltau)]


def entries_of(seed=0, one=8, other=8):
    return shared_entries(
        rated.sums(rated.at_random(seed, one)), rated.sums(rated.at_random(seed, other, raters=2))
    )


def test_only_pairs_of_both_are_entered():
    one = rated.sums(opinion_rows([0, 1, 1], 1, [1, 8, 4], 8, False), 4)
    other = rated.sums(opinion_rows([1, 2], 2, [2, 1], 3, [False, True]), 4)
    found = shared_entries(one, other)
    assert found.pair.tolist() == [1]
    assert (found.x.tolist(), found.y.tolist()) == ([pytest.approx(3 / 7)], [0])


@pytest.mark.parametrize(("points"), rated.RATED, ids=lambda points: points[0])
def test_each_row_equals_the_library_on_both_orientations(points):
    topics, entries = rated.topics(), entries_of(1, *points[1:])
    _, found = correlation(topics, entries)
    category = topics.of_pairs(entries.pair)
    for row, chosen in zip(found, (category >= 0, category == 0, category == 2, category != 0), strict=False):
        assert row == pytest.approx(by_scipy(entries, chosen))


def test_a_round_is_the_coefficient_of_the_prompts_it_drew():
    topics, entries = rated.topics(), entries_of(2)
    measure, _ = correlation(topics, entries)
    (samples,) = resample([measure], rounds=12, seed=5)
    for number, drawn in enumerate(cluster_draws(5, np.arange(12), len(topics.category))):
        chosen = np.concatenate([np.flatnonzero(topics.prompt[entries.pair] == each) for each in drawn])
        assert samples[0, :, number] == pytest.approx(by_scipy(entries, chosen))


def test_rounds_on_a_grid_are_close_and_the_values_exact(monkeypatch):
    topics = rated.topics(400, each=20)
    one, other = (rated.sums(rated.at_random(3, 8, raters, 400, 1.0), 400) for raters in (5, 4))
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
    found = ceiling_entries(rows, rated.sums(rows, 3))
    assert found.pair.tolist() == [0, 0, 0, 1, 1]
    assert found.x.tolist() == [-1, 0, 1, 1, 1]
    assert found.y.tolist() == [0.5, 0, -0.5, 1, 1]
    # Sum of x*y is -1/2 + 0 - 1/2 + 1 + 1 = 1; of x*x 4; of y*y 2.5.
    _, values = correlation(rated.topics(3, names=("",)), found)
    assert values[0, 0] == pytest.approx(1 / 10**0.5)


def test_somebody_who_rates_a_pair_twice_is_one_entry_against_the_others():
    rows = opinion_rows([0, 0, 0], [7, 7, 8], [1, 3, 3], 3, [False, True, False])
    found = ceiling_entries(rows, rated.sums(rows, 1))
    assert (found.x.tolist(), found.y.tolist()) == ([-1, 1], [1, -1])


def test_people_who_never_meet_set_no_ceiling():
    rows = opinion_rows([0, 1], [7, 8], [1, 3], 3, False)
    found = ceiling_entries(rows, rated.sums(rows, 2))
    assert len(found.pair) == 0
    measure, values = correlation(rated.topics(2), found)
    assert np.isnan(values).all()
    assert np.isnan(resample([measure], 5, 0)[0]).all()


@given(st.integers(0, 1000), st.lists(st.booleans(), min_size=rated.PAIRS, max_size=rated.PAIRS))
def test_renaming_the_completions_of_any_pair_changes_no_value_and_no_round(seed, turned):
    topics = rated.topics()
    people, judge = rated.at_random(seed), rated.at_random(seed, 5, 1)
    found = []
    for one, other in (
        (people, judge),
        tuple(rated.mirrored(rows, np.array(turned)) for rows in (people, judge)),
    ):
        for entries in (
            shared_entries(rated.sums(one), rated.sums(other)),
            ceiling_entries(one, rated.sums(one)),
        ):
            measure, values = correlation(topics, entries)
            found.append((values, resample([measure], 4, seed)[0]))
    for before, after in zip(found[:2], found[2:], strict=True):
        for one, other in zip(before, after, strict=True):
            assert other == pytest.approx(one, abs=1e-12, nan_ok=True)
