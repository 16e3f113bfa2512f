"""Words of other formats, and what the raters of a pair prefer together."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.data.interchange import (
    SIDES,
    WINNERS,
    By,
    Consensus,
    LeftOut,
    PairRating,
    Preference,
    Texts,
    consensus,
    preference,
    question,
    texts_row,
    winner,
)

approx = partial(pytest.approx, abs=1e-15, rel=0)


@pytest.mark.parametrize(
    ("rating", "points", "ties", "word"),
    [
        (1, 8, True, "model_a"),
        (4, 8, True, "tie"),
        (4, 8, False, "model_a"),
        (5, 8, False, "model_b"),
        (2, 3, True, "tie"),
        (2, 3, False, None),
        (3, 5, False, None),
        (2, 2, True, "model_b"),
    ],
)
def test_winners(rating: int, points: int, ties: bool, word: str | None) -> None:
    assert winner(rating, points, WINNERS, ties=ties) == word
    sides = {"model_a": "left", "tie": "tie", "model_b": "right", None: None}
    assert winner(rating, points, SIDES, ties=ties) == sides[word]


def test_question_ids_of_subsets_stay_apart() -> None:
    assert question("7", "") == "7"
    assert question("7", "hard") != question("7", "easy")


def test_three_raters_by_hand() -> None:
    """7 of 8 is (2*7-9)/7 = 5/7 for the second, 6 is 3/7, and 2 is -5/7: mean 1/7 for the second."""
    said = [PairRating("ann", 7, 8, False), PairRating("bob", 6, 8, False), PairRating("cid", 2, 8, False)]
    assert preference(said, ties=True) == Preference(False, approx(1 / 7), 3, 2 / 3)


def test_a_rater_of_both_orders_counts_once() -> None:
    """2 as shown and 7 mirrored are one opinion: 5/7 for the first, by one rater."""
    said = [PairRating("ann", 2, 8, False), PairRating("ann", 7, 8, True)]
    assert preference(said, ties=True) == Preference(True, approx(5 / 7), 1, 1.0)


@pytest.mark.parametrize(
    ("ratings", "ties", "found"),
    [
        ([], True, None),
        ([4], True, LeftOut.TIE),
        ([2], True, Preference(True, approx(5 / 7), 1, 1.0)),
        ([4], False, Preference(True, approx(1 / 7), 1, 1.0)),
        ([1, 8], True, LeftOut.TIE),
        ([1, 4], True, LeftOut.NO_MAJORITY),  # half of the raters is no majority
        ([3, 3, 8], True, LeftOut.MIXED),  # two mild against one strong
        ([3, 3, 4], True, Preference(True, approx(7 / 21), 3, 2 / 3)),  # 3/7, 3/7 and 1/7
    ],
)
def test_what_is_no_preference(ratings: list[int], ties: bool, found: object) -> None:
    said = [PairRating(number, rating, 8, False) for number, rating in enumerate(ratings)]
    assert preference(said, ties=ties) == found


def test_a_mean_of_zero_is_no_margin() -> None:
    """Means 1, -1/7 and -6/7, whose sum in floating point is not 0 but less than 0."""
    said = [("ann", 1), ("bob", 4), ("bob", 6), ("cid", 7), ("cid", 8)]
    ratings = [PairRating(rater, rating, 8, False) for rater, rating in said]
    assert preference(ratings, ties=True) is LeftOut.MIXED


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 8), st.booleans()), max_size=8),
    st.booleans(),
    st.randoms(),
)
def test_naming_the_other_completion_first_turns_the_preference_round(
    ratings: list[tuple[int, int, bool]], ties: bool, random: object
) -> None:
    said = [PairRating(rater, rating, 8, swapped) for rater, rating, swapped in ratings]
    turned = [PairRating(rater, rating, 8, not swapped) for rater, rating, swapped in ratings]
    random.shuffle(turned)  # type: ignore[attr-defined]
    one, other = preference(said, ties=ties), preference(turned, ties=ties)
    if isinstance(one, Preference):
        turned_round = (not other.first_chosen, other.margin, other.raters)
        assert (one.first_chosen, one.margin, one.raters) == turned_round
        assert 0 < one.margin <= 1
        assert 0.5 < one.agreement <= 1
    else:
        assert one == other


ONE_TURN = Texts(["Why?"], "", ["Because."], ["So."])
TWO_TURNS = Texts(["Why?", "Really?"], "", ["Because.", "Yes."], ["So.", "No."])


def test_texts_as_strings_and_as_messages() -> None:
    strings = texts_row(ONE_TURN, False, conversational=False)
    assert strings == {"prompt": "Why?", "chosen": "So.", "rejected": "Because."}
    assert texts_row(ONE_TURN, True, conversational=True) == {
        "prompt": [{"role": "user", "content": "Why?"}],
        "chosen": [{"role": "assistant", "content": "Because."}],
        "rejected": [{"role": "assistant", "content": "So."}],
    }


def test_several_turns_go_on_in_the_answers() -> None:
    assert texts_row(TWO_TURNS, True, conversational=False) is LeftOut.SEVERAL_TURNS
    found = texts_row(TWO_TURNS, True, conversational=True)
    assert found["prompt"] == [{"role": "user", "content": "Why?"}]
    assert found["chosen"] == [
        {"role": "assistant", "content": "Because."},
        {"role": "user", "content": "Really?"},
        {"role": "assistant", "content": "Yes."},
    ]


def test_an_input_follows_the_instruction_and_some_texts_make_no_pair() -> None:
    found = texts_row(Texts(["Translate."], "Hund", ["dog"], [""]), True, conversational=False)
    assert found == {"prompt": "Translate.\n\nHund", "chosen": "dog", "rejected": ""}
    same = texts_row(Texts(["Why?"], "", ["So."], ["So."]), True, conversational=False)
    assert same is LeftOut.SAME_TEXT
    for unknown in (Texts([], "", ["a"], ["b"]), Texts(["q"], "", [], ["b"]), Texts(["q"], "", ["a"], [])):
        assert texts_row(unknown, True, conversational=True) is LeftOut.TEXT_NOT_KNOWN


SETTLED = PairRating("eve", 2, 8, True)  # for the pair's second, which was shown first


@pytest.mark.parametrize(
    ("ratings", "ties", "settled", "found"),
    [
        ([1, 2, 3], True, None, Consensus("first", By.UNANIMOUS, 3, 0, 0)),
        ([1], True, None, Consensus("first", By.UNANIMOUS, 1, 0, 0)),
        ([1, 7, 8], True, None, Consensus("second", By.MAJORITY, 1, 0, 2)),
        ([4, 5, 8], True, None, Consensus("tie", By.MAJORITY, 0, 2, 1)),
        ([4, 5, 8], False, None, Consensus("second", By.MAJORITY, 1, 0, 2)),
        ([1, 8], True, None, Consensus("", By.NONE, 1, 0, 1)),
        ([1, 4], True, None, Consensus("", By.NONE, 1, 1, 0)),  # half is no majority
        ([1, 2, 4, 8], True, None, Consensus("", By.NONE, 2, 1, 1)),
        ([], True, None, Consensus("", By.NONE, 0, 0, 0)),
        ([1, 2, 3], True, SETTLED, Consensus("second", By.ADJUDICATED, 3, 0, 0)),
        ([], True, SETTLED, Consensus("second", By.ADJUDICATED, 0, 0, 0)),
        ([1], True, PairRating("eve", 2, 3, False), Consensus("tie", By.ADJUDICATED, 1, 0, 0)),
        ([1], False, PairRating("eve", 2, 3, False), Consensus("", By.NONE, 1, 0, 0)),
    ],
)
def test_a_consensus_by_hand(
    ratings: list[int], ties: bool, settled: PairRating | None, found: Consensus
) -> None:
    people = [PairRating(number, rating, 8, False) for number, rating in enumerate(ratings)]
    assert consensus(people, settled, ties=ties) == found


def test_whoever_rated_both_orders_has_one_vote_of_the_mean() -> None:
    both = [PairRating("ann", 1, 8, False), PairRating("ann", 1, 8, True)]
    assert consensus(both, None, ties=True) == Consensus("tie", By.UNANIMOUS, 0, 1, 0)


@given(st.lists(st.tuples(st.integers(1, 8), st.booleans()), max_size=7), st.booleans())
def test_a_consensus_is_mirrored_with_the_pair_and_agrees_with_a_count(
    given_ratings: list[tuple[int, bool]], ties: bool
) -> None:
    people = [PairRating(number, *said[:1], 8, said[1]) for number, said in enumerate(given_ratings)]
    found = consensus(people, None, ties=ties)
    turned = consensus([one._replace(swapped=not one.swapped) for one in people], None, ties=ties)
    other = {"first": "second", "second": "first"}
    assert turned == Consensus(
        other.get(found.label, found.label), found.by, found.second, found.ties, found.first
    )
    towards = [9 - rating if swapped else rating for rating, swapped in given_ratings]
    middle = {4, 5} if ties else set()
    votes = ["tie" if one in middle else "first" if one < 4.5 else "second" for one in towards]
    most = max(set(votes), key=votes.count, default="")
    assert found.label == (most if votes.count(most) > len(votes) / 2 else "")
    assert (found.by is By.UNANIMOUS) == (len(set(votes)) == 1)
