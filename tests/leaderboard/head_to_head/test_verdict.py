from math import sqrt

import pytest
from scipy.stats import norm

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
    # 50 * 5.8416² is 1,706 prompts, and with those the interval reaches 3: 50 * 3.8416² is 738.
    assert decision(10, reach=[5.0, 4.0, 4.0, 4.0, 3.0]).more_units == 738 - 50
    # With 100 prompts it would still reach too far; with 200, 115 would be enough.
    assert decision(10, reach=[5.0, 4.0, 0.67]).more_units == 115 - 50


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
