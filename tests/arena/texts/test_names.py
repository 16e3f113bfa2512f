import pytest

from arena.texts.names import folded, why_not


@pytest.mark.parametrize(
    "name", ["Heron 3.5", "Жук", "β-Llama", "μP", "❤\ufe0f", "模型\u3000甲", "José", "Chat-ЖПТ", "?", "हिन्दी"]
)
def test_names_that_can_be(name: str) -> None:
    assert why_not(name) == ""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "is blank"),
        (" \u00a0", "is blank"),
        ("\u200b", "contains the invisible character U+200B"),
        ("a\u202eb", "contains the invisible character U+202E"),
        ("a\x1bb", "contains the invisible character U+001B"),
        ("a\nb", "contains the invisible character U+000A"),
        ("a\u3164b", "contains the invisible character U+3164"),
        ("the H\u0435ron", "mixes Latin and Cyrillic letters in “H\u0435ron”"),
    ],
)
def test_names_that_cannot_be(name: str, why: str) -> None:
    assert why_not(name) == why


@pytest.mark.parametrize(
    "other", ["heron", "HERON ", "He\u200bron", "Ｈeron", "\u202eHeron", "Heron\ufe0f", "Her\u00adon"]
)
def test_names_that_readers_take_for_one(other: str) -> None:
    assert folded(other) == folded("Heron")
    assert folded("Jose\u0301") == folded("JOSÉ") != folded("Jose")
