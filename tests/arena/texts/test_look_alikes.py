"""Words are found however they are written, and not within others."""

import pytest

from arena.texts.look_alikes import find, look


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("What a scam!", "scam"),
        ("SCAM", "scam"),
        ("a *scam*, _scam_", "scam"),
        ("ѕсаm", "scam"),  # Cyrillic s, c, a
        ("ЅСАМ", "scam"),
        ("ｓｃａｍ", "scam"),
        ("𝓼𝓬𝓪𝓶", "scam"),
        ("s\u200bc\u00ada\u2060m", "scam"),
        ("s\u0301ca\u0308m", "scam"),
        ("scám", "scam"),
        ("buy\n  \t now", "buy now"),
        ("buy\u00a0now", "buy now"),
        ("STRASSE", "straße"),
        ("straße", "STRASSE"),
        ("СПАМ здесь", "спам"),
        ("ΝΑΙ", "ναι"),
        ("это спам.", "Спам"),
        ("我们谈论赌博网站", "赌博"),
        ("c++ code", "c++"),
        ("x@y", "@"),
        ("İstanbul", "istanbul"),
        ("e\x00vil", "evil"),
    ],
)
def test_it_is_there(text: str, phrase: str) -> None:
    assert find(text, [phrase]) == phrase


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("scampi", "scam"),
        ("Scunthorpe", "cunt"),
        ("buynow", "buy now"),
        ("спамить", "спам"),
        ("class", "ass"),
        ("2scam2", "scam"),
        ("", "scam"),
        ("anything", " \n"),
        ("a.b", "a+b"),
    ],
)
def test_it_is_not(text: str, phrase: str) -> None:
    assert find(text, [phrase]) == ""


def test_the_longest_is_named_as_it_was_entered() -> None:
    assert find("they BUY Guns", ["buy", "Buy  guns"]) == "Buy  guns"
    assert find("nothing", []) == ""


def test_what_looks_alike_is_alike() -> None:
    assert look("Ѕсаm") == look("SCAM") == "scam"
    assert look("ﬁne") == "fine"
