import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from leaderboard.stats.checks import ParameterError
from leaderboard.stats.requirement_pairs import (
    annotation_source,
    cost_by_hour,
    cost_by_task,
    disagreement,
    label_agreement,
    label_distance,
    pair_labels,
    question_accuracy,
    without,
)
from leaderboard.stats.requirements import (
    NO,
    UNKNOWN,
    UNSCORED,
    YES,
    majority,
    make_answers,
    make_questions,
    met_shares,
    requirements,
)
from leaderboard.stats.scores import make_scores

# Two prompts with two questions each.
QUESTIONS = make_questions([0, 0, 1, 1])


def answered(values):
    """Answers (raters, contestants, questions)."""
    rater, contestant, question = (grid.ravel() for grid in np.indices(np.shape(values)))
    return make_answers(rater, contestant, question, np.ravel(values))


def scored(values):
    """Scores (raters, contestants, prompts)."""
    rater, contestant, prompt = (grid.ravel() for grid in np.indices(np.shape(values)))
    return make_scores(rater, contestant, prompt, np.ravel(values), lowest=1, highest=5)


def test_labels_by_hand():
    """Shares 1, 0.5 and 0.5 on the first prompt; 0, none that counts, and 1 on the second."""
    answers = answered([[[YES, YES, NO, NO], [YES, NO, UNKNOWN, UNSCORED], [NO, YES, YES, UNKNOWN]]])
    found = pair_labels(met_shares(QUESTIONS, answers))
    rows = zip(found.prompt, found.first, found.second, found.label, strict=True)
    assert sorted(tuple(map(int, row)) for row in rows) == [
        (0, 0, 1, 1),
        (0, 0, 2, 1),
        (0, 1, 2, 0),
        (1, 0, 2, -1),
    ]
    assert len(pair_labels(met_shares(QUESTIONS, answers, "no")).label) == 6
    assert len(pair_labels(scored(np.empty((0, 0, 0)))).label) == 0


def test_fleiss_as_statsmodels():
    values = np.random.default_rng(2).integers(1, 4, (3, 4, 30)).astype(float)
    labels = pair_labels(scored(values))
    found = label_agreement(labels, rounds=50)
    assert (found.pairs, found.raters, found.prompts) == (6 * 30, 3, 30)
    order = np.lexsort((labels.rater, labels.prompt, labels.second, labels.first))
    table = labels.label[order].reshape(-1, 3)
    assert found.fleiss_unmirrored.value == pytest.approx(fleiss_kappa(aggregate_raters(table)[0]))
    both = np.concatenate((table, -table))
    assert found.fleiss.value == pytest.approx(fleiss_kappa(aggregate_raters(both)[0]))
    assert found.fleiss.low < found.fleiss.value < found.fleiss.high
    alone = label_agreement(labels.only(labels.rater == 0))
    assert (alone.pairs, alone.fleiss.value) == (0, None)


def test_distance_by_hand():
    """Labels 1, 1, 0 on one prompt and -1, -1, 0 on another, gold 1, 0, -1 and 1, 1, 1."""
    own = pair_labels(scored([[[3, 1], [2, 2], [2, 2]]]))
    gold = pair_labels(scored([[[2, 5], [1, 4], [2, 3]]]))
    assert (own.label.tolist(), gold.label.tolist()) == ([1, 1, -1, -1, 0, 0], [1, 0, 1, 1, -1, 1])
    found = label_distance(own, gold)
    assert (found.n, found.prompts, found.pld) == (6, 2, (1 / 6, 3 / 6, 2 / 6))
    assert found.wpld.value == pytest.approx(7 / 6)
    assert found.wpld.low < 7 / 6 < found.wpld.high <= 2
    # Pairs without gold are not compared.
    few = label_distance(own, gold.only(gold.second == 1))
    assert (few.n, few.pld) == (2, (0.5, 0, 0.5))
    assert label_distance(own, gold.only(gold.second == 9)).wpld.value is None


def test_published_distances():
    """Table 4: shares of 51.6, 34.7 and 13.7 % make a mean distance of 0.621."""
    gold = pair_labels(scored(np.tile([[[2.0], [1.0]]], (1, 1, 1000))))
    label = np.repeat([1.0, 0.0, -1.0], [516, 347, 137])
    own = pair_labels(scored(np.stack((3.0 + label, np.full(1000, 3.0)))[None]))
    found = label_distance(own, gold)
    assert found.pld == (0.516, 0.347, 0.137)
    assert found.wpld.value == pytest.approx(0.621)


def test_accuracy_and_sources_by_hand():
    experts = answered([[[YES, YES, NO, NO]], [[YES, NO, NO, YES]], [[YES, YES, UNKNOWN, UNKNOWN]]])
    gold = majority(experts)
    assert gold.value.tolist() == [YES, YES, NO, UNKNOWN]
    crowd = answered([[[YES, NO, UNSCORED, NO]]])
    accuracy = [question_accuracy(QUESTIONS, crowd, gold, rule) for rule in ("exclude", "no")]
    assert [(own.n, own.prompts, own.value) for own in accuracy] == [(2, 1, 0.5), (3, 2, 2 / 3)]
    found = annotation_source(QUESTIONS, experts, experts, cost=cost_by_hour(8, 59, 3), minutes=1440)
    assert (found.raters, found.answers, found.cost) == (3, 12, 1416)
    assert (found.accuracy.value, found.distance.n) == (1, 0)
    assert cost_by_task(50, 1, people=3, fee=0.25) == 187.5
    assert found.as_dict()["distance"]["pld"] is None
    with pytest.raises(ParameterError, match="it must be a number from 0 on"):
        cost_by_task(50, 1, fee=-0.1)


def test_disagreement_by_hand():
    """Three raters, two contestants: raters differ about question 1 on both texts, 3 on one."""
    answers = answered(
        [
            [[YES, YES, NO, YES], [YES, NO, UNKNOWN, NO]],
            [[YES, NO, NO, YES], [YES, YES, UNKNOWN, YES]],
            [[YES, YES, NO, YES], [YES, NO, NO, YES]],
        ]
    )
    found = disagreement(QUESTIONS, answers)
    assert (found.levels, found.texts, found.counts) == ((0, 2, 0, 1), (2, 2, 1, 2), (2, 1, 1))
    assert found.contested().tolist() == [False, True, False, False]
    assert found.contested(1).tolist() == [False, True, False, True]
    left = requirements(QUESTIONS, without(answers, found.contested())).overall
    assert (left.questions, left.met) == (18, 11)
    alone = disagreement(QUESTIONS, answers.only(answers.rater == 0))
    assert (alone.levels, sum(alone.counts)) == ((None,) * 4, 0)


@given(st.lists(st.integers(1, 5), min_size=18, max_size=18), st.permutations(range(3)))
def test_renaming_contestants_turns_labels_and_changes_no_number(values, names):
    table = np.array(values, dtype=float).reshape(2, 3, 3)
    own, gold = (pair_labels(scored(table[[rater]])) for rater in (0, 1))
    renamed_own, renamed_gold = (pair_labels(scored(table[[rater]][:, names])) for rater in (0, 1))
    one, other = label_distance(own, gold), label_distance(renamed_own, renamed_gold)
    assert other.as_dict() == one.as_dict()
    assert label_distance(own, own).wpld.value == 0
    both, renamed = (
        label_agreement(pair_labels(scored(each)), rounds=5) for each in (table, table[:, names])
    )
    assert renamed.as_dict()["fleiss"] == both.as_dict()["fleiss"]
