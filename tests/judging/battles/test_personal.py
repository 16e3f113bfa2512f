"""What looks like personal details is found, and ordinary numbers and words are not."""

import pytest

from judging.battles.personal import find, pieces

FOUND = [
    ("Write to ada.lovelace@example.org today.", "ada.lovelace@example.org", "email address"),
    ("ada (at) example (dot) org", "ada (at) example (dot) org", "email address"),
    ("My account is DE89 3704 0044 0532 0130 00.", "DE89 3704 0044 0532 0130 00", "bank account"),
    ("GB82WEST12345698765432", "GB82WEST12345698765432", "bank account"),
    ("Card 4111 1111 1111 1111, please", "4111 1111 1111 1111", "card number"),
    ("The server 203.0.113.7 is down", "203.0.113.7", "IP address"),
    ("At 2001:db8::8a2e:370:7334 it answers", "2001:db8::8a2e:370:7334", "IP address"),
    ("DNI 12345678Z", "12345678Z", "national id"),
    ("PESEL 44051401359", "44051401359", "national id"),
    ("CPF 529.982.247-25", "529.982.247-25", "national id"),
    ("NIR 1 85 05 78 006 084 91", "1 85 05 78 006 084 91", "national id"),
    ("CF RSSMRA85T10A562S", "RSSMRA85T10A562S", "national id"),
    ("Call +44 20 7946 0958 now", "+44 20 7946 0958", "phone number"),
    ("Call 030 / 901820 now", "030 / 901820", "phone number"),
    ("(555) 123-4567", "(555) 123-4567", "phone number"),
    ("Order 1234567", "1234567", "long number"),
    ("My name is Grace Hopper and", "Grace Hopper", "name of a person"),
    ("Dear Grace Hopper", "Grace Hopper", "name of a person"),
    ("Ask Dr. Hopper", "Hopper", "name of a person"),
    ("I live at 221B Baker Street", "221B Baker Street", "street address"),
    ("Hauptstraße 5 in Kiel", "Hauptstraße 5", "street address"),
    ("au 12, rue de Rivoli", "12, rue de Rivoli", "street address"),
]


@pytest.mark.parametrize(("text", "what", "kind"), FOUND)
def test_it_is_found(text: str, what: str, kind: str) -> None:
    assert [(text[each.start : each.end], each.kind) for each in find(text)] == [(what, kind)]


@pytest.mark.parametrize(
    "text",
    [
        "Name three rivers of 1998 and 2,000,000 people.",
        "Version 1.2.3 and 127.0.0.1 and 300.1.1.1",
        "At 12:30:45 it rains; std::vector<int> a = b::c;",
        "Pi is 3.14159265358979.",
        "What is a mister? The street has 12 houses.",
        "",
    ],
)
def test_ordinary_texts_are_clean(text: str) -> None:
    assert find(text) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("DE89 3704 0044 0532 0130 01", "bank account"),
        ("4111 1111 1111 1112", "card number"),
        ("12345678A", "national id"),
        ("44051401358", "national id"),
    ],
)
def test_a_wrong_check_digit_is_no_such_number(text: str, kind: str) -> None:
    assert kind not in [each.kind for each in find(text)]


def test_pieces_are_the_text() -> None:
    text = "Mail a@b.org or c@d.org."
    assert "".join(piece for piece, _ in pieces(text)) == text
    assert [kind for _, kind in pieces(text)] == ["", "email address", "", "email address", ""]


@pytest.mark.parametrize("sign", ["a", "1", "1 ", ".", "@", ":", "(", "A", "A ", "1-"])
def test_long_runs_are_looked_through(sign: str) -> None:
    find(sign * 4000)
