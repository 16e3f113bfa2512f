import re
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats.checks import LengthMismatchError
from leaderboard.stats.style import (
    _SPECIAL,
    _tokenizer,
    covariates_of,
    size_of,
    style_difference,
    style_of,
    tokenizer_name,
)

# How texts are counted.


TEXTS = st.text(st.characters(exclude_categories=()), max_size=60)


@pytest.mark.parametrize(
    ("text", "words", "unique"),
    [
        ("", 0, 0),
        (" \n\t", 0, 0),
        ("The cat saw the CAT.", 5, 3),
        ("Don't stop, don’t!", 3, 3),  # two kinds of apostrophes are two ways to write it
        ("'quoted' quoted", 2, 1),
        ("snake_case and 3.14", 5, 5),
        ("Straße STRASSE", 2, 1),
        ("हिन्दी भाषा", 2, 2),
        ("e\u0301te\u0301 ete", 2, 2),
        ("--- *** !!!", 0, 0),
    ],
)
def test_words_by_hand(text, words, unique):
    found = size_of([text])
    assert (found.words, found.unique_words, found.characters) == (words, unique, len(text))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 2),
        ("hello", 1),
        ("<|endoftext|>", 7),  # text, not the special token
        ("antidisestablishmentarianism", 6),
        ("1234567", 3),  # digits in threes
    ],
)
def test_tokens_are_those_of_the_published_vocabulary(text, tokens):
    assert size_of([text]).tokens == tokens


def test_special_tokens_begin_as_assumed_and_the_tokenizer_has_a_version():
    names = [str(name) for name in _tokenizer().special_tokens()]
    assert "<|endoftext|>" in names
    assert all(name.startswith(_SPECIAL) for name in names)
    assert size_of(["so <|endoftext|> it ends"]).tokens > size_of(["so it ends"]).tokens + 4
    assert re.fullmatch(r"o200k_base \(splintr-rs \d+\.\d+\.\d+\)", tokenizer_name())


@pytest.mark.parametrize(
    "text",
    ["a" * 5_000_000, "\ud800", "a\udfffb\ud800", "\0" * 9, " " * 300_000, "'" * 300_000, "\u0301" * 300_000],
    ids=["one word", "surrogate", "surrogates", "NUL", "spaces", "apostrophes", "marks"],
)
def test_hostile_texts_are_counted(text):
    assert size_of([text]).characters == len(text)


@given(st.lists(TEXTS, max_size=4))
def test_turns_add_up(turns):
    whole, parts = size_of(turns), [size_of([turn]) for turn in turns]
    for name in ("characters", "words", "tokens"):
        assert getattr(whole, name) == sum(getattr(part, name) for part in parts)
    assert whole.unique_words <= whole.words <= whole.characters
    assert whole.unique_words >= max((part.unique_words for part in parts), default=0)


@given(TEXTS)
def test_words_do_not_depend_on_what_stands_between_them(text):
    once = size_of([text])
    twice = size_of([f"{text} -- {text.swapcase()}"])
    assert twice.words >= once.words
    spread = size_of(text.split())
    assert (spread.words, spread.unique_words) == (once.words, once.unique_words)


amounts = st.lists(st.floats(0, 1e308), min_size=1, max_size=20)
texts = st.text(st.sampled_from("ab *_#-+`~1.)\n\r\t"), max_size=80)


class TestCounts:
    def test_a_text_with_everything_and_nothing(self):
        style = style_of(
            "# Title\n\nSome **bold** and __more bold__.\n\n"
            "- one\n  * two\n+ three\n1. first\n2) second\n###### Small"
        )
        assert (style.headers, style.unordered_items, style.ordered_items, style.bold) == (2, 3, 2, 2)
        assert style.marks == 9
        style = style_of("Ein  kurzer\nText.")
        assert (style.characters, style.words) == (17, 3)
        assert (style_of("").marks, style_of("").words, style_of("").density) == (0, 0, 0.0)
        assert style_of("**open\nclose**").bold == 0
        assert style_of("# one two three").density == pytest.approx(1 / 4)

    @pytest.mark.parametrize(
        "text",
        ["#no space", "####### seven", "-no space", "2026.5 is no item", "*one star*", "** **", "a\\#"],
    )
    def test_what_only_looks_like_markdown(self, text):
        assert style_of(text).marks == 0

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_any_line_end(self, end):
        assert style_of(f"# A{end}# B{end}- c").marks == 3


class TestFencedCode:
    @pytest.mark.parametrize("fence", ["```", "~~~", "`````"])
    def test_is_left_out(self, fence):
        assert style_of(f"# Title\n{fence}python\n# comment\n- x\n{fence}\n- item").marks == 2

    def test_what_closes_a_fence(self):
        assert style_of("````\n```\n# a\n~~~~\n# b\n````\n# c").headers == 1
        assert style_of("# a\n```\n# b\n# c").headers == 1
        assert style_of("```inline``` code\n# a").headers == 1


class TestDifference:
    def test_by_hand_and_in_parallel_only(self):
        assert style_difference([300, 0, 5, 0], [100, 7, 5, 0]) == pytest.approx([0.5, -1, 0, 0])
        with pytest.raises(LengthMismatchError, match="shape"):
            style_difference([1, 2], [1])

    @given(amounts, st.data())
    def test_is_antisymmetric_and_bounded(self, first, data):
        second = data.draw(st.lists(st.floats(0, 1e308), min_size=len(first), max_size=len(first)))
        difference = style_difference(first, second)
        assert (np.abs(difference) <= 1).all()
        assert np.array_equal(difference, -style_difference(second, first))


class TestCovariates:
    def test_by_hand_and_in_parallel_only(self):
        found = covariates_of(["**a** bc", "x"], ["ab", "x"])
        assert found["length"] == pytest.approx([(8 - 2) / 10, 0])
        assert found["markdown"] == pytest.approx([1, 0])
        with pytest.raises(LengthMismatchError, match="2 first texts and 1 second"):
            covariates_of(["a", "b"], ["a"])

    @given(st.lists(st.tuples(texts, texts), max_size=10))
    def test_changing_sides_changes_the_sign(self, pairs):
        first, second = [a for a, _ in pairs], [b for _, b in pairs]
        here, there = covariates_of(first, second), covariates_of(second, first)
        for name in ("length", "markdown"):
            assert here[name].shape == (len(pairs),)
            assert np.array_equal(here[name], -there[name])
            assert (np.abs(here[name]) <= 1).all()


@pytest.mark.parametrize(
    "piece",
    ["`", "*", "_", "**a", "__a_", "#", " ", "\t", "1", "- ", "```\n", "~~~`\n", "1.", "\r", "** *", "__ "],
)
def test_hostile_texts_take_time_in_proportion(piece):
    def seconds(length):
        text = piece * (length // len(piece))
        start = time.process_time()
        style_of(text)
        return time.process_time() - start

    seconds(1000)
    # Eight times the text; quadratic would be sixty-four times the time.
    assert seconds(400_000) < 30 * max(min(seconds(50_000) for _ in range(3)), 1e-3)
