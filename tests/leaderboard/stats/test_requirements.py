import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats.checks import LengthMismatchError, ParameterError, StatsError
from leaderboard.stats.clustered_means import share_estimate
from leaderboard.stats.requirements import (
    MISSING,
    NO,
    NOT_ASKED,
    UNKNOWN,
    UNSCORED,
    YES,
    by_question,
    majority,
    make_answers,
    make_questions,
    requirements,
)

# Three prompts with three, two and one questions; the third question is optional.
QUESTIONS = make_questions(
    [0, 0, 0, 1, 1, 2],
    [["Format"], ["Content"], ["Content", "Style"], ["Content"], ["Number"], []],
    [True, True, False, True, True, True],
    sets=["easy", "hard", "hard"],
)


def answered(*values):
    return make_answers(0, 0, np.arange(len(values)), values)


def test_by_hand():
    found = requirements(QUESTIONS, answered(YES, YES, NO, YES, UNSCORED, UNKNOWN))
    # Of six questions three are met and one is not; one reply is unreadable, one "cannot tell".
    whole = found.overall
    assert (whole.questions, whole.met, whole.unanswered, whole.unknown) == (6, 3, 1, 1)
    assert (whole.coverage, whole.drfr, whole.drfr_bounds) == (4 / 6, 3 / 4, (3 / 5, 4 / 5))
    # By prompt 2 of 3 and 1 of 1 are met.
    by_prompt = share_estimate(np.array([2.0, 1]), np.array([3.0, 1]), 95)
    assert (whole.low, whole.high) == (by_prompt.low, by_prompt.high)
    labels = {name: (own.questions, own.met, own.drfr) for name, own in found.labels.items()}
    assert labels == {
        "Content": (3, 2, 2 / 3),
        "Format": (1, 1, 1),
        "Number": (1, 0, None),
        "Style": (1, 0, 0),
    }
    assert {name: own.drfr for name, own in found.groups["sets"].items()} == {"easy": 2 / 3, "hard": 1}
    assert found.texts == 3
    assert (found.macro.n, found.macro.prompts, found.macro.value) == (4, 2, pytest.approx((2 / 3 + 1) / 2))
    # The first text meets all required questions, not all; the second has a gap, the third nothing to count.
    assert (found.all_met.n, found.all_met.value) == (1, 0)
    assert (found.required_met.n, found.required_met.value) == (1, 1)


@pytest.mark.parametrize(
    ("missing", "share", "all_met"), [("exclude", 2 / 3, 0), ("no", 2 / 6, 0), ("script", 2 / 4, 0)]
)
def test_missing_answers(missing, share, all_met):
    """An unreadable answer to the second question, after which the third and fourth are never asked."""
    questions = make_questions([0, 0, 0, 0, 1, 1])
    found = requirements(questions, answered(YES, UNSCORED, NOT_ASKED, NOT_ASKED, YES, NO), missing)
    assert (found.overall.drfr, found.all_met.value) == (share, all_met)
    assert found.overall.drfr_bounds == (2 / 6, 5 / 6)
    assert found.all_met.n == (1 if missing == "exclude" else 2)


def test_majority_and_questions_by_hand():
    """Three raters about two texts: agreed, two to one, one to one beside a gap, nobody."""
    values = [
        [YES, YES, NO, NOT_ASKED, NOT_ASKED],
        [YES, NO, YES, UNSCORED, NOT_ASKED],
        [YES, NO, UNSCORED, NOT_ASKED, NOT_ASKED],
    ]
    questions = make_questions([0] * 5)
    rater, question = (grid.ravel() for grid in np.indices((3, 5)))
    one = majority(make_answers(rater, 0, question, np.ravel(values)))
    assert one.value.tolist() == [YES, NO, UNKNOWN, UNSCORED, NOT_ASKED]
    others = [YES, YES, NO, UNKNOWN, UNKNOWN]
    both = make_answers(0, [0] * 5 + [1] * 5, [*range(5)] * 2, [*one.value, *others])
    found = [(own.texts, own.met, own.tells_apart) for own in by_question(questions, both)]
    assert found == [(2, 2, False), (2, 1, True), (1, 0, False), (0, 0, False), (0, 0, False)]


