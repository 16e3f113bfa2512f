"""Comparisons and gold labels that name completions by their own ids, and texts without a contestant."""

import pytest

from arena.data.formats.records import CompletionRecord, Item, PromptRecord
from arena.data.importing.imports import import_records
from arena.models import Comparison, Pair, Study
from leaderboard.snapshots.reading import opinions
from tests.arena.data.importing.records import (
    added,
    completion,
    feature,
    gold,
    reasons,
    stock,
    text_score,
    vote,
)

pytestmark = pytest.mark.django_db

BY_ID = {"first": "", "second": "", "first_id": "x", "second_id": "y"}


def anonymous() -> list[Item]:
    """One prompt with two texts by nobody, x and y."""
    texts = [CompletionRecord("p1", (f"Text {own_id}.",), id=own_id) for own_id in "xy"]
    return [PromptRecord("p1", ("Say hello.",)), *texts]


def named() -> list[Item]:
    """A's completion has the id a1, B's has b1."""
    return [
        PromptRecord("p1", ("Say hello.",)),
        completion("A", "Answer of A.", id="a1"),
        completion("B", "Answer of B.", id="b1"),
    ]


class TestOwnIds:
    @pytest.mark.parametrize("shown", [["x", "y"], ["y", "x"]])
    def test_name_texts_without_a_contestant_in_the_order_shown(self, shown: list[str]) -> None:
        named = dict(zip(("first_id", "second_id"), shown, strict=True))
        report = import_records("s", [*anonymous(), vote(2, **BY_ID | named)])
        assert reasons(report) == []
        row = Comparison.objects.get()
        assert row.swapped == (shown == ["y", "x"])
        assert [side.external_id for side in row.pair.shown(row.swapped)] == shown

    def test_twice_adds_nothing_and_a_changed_rating_is_refused(self) -> None:
        votes = [vote(2, **BY_ID), vote(4, **BY_ID, id="v1"), vote(7, **BY_ID, rater="bo")]
        import_records("s", [*anonymous(), *votes])
        again = import_records("s", [*anonymous(), *votes])
        assert (again.written, again.counts["comparisons"].unchanged) == (0, 3)
        (reason,) = reasons(import_records("s", [vote(5, 1, **BY_ID, rater="bo")]))
        assert reason.startswith("votes, line 1: rating: 5 of 8 contradicts 7 of 8")

    def test_a_changed_text_keeps_its_old_comparisons(self) -> None:
        import_records("s", [*anonymous(), vote(2, **BY_ID)])
        report = import_records("s", [CompletionRecord("p1", ("Other.",), id="x"), vote(2, **BY_ID)])
        assert (report.counts["completions"].versions, report.counts["comparisons"].unchanged) == (1, 1)
        assert Comparison.objects.get().pair.first.turns == ["Text x."]

    def test_and_names_say_the_same(self) -> None:
        by_id = vote(3, first="", second="", first_id="a1", second_id="b1")
        mixed = vote(3, first="", first_id="a1")
        import_records("s", [*named(), vote(3)])
        for record in (by_id, mixed):
            report = import_records("s", [record])
            assert (report.written, report.counts["comparisons"].unchanged) == (0, 1)

    def test_belong_to_their_prompt(self) -> None:
        second = [
            PromptRecord("p2", ("Another.",)),
            *(CompletionRecord("p2", (f"{own_id}2",), id=own_id) for own_id in "xy"),
        ]
        import_records("s", [*anonymous(), *second, vote(2, **BY_ID, prompt="p2")])
        pair = Pair.objects.get()
        assert (pair.prompt.external_id, pair.first.turns) == ("p2", ["x2"])

    @pytest.mark.parametrize(
        ("ids", "second_id", "reason"),
        [
            ("ss", "s", 'second_id: 2 answers have the id "s" for prompt "p1"'),
            ("ab", "a", "second: the same answer as first"),
        ],
    )
    def test_are_never_guessed_between(self, ids: str, second_id: str, reason: str) -> None:
        texts = [completion(name, id=own_id) for name, own_id in zip("AB", ids, strict=True)]
        records = [PromptRecord("p1", ("Hello.",)), *texts, vote(3, 4, second="", second_id=second_id)]
        assert reasons(import_records("s", records)) == [f"votes, line 4: {reason}"]


def test_texts_without_a_contestant_are_counted_and_rank_nobody() -> None:
    import_records("s", [*anonymous(), completion("A"), completion("B"), vote(2, **BY_ID), vote(3)])
    read = opinions(Study.objects.get())
    assert len(read) == 2
    assert read.ranked.tolist() == [False, True]
    assert len(read.ratings().games(ties=True).score) == 1


class TestGold:
    @pytest.mark.parametrize(
        ("label", "first", "second", "stored"),
        [("first", "A", "B", "first"), ("first", "B", "A", "second"), ("tie", "B", "A", "tie")],
    )
    def test_is_stored_whatever_the_order(self, label: str, first: str, second: str, stored: str) -> None:
        report = import_records("s", [*stock(), gold(label, first=first, second=second)])
        assert added(report)["gold labels"] == added(report)["pairs"] == 1
        pair = Pair.objects.get()
        assert (pair.gold, pair.gold_source) == (stored, "experts")

    def test_of_a_rated_pair_and_by_own_id(self) -> None:
        import_records("s", [*anonymous(), vote(2, **BY_ID)])
        report = import_records("s", [gold("second", **BY_ID)])
        assert added(report) == {"gold labels": 1}
        assert Pair.objects.get().gold == "second"

    def test_again_in_either_order_changes_nothing_and_another_label_is_refused(self) -> None:
        import_records("s", [*stock(), gold("first")])
        revision = Study.objects.get().revision
        report = import_records("s", [gold("first"), gold("second", first="B", second="A")])
        assert (report.written, report.counts["gold labels"].unchanged) == (0, 2)
        assert Study.objects.get().revision == revision
        report = import_records("s", [gold("first", 1, first="B", second="A"), gold("tie", 2)])
        assert reasons(report) == [
            'gold, line 1: gold: "first" contradicts "second", the label of this pair by "experts"',
            'gold, line 2: gold: "tie" contradicts "first", the label of this pair by "experts"',
        ]
        twice = import_records("t", [*stock(), gold("first", 1), gold("second", 2)])
        assert reasons(twice) == [
            'gold, line 2: gold: "second" contradicts "first", the label of this pair by "experts"'
        ]


def test_a_turn_must_be_in_the_answer_where_its_text_is_known() -> None:
    texts = [
        PromptRecord("p1", ("Say hello.", "Again.")),
        completion("A", "Hello.", id="a1"),
        CompletionRecord("p1", ("Hi.", "Hi."), contestant="B"),
        CompletionRecord("p1", (), contestant="C"),
    ]
    good = [feature(turn=1), feature(turn=2, contestant="B"), text_score(turn=3, contestant="C")]
    bad = [
        feature(line=1, turn=2),
        feature(line=2, turn=3, contestant="B"),
        text_score(line=3, turn=2, contestant="", completion="a1"),
    ]
    assert added(import_records("s", [*texts, *good]))["features"] == 2
    assert reasons(import_records("s", bad)) == [
        'features, line 1: turn: 2, but the answer of "A" to prompt "p1" has 1 turn',
        'features, line 2: turn: 3, but the answer of "B" to prompt "p1" has 2 turns',
        'scores, line 3: turn: 2, but the answer of the id "a1" to prompt "p1" has 1 turn',
    ]
