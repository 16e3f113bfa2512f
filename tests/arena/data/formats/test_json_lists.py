"""Reading a list element by element gives what reading it whole gives, in whatever pieces it comes."""

import json
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.data.formats import files
from arena.data.formats.files import ListReader
from arena.data.formats.values import UnreadableError

MEBIBYTE = 1024 * 1024

floats = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | st.integers() | floats | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)


def elements(*pieces: str, limit: int = MEBIBYTE) -> list[files.Element]:
    return list(ListReader(iter(pieces), limit))


@pytest.fixture(autouse=True, scope="module")
def _small_chunks() -> Iterator[None]:
    """Pieces are not gathered, so that every cut is met."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "CHUNK", 1)
        yield


@given(st.lists(values, max_size=4), st.integers(1, 7), st.sampled_from([None, 1]), st.booleans())
def test_a_list_in_pieces_is_whole(found: list[object], size: int, indent: int | None, ascii: bool) -> None:
    text = json.dumps(found, indent=indent, ensure_ascii=ascii)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    assert [element.value for element in elements(*pieces)] == found


def test_elements_know_their_line_and_a_faulty_one_does_not_end_the_list() -> None:
    read = elements('\n[{"a":\n 1},\n\n{"a": 2}, {"a": 3}\n]\n')
    assert [(element.number, element.line) for element in read] == [(1, 2), (2, 5), (3, 5)]
    read = elements('[{"a": NaN}, {"b": 1, "b": 2}, {"c": 3}]')
    expected = ["NaN is not a number that can be stored", 'the key "b" appears twice in one object', ""]
    assert [element.fault for element in read] == expected


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("[", 1, "the file ends in the middle of the list; it was cut off"),
        ('[\n{"a": 1},\n{"a": "x', 3, "not valid JSON: Unterminated string starting at at '\"x'"),
        ('[\n{"a": 1},\n{"a": ', 3, "the file ends in the middle of the list; it was cut off"),
        (
            '[{"a": 1}\n{"a": 2}]',
            2,
            "not valid JSON: expected a comma or the end of the list at '{\"a\": 2}]'",
        ),
        ('[{"a": 1},\n]', 2, "not valid JSON: Expecting value at ']'"),
        ('[{"a": 1}]\n\n{"a": 2}', 3, "text follows the end of the list"),
        (
            "[{'a': 1}]",
            1,
            "not valid JSON: Expecting property name enclosed in double quotes at \"'a': 1}]\"",
        ),
        ('[{"a": 1}, {"a": ' + "9" * 5000 + "}]", 1, "a number has too many digits"),
        ("[\n" + "[" * 100_000, 2, "the JSON is nested too deeply"),
    ],
)
def test_what_ends_a_list_is_named_with_its_line(text: str, line: int, reason: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        elements(text)
    assert (caught.value.line, str(caught.value)) == (line, reason)


def test_an_element_has_a_greatest_length_and_no_more_of_it_is_read() -> None:
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        yield '[\n{"a": "'
        while True:
            read += 1024
            yield "x" * 1024

    tracemalloc.start()
    with pytest.raises(UnreadableError, match=r"^the object is longer than 1 MiB$"):
        list(ListReader(endless(), MEBIBYTE))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read < 3 * MEBIBYTE
    assert peak < 8 * MEBIBYTE
