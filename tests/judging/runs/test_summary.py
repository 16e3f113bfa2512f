"""Runs and estimates in words."""

from typing import Any

import pytest

from judging.runs import summary as runs_text


def run(**changes: Any) -> dict[str, Any]:
    return {
        "id": 7,
        "simulated": False,
        "state": "running",
        "error": "",
        "assigned": 1200,
        "scored": 1000,
        "unscored": {"truncated": 3, "empty": 2},
        "identical": 0,
        "failed": 5,
        "put_aside": 0,
        "waiting": 190,
        "calls": 1030,
        "in_flight": 8,
        "cached": 12,
        "retried": 20,
        "attempts_failed": 19,
        "abandoned": 1,
        "prompt_tokens": 500000,
        "completion_tokens": 40000,
        "reasoning_tokens": 0,
        "cost": "1.5",
        "budget": "5",
        "currency": "USD",
        "per_minute": 60.4,
        "seconds_left": 190.0,
        "trouble": "",
        "lacks_logprobs": 0,
        **changes,
    }


def estimate(**changes: Any) -> dict[str, Any]:
    return {
        "task": "compare",
        "simulated": False,
        "pairs": 10,
        "assignments": 20,
        "identical": 0,
        "looked_at": 20,
        "calls": {"about": "40", "at_most": "60"},
        "cached": 0,
        "later_steps": True,
        "prompt_tokens": {"about": "1000", "at_most": "4000"},
        "reply_tokens": {"about": "100", "at_most": None},
        "cost": {"about": "0.25", "at_most": None},
        "currency": "USD",
        "prices": [{"model": "m", "prompt": "1", "completion": "2", "currency": "USD"}],
        "unpriced": [],
        "seconds": {"about": "30", "at_most": "4000"},
        "habits_from": 0,
        "covered": 8,
        **changes,
    }


def test_progress_in_one_line() -> None:
    assert runs_text.progress(run()) == (
        "1,005/1,200 done: 1,000 rated, 5 not rated; 5 failed; 8 in flight; "
        "12 from the cache; 20 repeated; "
        "cost 1.50 of 5.00 USD; 60/min; 3 min left"
    )
    assert runs_text.progress(run(trouble="No reply has come.")).endswith("; No reply has come.")
    quiet = run(cost=None, per_minute=None, seconds_left=None, identical=4, put_aside=1200)
    assert runs_text.progress(quiet).endswith(
        "4 identical; 5 failed; 1,200 put aside; 8 in flight; 12 from the cache; 20 repeated"
    )


def test_the_summary_counts_what_was_not_asked_and_what_thinking_took() -> None:
    text = runs_text.summary(
        run(state="paused", error="Why.", reasoning_tokens=30000, identical=4, put_aside=2)
    )
    assert text.splitlines() == [
        "Run 7 is paused. Why.",
        "Assigned   1,200",
        "Rated      1,000",
        "Not rated  5 (2 empty, 3 cut off)",
        "Failed     5",
        "Identical  4",
        "Put aside  2: their answers were excluded meanwhile",
        "Not asked  190",
        "Calls      1,030, 20 repeated, 19 failed, 1 abandoned, 12 more from the cache",
        "Tokens     500,000 input, 40,000 output, 30,000 of them thinking",
        "Cost       1.50 of 5.00 USD",
    ]
    unknown = "Cost       unknown: no price was set when the calls were made"
    assert unknown in runs_text.summary(run(cost=None, budget=None))
    assert "Cost" not in runs_text.summary(run(cost=None, budget=None, calls=0))
    assert "Cost" not in runs_text.summary(run(simulated=True, cost=None))


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        ({"state": "paused"}, "Continue with: python manage.py judge --resume 7 --budget AMOUNT"),
        ({"state": "paused", "budget": None}, "Continue with: python manage.py judge --resume 7"),
        ({"state": "finished"}, ""),
    ],
)
def test_what_can_be_done_next(changes: dict[str, Any], hint: str) -> None:
    assert runs_text.whats_next(run(**changes)) == hint


def test_an_estimate_with_open_ends() -> None:
    assert runs_text.estimate(estimate(), "0.1").splitlines() == [
        "Pairs            10",
        "Questions        20",
        "Calls            about 40, at most 60",
        "Input tokens     about 1,000, at most 4,000",
        "Output tokens    about 100, no upper limit known",
        "Cost             about 0.25 USD, no upper limit because the judge has no max tokens",
        "Prices           m: 1.00 USD per million input tokens, 2.00 per million output tokens",
        "Time             about 30 s, at most 67 min",
        "Budget 0.10 USD  enough for about 8 of 20 questions",
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"simulated": True, "cost": None}, "nothing, because a simulated judge asks no model"),
        ({"unpriced": ["m", "n"], "cost": None}, "unknown, no price for m, n"),
        ({"unpriced": ["m"], "cost": None, "assignments": 0, "pairs": 0}, "nothing, as nothing is asked"),
        ({"cost": None}, "unknown, prices are in different currencies"),
        ({"cost": {"about": "1", "at_most": "2.5"}}, "about 1.00 USD, at most 2.50 USD"),
    ],
)
def test_cost_in_words(changes: dict[str, Any], words: str) -> None:
    rows = dict(runs_text.estimated(estimate(**changes)))
    assert rows["Cost"] == words
    sampled = dict(runs_text.estimated(estimate(**changes, looked_at=5)))
    assert sampled["Cost"] == words.replace("at most", "at most about")


def test_a_sampled_estimate_says_so() -> None:
    sampled = estimate(looked_at=5, cached=3, calls={"about": "40", "at_most": "40"}, habits_from=9)
    rows = dict(runs_text.estimated(sampled))
    assert rows["Calls"] == "about 40"
    assert rows["Input tokens"] == "about 1,000, at most about 4,000"
    assert rows["From the cache"] == "about 3 that are not asked again"
    assert "from 5 of 20 questions" in runs_text.notes(sampled)[0]
    assert "9 earlier replies" in runs_text.notes(sampled)[1]


def test_times_in_words() -> None:
    said = {0: "0 s", 89: "89 s", 90: "2 min", 7100: "118 min", 7200: "2 h 0 min", 12000: "3 h 20 min"}
    assert {seconds: runs_text.duration(seconds) for seconds in said} == said
