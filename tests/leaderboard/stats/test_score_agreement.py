import json

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leaderboard.stats.score_agreement import MEASURES, people_agreement, score_agreement
from leaderboard.stats.scores import make_scores

NAN = float("nan")


def scored(value, prompt=None, contestant=0, rater=0, lowest=1, highest=10, turn=0):
    prompts = range(len(value)) if prompt is None else prompt
    return make_scores(rater, contestant, prompts, value, lowest=lowest, highest=highest, turn=turn)


def icc_by_anova(x, y):
    """Shrout and Fleiss' (1979) ICC(2,1) from the mean squares of a two-way table."""
    table = np.column_stack((x, y)).astype(float)
    n, k = table.shape
    whole, rows, columns = table.mean(), table.mean(axis=1), table.mean(axis=0)
    between = k * ((rows - whole) ** 2).sum() / (n - 1)
    raters = n * ((columns - whole) ** 2).sum() / (k - 1)
    rest = ((table - rows[:, None] - columns + whole) ** 2).sum() / ((n - 1) * (k - 1))
    return (between - rest) / (between + (k - 1) * rest + k * (raters - rest) / n)


def test_by_hand():
    # Texts scored 1, 2, 3 and 2, 2, 5: means 2 and 3, products about them 2 + 0 + 1... = 3, squares 2 and 6.
    found = score_agreement(scored([1, 2, 3]), scored([2, 2, 5]), rounds=20)
    assert (found.texts, found.prompts, found.difference.value) == (3, 3, -1)
    assert found.pearson.value == pytest.approx(3 / np.sqrt(2 * 6))
    # Ranks 1, 2, 3 and 1.5, 1.5, 3; two pairs in the same order, one tied in y.
    assert found.spearman.value == pytest.approx(1.5 / np.sqrt(2 * 1.5))
    assert found.kendall.value == pytest.approx(2 / np.sqrt(3 * 2))
    # Mean squares: texts 7 / 2, raters 3 / 2, rest 1 / 2. Alpha: 6 scores, squared differences 1 + 0 + 4.
    assert found.icc.value == pytest.approx((3.5 - 0.5) / (3.5 + 0.5 + 2 * (1.5 - 0.5) / 3))
    assert found.alpha.value == pytest.approx(1 - 5 * 5 / (6 * 47 - 15**2))


def alpha_of_two(x, y):
    return 1 - ((x - y) ** 2).mean() / (2 * np.concatenate((x, y)).var(ddof=1))


@pytest.mark.parametrize("whole", [True, False])
def test_as_scipy_and_krippendorff(whole):
    generator = np.random.default_rng(5)
    x, y = np.clip(generator.normal(size=500) + generator.normal(5, 1, (2, 500)), 1, 10)
    if whole:
        x, y = np.rint(x), np.rint(y)
        package = krippendorff.alpha(np.stack((x, y)), level_of_measurement="interval")
        assert alpha_of_two(x, y) == pytest.approx(package)
    found = score_agreement(scored(x), scored(y), rounds=30)
    expected = [
        *(each(x, y).statistic for each in (stats.pearsonr, stats.spearmanr, stats.kendalltau)),
        icc_by_anova(x, y),
        alpha_of_two(x, y),
    ]
    assert [getattr(found, name).value for name in MEASURES] == pytest.approx(expected)
    for name in MEASURES:
        value, low, high = getattr(found, name)
        assert low < value < high


def test_people_by_hand():
    """Ann, Ben and Cal score the first text 1, 2, 3; Ann and Ben the second 4 and 4; the third only Ann."""
    found = people_agreement(
        scored([1, 2, 3, 4, 4, 9], [0, 0, 0, 1, 1, 2], rater=[0, 1, 2, 0, 1, 0]), rounds=20
    )
    assert (found.people, found.texts, found.prompts, found.entries) == (3, 2, 2, 5)
    own, others = [1, 2, 3, 4, 4], [2.5, 2, 1.5, 4, 4]
    assert found.pearson.value == pytest.approx(stats.pearsonr(own, others).statistic)
    assert found.kendall.value == pytest.approx(stats.kendalltau(own, others).statistic)
    table = [[1, 4, 9], [2, 4, NAN], [3, NAN, NAN]]
    assert found.alpha.value == pytest.approx(krippendorff.alpha(table, level_of_measurement="interval"))


