"""Texts as they look, so that a word is found however it is written. Pure."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_TABLE: Final = str.maketrans(
    "аАвВеЕкКмМнНоОрРсСтТуУхХіІјЈѕЅԁԛԝһԍɡӏ"  # Cyrillic
    "αΑβΒεΕζΖηΗιΙκΚμΜνΝοΟρΡτΤυΥχΧ"  # Greek
    "ıɑɩʟꞁⅼǀøØłŁđĐ",
    "aabbeekkmmhhooppccttyyxxiijjssdqwhgglaabbeezzhhiikkmmnnooppttyyxxiaillllooll" + "dd",
)
"""Letters that look like Latin ones. The texts themselves need no more: both sides go through it."""

_HIDDEN: Final = ("Cc", "Cf", "Mn", "Me")
_SPACELESS: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
"""Scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


def look(text: str) -> str:
    """A text in one form for all that look alike: without case, accents, hidden and foreign signs."""
    if text.isascii() and text.isprintable():
        return text.lower()
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).translate(_TABLE).casefold())
    shown = (sign for sign in apart if unicodedata.category(sign) not in _HIDDEN or sign in "\n\t\r")
    return unicodedata.normalize("NFC", "".join(shown)).translate(_TABLE)


def find(text: str, phrases: Iterable[str]) -> str:
    """The first of these words and phrases that a text has as whole words, however written; else ""."""
    wanted = tuple(phrases)
    pattern = _pattern(wanted)
    found = pattern.search(look(text)) if pattern else None
    return next(name for name in wanted if _words(name) == " ".join(found[0].split())) if found else ""


@lru_cache(maxsize=64)
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str] | None:
    known = sorted({words for phrase in phrases if (words := _words(phrase))}, key=len, reverse=True)
    return re.compile("|".join(map(_whole, known))) if known else None


def _words(phrase: str) -> str:
    return " ".join(look(phrase).split())


def _whole(phrase: str) -> str:
    between = r"\s+".join(map(re.escape, phrase.split(" ")))
    return f"{_border(phrase[0], '(?<!')}{between}{_border(phrase[-1], '(?!')}"


def _border(sign: str, opening: str) -> str:
    is_of_words = (sign.isalnum() or sign == "_") and not _SPACELESS.match(sign)
    return rf"{opening}[^\W_])" if is_of_words else ""
