"""Constraints on a text that a program verifies. Pure; linear in the text.

``holds`` is None wherever the definition cannot decide: it never guesses.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from arena.constraints.texts import Range, Text, Unit, without_case
from arena.data.formats.values import json_type

MOST: Final = 1_000_000  # that can be counted
MOST_PARTS: Final = 20  # positions, terms, or constraints in any
DEEPEST: Final = 3  # any in any
BASES: Final = range(2, 11)
LONGEST_TERM: Final = 30  # digits

Verdict: TypeAlias = bool | None
T = TypeVar("T")


class ConstraintError(ValueError):
    """A constraint is wrong; ``field`` says where."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class Constraint(NamedTuple):
    """A kind with its parameters in their normal form; made by ``parse``."""

    kind: str
    values: Mapping[str, Any]


def parse(value: object, field: str = "constraint", depth: int = 1) -> Constraint:
    """The constraint that a JSON object describes. Raises ConstraintError."""
    if not isinstance(value, dict):
        raise ConstraintError(field, f"expected an object, found {json_type(value)}")
    kind = value.get("kind")
    if kind is None:
        raise ConstraintError(f"{field}.kind", f"missing; one of {', '.join(KINDS)}")
    if not isinstance(kind, str) or kind not in KINDS:
        found = f'"{shown(kind)}"' if isinstance(kind, str) else json_type(kind)
        raise ConstraintError(f"{field}.kind", f"{found} is not one of {', '.join(KINDS)}")
    names = KINDS[kind].parameters
    known = f"{kind} has {', '.join(names)}"
    for unknown in value.keys() - {"kind", *names}:
        raise ConstraintError(f"{field}.{shown(unknown)}", f"unknown field; {known}")
    for name in names:
        if value.get(name) is None:
            raise ConstraintError(f"{field}.{name}", f"missing; {known}")
    if kind == "any":
        if depth > DEEPEST:
            raise ConstraintError(f"{field}.of", f"any is nested more than {DEEPEST} deep")
        parts = _each(value["of"], f"{field}.of", partial(parse, depth=depth + 1))
        return Constraint(kind, {"of": parts})
    values = {name: _READ[name](value[name], f"{field}.{name}") for name in names}
    if kind == "words_at":
        _check_same_length(values, field)
    if kind == "sum":
        _check_digits(values, field)
    return Constraint(kind, values)


def holds(text: str | Text, constraint: Constraint) -> Verdict:
    """Whether a text fulfils a constraint; None if that cannot be told for sure."""
    read = Text(text) if isinstance(text, str) else text
    return KINDS[constraint.kind].holds(read, constraint.values)


# --- Parameters.


def shown(text: str) -> str:
    """A text for a message: short, and without what a terminal would obey or could not print."""
    cut = text if len(text) <= 40 else f"{text[:40]}…"
    return cut if cut.isprintable() else json.dumps(cut)[1:-1]


def _each(value: object, field: str, read: Callable[[object, str], T]) -> tuple[T, ...]:
    """The entries of a list, each as it is read."""
    if not isinstance(value, list):
        raise ConstraintError(field, f"expected a list, found {json_type(value)}")
    if not 1 <= len(value) <= MOST_PARTS:
        raise ConstraintError(field, f"{len(value):,} entries; expected 1 to {MOST_PARTS}")
    return tuple(read(part, f"{field}[{number}]") for number, part in enumerate(value, start=1))


def _number(value: object, field: str, allowed: range) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        found = value if isinstance(value, float) else json_type(value)
        raise ConstraintError(field, f"expected a whole number, found {found}")
    if value not in allowed:
        raise ConstraintError(field, f"{shown(str(value))} is not between {allowed[0]:,} and {allowed[-1]:,}")
    return value


def _word(value: object, field: str) -> str:
    """A word as it is compared."""
    if not isinstance(value, str):
        raise ConstraintError(field, f"expected a text, found {json_type(value)}")
    units = Text(value).units if len(value) <= 100 else []
    if len(units) != 1 or units[0].word != unicodedata.normalize("NFC", value).casefold():
        raise ConstraintError(field, "expected one word without white space or outer punctuation")
    return units[0].word


