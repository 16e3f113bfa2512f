"""Personal details in texts, found by their form and, where they have one, by their check digit. Pure.

Nothing here is sure to find everything: who publishes a text reads it.
"""

import ipaddress
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final


@dataclass(frozen=True)
class Found:
    """A stretch of a text, and what it looks like."""

    start: int
    end: int
    kind: str


EMAIL: Final = "email address"
IBAN: Final = "bank account"
CARD: Final = "card number"
IP: Final = "IP address"
NATIONAL: Final = "national id"
PHONE: Final = "phone number"
DIGITS: Final = "long number"
NAME: Final = "name of a person"
STREET: Final = "street address"


def find(text: str) -> list[Found]:
    """Return what looks like personal details, in order; of what overlaps the first rule that holds."""
    found: list[Found] = []
    for kind, pattern, holds in _RULES:
        for match in pattern.finditer(text):
            start, end = match.span(1) if pattern.groups else match.span()
            if holds(text[start:end]) and not any(start < each.end and each.start < end for each in found):
                found.append(Found(start, end, kind))
    return sorted(found, key=lambda each: each.start)


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield the text in pieces, each with the kind of what was found there; "" for nothing."""
    at = 0
    for each in find(text):
        yield text[at : each.start], ""
        yield text[each.start : each.end], each.kind
        at = each.end
    yield text[at:], ""


def _digits(text: str) -> str:
    return "".join(sign for sign in text if sign.isdecimal())


def is_card(text: str) -> bool:
    """Tell whether a number of 13 to 19 digits ends in the check digit of Luhn (1960)."""
    digits = _digits(text)
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and _luhn(digits)


def _luhn(digits: str) -> bool:
    doubled = (2 * int(digit) for digit in digits[-2::-2])
    return (sum(map(int, digits[::-2])) + sum(each - 9 * (each > 9) for each in doubled)) % 10 == 0


def is_iban(text: str) -> bool:
    """Tell whether the rest of ISO 13616 by 97 is 1."""
    plain = "".join(text.split()).upper()
    if not 15 <= len(plain) <= 34 or not plain.isascii():
        return False
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def is_address(text: str) -> bool:
    """Tell whether it is the address of a machine that others may reach."""
    if ":" in text and not re.search(r"\d\w{2}|\w{2}\d", text):  # as in a::b, which programs hold
        return False
    try:
        return not (found := ipaddress.ip_address(text)).is_loopback and not found.is_unspecified
    except ValueError:
        return False


def is_national(text: str) -> bool:
    """Tell whether a check digit and a form that few other numbers have make it somebody's number."""
    plain = re.sub(r"[\s.\-/]", "", text).upper()
    return any(rule(plain) for rule in (_dni, _pesel, _cpf, _nir, _hetu, _codice, _belgian, _swedish))


def _dni(plain: str) -> bool:
    """Spain: eight digits and the letter of their rest by 23."""
    known = re.fullmatch(r"([XYZ]\d{7}|\d{8})([A-Z])", plain, re.ASCII)
    letters = "TRWAGMYFPDXBNJZSQVHLCKE"
    return (
        known is not None and letters[int(known[1].translate(str.maketrans("XYZ", "012"))) % 23] == known[2]
    )


def _pesel(plain: str) -> bool:
    """Poland: a day of birth, a serial number and a weighted sum by 10."""
    if not re.fullmatch(r"\d{11}", plain, re.ASCII):
        return False
    weights = 1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1
    weighted = sum(int(digit) * weight for digit, weight in zip(plain, weights, strict=True))
    return _is_day(1900, int(plain[2:4]) % 20, int(plain[4:6])) and weighted % 10 == 0


def _cpf(plain: str) -> bool:
    """Brazil: two check digits by 11."""
    if not re.fullmatch(r"\d{11}", plain, re.ASCII) or len(set(plain)) == 1:
        return False
    rests = (sum(int(plain[at]) * (size + 1 - at) for at in range(size)) * 10 % 11 % 10 for size in (9, 10))
    return list(rests) == [int(plain[9]), int(plain[10])]


def _nir(plain: str) -> bool:
    """France: thirteen digits and what their rest by 97 lacks."""
    known = re.fullmatch(r"([12]\d{2}(0[1-9]|1[0-2])\d{8})(\d{2})", plain, re.ASCII)
    return known is not None and 97 - int(known[1]) % 97 == int(known[3])


def _hetu(plain: str) -> bool:
    """Finland: a day of birth, a serial number and the sign of the rest by 31."""
    known = re.fullmatch(r"(\d{6})[+A]?(\d{3})([0-9A-Y])", plain, re.ASCII)
    signs = "0123456789ABCDEFHJKLMNPRSTUVWXY"
    if not known or not known[3].isalpha():  # else any number of ten digits may be one
        return False
    day, month = int(known[1][:2]), int(known[1][2:4])
    return _is_day(2000, month, day) and signs[int(known[1] + known[2]) % 31] == known[3]


_ODD: Final = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)
"""What a sign at an odd place counts, by its digit or the place of its letter."""


def _codice(plain: str) -> bool:
    """Italy: sixteen signs, the last of which follows from the others."""
    if not re.fullmatch(r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]", plain, re.ASCII):
        return False
    signs = [int(sign) if sign.isdigit() else ord(sign) - 65 for sign in plain]
    return (sum(_ODD[sign] for sign in signs[:15:2]) + sum(signs[1:15:2])) % 26 == signs[15]


