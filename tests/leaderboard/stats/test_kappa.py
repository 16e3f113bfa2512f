import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from leaderboard.stats.agreement_opinions import opinion_rows, resample
from leaderboard.stats.kappa import VALUES, every_two, kappa_measure
from tests.leaderboard.stats import agreement_studies

ALL = agreement_studies.topics(names=("",))


def kappas(one, other, topics=ALL):
    pairs = len(topics.prompt)
    return kappa_measure(
        topics, agreement_studies.sums(one, pairs), agreement_studies.sums(other, pairs)
    ).estimate[0]


def test_by_hand():
    # On three points: first and first, tie and first, second and second; both orientations give the table
    # [[2, 0, 0], [1, 0, 1], [0, 0, 2]]. The same verdict in 4 of 6; by chance 1/3 * 1/2 * 2 = 1/3.
    one = opinion_rows([0, 1, 2], 1, [1, 2, 3], 3, False)
    other = opinion_rows([0, 1, 2], 2, [1, 1, 3], 3, False)
    found = dict(zip(VALUES, kappas(one, other), strict=True))
    assert found["exact"] == pytest.approx(4 / 6)
    assert found["kappa_verdict"] == pytest.approx((2 / 3 - 1 / 3) / (1 - 1 / 3))
    # Weighted: 2 * (1 + 0 + 1) / (1 + 0 + 1 + 1 + 1 + 1) = 4 / 5; Pearson: 2 / sqrt(2 * 3).
    assert found["kappa"] == pytest.approx(0.8)
    assert found["pearson"] == pytest.approx(2 / 6**0.5)
    # On two points first, first, second and first, second, second: alike in 2 of 3. Mirrored, each side has
    # half of both; unmirrored, chance is 2/3 * 1/3 + 1/3 * 2/3 = 4/9.
    pair = opinion_rows([0, 1, 2], 1, [1, 1, 2], 2, False), opinion_rows([0, 1, 2], 2, [1, 2, 2], 2, False)
    found = dict(zip(VALUES, kappas(*pair), strict=True))
    for name in ("kappa", "kappa_verdict"):
        assert found[name] == pytest.approx((2 / 3 - 1 / 2) / (1 - 1 / 2))
        assert found[f"{name}_unmirrored"] == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    # 8 points against 2: the ends agree fully, the inner ratings less.
    eight = opinion_rows([0, 1], 1, [1, 8], 8, False)
    two = opinion_rows([0, 1], 2, [1, 2], 2, False)
    inner = opinion_rows([0, 1], 1, [3, 6], 8, False)
    assert kappas(eight, two)[0] == pytest.approx(1)
    # x is 3/7 where y is 1: 2 * 3/7 / (9/49 + 1).
    assert kappas(inner, two)[0] == pytest.approx(2 * (3 / 7) / (9 / 49 + 1))


@pytest.mark.parametrize("points", [2, 3, 5, 8])
@pytest.mark.parametrize("seed", range(3))
def test_it_equals_statsmodels_on_the_table_in_both_orientations(points, seed):
    one, other = agreement_studies.at_random(seed, points), agreement_studies.at_random(seed, points, 2)
    ratings = agreement_studies.crossed(one, other, lambda rows: rows.rating - 1, (points, points))
    verdicts = agreement_studies.crossed(one, other, lambda rows: rows.verdict, (3, 3))
    found = dict(zip(VALUES, kappas(one, other), strict=True))
    assert found["kappa"] == pytest.approx(cohens_kappa(ratings, wt="quadratic").kappa)
    used = verdicts[np.ix_(verdicts.sum(1) > 0, verdicts.sum(1) > 0)]
    assert found["kappa_verdict"] == pytest.approx(cohens_kappa(used).kappa)
    assert found["exact"] == pytest.approx(np.trace(verdicts) / verdicts.sum())


def test_it_equals_statsmodels_where_each_rates_once():
    one, other = (agreement_studies.at_random(4, raters=raters, share=1.0) for raters in (1, 2))
    other = other.only(other.rater == 1)
    x, y = one.rating, other.rating
    table = np.zeros((8, 8))
    np.add.at(table, (np.append(x, 9 - x) - 1, np.append(y, 9 - y) - 1), 1)
    assert kappas(one, other)[0] == pytest.approx(cohens_kappa(table, wt="quadratic").kappa)
    once = np.zeros((8, 8))
    np.add.at(once, (x - 1, y - 1), 1)
    verdicts = np.zeros((3, 3))
    np.add.at(verdicts, (one.verdict, other.verdict), 1)
    expected = cohens_kappa(once, wt="quadratic").kappa, cohens_kappa(verdicts).kappa
    assert kappas(one, other)[4:] == pytest.approx(expected)


def test_every_two_at_once_are_as_each_two_alone():
    rows, twos = agreement_studies.at_random(3, raters=4, share=0.5), np.array([[0, 1], [3, 1], [2, 3]])
    measure, prompts = every_two(ALL, rows, twos)
    (samples,) = resample([measure], 20, 5)
    for two, (one, other) in enumerate(twos):
        alone = kappa_measure(
            ALL, *(agreement_studies.sums(rows.only(rows.rater == pk)) for pk in (one, other))
        )
        assert measure.estimate.reshape(3, 3)[:, two] == pytest.approx(alone.estimate[0, :3])
        (expected,) = resample([alone], 20, 5)
        assert samples.reshape(3, 3, 20)[:, two] == pytest.approx(expected[0, :3], nan_ok=True)
        both = np.intersect1d(rows.pair[rows.rater == one], rows.pair[rows.rater == other])
        assert prompts[two] == len(np.unique(ALL.prompt[both]))


@pytest.mark.filterwarnings("error")
def test_the_middle_alone_or_no_shared_pair_have_none():
    middle = opinion_rows([0, 1, 2], 1, [2, 2, 2], 3, False)
    found = dict(zip(VALUES, kappas(middle, middle), strict=True))
    assert found["exact"] == 1
    assert np.isnan([value for name, value in found.items() if name != "exact"]).all()
    one, other = opinion_rows([0], 1, [1], 3, False), opinion_rows([1], 2, [1], 3, False)
    assert np.isnan(kappas(one, other)).all()


@given(
    st.integers(0, 1000),
    st.lists(st.booleans(), min_size=agreement_studies.PAIRS, max_size=agreement_studies.PAIRS),
)
def test_renaming_completions_and_changing_sides_changes_nothing(seed, turned):
    one, other = agreement_studies.at_random(seed), agreement_studies.at_random(seed, 5, 2)
    found = kappas(one, other)
    mask = np.array(turned)
    renamed = kappas(agreement_studies.mirrored(one, mask), agreement_studies.mirrored(other, mask))
    assert renamed[:4] == pytest.approx(found[:4], nan_ok=True)
    assert kappas(other, one) == pytest.approx(found, nan_ok=True)
    assert kappas(one, one)[3] == pytest.approx(1)
