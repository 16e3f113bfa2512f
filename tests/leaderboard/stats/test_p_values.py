import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from leaderboard.stats.p_values import benjamini_yekutieli, holm


def test_by_hand():
    p = np.array([0.04, 0.01, 0.03])
    # Holm: 3 * 0.01, then 2 * 0.03, and 0.04 cannot be below what comes before it.
    assert holm(p) == pytest.approx([0.06, 0.03, 0.06])
    # Benjamini and Yekutieli: times 3 * (1 + 1/2 + 1/3) / rank: 0.055, 0.0825, 0.0733; no more than the next.
    assert benjamini_yekutieli(p) == pytest.approx([0.04 * 5.5 / 3, 0.055, 0.04 * 5.5 / 3])
    assert len(holm(np.array([]))) == len(benjamini_yekutieli(np.array([]))) == 0


@pytest.fixture(autouse=True, scope="module")
def _nothing_is_collected():
    """statsmodels collects garbage in every call, which takes most of a second beside all other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "collect", lambda: 0)
        yield


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_they_equal_statsmodels(p):
    for adjusted, name in ((holm, "holm"), (benjamini_yekutieli, "fdr_by")):
        assert adjusted(np.array(p)) == pytest.approx(multipletests(p, method=name)[1], abs=1e-12)
