import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from leaderboard.stats.self_preference import own_family

ROWS = [  # pair, prompt, preference for the family, by the judge
    (1, 1, 1.0, True),
    (1, 1, 0.0, True),  # asked twice: 0.5
    (1, 1, 0.0, False),
    (2, 1, 1.0, True),
    (2, 1, 1.0, False),
    (2, 1, -1.0, False),  # two others: 0
    (3, 2, -0.5, True),
    (3, 2, -1.0, False),
    (4, 2, 1.0, True),  # nobody else
    (5, 2, 1.0, False),  # not the judge
]


def measured(rows):
    pair, prompt, preference, judged = zip(*rows, strict=True)
    return own_family(np.array(pair), np.array(prompt), np.array(preference), np.array(judged))


def test_by_hand_and_as_the_paired_t_interval():
    found = measured(ROWS)
    assert (found.n, found.prompts) == (3, 2)
    assert found.own == pytest.approx((0.5 + 1 - 0.5) / 3)
    assert found.others == pytest.approx(-1 / 3)
    assert found.difference == pytest.approx(2 / 3)  # 0.5, 1 and 0.5
    assert found.low < 2 / 3 < found.high
    found = measured(ROWS[-2:])
    assert (found.n, found.own, found.difference, found.low) == (0, None, None, None)
    rng = np.random.default_rng(3)
    own, others = rng.normal(0.3, 0.4, 50), rng.normal(0, 0.4, 50)
    number = np.arange(50)
    found = own_family(
        np.tile(number, 2), np.tile(number, 2), np.concatenate((own, others)), np.repeat([True, False], 50)
    )
    apart = own - others
    low, high = t.interval(0.95, 49, apart.mean(), apart.std(ddof=1) / np.sqrt(50))
    assert (found.difference, found.low, found.high) == pytest.approx((apart.mean(), low, high))


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.floats(-1, 1), st.booleans()).map(
            lambda row: (row[0], row[0] % 3, *row[1:])
        ),
        min_size=1,
    )
)
def test_who_is_called_the_judge_turns_the_sign(rows):
    one, other = measured(rows), measured([(*row[:3], not row[3]) for row in rows])
    assert one.n == other.n
    if one.n:
        assert one.difference == pytest.approx(-other.difference)
        assert one.own == pytest.approx(other.others)
