"""What of an answer may be shown while it is being written."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.texts.author_names import Named, NameFinder
from judging.battles import holding
from judging.battles.holding import HELD_BACK, LONGEST_RUN, Held, hold

LOOP = NameFinder("Loop 2", "Loop", "Loopcorp")


def whole(text: str, names: NameFinder | None = LOOP) -> tuple[str, bool]:
    """What is shown of an answer that is complete, and whether it tells who wrote it."""
    held = hold(Held(), text, names, is_complete=True)
    return held.shown, held.has_named


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("Hello", ""),
        ("Hello. And", "Hello. "),
        ("Costs 3.5 dollars", ""),
        ("- one\n- two", "- one\n"),
        ("好。是", "好。"),
        ("<think>Well. Now", ""),
        ("<think>Well. Now.</think>\nYes. No", "Yes. "),
        ("word " * 100, "word " * 100),
        ("x" * (LONGEST_RUN + 100), "x" * (LONGEST_RUN + 40)),
        ("I am Loop 2, made by Loopcorp. And", f"{HELD_BACK} "),
        ("Hello. I am Loop 2\nby Loopcorp.\nFine", f"Hello. {HELD_BACK}\nby Loopcorp.\n"),
    ],
)
def test_whole_sentences_are_shown(text: str, shown: str) -> None:
    assert hold(Held(), text, LOOP, is_complete=False).shown == shown


def test_the_end_is_shown_once_it_has_come() -> None:
    assert whole("Hello. And") == ("Hello. And", False)
    assert whole("Hello.<|im_end|>") == ("Hello.", False)
    assert whole("I am Loop 2.") == (HELD_BACK, True)
    assert whole("<think>Well.") == ("", False)
    assert whole("I am Loop 2.", None) == ("I am Loop 2.", False)


WORDS = st.lists(
    st.sampled_from(
        [
            "Hello ",
            "there. ",
            "I am ",
            "Loop 2",
            ", by Loopcorp",
            ".\n",
            "<think>",
            "</think>",
            "`a<b`",
            "😀",
            "! ",
        ]
    ),
    max_size=30,
)


@given(WORDS, st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_what_was_shown_stays_and_names_nobody(words: list[str], steps: list[int]) -> None:
    text = "".join(words)
    held, at = Held(), 0
    while at < len(text):
        at += steps[at % len(steps)]
        now = hold(held, text[:at], LOOP, is_complete=at >= len(text))
        assert now.shown.startswith(held.shown.rstrip())
        assert LOOP.find(now.shown.replace(HELD_BACK, "")) is None
        held = now


@given(WORDS.map(lambda words: [word for word in words if "think" not in word]))
def test_pieces_show_what_the_whole_does(words: list[str]) -> None:
    text, held = "".join(words), Held()
    for end in range(0, len(text), 3):
        held = hold(held, text[:end], LOOP, is_complete=False)
    held = hold(held, text, LOOP, is_complete=True)
    assert (held.shown, held.has_named) == whole(text)


def test_thinking_whose_end_alone_is_marked_is_left_where_it_was_seen() -> None:
    before = hold(Held(), "Let me think. Hm", LOOP, is_complete=False)
    after = hold(before, "Let me think. Hmm.\n</think>\nYes. It is.", LOOP, is_complete=True)
    assert after.shown == "Let me think.\n\nYes. It is."


def test_an_answer_of_very_many_sentences_takes_no_more_work_than_its_characters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handled: list[int] = []

    class Counting(NameFinder):
        def find(self, text: str) -> Named | None:
            handled.append(len(text))
            return super().find(text)

    def counted(shown: str, read: str, *more: Any) -> Held:
        handled.append(len(shown) + len(read))
        return Held(shown, read, *more)

    monkeypatch.setattr(holding, "Held", counted)
    text = "A.\n" * 3000
    found = hold(Held(), text, Counting("Loop 2", "Loop", "Loopcorp"), is_complete=True)
    assert (found.shown, found.read) == (text, text)
    assert sum(handled) <= 4 * len(text)
