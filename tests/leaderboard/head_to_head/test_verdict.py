from math import sqrt

import pytest
from scipy.stats import norm
from scipy.stats import t as student

from leaderboard.head_to_head.table import Driver
from leaderboard.head_to_head.verdict import Decision, MarginError, Verdict, margin_of


def decision(points, error=10.0, **more):
    found = {
        "points": points,
        "standard_error": error,
        "units": 50,
        "of_prompts": True,
        "reach": [2.0],
        "reach_at_every_look": [3.0],
    }
    options = {name: more.pop(name) for name in ("margin", "every_look") if name in more}
    return Decision("A", "B", {**found, **more}, 400, 95.0, **options)


@pytest.mark.parametrize(
    ("points", "margin", "verdict"),
    [
        (21, 0, Verdict.BETTER),
        (20, 0, Verdict.UNDECIDED),
        (-21, 0, Verdict.WORSE),
        (21, 30, Verdict.BETTER),
        (5, 30, Verdict.NOT_WORSE),
        (-5, 30, Verdict.NOT_WORSE),
        (-10, 30, Verdict.UNDECIDED),
        (-25, 30, Verdict.UNDECIDED),  # worse, but by more than 30?
        (-51, 30, Verdict.WORSE),
    ],
)
def test_the_verdict_is_where_the_interval_lies(points, margin, verdict):
    assert decision(points, margin=margin).verdict is verdict


def test_an_interval_for_every_look_is_wider():
    assert decision(25).ends == (5, 45)
    assert decision(25, every_look=True).ends == (-5, 55)
    assert decision(25, every_look=True).verdict is Verdict.UNDECIDED


def test_the_prompts_that_would_decide_by_hand():
    # With n prompts the standard error is 10 sqrt(50 / n); 80% of studies show 10 points if
    # 10 = (2 + 0.8416) 10 sqrt(50 / n), so n = 50 * 2.8416² = 403.7.
    found = decision(10)
    assert norm.ppf(0.8) == pytest.approx(0.8416, abs=1e-4)
    assert (found.more_units, found.more_ratings) == (354, 354 * 400 // 50)
    assert "350 more prompts (2,800 ratings)" in found.outlook
    needed = 10 * sqrt(50 / (50 + found.more_units)) * (2 + norm.ppf(0.8))
    assert 9.9 < needed <= 10
    assert "About 2,800 more ratings would" in decision(10, of_prompts=False).outlook
    assert decision(0).more_units is None
    assert decision(-10, margin=10).more_units is None


def test_with_more_prompts_an_interval_reaches_less_far():
    # With 800 prompts and more it reaches 3, and 50 * 3.8416² is 738, but before 800 it reaches further: at
    # n from 400 on 4 - (2 - 800 / n). With 770 that is 3.039, and 50 * 3.8805² is 753.
    found = decision(10, reach=[5.0, 4.0, 4.0, 4.0, 3.0])
    assert found.more_units == min(
        n - 50 for n in range(400, 800) if 50 * (2 + 800 / n + norm.ppf(0.8)) ** 2 <= n
    )
    # With 100 prompts it would still reach too far.
    assert 100 - 50 < decision(10, reach=[5.0, 4.0, 0.67]).more_units < 200 - 50


@pytest.mark.parametrize("units", [2, 3, 7, 20, 300])
@pytest.mark.parametrize("wide", [0.8, 1.0, 1.7])
def test_the_prompts_that_would_decide_are_the_fewest_by_students_t(units, wide):
    apart = wide * 10.0 * student.ppf(0.975, units - 1) / 2
    found = decision(apart, units=units, reach=[student.ppf(0.975, units * 2**k - 1) for k in range(12)])

    def decides(n):
        return (student.ppf(0.975, n - 1) + norm.ppf(0.8)) * 10.0 * sqrt(units / n) <= apart

    exact = next(n for n in range(units + 1, 10**6) if decides(n))
    assert found.more_units == pytest.approx(exact - units, abs=1, rel=0.02)


def test_sentences():
    assert decision(30).sentence == "A is better than B by 10 to 50 points (95% interval)."
    assert decision(-30).sentence == "A is worse than B by 10 to 50 points (95% interval)."
    for points in (-5, -60, -20):
        assert "than B by more than 30 points: the scores differ by " in decision(points, margin=30).finding
    assert "+0 to +60" in decision(30, every_look=True).finding
    alone = decision(30, None, reach=[], reach_at_every_look=[])
    assert alone.verdict is Verdict.UNDECIDED
    assert (alone.ends, alone.outlook) == (None, "")


@pytest.mark.parametrize("text", ["x", "-1", "nan", "inf", "1e7"])
def test_a_margin_that_is_none(text):
    with pytest.raises(MarginError, match="it must be a number of points, 0 or more"):
        margin_of(text)


def test_margins():
    assert [margin_of(text) for text in ("", "0", "12.5")] == [0, 0, 12.5]


def test_what_moves_the_result_is_said_with_its_interval():
    split = {
        "one": {"value": 0.8},
        "other": {"value": 0.55},
        "apart": {"value": 0.25, "low": 0.1, "high": 0.4},
    }
    assert Driver("category", "coding", "all others", split).sentence("A", 95.0) == (
        "A has a win share of 80% in coding, 55% elsewhere: +25 percentage points (95% interval +10 to +40)."
    )
