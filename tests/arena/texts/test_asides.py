"""What stands beside the turns of a conversation, as files give it and as models read it."""

import pytest

from arena.texts.asides import TITLES, read, title, with_asides

SYSTEM = {"turn": 1, "kind": "system", "text": "Be kind."}
TOOL = {"turn": 2, "kind": "tool", "text": "A river", "name": "look"}


def test_asides_of_a_file_are_those_of_turns_that_there_are() -> None:
    assert read([SYSTEM, {**TOOL, "more": 1}], 2) == [SYSTEM, TOOL]
    assert read([], 0) == []


@pytest.mark.parametrize(
    "given",
    [
        *(None, "x", {}, [1], [{}], [{**SYSTEM, "kind": "robot"}], [{**SYSTEM, "turn": "1"}]),
        *(
            [{**SYSTEM, "turn": 0}],
            [{**SYSTEM, "turn": 3}],
            [{**SYSTEM, "turn": True}],
            [{**SYSTEM, "text": 1}],
        ),
        [{"turn": 1, "kind": "system"}],
    ],
)
def test_anything_else_is_left_alone(given: object) -> None:
    assert read(given, 2) is None


def test_models_read_them_above_their_turn() -> None:
    assert with_asides(["Hi.", "And?"], [SYSTEM, TOOL]) == [
        "[System message]\nBe kind.\n\nHi.",
        "[Tool result: look]\nA river\n\nAnd?",
    ]
    turns = ["Hi."]
    assert with_asides(turns, []) is turns


def test_every_kind_has_a_title() -> None:
    assert all(title({"kind": kind}) == words for kind, words in TITLES.items())