def _belgian(plain: str) -> bool:
    """Belgium: a day of birth, a serial number and what their rest by 97 lacks."""
    if not re.fullmatch(r"\d{11}", plain, re.ASCII) or not _is_day(2000, int(plain[2:4]), int(plain[4:6])):
        return False
    return any(97 - int(century + plain[:9]) % 97 == int(plain[9:]) for century in ("", "2"))


def _swedish(plain: str) -> bool:
    """Sweden: a day of birth, a serial number and the check digit of Luhn."""
    known = re.fullmatch(r"(?:19|20)?(\d{10})", plain, re.ASCII)
    return known is not None and _is_day(2000, int(known[1][2:4]), int(known[1][4:6])) and _luhn(known[1])


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        return bool(date(year, month, day))
    except ValueError:
        return False


def is_phone(text: str) -> bool:
    return 8 <= len(_digits(text)) <= 15


def _always(_: str) -> bool:
    return True


_WORD: Final = r"[^\W\d_][\w’'\-]{1,30}"
_NAME: Final = r"[A-ZÀ-ÖØ-ÞĀ-ŽА-Я][\w’'\-]{1,30}"
_NAMES: Final = rf"({_NAME}(?: {_NAME}){{0,2}})"
_I_AM: Final = r"I am|I’m|I'm|[Mm]ein Name ist|[Jj]e m’appelle|[Mm]e llamo"
_TITLES: Final = r"Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Mme|Sr|Sra"
_LETTERS: Final = r"Dear|Best regards,|Kind regards,|Sincerely,"
_ROADS: Final = (
    r"Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Square|Place|Way|Close|Terrace"
)
_STREETS: Final = r"straße|strasse|str\.|gasse|platz|weg|allee|laan|straat"

_CODICE: Final = r"(?<!\w)[A-Za-z]{6}\d{2}[A-Za-z]\d{2}[A-Za-z]\d{3}[A-Za-z](?!\w)"
_NUMBERED: Final = r"(?<![\w.])[XYZxyz]?\d(?:[ .\-/]?\d){5,14}[\-+A ]?\d{0,3}[A-Za-z]?(?!\w)"

Rule = tuple[str, re.Pattern[str], Callable[[str], bool]]


def _rule(kind: str, pattern: str, holds: Callable[[str], bool] = _always, flags: int = 0) -> Rule:
    return kind, re.compile(pattern, flags), holds


_RULES: Final[tuple[Rule, ...]] = (
    _rule(EMAIL, r"(?<![\w.+%\-])[\w.+%\-]{1,64}@[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,6}"),
    _rule(EMAIL, r"(?<![\w.])[\w.]{1,64} ?[\[(]at[\])] ?[\w\-]{1,63} ?(?:\.|[\[(]dot[\])]) ?\w{2,20}"),
    _rule(IBAN, r"\b[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9]){11,30}?(?![A-Za-z0-9])(?! ?\d)", is_iban, re.ASCII),
    _rule(CARD, r"(?<![\d.])\d(?:[ \-]?\d){12,18}(?![\d.]?\d)", is_card, re.ASCII),
    _rule(IP, r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]?\d)", is_address, re.ASCII),
    _rule(IP, r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])", is_address, re.ASCII),
    _rule(NATIONAL, _CODICE, is_national, re.ASCII),
    _rule(NATIONAL, _NUMBERED, is_national, re.ASCII),
    _rule(PHONE, r"(?<![\w.])(?:\+|00)\d(?:[ ().\-/]{0,2}\d){7,14}(?!\w)", is_phone, re.ASCII),
    _rule(PHONE, r"(?<![\w.])\(?0\d{1,5}\)?[ \-/]{1,3}(?:[ .\-/]?\d){5,10}(?!\w)", is_phone, re.ASCII),
    _rule(PHONE, r"(?<![\w.])\(?\d{3}\)?[ .\-]\d{3}[ .\-]\d{4}(?!\w)", is_phone, re.ASCII),
    _rule(DIGITS, r"(?<![\w.,])\d(?:[ \-]?\d){6,40}(?!\w)", flags=re.ASCII),
    _rule(NAME, rf"(?i:\b(?:my|his|her|their) (?:full )?name is) ({_WORD}(?: {_NAME}){{0,3}})"),
    _rule(NAME, rf"\b(?:{_I_AM}) ({_NAME} {_NAME})"),
    _rule(NAME, rf"\b(?:{_TITLES})\.? {_NAMES}"),
    _rule(NAME, rf"^(?:{_LETTERS})\s{_NAMES}", flags=re.MULTILINE),
    _rule(STREET, rf"\b\d{{1,5}}[A-Za-z]? (?:{_NAME} ){{1,3}}(?:{_ROADS})\b"),
    _rule(STREET, rf"\b[^\W\d_]{{2,30}}(?:{_STREETS}) \d{{1,4}}[a-z]?\b", flags=re.IGNORECASE),
    _rule(STREET, rf"\b\d{{1,4}},? (?:rue|avenue|boulevard|calle|via) (?:\w+ ){{0,3}}{_NAME}"),
)
"""What is looked for, the surest first. Where a pattern has a group, that is what was found."""