def test_nothing_and_bad_input():
    nothing = requirements(QUESTIONS, answered())
    assert (nothing.overall.drfr, nothing.texts, nothing.labels, nothing.all_met.n) == (None, 0, {}, 0)
    assert nothing.as_dict()["overall"]["questions"] == 0
    with pytest.raises(ParameterError, match="missing is 'yes'; it must be one of exclude, no, script"):
        requirements(QUESTIONS, answered(YES), "yes")
    with pytest.raises(LengthMismatchError, match="2 questions but labels for 1"):
        make_questions([0, 1], [["Content"]])
    with pytest.raises(LengthMismatchError, match="sets names 1 prompts, but there are 2"):
        make_questions([0, 1], sets=["easy"])
    for rater, value in ((0, 3), (-1, YES), ([0, 1], YES)):
        with pytest.raises(StatsError):
            make_answers(rater, 0, 0, [value])


@given(
    st.lists(st.sampled_from((YES, NO, UNKNOWN, UNSCORED, NOT_ASKED)), min_size=12, max_size=12),
    st.permutations(range(12)),
)
def test_every_rule_lies_within_the_bounds_and_order_is_nothing(values, order):
    rater, question = (grid.ravel() for grid in np.indices((2, 6)))
    answers = make_answers(rater, 0, question, values)
    for missing in MISSING:
        found = requirements(QUESTIONS, answers, missing)
        again = requirements(QUESTIONS, answers.only(np.array(order)), missing)
        assert again.as_dict() == found.as_dict()
        assert sum(own.questions for own in found.groups["sets"].values()) == found.overall.questions == 12
        assert sum(own.met for own in found.groups["sets"].values()) == found.overall.met
        if found.overall.drfr is not None:
            low, high = found.overall.drfr_bounds
            assert low <= found.overall.drfr <= high
            assert (
                found.overall.low <= found.overall.drfr <= found.overall.high if found.overall.low else True
            )


def stored(path):
    """The questions and answers of one of InFoBench's files."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    labels = [own for row in rows for own in row["question_label"]]
    prompt = [number for number, row in enumerate(rows) for _ in row["question_label"]]
    known = {True: YES, False: NO, None: UNSCORED}
    values = []
    for row in rows:
        told = [known[value] for value in row["eval"]]
        values += told + [NOT_ASKED] * (len(row["decomposed_questions"]) - len(told))
    return make_questions(prompt, labels, sets=[row["subset"] for row in rows]), answered(*values)


def test_published_answers(reference_data, judge_data):
    """InFoBench's Easy set, its Korean translation, and a judge that hardly answers."""
    questions, answers = stored(reference_data / "infobench" / "easy_set.gpt-4.jsonl")
    found = requirements(questions, answers)
    assert (found.overall.met, found.overall.questions, found.texts) == (610, 690, 252)
    assert 100 * found.overall.drfr == pytest.approx(88.4058, abs=5e-5)
    assert found.groups["sets"] == {"Easy_set": found.overall}
    printed = {"Content": 87.2340, "Format": 94.0120, "Linguistic": 87.5, "Number": 75, "Style": 82.6923}
    assert {name: 100 * own.drfr for name, own in found.labels.items()} == pytest.approx(printed, abs=5e-5)
    counted = {name: own.questions for name, own in found.labels.items()}
    assert counted == {"Content": 517, "Format": 167, "Linguistic": 48, "Number": 8, "Style": 52}

    korean = stored(judge_data / "infobench" / "ko_easy.gpt-4.jsonl")
    rates = [100 * requirements(*korean, missing).overall.drfr for missing in ("no", "exclude", "script")]
    assert rates == pytest.approx([82.1739, 82.7737, 82.6531], abs=5e-5)

    broken = stored(reference_data / "infobench" / "invalid_answers.qwen2.5-7b.jsonl")
    rates = [100 * requirements(*broken, missing).overall.drfr for missing in ("no", "exclude")]
    assert rates == pytest.approx([32.5843, 93.5484], abs=5e-5)
    bounds = requirements(*broken).overall.drfr_bounds
    assert [100 * each for each in bounds] == pytest.approx([32.58, 97.75], abs=5e-3)
