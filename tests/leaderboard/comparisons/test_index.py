import math
from collections import defaultdict
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.snapshots import comparison_index as index
from leaderboard.snapshots.comparison_index import (
    FLIPPED,
    PEOPLE_DIFFER,
    REASONS,
    TIE,
    UNLIKE_PEOPLE,
    Index,
    Question,
    build,
    places,
)
from leaderboard.snapshots.rows import Rows

PEOPLE = {1, 2, 3}
JUDGE, OTHER_JUDGE = 8, 9


class Answer(NamedTuple):
    """One answer; ``rating`` 0 with a reason for none."""

    id: int
    pair: int
    rater: int
    rating: int
    swapped: bool = False
    points: int = 8
    reason: str = ""
    prompt: int = 1


def rows(*answers):
    """The rows of Opinions. The texts of pair p are 10 p + 1 (its first) and 10 p + 2."""
    kinds = {"swapped": "?", "reason": "S12"}
    columns = {
        name: np.array([getattr(each, name) for each in answers], dtype=kinds.get(name, "i8"))
        for name in Answer._fields
    }
    first, second = (10 * columns["pair"] + 1 + side for side in (columns["swapped"], ~columns["swapped"]))
    return Rows(len(answers), {**columns, "first_text": first, "second_text": second})


def built(*answers):
    return build(rows(*answers), PEOPLE, {})


def flags(*answers):
    return built(*answers).flags.tolist()


def test_pairs_and_answers_stand_sorted_with_their_facts_and_packing_keeps_them():
    found = build(
        rows(
            Answer(7, 5, 1, 2, prompt=30),
            Answer(4, 3, JUDGE, 0, reason="refused", swapped=True, prompt=20),
            Answer(9, 3, 1, 3, points=5, prompt=20),
        ),
        PEOPLE,
        {31: 100, 32: 200, 52: 100},
    )
    assert found.pair.tolist() == [3, 5]
    assert found.prompt.tolist() == [20, 30]
    assert found.first.tolist() == [100, index.NOBODY]
    assert found.second.tolist() == [200, 100]
    assert found.newest.tolist() == [9, 7]
    assert found.place.tolist() == [0, 0, 1]
    assert found.rater.tolist() == [1, JUDGE, 1]
    assert found.rating.tolist() == [3, 0, 2]
    assert found.points.tolist() == [5, 8, 8]
    assert [REASONS[number] for number in found.reason] == ["", "refused", ""]
    assert [len(array) for array in vars(built()).values()] == [0] * 12
    found = built(Answer(1, 1, 1, 8), Answer(2, 1, JUDGE, 1), Answer(3, 2, 1, 0, reason="empty"))
    again = Index.unpacked(found.packed())
    for name, array in vars(found).items():
        np.testing.assert_array_equal(getattr(again, name), array)


def test_ties_are_the_band_of_the_scale():
    answers = [Answer(r, r, 1, r) for r in range(1, 9)]
    answers += [Answer(10 + r, 10 + r, 1, r, points=5) for r in range(1, 6)]
    answers += [Answer(20 + r, 20 + r, 1, r, points=2) for r in (1, 2)]
    tied = [answer.id for answer, flag in zip(answers, flags(*answers), strict=True) if flag & TIE]
    assert tied == [4, 5, 13]


def test_flipped_is_another_verdict_in_the_other_order():
    always_first = (Answer(1, 1, JUDGE, 1), Answer(2, 1, JUDGE, 1, swapped=True))
    assert flags(*always_first) == [FLIPPED, FLIPPED]
    mirrored = (Answer(1, 1, JUDGE, 1), Answer(2, 1, JUDGE, 8, swapped=True))
    assert flags(*mirrored) == [0, 0]
    stronger = (Answer(1, 1, JUDGE, 1), Answer(2, 1, JUDGE, 6, swapped=True))
    assert flags(*stronger) == [0, 0]
    into_a_tie = (Answer(1, 1, JUDGE, 1), Answer(2, 1, JUDGE, 5, swapped=True))
    assert flags(*into_a_tie) == [FLIPPED, FLIPPED | TIE]
    two_raters = (Answer(1, 1, JUDGE, 1), Answer(2, 1, OTHER_JUDGE, 1, swapped=True))
    assert flags(*two_raters) == [0, 0]
    no_answer = (Answer(1, 1, JUDGE, 1), Answer(2, 1, JUDGE, 0, swapped=True, reason="empty"))
    assert flags(*no_answer) == [0, 0]


