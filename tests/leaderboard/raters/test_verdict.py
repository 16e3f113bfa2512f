"""Tests of the words on places, length and order."""

from dataclasses import replace

import pytest

from leaderboard.raters.bias.table import position_sentences
from leaderboard.raters.table import Kind
from leaderboard.raters.verdict import of_one, verdict
from tests.leaderboard import rater_payloads as payloads


def kind(label, share, length=None, rate=None, pairs=40):
    """A share that prefers the first, one won by longer answers, and one of verdicts that change."""
    scale = payloads.scale(
        share_first=share,
        position=payloads.position(share_first_low=share - 0.04, share_first_high=share + 0.04),
    )
    flips = {} if rate is None else {"flips": payloads.flips(rate=rate, pairs=pairs)}
    words = {"name": "words", "longer_wins": length}
    ends = {"longer_low": None, "longer_high": None}
    if length is not None:
        ends = {"longer_low": length - 0.04, "longer_high": length + 0.04}
    ratings = payloads.ratings(scale) | flips
    selector = "people" if label == "People" else f"judge:{label}"
    return Kind(selector, label, 1, 100, False, ratings, {"measures": [words | ends]})


def test_intervals_decide_who_prefers_what():
    kinds = [kind("People", 0.53, 0.6), kind("A", 0.7, 0.46, 0.64), kind("B", 0.4, 0.4, 0.1)]
    assert " ".join(verdict(kinds)) == (
        "A prefers the answer shown first (70%); B prefers the answer shown second (60%). People prefer "
        "the longer answer (60% of points); B prefers the shorter answer (60% of points). Both judges change "
        "their verdict in 10–64% of pairs when the order is swapped."
    )
    assert of_one(kinds[1]) == (
        "A prefers the answer shown first (70%). A changes its verdict in 64% of pairs when the order is "
        "swapped."
    )
    assert of_one(kinds[0]) == "People prefer the longer answer (60% of points)."
    assert of_one(kind("C", 0.5, 0.5)) == (
        "Nothing shows that C prefers the answer shown first or second, or longer or shorter answers."
    )


def test_few_pairs_in_both_orders_say_nothing():
    kinds = [kind("A", 0.5, rate=0.2), kind("B", 0.5, rate=0.3, pairs=29), kind("C", 0.5)]
    assert verdict(kinds)[1:] == ["A changes its verdict in 20% of pairs when the order is swapped."]
    assert len(verdict(kinds[1:])) == 1


def test_many_kinds_are_counted():
    kinds = [kind(name, 0.6 + place / 10, rate=0.2) for place, name in enumerate("abc")]
    assert " ".join(verdict([*kinds, kind("e", 0.5)])) == (
        "Three of four judges prefer the answer shown first (60–80%). "
        "All three judges that saw both orders change their verdict in 20% of pairs when the order is "
        "swapped; e saw one order only."
    )
    assert not verdict([])


def test_a_panel_is_named_and_not_counted():
    both = replace(kind("Both (panel)", 0.7), panel=True)
    assert verdict([kind("a", 0.7), kind("b", 0.7), both])[0] == (
        "Both judges and Both (panel) prefer the answer shown first (70%)."
    )
    assert verdict([kind("a", 0.5), both])[0] == "Both (panel) prefers the answer shown first (70%)."


def test_without_an_interval_nothing_is_said_of_a_preference():
    unknown = payloads.position(share_first_low=None, share_first_high=None)
    one = replace(kind("A", 0.9), ratings=payloads.ratings(payloads.scale(position=unknown)))
    assert of_one(one) == ""
    assert not verdict([one])


@pytest.mark.parametrize("swapped", [0, 100])
def test_who_saw_one_order_prefers_no_place(swapped):
    one = kind("A", 0.9)
    one = replace(one, ratings={**one.ratings, "swapped": swapped})
    told = (
        "A saw nearly all pairs in the same order, so nothing shows whether it prefers a place or the models "
        "shown there."
    )
    assert verdict([one]) == [told]
    assert of_one(one) == told
    (said,) = [line for line in position_sentences(one.shown, None, None, 95.0) if "mirror image" in line]
    assert said.startswith("Nearly all pairs came in the same order")
