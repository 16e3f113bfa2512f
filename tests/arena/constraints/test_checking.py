"""What a program can tell of a text for sure, and what it leaves open."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.constraints.checking import ConstraintError, holds, parse
from arena.constraints.texts import Text

WORDS = ["rain", "river", "stone", "seven", "it", "do", "not", "is", "garden", "quiet", "Zebra", "fox"]


def sentences(rng: random.Random) -> str:
    made = (" ".join(rng.choices(WORDS, k=rng.randint(2, 5))) for _ in range(rng.randint(1, 5)))
    return rng.choice((" ", "\n")).join(f"{each.capitalize()}{rng.choice('.!?')}" for each in made)


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("\0 \u200b", 0, 0),
        ("One, two - (three)... ***four***", 4, 4),
        ("A well-known U.S. fact: 1,000 at 10:30, e.g. 3.5", 9, 9),
        ("हिन्दी भाषा é e\u0301", 4, 4),
        ("\u202eשלום עולם\u202c", 2, 2),
        ("I don’t know John's", 4, 6),
        ("cannot", 1, 2),
        ("She said “no” twice", 4, 6),
        ("yes—no and/or end.Start", 3, 6),
        ("zero\u200bwidth", 1, 2),
        ("half\ud800surrogate", 1, 2),
        ("2 + 2 = 4", 3, 5),
        ("good 😀 job😀", 2, 4),
        ("東京 タワー", 2, 7),
    ],
)
def test_words_are_counted_where_all_count_alike(text: str, least: int, most: int) -> None:
    assert Text(text).words == (least, most)


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("One. Two! Three?", 3, 3),
        ("Привет. Мир!", 2, 2),
        ("A price of 3.5 at node.js is fine. Good?!", 2, 2),
        ("A title", 0, 1),
        ("Dr. Smith left. He ran.", 2, 3),
        ("J. Smith of the U.S. Army left.", 1, 3),
        ("In 1999. Then more.", 1, 2),
        ("Wait... What?", 1, 2),
        ("he left. she ran.", 1, 2),
        ("It ends.And begins.", 1, 2),
        ("Title\nA line.\n- Item one\n- Item two", 0, 4),
        ('He said, "Stop! Go!" and left.', 1, 3),
        ("'Stop! Go!' he said.", 1, 3),
        ("See it (this. That). Then go.", 2, 3),
        ("* . ! ?", 0, 0),
        ("你好。再见。", 0, 6),
    ],
)
def test_sentences_are_counted_where_all_count_alike(text: str, least: int, most: int) -> None:
    assert Text(text).sentences == (least, most)


@pytest.mark.parametrize(
    ("text", "kind", "values", "said"),
    [
        ("The STRASSE ends.", "has_word", {"word": "Straße"}, True),
        ("A well-known thing", "has_word", {"word": "well"}, False),
        ("I don't", "has_word", {"word": "don't"}, True),
        ("I don't", "lacks_word", {"word": "do"}, None),
        ("I can't", "has_word", {"word": "can"}, None),
        ("I don't", "has_word", {"word": "not"}, None),
        ("I don't", "lacks_word", {"word": "rain"}, True),
        ("ba\u200bnana", "has_word", {"word": "banana"}, None),
        ("東京タワー", "has_word", {"word": "東京"}, None),
        ('He said "stop."', "last_word", {"word": "stop"}, True),
        ("Stop 😀", "last_word", {"word": "stop"}, True),
        ("", "last_word", {"word": "stop"}, False),
        ("a don't b c", "words_at", {"positions": [2], "words": ["don't"]}, True),
        ("a don't b c", "words_at", {"positions": [4], "words": ["c"]}, None),
        ("a don't b c", "words_at", {"positions": [1, 3], "words": ["a", "c"]}, False),
        ("a don't b c", "words_at", {"positions": [1, 4], "words": ["x", "c"]}, False),
        ("don't a a", "words_at", {"positions": [3], "words": ["a"]}, True),
        ("don't a a", "words_at", {"positions": [4], "words": ["a"]}, None),
        ("a b", "words_at", {"positions": [3], "words": ["b"]}, False),
        ("Xylophone", "has_character", {"character": "x"}, True),
        ("xylophone", "lacks_character", {"character": "X"}, False),
        ("İ", "has_character", {"character": "i"}, None),
        ("caf\u00e9", "has_character", {"character": "e\u0301"}, True),
        ("caf\u00e9", "lacks_character", {"character": "e"}, None),
        ("a ﬁsh", "lacks_character", {"character": "f"}, None),
        ("b", "any", {"of": [{"kind": "words", "count": 9}, {"kind": "has_word", "word": "b"}]}, True),
    ],
)
def test_what_the_definition_cannot_decide_is_left_open(
    text: str, kind: str, values: dict[str, Any], said: bool | None
) -> None:
    assert holds(text, parse({"kind": kind, **values})) is said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("134", True),
        ("We add: 5 + 8 = 14, and so \\boxed{134}.", True),
        ("\\boxed{134_{9}}", True),
        ("48 + 75 = $134$.", True),
        ("The sum of 75 and 48 in base 9 is **134**.", True),
        ("The answer is: 123", False),
        ("\\boxed{139}", False),
        ("\\boxed{134_{10}}", None),
        ("\\boxed{0134}", None),
        ("\\boxed{14} \\boxed{134}", None),
        ("The answer is not 134", None),
        ("I think not; 75 + 48 = 134", None),
        ("7 + 4 + 1 = 13", None),
        ("The answer is 1,34", None),
        ("١٣٤", None),
        ("First 75, then 48, then 134", None),
        ("", None),
    ],
)
def test_a_sum_is_read_where_a_text_states_it(text: str, said: bool | None) -> None:
    assert holds(text, parse({"kind": "sum", "base": 9, "terms": ["75", 48]})) is said


@pytest.mark.parametrize(
    ("constraint", "field", "reason"),
    [
        (None, "", "expected an object, found null"),
        ({}, ".kind", "missing; one of words, "),
        ({"kind": "rhymes"}, ".kind", '"rhymes" is not one of words, '),
        ({"kind": "\ud800\x1b[31m"}, ".kind", '"\\ud800\\u001b[31m" is not one of words, '),
        ({"kind": "words", "count": 10**99}, ".count", f"1{'0' * 39}… is not between"),
        ({"kind": ["words"]}, ".kind", "a list is not one of words, "),
        ({"kind": "words"}, ".count", "missing; words has count"),
        ({"kind": "words", "count": True}, ".count", "expected a whole number, found true or false"),
        ({"kind": "words", "count": 2.5}, ".count", "expected a whole number, found 2.5"),
        ({"kind": "words", "count": -1}, ".count", "-1 is not between 0 and 1,000,000"),
        ({"kind": "words", "count": 1, "n": 2}, ".n", "unknown field; words has count"),
        ({"kind": "has_word", "word": "two words"}, ".word", "expected one word without"),
        ({"kind": "has_word", "word": "end."}, ".word", "expected one word without"),
        ({"kind": "has_word", "word": ""}, ".word", "expected one word without"),
        ({"kind": "has_word", "word": 7}, ".word", "expected a text, found a number"),
        ({"kind": "has_character", "character": "xy"}, ".character", "expected one character, found 2"),
        ({"kind": "words_at", "positions": [1], "words": ["a", "b"]}, ".words", "2 words for 1 positions"),
        ({"kind": "words_at", "positions": [0], "words": ["a"]}, ".positions[1]", "0 is not between 1 and"),
        ({"kind": "words_at", "positions": [1, 1], "words": ["a", "b"]}, ".positions", "a position stands"),
        ({"kind": "any", "of": []}, ".of", "0 entries; expected 1 to 20"),
        ({"kind": "any", "of": [{"kind": "words"}]}, ".of[1].count", "missing; words has count"),
        ({"kind": "sum", "base": 11, "terms": [1]}, ".base", "11 is not between 2 and 10"),
        ({"kind": "sum", "base": 9, "terms": [1, "19"]}, ".terms[2]", "19 has the digit 9, which base 9"),
        ({"kind": "sum", "base": 9, "terms": ["-1"]}, ".terms[1]", "expected a whole number of at most 30"),
    ],
)
def test_a_wrong_constraint_is_refused_with_its_field(constraint: Any, field: str, reason: str) -> None:
    with pytest.raises(ConstraintError) as refused:
        parse(constraint)
    assert refused.value.field == f"constraint{field}"
    assert refused.value.reason.startswith(reason)


def test_any_is_not_nested_without_end() -> None:
    nested: dict[str, Any] = {"kind": "words", "count": 1}
    for _ in range(4):
        nested = {"kind": "any", "of": [nested]}
    with pytest.raises(ConstraintError, match="nested more than 3 deep"):
        parse(nested)


HOSTILE = ["\u0300\u0316" * 50, "\0 a\0\ud800", "İ ı ß ﬀ", "👩‍👩‍👧 'tis", "\u202e)(\u2067 a", "!a." * 99]


@given(st.text(max_size=60) | st.sampled_from(HOSTILE), st.sampled_from("aeZé"), st.integers(0, 5))
def test_verdicts_fit_each_other_whatever_the_text(text: str, letter: str, count: int) -> None:
    def said(kind: str, **values: Any) -> bool | None:
        return holds(text, parse({"kind": kind, **values}))

    opposite = {True: False, False: True, None: None}
    assert said("has_word", word=letter) is opposite[said("lacks_word", word=letter)]
    assert said("has_character", character=letter) is opposite[said("lacks_character", character=letter)]
    if said("last_word", word=letter):
        assert said("has_word", word=letter)
    if said("words_at", positions=[count + 1], words=[letter]):
        assert said("has_word", word=letter)
        assert said("words", count=count) is False
    assert said("sum", base=10, terms=[1, 2]) in (True, False, None)
    for counted in (Text(text).words, Text(text).sentences):
        assert 0 <= counted.least <= counted.most <= len(text)


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), st.sampled_from(["()", "**", "''", "--", "¿?"])
)
def test_case_and_outer_punctuation_do_not_matter(words: list[str], around: str) -> None:
    decorated = " ".join(f"{around[0]}{word.upper()}{around[1]}" for word in words)
    assert [unit.word for unit in Text(decorated).units] == [word.lower() for word in words]