def test_a_judge_is_unlike_the_mean_of_the_people():
    answers = (
        *(Answer(1, 1, 1, 1), Answer(2, 1, 2, 2), Answer(3, 1, 3, 5)),
        *(Answer(4, 1, JUDGE, 1, swapped=True), Answer(5, 1, OTHER_JUDGE, 8, swapped=True)),
    )
    differ = PEOPLE_DIFFER | UNLIKE_PEOPLE
    assert flags(*answers) == [differ, differ, differ | TIE, UNLIKE_PEOPLE, 0]
    assert flags(Answer(1, 1, JUDGE, 1), Answer(2, 1, OTHER_JUDGE, 8)) == [0, 0]


def test_spread_is_the_widest_distance_between_raters():
    found = built(
        *(Answer(1, 1, 1, 1), Answer(2, 1, JUDGE, 1, swapped=True)),
        *(Answer(3, 2, 1, 4), Answer(4, 2, JUDGE, 5)),
        *(Answer(5, 3, 1, 4), Answer(6, 3, JUDGE, 0, reason="empty")),
    )
    np.testing.assert_allclose(found.spread, [2, 2 / 7, math.nan], rtol=1e-6)
    # As floats (-1 + 1/7) / 2 is not -3/7.
    found = built(Answer(1, 1, 1, 1), Answer(2, 1, 1, 5), Answer(3, 1, JUDGE, 3))
    assert found.spread.tolist() == [0.0]


def plainly(answers):
    """The flags of each answer and the spread of each pair, by the rules as a reader would write them."""
    scored = [answer for answer in answers if answer.rating]

    def preference(answer):
        value = Fraction(2 * answer.rating - answer.points - 1, answer.points - 1)
        return -value if answer.swapped else value

    def mean(of):
        return sum(of, Fraction()) / len(of)

    def verdict(value):
        return 0 if abs(value) <= Fraction(1, 7) else 1 if value > 0 else -1

    by_rater: dict[tuple[int, int], list[Answer]] = defaultdict(list)
    for answer in scored:
        by_rater[answer.pair, answer.rater].append(answer)
    means = {key: mean([preference(answer) for answer in given]) for key, given in by_rater.items()}
    found: dict[int, int] = {answer.id: 0 for answer in answers}
    spreads: dict[int, float] = {}
    for pair in {answer.pair for answer in answers}:
        own = {rater: value for (about, rater), value in means.items() if about == pair}
        people = {rater: value for rater, value in own.items() if rater in PEOPLE}
        said = verdict(mean(list(people.values()))) if people else None
        judges = {rater: said not in (None, verdict(own[rater])) for rater in own if rater not in PEOPLE}
        spreads[pair] = float(max(own.values()) - min(own.values())) if len(own) > 1 else math.nan
        for answer in (answer for answer in scored if answer.pair == pair):
            rater = answer.rater
            orders = [
                [preference(each) for each in by_rater[pair, rater] if each.swapped is swapped]
                for swapped in (False, True)
            ]
            flipped = all(orders) and len({verdict(mean(order)) for order in orders}) > 1
            unlike = any(judges.values()) if rater in PEOPLE else judges[rater]
            differ = rater in PEOPLE and len({verdict(value) for value in people.values()}) > 1
            tie = verdict(preference(answer)) == 0
            found[answer.id] = TIE * tie + FLIPPED * flipped + UNLIKE_PEOPLE * unlike + PEOPLE_DIFFER * differ
    return found, spreads


SINGLE = {"rtol": 1e-6, "atol": 1e-9}
"""Spreads are in single precision, of means that are rounded to nine decimals."""


