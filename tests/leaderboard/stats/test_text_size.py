"""How texts are counted."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.stats.style import _SPECIAL, _tokenizer, size_of, tokenizer_name

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


def test_every_special_token_begins_as_assumed():
    names = [str(name) for name in _tokenizer().special_tokens()]
    assert "<|endoftext|>" in names
    assert all(name.startswith(_SPECIAL) for name in names)
    assert size_of(["so <|endoftext|> it ends"]).tokens > size_of(["so it ends"]).tokens + 4


def test_the_tokenizer_is_named_with_its_version():
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
