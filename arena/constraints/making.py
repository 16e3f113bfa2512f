"""Makes pairs whose better answer a program verified, and twins of gold pairs with the label reversed. Pure.

Whatever is chosen is chosen by SHA-256 of the seed and the texts: the same on every machine, and a larger
number only adds. A made pair is a prompt of its own with the answers "1" and "2", which name no author.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice, permutations, product
from string import ascii_lowercase
from typing import Any, Final, NamedTuple, TypeAlias

from arena.constraints.checking import Constraint, holds, parse, total
from arena.constraints.texts import Range, Text
from arena.data.formats.reading import digest
from arena.data.formats.records import (
    CompletionRecord,
    GoldRecord,
    Item,
    Note,
    Place,
    Problem,
    PromptRecord,
)

SOURCE: Final = "make_constraints"
OPPOSITE: Final = {"first": "second", "second": "first"}
NEGATION: Final = "Give a reply that is of no help with the request below."
MOST_TRIES: Final = 30  # pairs of answers to one prompt

Answers: TypeAlias = dict[tuple[str, str], tuple[str, ...]]
"""Texts by ("", contestant) and ("id", own id)."""


@dataclass
class Material:
    """Prompts with their answers and gold labels, and what could not be read."""

    place: Place
    prompts: dict[tuple[str, str], PromptRecord] = field(default_factory=dict)
    answers: dict[tuple[str, str], Answers] = field(default_factory=dict)
    texts: dict[tuple[str, str], dict[str, None]] = field(default_factory=dict)
    """The different answers of one turn by prompt."""
    gold: list[GoldRecord] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @classmethod
    def of(cls, name: str, items: Iterable[Item]) -> "Material":
        found = cls(Place(name))
        for item in items:
            if isinstance(item, Problem):
                found.problems.append(item)
            elif isinstance(item, GoldRecord):
                found.gold.append(item)
            elif isinstance(item, PromptRecord):
                if item.turns:
                    found.prompts.setdefault((item.subset, item.id), item)
            elif isinstance(item, CompletionRecord):
                found._add(item)
        return found

    def _add(self, record: CompletionRecord) -> None:
        key = (record.subset, record.prompt)
        names = {("", record.contestant or ""), ("id", record.id)} - {("", ""), ("id", "")}
        self.answers.setdefault(key, {}).update(dict.fromkeys(names, record.turns))
        if len(record.turns) == 1 and record.turns[0].strip():
            self.texts.setdefault(key, {})[record.turns[0]] = None


def made(material: Material, kinds: Sequence[str], n: int, seed: int) -> Iterator[Item]:
    """``n`` pairs of each kind, or as many as the answers allow; of sums as many in base 9 as in base 10.

    In every other pair the right answer comes first.
    """
    yield from material.problems
    some = bool(material.problems)
    for kind in () if some else kinds:
        count = 0
        for pairs in islice(_sums(seed) if kind == "sum" else _constrained(material, kind, seed), n):
            is_first = (_number(seed, kind) + count) % 2 == 0
            for subset, pair in pairs.items():
                yield from _records(subset, pair, is_first=is_first)
            count += 1
        some = some or count > 0
        if count < n:
            yield Note(Place(f"--kinds {kind}"), f"{count:,} of {n:,} pairs; no more can be made")
    if not some:
        yield Problem(material.place, "", f"no two answers to one prompt make a pair of {', '.join(kinds)}")


class Pair(NamedTuple):
    prompt: PromptRecord  # what is asked
    right: str
    wrong: str
    constraint: Mapping[str, Any]


def _records(subset: str, pair: Pair, *, is_first: bool) -> Iterator[Item]:
    texts = (pair.right, pair.wrong) if is_first else (pair.wrong, pair.right)
    yield from apart(
        pair.prompt,
        subset,
        pair.prompt.turns,
        ((texts[0],), (texts[1],)),
        gold="first" if is_first else "second",
        source=f"{SOURCE}: {pair.constraint['kind']}",
        how={"constraint": pair.constraint} | ({"prompt": pair.prompt.id} if pair.prompt.id else {}),
    )


def apart(
    prompt: PromptRecord,
    subset: str,
    turns: tuple[str, ...],
    answers: tuple[tuple[str, ...], tuple[str, ...]],
    *,
    gold: str,
    source: str,
    how: Mapping[str, Any],
    maker: str = SOURCE,
) -> Iterator[Item]:
    """A pair as a prompt of its own, named by a digest of its texts; ``how`` its ``maker`` made it."""
    name = digest(*turns, prompt.input or "", *answers[0], "", *answers[1])
    more: dict[str, Any] = {"extra": {maker: how}, "references": (), "implied": True}
    yield replace(prompt, id=name, turns=turns, subset=subset, **more)
    for own_id, answer in zip(("1", "2"), answers, strict=True):
        yield CompletionRecord(
            prompt=name, turns=answer, subset=subset, id=own_id, implied=True, place=prompt.place
        )
    yield GoldRecord(
        prompt=name,
        first="",
        second="",
        gold=gold,
        source=source[:200],
        subset=subset,
        first_id="1",
        second_id="2",
        place=prompt.place,
    )


# --- Twins.


def twins(material: Material) -> Iterator[Item]:
    """Each gold pair again with one sentence before the prompt, which reverses the label."""
    yield from material.problems
    ties = count = 0
    for label in () if material.problems else material.gold:
        key = (label.subset, label.prompt)
        prompt, answers = material.prompts.get(key), material.answers.get(key, {})
        first = answers.get(("id", label.first_id) if label.first_id else ("", label.first))
        second = answers.get(("id", label.second_id) if label.second_id else ("", label.second))
        if prompt is None or not first or not second or first == second or "negates" in _how(prompt):
            continue
        if label.gold not in OPPOSITE:
            ties += 1
            continue
        count += 1
        yield from apart(
            prompt,
            f"{label.subset} negated" if label.subset else "negated",
            (f"{NEGATION}\n\n{prompt.turns[0]}", *prompt.turns[1:]),
            (first, second),
            gold=OPPOSITE[label.gold],
            source=f"{SOURCE}: negation of {label.source}",
            how={"negates": prompt.id},
        )
    if ties:
        yield Note(material.place, f"left out {ties:,} of the labels: a tie has no opposite")
    if not count and not material.problems:
        reason = "no gold label says which of two answers is better, or all belong to twins"
        yield Problem(material.place, "", reason)


def _how(prompt: PromptRecord) -> Mapping[str, Any]:
    """How this module made the prompt, if it did."""
    how = prompt.extra.get(SOURCE)
    return how if isinstance(how, dict) else {}


# --- Constraints.


def _constrained(material: Material, kind: str, seed: int) -> Iterator[dict[str, Pair]]:
    keys = sorted(material.texts.keys() & material.prompts.keys(), key=lambda key: _number(seed, kind, *key))
    for key in keys:
        prompt = material.prompts[key]
        texts = sorted(material.texts[key])
        usable = len(prompt.turns) == 1 and len(texts) > 1 and not _how(prompt)
        if usable and (found := _differing(prompt, texts, kind, seed)):
            yield {kind: found}


def _differing(prompt: PromptRecord, texts: Sequence[str], kind: str, seed: int) -> Pair | None:
    """The first two answers one of which fulfils a constraint that the other does not."""
    read = [Text(text) for text in texts[: MOST_TRIES + 1]]
    tries = sorted(permutations(range(len(read)), 2), key=lambda pair: _number(seed, kind, prompt.id, *pair))
    for right, wrong in tries[:MOST_TRIES]:
        found = _FINDERS[kind](read[right], read[wrong], f"{seed} {kind} {prompt.id}")
        if found is None:
            continue
        value = {"kind": kind, **found}
        constraint = parse(value)
        if holds(read[right], constraint) and holds(read[wrong], constraint) is False:
            asked = replace(prompt, turns=(_asked(_in_words(constraint), prompt.turns[0]),))
            return Pair(asked, texts[right], texts[wrong], value)
    return None


def _asked(constraint: str, request: str) -> str:
    return (
        f"Answer the request below with a text that {constraint}. This matters most: a text that does so is "
        f"better than one that does not, whatever else is wrong with it.\n\nRequest:\n{request}"
    )


_IN_WORDS: Final[Mapping[str, str]] = {
    "words": "has exactly {count} word{s}",
    "sentences": "has exactly {count} sentence{s}",
    "has_word": "contains the word “{word}”",
    "lacks_word": "does not contain the word “{word}”",
    "last_word": "ends with the word “{word}”",
    "has_character": "contains the letter “{character}”",
    "lacks_character": "does not contain the letter “{character}”",
}


def _in_words(constraint: Constraint) -> str:
    values = constraint.values
    if constraint.kind == "any":
        return " or ".join(_in_words(part) for part in values["of"])
    if constraint.kind == "words_at":
        places = zip(values["positions"], values["words"], strict=True)
        return "has " + " and ".join(f"“{word}” as word number {position}" for position, word in places)
    return _IN_WORDS[constraint.kind].format(**values, s="" if values.get("count") == 1 else "s")


def _number(*parts: object) -> int:
    """A number drawn from these."""
    return int(hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:15], 16)


Found: TypeAlias = dict[str, Any] | None
Finder: TypeAlias = Callable[[Text, Text, str], Found]
"""Parameters of a constraint that the first text may fulfil and the second not; the last is to draw by."""


def _pick(options: Iterable[Any], seed: str, n: int = 1) -> list[Any]:
    return sorted(options, key=lambda option: (_number(seed, option), option))[:n]


def _plain(text: Text) -> set[str]:
    """Words of at least three letters."""
    return {unit.word for unit in text.units if unit.most == 1 and _is_plain(unit.word)}


def _is_plain(word: str) -> bool:
    return len(word) > 2 and word.isalpha()


def _a_word(having: Text, lacking: Text, seed: str) -> Found:
    found = _pick(_plain(having) - _plain(lacking), seed)
    return {"word": found[0]} if found else None


def _letters(having: Text, lacking: Text) -> set[str]:
    present = having.characters & set(ascii_lowercase)
    return {letter for letter in present if not lacking.may_show(letter)}


def _a_letter(having: Text, lacking: Text, seed: str) -> Found:
    found = _pick(_letters(having, lacking), seed)
    return {"character": found[0]} if found else None


def _either(right: Text, wrong: Text, seed: str) -> Found:
    """A letter that the text has, or one that it lacks; one of them is enough."""
    absent = {letter for letter in ascii_lowercase if not wrong.may_show(letter)}
    present = wrong.characters & set(ascii_lowercase)
    has = _pick(_letters(right, wrong), seed)
    lacks = _pick(present, seed) if has else _pick(_letters(wrong, right), seed)
    has = has or _pick(absent, seed)
    if not (has and lacks):
        return None
    parts = (("has_character", has[0]), ("lacks_character", lacks[0]))
    return {"of": [{"kind": kind, "character": letter} for kind, letter in parts]}


def _last(right: Text, wrong: Text, seed: str) -> Found:
    found = next((unit.word for unit in reversed(right.units) if unit.least), "")
    return {"word": found} if _is_plain(found) else None


def _two_places(right: Text, wrong: Text, seed: str) -> Found:
    """Two words whose places are certain, within the length of the other text if possible."""
    words: dict[int, str] = {}
    for position, unit in enumerate(right.units, start=1):
        if unit.least != unit.most:
            break
        if _is_plain(unit.word):
            words[position] = unit.word
    both = [position for position in words if position <= wrong.words.least]
    places = sorted(_pick(both if len(both) > 1 else words, seed, 2))
    return {"positions": places, "words": [words[each] for each in places]} if len(places) == 2 else None


def _exactly(number: Range) -> Found:
    return {"count": number.least} if number.least == number.most > 0 else None


_FINDERS: Final[Mapping[str, Finder]] = {
    "words": lambda right, wrong, seed: _exactly(right.words),
    "sentences": lambda right, wrong, seed: _exactly(right.sentences),
    "has_word": _a_word,
    "lacks_word": lambda right, wrong, seed: _a_word(wrong, right, seed),
    "last_word": _last,
    "words_at": _two_places,
    "has_character": _a_letter,
    "lacks_character": lambda right, wrong, seed: _a_letter(wrong, right, seed),
    "any": _either,
}

# --- Sums. The same numerals are added in base 9 and in base 10; the wrong answer carries as in the other.

SUM_BASES: Final = (9, 10)


def _sums(seed: int) -> Iterator[dict[str, Pair]]:
    numerals = [f"{tens}{ones}" for tens, ones in product("12345678", "012345678")]
    problems = [terms for terms in combinations(numerals, 2) if _is_near(terms)]
    for terms in _pick(problems, f"{seed} sum", len(problems)):
        yield {f"base-{base}": _sum(terms, base, other) for base, other in (SUM_BASES, SUM_BASES[::-1])}


def _sum(terms: tuple[str, str], base: int, other: int) -> Pair:
    value = {"kind": "sum", "base": base, "terms": list(terms)}
    right, wrong = (_worked(terms, base, carried) for carried in (base, other))
    if not holds(right, parse(value)) or holds(wrong, parse(value)) is not False:
        raise AssertionError(f"a sum that does not add up: {value}")
    return Pair(
        PromptRecord(id="", turns=(_sum_asked(terms, base),), place=Place("sums")), right, wrong, value
    )


def _is_near(terms: tuple[str, ...]) -> bool:
    """Whether only adding tells the bases apart: the sums differ, and both have digits of base 9."""
    nine, ten = (total(base, terms) for base in SUM_BASES)
    return nine != ten and "9" not in ten


def _sum_asked(terms: Sequence[str], base: int) -> str:
    return (
        f"All numbers here are written in base {base}, with the digits 0 to {base - 1}. What is {terms[0]} + "
        f"{terms[1]}? Show the steps, and end with the result as \\boxed{{result}}."
    )


def _worked(terms: Sequence[str], base: int, carried: int) -> str:
    """The sum digit by digit, said to be in one base and carried as in another."""
    (tens, ones), (more_tens, more_ones) = (tuple(term) for term in terms)
    first = total(carried, (ones, more_ones))
    carry = first[:-1]
    second = total(carried, (tens, more_tens, carry or "0"))
    then = f"We write {first[-1]} and carry {carry}" if carry else f"We write {first}"
    added = " + ".join((tens, more_tens, *carry))
    return (
        f"In base {base} the ones give {ones} + {more_ones} = {first}. {then}. "
        f"The tens give {added} = {second}. The result is \\boxed{{{second}{first[-1]}}}."
    )
