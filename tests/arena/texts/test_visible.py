import json

import pytest

from arena.texts.visible import is_blank, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Claude 3\n", "Claude 3\n"),
        ("Жук\u00a0— 模型\u3000 e\u0301", "Жук\u00a0— 模型\u3000 e\u0301"),
        ("a\x1b[2J\r\x9b", r"a\u001b[2J\r\u009b"),
        ("\u202egnp.exe\u200b\u2028", r"\u202egnp.exe\u200b\u2028"),
        ("\ud800", r"\ud800"),
    ],
)
def test_what_hides_or_acts_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_json_stays_the_same() -> None:
    found = {"name": "a\u200d\U000e0041\x7f\u2028b\n"}
    assert json.loads(visible(json.dumps(found, ensure_ascii=False, indent=2))) == found


@pytest.mark.parametrize(
    "text", ["", " \n\u00a0", "\u200b\u200d", "\ufeff", "\u3164\u2800\ufe0f", "\x00\x1b"]
)
def test_a_text_that_nobody_sees_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["1", "\u200b.", "ㅎ", "👍\ufe0f", "e\u0301", "\u0301", "□"])
def test_a_text_with_anything_to_see_is_not(text: str) -> None:
    assert not is_blank(text)