@st.composite
def studies(draw):
    found = []
    for number in range(draw(st.integers(0, 25))):
        points = draw(st.sampled_from([2, 3, 5, 8]))
        rating = draw(st.integers(0, points))
        found.append(
            Answer(
                number + 1,
                draw(st.integers(1, 3)),
                draw(st.sampled_from([1, 2, 3, JUDGE, OTHER_JUDGE])),
                rating,
                draw(st.booleans()),
                points,
                "" if rating else "empty",
            )
        )
    return found


@given(studies())
def test_any_study_by_the_plain_rules(answers):
    found = built(*answers)
    flags_by_id, spreads = plainly(answers)
    ordered = sorted(answers, key=lambda answer: (answer.pair, answer.rater, answer.id))
    assert found.flags.tolist() == [flags_by_id[answer.id] for answer in ordered]
    for pair, spread in zip(found.pair.tolist(), found.spread.tolist(), strict=True):
        np.testing.assert_allclose(spread, spreads[pair], **SINGLE)


@given(studies())
def test_which_completion_has_the_smaller_id_changes_nothing(answers):
    turned = [answer._replace(swapped=not answer.swapped) for answer in answers]
    one, other = built(*answers), built(*turned)
    np.testing.assert_array_equal(one.flags, other.flags)
    np.testing.assert_allclose(one.spread, other.spread, **SINGLE)


ALPHA, BETA, GAMMA = 100, 200, 300
PERSON = 1


@pytest.fixture
def searched():
    """Pairs 1 to 4; pair 1: alpha, beta; 2: alpha, gamma; 3: gamma, beta; 4: texts without author."""
    texts = {11: ALPHA, 12: BETA, 21: ALPHA, 22: GAMMA, 31: GAMMA, 32: BETA}
    answers = rows(
        Answer(1, 1, PERSON, 1, prompt=10),
        Answer(2, 1, JUDGE, 1, prompt=10),
        Answer(3, 1, JUDGE, 1, swapped=True, prompt=10),
        Answer(4, 3, PERSON, 8, prompt=11),
        Answer(5, 3, JUDGE, 1, prompt=11),
        Answer(6, 2, PERSON, 4, prompt=11),
        Answer(7, 2, JUDGE, 0, reason="refused", prompt=11),
        Answer(8, 4, JUDGE, 2, points=3, prompt=12),
    )
    return build(answers, {PERSON}, texts)


@pytest.mark.parametrize(
    ("question", "pairs"),
    [
        (Question(), [4, 2, 3, 1]),
        (Question(widest=True), [3, 1, 4, 2]),
        (Question(prompts=[10, 12]), [4, 1]),
        (Question(prompts=[]), []),
        (Question(contestants=(ALPHA,)), [2, 1]),
        (Question(contestants=(BETA, GAMMA)), [3]),
        (Question(raters=[PERSON]), [2, 3, 1]),
        (Question(raters=[]), []),
        (Question(answer="scored"), [4, 2, 3, 1]),
        (Question(answer="unscored"), [2]),
        (Question(answer="refused"), [2]),
        (Question(answer="empty"), []),
        (Question(answer="tie"), [4, 2]),
        (Question(answer="side"), [3, 1]),
        (Question(rating=(1, 8)), [3, 1]),
        (Question(rating=(2, 3)), [4]),
        (Question(rating=(2, 8)), []),
        (Question(only="flipped"), [1]),
        (Question(only="judges"), [3, 1]),
        (Question(only="people"), []),
        (Question(raters=[JUDGE], answer="tie"), [4]),
        (Question(raters=[JUDGE], rating=(1, 8), contestants=(GAMMA,)), [3]),
        (Question(raters=[PERSON], answer="refused"), []),
    ],
)
def test_what_is_found(searched, question, pairs):
    assert searched.pair[places(searched, question)].tolist() == pairs


def test_nothing_is_found_in_nothing():
    empty = build(rows(), set(), {})
    for question in (Question(), Question(raters=[1], only="flipped", widest=True), Question(prompts=[1])):
        assert len(places(empty, question)) == 0