def test_several_scores_of_a_text_count_as_their_mean():
    one = scored([1, 3, 5, 9], [0, 0, 1, 2])
    assert score_agreement(one, scored([2, 5, 8]), rounds=20) == score_agreement(
        scored([2, 5, 9]), scored([2, 5, 8]), rounds=20
    )


def test_turns_are_texts_if_nobody_scored_whole_answers():
    """Two prompts, each of two turns: four texts, or by a rater of whole answers two means, 2 and 6."""
    turns = {"prompt": [0, 0, 1, 1], "turn": [1, 2, 1, 2]}
    one, other = scored([1, 3, 5, 7], **turns), scored([2, 2, 9, 4], **turns)
    found = score_agreement(one, other, rounds=20)
    assert (found.texts, found.prompts) == (4, 2)
    assert found.pearson.value == pytest.approx(stats.pearsonr([1, 3, 5, 7], [2, 2, 9, 4]).statistic)
    whole = score_agreement(one, scored([3, 4]), rounds=20)
    assert (whole.texts, whole.difference.value) == (2, pytest.approx((2 - 3 + 6 - 4) / 2))
    rater = np.repeat([0, 1], 4)
    both = {name: np.tile(own, 2) for name, own in turns.items()}
    people = people_agreement(scored([1, 3, 5, 7, 2, 2, 9, 4], rater=rater, **both), rounds=20)
    assert (people.texts, people.prompts, people.entries) == (4, 2, 8)


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ([1, 2], [1, 2], "fewer than 3 answers scored by two raters"),
        ([1, 2, NAN], [1, 2, 3], "fewer than 3 answers scored by two raters"),
        ([7, 7, 7], [1, 2, 3], "a rater gave every answer the same score"),
    ],
)
def test_no_coefficients(one, other, reason):
    found = score_agreement(scored(one), scored(other))
    assert (found.reason, found.pearson.value, found.as_dict()["alpha_low"]) == (reason, None, None)
    nobody = people_agreement(scored(one))
    assert (nobody.texts, nobody.reason) == (0, "fewer than 3 answers scored by two raters")


def test_intervals_take_prompts_as_units():
    """Ten times as many texts of the same prompts, all alike, say no more."""
    x, y = np.random.default_rng(6).integers(1, 11, (2, 40)).astype(float)
    few = score_agreement(scored(x), scored(y), rounds=50)
    prompt, contestant = np.tile(np.arange(40), 10), np.repeat(np.arange(10), 40)
    many = score_agreement(
        scored(np.tile(x, 10), prompt, contestant), scored(np.tile(y, 10), prompt, contestant), rounds=50
    )
    assert (many.pearson.low, many.kendall.high) == pytest.approx((few.pearson.low, few.kendall.high))


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=3, max_size=20))
def test_renaming_raters_and_moving_or_stretching_the_scale(rows):
    x, y = np.array(rows, dtype=float).T
    found = score_agreement(scored(x), scored(y), rounds=10)
    turned = score_agreement(scored(y), scored(x), rounds=10)
    moved = score_agreement(scored(3 * x - 2, highest=28), scored(3 * y - 2, highest=28), rounds=10)
    for name in MEASURES:
        own, *others = (getattr(each, name).value for each in (found, turned, moved))
        assert others == [own, own] if own is None else others == pytest.approx([own, own], abs=1e-9)


def test_published_scores(judge_data):
    """WildBench: two judges on the same texts, and on those of one contestant."""
    rows = [json.loads(line) for line in (judge_data / "wildbench" / "scores.jsonl").read_text().splitlines()]
    columns = []
    for name in ("judge", "model", "prompt"):
        names = sorted({row[name] for row in rows})
        columns.append([names.index(row[name]) for row in rows])
        if name == "model":
            gemma = names.index("gemma-2b-it")
    scores = make_scores(*columns, [float(row["score"]) for row in rows], lowest=1, highest=10)

    def agreement(own):
        found = score_agreement(own.only(own.rater == 0), own.only(own.rater == 1), rounds=20)
        return found.texts, found.pearson.value, found.spearman.value, found.kendall.value

    published = (6133, 0.855789, 0.838188, 0.743526), (1021, 0.887550, 0.890099, 0.793725)
    assert agreement(scores) == pytest.approx(published[0], abs=5e-7)
    assert agreement(scores.only(scores.contestant == gemma)) == pytest.approx(published[1], abs=5e-7)
