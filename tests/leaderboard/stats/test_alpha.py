import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa

from leaderboard.stats.agreement_opinions import opinion_rows
from leaderboard.stats.alpha import one_from_each, repeated_pairs, within_measure
from tests.leaderboard.stats import agreement_studies

ALL = agreement_studies.topics(names=("",))


def within(rows, topics=ALL, mirrored=True):
    values = within_measure(topics, repeated_pairs(rows, len(topics.prompt))).estimate[0]
    return values[:3] if mirrored else values[3:]


def test_by_hand():
    # Two raters and two pairs on three points: both say first, then one says first and one says tie.
    rows = opinion_rows([0, 0, 1, 1], [1, 2, 1, 2], [1, 1, 1, 2], 3, False)
    alpha, nominal, fleiss = within(rows)
    # With mirror images 8 ratings: -1 and 1 three times each, 0 twice. Interval: mean squared difference
    # of the raters 1/2; of any two of all ratings 2 * 8 * 6 / (8 * 7) = 12/7.
    assert alpha == pytest.approx(1 - (1 / 2) / (12 / 7))
    # Nominal: differing in half of the pairs; expected 1 - (3*2 + 3*2 + 2*1) / 56 = 42/56.
    assert nominal == pytest.approx(1 - 0.5 / (42 / 56))
    # Fleiss: alike in half; by chance (3/8)^2 + (3/8)^2 + (2/8)^2 = 22/64.
    assert fleiss == pytest.approx((0.5 - 22 / 64) / (1 - 22 / 64))
    # Unmirrored 4 ratings: -1, -1, -1, 0. Any two of them differ by 1 in 6 of 12 cases, the raters in half of
    # the pairs, for both alphas. Fleiss: by chance (3/4)^2 + (1/4)^2 = 5/8.
    expected = (1 - 0.5 / 0.5, 1 - 0.5 / 0.5, (0.5 - 5 / 8) / (1 - 5 / 8))
    assert within(rows, mirrored=False) == pytest.approx(expected)


@pytest.mark.parametrize("mirrored", [True, False])
@pytest.mark.parametrize("points", [3, 8])
@pytest.mark.parametrize(("seed", "raters"), [(0, 2), (1, 3), (2, 5)])
def test_alpha_equals_krippendorff_with_ratings_missing(points, seed, raters, mirrored):
    rows = agreement_studies.at_random(seed, points, raters)
    alpha, nominal, _ = within(rows, mirrored=mirrored)
    columns = slice(None if mirrored else agreement_studies.PAIRS)
    preferences = agreement_studies.reliability_matrix(rows, rows.preference / 28, lambda value: -value)
    verdicts = agreement_studies.reliability_matrix(rows, rows.verdict, lambda value: 2 - value)
    preferences, verdicts = preferences[:, columns], verdicts[:, columns]
    assert alpha == pytest.approx(krippendorff.alpha(preferences, level_of_measurement="interval"))
    assert nominal == pytest.approx(krippendorff.alpha(verdicts, level_of_measurement="nominal"))


@pytest.mark.parametrize("points", [3, 8])
@pytest.mark.parametrize("raters", [2, 4])
def test_fleiss_equals_statsmodels_on_pairs_with_the_commonest_number(points, raters):
    rows = agreement_studies.at_random(5, points, raters)
    chosen = repeated_pairs(rows, agreement_studies.PAIRS)
    table = chosen.sums.verdicts[chosen.sums.count == chosen.each]
    assert 0 < len(table) < agreement_studies.PAIRS
    assert within(rows)[2] == pytest.approx(fleiss_kappa(np.vstack((table, table[:, ::-1]))))
    assert within(rows, mirrored=False)[2] == pytest.approx(fleiss_kappa(table))


def test_who_is_compared_with_whom():
    rows = opinion_rows([0, 0, 1, 1, 1, 2], [1, 2, 1, 2, 3, 1], [1] * 6, 3, False)
    assert repeated_pairs(rows, 3).each == 3
    assert repeated_pairs(rows.only(rows.pair == 2), 3).each == 0
    rows = opinion_rows([0, 0, 0, 1], [1, 1, 2, 1], [1, 3, 2, 3], 3, False)
    found = one_from_each(rows)
    assert (found.pair.tolist(), found.rater.tolist(), found.rating.tolist()) == (
        [0, 0, 1],
        [1, 2, 1],
        [1, 2, 3],
    )
    rows = opinion_rows([0, 0, 1, 1], 9, [1, 3, 2, 2], 3, [False, True, False, True])
    assert one_from_each(rows) is rows
    assert within(rows)[0] == 1


@pytest.mark.filterwarnings("error")
def test_no_pair_with_two_ratings_or_only_middles_have_none():
    assert np.isnan(within(opinion_rows([0, 1], [1, 2], [1, 3], 3, False))).all()
    assert np.isnan(within(opinion_rows([0, 0], [1, 2], [2, 2], 3, False))).all()


@given(
    st.integers(0, 1000),
    st.lists(st.booleans(), min_size=agreement_studies.PAIRS, max_size=agreement_studies.PAIRS),
)
def test_renaming_completions_and_raters_changes_nothing(seed, turned):
    rows = agreement_studies.at_random(seed)
    renamed = agreement_studies.mirrored(rows, np.array(turned))
    assert within(renamed) == pytest.approx(within(rows), nan_ok=True)
    back = rows.only(np.arange(len(rows))[::-1])
    assert within(back) == pytest.approx(within(rows), nan_ok=True)


@given(st.integers(2, 5), st.sampled_from([2, 3, 5, 8]))
def test_raters_who_agree_on_everything_have_one_mirrored_or_not(raters, points):
    pair = np.repeat(np.arange(agreement_studies.PAIRS), raters)
    rating = 1 + pair % points
    rows = opinion_rows(pair, np.tile(np.arange(raters), agreement_studies.PAIRS), rating, points, False)
    assert [within(rows), within(rows, mirrored=False)] == pytest.approx(np.ones((2, 3)))
