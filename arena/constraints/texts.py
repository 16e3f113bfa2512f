"""A text's words, sentences and characters, as far as they can be told for sure. Pure; linear in the text.

A word is a piece between white space without outer punctuation, in any case. Where people and programs count
differently, each count that somebody may reach is kept, and so is each word that somebody may see.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

_OWN_CLASS: Final = {
    **dict.fromkeys('"“”„‟«»＂「」『』〝〞', "q"),
    **dict.fromkeys("'’‘‛ʼ＇", "a"),
    **dict.fromkeys("-‐‑", "-"),
    **dict.fromkeys(",:/", ","),
    ".": ".",
}
_CLASSES_BY_CATEGORY: Final = {"Nd": "d", "So": "e", "L": "w", "N": "w", "M": "m", "P": "p", "S": "s"}
_WITHOUT_SPACES: Final = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
"""Scripts that put no white space between words: Thai, Lao, Tibetan, Burmese, Khmer, Chinese, Japanese."""


class _Classes(dict[int, str]):
    """A letter for what each character is to words; filled as characters are met.

    w letter, m mark on a letter, d digit, h letter of a script without spaces, q double quotation mark,
    a apostrophe, e emoji and the like, s other symbol, p other punctuation, c control or invisible.
    """

    def __missing__(self, code: int) -> str:
        self[code] = found = _class_of(chr(code))
        return found


def _class_of(character: str) -> str:
    category = unicodedata.category(character)
    known = _OWN_CLASS.get(character)
    if known is None and category[0] in "LM" and _WITHOUT_SPACES.match(character):
        return "h"
    return known or _CLASSES_BY_CATEGORY.get(category) or _CLASSES_BY_CATEGORY.get(category[0], "c")


_CLASSES: Final = _Classes()


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_CORE: Final = re.compile(r"[wmdh](?:.*[wmdh])?")
_GAP: Final = re.compile(r"[^wmdh]+")
_INITIALS: Final = re.compile(r"wm?(?:\.wm?){1,9}")

_RUN_TOGETHER: Final = {
    "cannot": "can not",
    "gimme": "give me",
    "gonna": "going to",
    "gotta": "got to",
    "lemme": "let me",
    "wanna": "want to",
    "tis": "it is",
    "twas": "it was",
}
_SHORT_FOR: Final = {
    **{"t": "not", "s": "is has us", "re": "are", "ll": "will shall", "ve": "have", "d": "would had did"},
    **{"m": "am", "ca": "can", "wo": "will", "sha": "shall", "ai": "am are is has have", "y": "you"},
}
"""What the parts of a contraction stand for."""


class Unit(NamedTuple):
    """A piece of a text that is ``least`` to ``most`` words: ``word``, or perhaps some of ``others``."""

    word: str
    least: int = 1
    most: int = 1
    others: frozenset[str] = frozenset()
    has_no_spaces: bool = False

    def may_hold(self, word: str) -> bool:
        return word == self.word or word in self.others or (self.has_no_spaces and word in self.word)


_PERHAPS_A_WORD: Final = Unit("", least=0)


class Range(NamedTuple):
    """The least and the most that a number can be."""

    least: int
    most: int


class Text:
    def __init__(self, text: str) -> None:
        # Normalising takes a time quadratic in the marks on one letter.
        if not text.isascii() and "m" * 31 not in text.translate(_CLASSES):
            text = unicodedata.normalize("NFC", text)
        self.text: Final = text

    @cached_property
    def units(self) -> list[Unit]:
        pieces = self.text.split()
        known = {piece: _units(piece) for piece in set(pieces)}
        return [unit for piece in pieces for unit in known[piece]]

    @cached_property
    def words(self) -> Range:
        return Range(sum(unit.least for unit in self.units), sum(unit.most for unit in self.units))

    @cached_property
    def sentences(self) -> Range:
        known = self.characters.isdisjoint(_OTHER_STOPS) and all(map(_is_latin_or_cyrillic, self.characters))
        return _sentences(self.text) if known else Range(0, len(self.text))

    @cached_property
    def characters(self) -> frozenset[str]:
        """Its characters without case."""
        return frozenset(map(without_case, frozenset(self.text)))

    def may_show(self, character: str) -> bool:
        """Whether a character in it is this one but for accents, ligatures or width."""
        wanted = _plain(character)
        return any(wanted in _plain(each) for each in self.characters)


def without_case(character: str) -> str:
    small = character.lower()
    return small if len(small) == 1 else character


def _plain(character: str) -> str:
    return unicodedata.normalize("NFKD", character).casefold()


def _units(piece: str) -> list[Unit]:
    """The units of a piece between white space, in order."""
    classes = piece.translate(_CLASSES)
    core = _CORE.search(classes)
    if core is None:
        return [_PERHAPS_A_WORD] * (classes.count("q") + classes.count("e") + ("s" in classes))
    start, end = core.span()
    unit = _unit(piece[start:end], core[0])
    if end - start == len(piece):
        return [unit]
    before, after = (part.count("q") + part.count("e") for part in (classes[:start], classes[end:]))
    return [*[_PERHAPS_A_WORD] * before, unit, *[_PERHAPS_A_WORD] * after]


def _unit(core: str, classes: str) -> Unit:
    word = core.casefold()
    if word in _RUN_TOGETHER:
        return Unit(word, most=2, others=frozenset(_RUN_TOGETHER[word].split()))
    if not classes.strip("wmd"):
        return Unit(word)
    gaps = [gap.span() for gap in _GAP.finditer(classes) if not _joins(gap[0], classes, *gap.span())]
    no_spaces = classes.count("h")
    if not (gaps or no_spaces) or _INITIALS.fullmatch(classes):
        return Unit(word)
    ends = [0, *(end for gap in gaps for end in gap), len(core)]
    parts = [core[start:end].casefold() for start, end in zip(ends[::2], ends[1::2], strict=True)]
    others = {*parts, *_spelt_out(parts)}
    if "c" in classes:
        visible = (char for char, kind in zip(core, classes, strict=True) if kind != "c")
        others.add("".join(visible).casefold())
    return Unit(word, 1, 1 + len(gaps) + no_spaces, frozenset(others), bool(no_spaces))


def _joins(gap: str, classes: str, start: int, end: int) -> bool:
    """Whether this between letters or digits certainly leaves one word: well-known, 1,000."""
    return gap == "-" or (gap in (".", ",") and classes[start - 1] == classes[end] == "d")


def _spelt_out(parts: list[str]) -> Iterator[str]:
    """The words that a contraction of these parts may stand for."""
    for part, following in zip(parts, [*parts[1:], ""], strict=True):
        stem = part.removesuffix("n") if following == "t" else part
        yield stem
        yield from _SHORT_FOR.get(stem, "").split()


# --- Sentences. One ends for certain where a full stop, question or exclamation mark is followed by white
# space and a capital letter, outside quotations and brackets, and no abbreviation is before it; and where the
# text ends with such a mark. A line break and every other place where one may end is perhaps an end.

_OTHER_STOPS: Final = frozenset("。！？｡؟۔।॥։።‽⁇⁈⁉")
_ABBREVIATIONS: Final = _listed(
    """
    abbr al alt approx apr apt art assn assoc aug ave bldg blvd bros ca capt cf ch chap cmdr co col comm
    corp cpl cm cu dec dept dist div dr ed eds eg eq esp esq est etc ex ext feb ff fig figs fl fr fri ft
    gal gen gov govt hon hr hrs ie inc incl int jan jr jul jun km lb lbs lt ltd maj mar max mfg mg mgr
    mi min mins misc ml mm mon mr mrs ms mt mx nat no nos nov oct oz par pg pl pls pop pp prof pt qty rd
    ref rep rev sat sec sen sep sept sgt sr st sun supt temp thu tue univ viz vol vols vs wed yd yr yrs
    """
)
_DEPTH: Final = {**dict.fromkeys("([{“„«", 1), **dict.fromkeys(")]}”»", -1)}
_EVENT: Final = re.compile(r"""[.!?…]+|[\n\r\v\f\x85\u2028\u2029]+|[()\[\]{}"“”„«»]""")
_AFTER: Final = re.compile(r"""(?P<closing>[)\]}"”’'»*_]*)(?P<space>\s*)(?P<next>\S?)""")
_QUOTED: Final = re.compile(r"(?:\A|[\s(])['‘]\w")
_WORD: Final = re.compile(r"[^\W_]")
_LAST_WORD: Final = re.compile(r"[^\W\d_]+\Z")
_LONGEST: Final = 40  # letters of a word before a full stop that matter