def _character(value: object, field: str) -> str:
    if not isinstance(value, str):
        raise ConstraintError(field, f"expected a text, found {json_type(value)}")
    found = unicodedata.normalize("NFC", value) if len(value) < 10 else value
    if len(found) != 1:
        raise ConstraintError(field, f"expected one character, found {len(found):,}")
    return without_case(found)


def _positions(value: object, field: str) -> tuple[int, ...]:
    found = _each(value, field, partial(_number, allowed=range(1, MOST + 1)))
    if len(set(found)) < len(found):
        raise ConstraintError(field, "a position stands twice")
    return found


def _term(value: object, field: str) -> str:
    """A numeral without leading zeros."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not re.fullmatch(rf"[0-9]{{1,{LONGEST_TERM}}}", text):
        reason = f"expected a whole number of at most {LONGEST_TERM} digits, or the same as a text"
        raise ConstraintError(field, reason)
    return text.lstrip("0") or "0"


_READ: Final[Mapping[str, Callable[[object, str], Any]]] = {
    "count": partial(_number, allowed=range(MOST + 1)),
    "word": _word,
    "character": _character,
    "positions": _positions,
    "words": partial(_each, read=_word),
    "base": partial(_number, allowed=BASES),
    "terms": partial(_each, read=_term),
}


def _check_same_length(values: Mapping[str, Any], field: str) -> None:
    positions, words = len(values["positions"]), len(values["words"])
    if positions != words:
        raise ConstraintError(f"{field}.words", f"{words} words for {positions} positions")


def _check_digits(values: Mapping[str, Any], field: str) -> None:
    for number, term in enumerate(values["terms"], start=1):
        if int(max(term)) >= values["base"]:
            reason = f"{term} has the digit {max(term)}, which base {values['base']} does not have"
            raise ConstraintError(f"{field}.terms[{number}]", reason)


# --- Words, sentences and characters.


def _verdict(*, surely: bool, perhaps: bool) -> Verdict:
    """Return True for sure, else None for perhaps, else False."""
    return surely or (None if perhaps else False)


def _counted(found: Range, count: int) -> Verdict:
    return _verdict(surely=found.least == count == found.most, perhaps=found.least <= count <= found.most)


def _has_word(text: Text, values: Mapping[str, Any]) -> Verdict:
    return _is_any(text.units, values["word"])


def _last_word(text: Text, values: Mapping[str, Any]) -> Verdict:
    last = next((unit for unit in reversed(text.units) if unit.least), None)
    return last is not None and _is_any([last], values["word"])


def _is_any(units: Sequence[Unit], word: str) -> Verdict:
    """Tell whether one of these units is the word."""
    surely = any(unit.word == word for unit in units)
    return _verdict(surely=surely, perhaps=any(unit.may_hold(word) for unit in units))


def _words_at(text: Text, values: Mapping[str, Any]) -> Verdict:
    return _all(_word_at(text, *each) for each in zip(values["positions"], values["words"], strict=True))


def _word_at(text: Text, position: int, word: str) -> Verdict:
    least = most = 0  # words before the unit
    there = []  # the units that may have this position
    for unit in text.units:
        if least >= position:
            break
        if most + unit.most >= position:
            there.append(unit)
        least, most = least + unit.least, most + unit.most
    surely = least >= position and all(unit.word == word for unit in there)
    return _verdict(surely=surely, perhaps=any(unit.may_hold(word) for unit in there))


def _has_character(text: Text, values: Mapping[str, Any]) -> Verdict:
    wanted = values["character"]
    return _verdict(surely=wanted in text.characters, perhaps=text.may_show(wanted))


def _not(verdict: Verdict) -> Verdict:
    return None if verdict is None else not verdict


def _all(verdicts: Iterable[Verdict]) -> Verdict:
    found = set(verdicts)
    return False if False in found else None if None in found else True


def _any(verdicts: Iterable[Verdict]) -> Verdict:
    return _not(_all(map(_not, verdicts)))


# --- Sums. The result is what stands in \boxed{}; else it is the whole text, or ends it after "75 + 48 =" or
# "the answer is".

_BOXED: Final = re.compile(r"\\boxed\s{0,9}\{([^{}]{0,99}(?:\{[^{}]{0,99}\}[^{}]{0,99}){0,3})\}")
_NUMERAL: Final = r"[*$]*(?P<numeral>[0-9]+)(?:_\{?(?:\\text\{)?(?P<base>[0-9]+)\}*)?[*$]*"
_IN_BASE: Final = r"(?:[ ,(]+(?:in )?base[- ](?P<named>[0-9]+)\)?)?"
_RESULT: Final = re.compile(rf"\s*{_NUMERAL}{_IN_BASE}[.!]?\s*")
_ANSWER: Final = re.compile(
    r"\b(?:answer|result|sum|total)(?: of (?P<terms>[0-9][0-9 ,+]*(?:and [0-9]+)?))?(?: in base[- ][0-9]+)?"
    r" is:? (?P<result>[^=]{1,60})\Z"
)
_DENIED: Final = re.compile(r"\b(?:not|no|never|wrong|false|incorrect)\b|n['’]t\b", re.IGNORECASE)
_TAIL: Final = 1000  # characters at the end of a text that may state its result


def _is_sum(text: Text, values: Mapping[str, Any]) -> Verdict:
    found = _result(text.text, values["terms"])
    base = str(values["base"])
    if found is None or any(found[name] not in (None, base) for name in ("base", "named")):
        return None
    said, right = found["numeral"], total(values["base"], values["terms"])
    return _verdict(surely=said == right, perhaps=said.lstrip("0") == right.lstrip("0"))


def _result(text: str, terms: Sequence[str]) -> re.Match[str] | None:
    """The result a text states."""
    if "\\boxed" in text:
        boxed = {content.strip() for content in _BOXED.findall(text)}
        return _RESULT.fullmatch(boxed.pop()) if len(boxed) == 1 else None
    tail = text.rstrip()[-_TAIL:]
    if len(tail) < _TAIL and (alone := _RESULT.fullmatch(tail)):
        return alone
    if _DENIED.search(text):
        return None
    before, equals, after = tail.rpartition("=")
    if equals:
        added = re.search(r"[0-9 +]*\Z", before)
        return _RESULT.fullmatch(after) if added and _are(added[0], terms) else None
    answer = _ANSWER.search(tail.lower())
    return _RESULT.fullmatch(answer["result"]) if answer and _are(answer["terms"], terms) else None


def _are(said: str | None, terms: Sequence[str]) -> bool:
    """Whether a text names exactly these numerals, or none."""
    return said is None or sorted(re.findall(r"[0-9]+", said)) == sorted(terms)


def total(base: int, terms: Sequence[str]) -> str:
    """The sum of numerals, as a numeral."""
    value, digits = sum(int(term, base) for term in terms), ""
    while value or not digits:
        value, digit = divmod(value, base)
        digits = f"{digit}{digits}"
    return digits


class Kind(NamedTuple):
    parameters: tuple[str, ...]
    holds: Callable[[Text, Mapping[str, Any]], Verdict]


KINDS: Final[Mapping[str, Kind]] = {
    "words": Kind(("count",), lambda text, values: _counted(text.words, values["count"])),
    "sentences": Kind(("count",), lambda text, values: _counted(text.sentences, values["count"])),
    "has_word": Kind(("word",), _has_word),
    "lacks_word": Kind(("word",), lambda text, values: _not(_has_word(text, values))),
    "last_word": Kind(("word",), _last_word),
    "words_at": Kind(("positions", "words"), _words_at),
    "has_character": Kind(("character",), _has_character),
    "lacks_character": Kind(("character",), lambda text, values: _not(_has_character(text, values))),
    "any": Kind(("of",), lambda text, values: _any(holds(text, part) for part in values["of"])),
    "sum": Kind(("base", "terms"), _is_sum),
}