def _is_latin_or_cyrillic(character: str) -> bool:
    """Whether sentences of this letter end as described; of other characters always."""
    names = ("LATIN ", "CYRILLIC ", "MODIFIER LETTER ")
    return not character.isalpha() or unicodedata.name(character, "").startswith(names)


def _sentences(text: str) -> Range:
    least = most = depth = seen = 0
    is_quoted, always_perhaps = False, bool(_QUOTED.search(text))
    has_words = False  # since the last end
    for event in _EVENT.finditer(text):
        has_words = has_words or bool(_WORD.search(text, seen, event.start()))
        seen = event.end()
        if event[0] == '"':
            is_quoted = not is_quoted
        elif event[0] in _DEPTH:
            depth = max(0, depth + _DEPTH[event[0]])
        elif has_words:
            end = _end(text, event, inside=is_quoted or depth > 0 or always_perhaps)
            least += end is True
            most += end is not False
            has_words = end is False
    return Range(least, most + (has_words or bool(_WORD.search(text, seen))))


def _end(text: str, event: re.Match[str], *, inside: bool) -> bool | None:
    """Whether a sentence ends with this mark or line break; None: perhaps."""
    marks = event[0]
    after = _AFTER.match(text, event.end())
    if after is None or marks.isspace():
        return None
    if not after["next"]:
        return True
    if not (after["closing"] or after["space"]):
        return False if after["next"].isalnum() and not _begins_without_space(text, event) else None
    if inside or after["closing"] or not after["next"].isupper():
        return None
    if marks == ".":
        return _ends_no_abbreviation(text, event.start()) or None
    return None if set(marks) - {"!", "?"} else True


def _begins_without_space(text: str, event: re.Match[str]) -> bool:
    """Whether a space may be missing after this: word.Another, why?because."""
    return event[0] != "." or (text[event.start() - 1].islower() and text[event.end()].isupper())


def _ends_no_abbreviation(text: str, stop: int) -> bool:
    """Whether the word before a full stop is certainly no abbreviation, initial or number."""
    if text[stop - 1] in ")]}\"”»’'":
        return True
    before = text[max(0, stop - _LONGEST) : stop]
    word = _LAST_WORD.search(before)
    if word is None or len(word[0]) < 2 or word[0].isupper() or word[0].lower() in _ABBREVIATIONS:
        return False
    return before[: word.start()][-1:] not in (".", "&")
