"""Auto-J: pairs of responses by people's verdict, and a judge's verdicts in each of both orders. Pure.

A judge's file names no pair: its lines follow the pairs, and both are imported together.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final

from arena.data.formats.files import InputFile
from arena.data.formats.reading import (
    SUBSET_AND_JUDGE,
    Companions,
    Fields,
    Format,
    Head,
    Kind,
    judge_of,
    read_rows,
)
from arena.data.formats.records import Item, RaterRecord
from arena.data.formats.text_pairs import AS_GIVEN, SWAPPED, Said, Shown, TextPair

SOURCE: Final = "Auto-J"
GOLD: Final = {0: "first", 1: "second", 2: "tie"}
RATINGS: Final = {0: 1, 1: 3, 2: 2}
"""On three points, by the better of the responses as shown."""

EXCHANGED: Final = "exchange"
_ITEM: Final = frozenset({"prompt", "label", "scenario"})
_OUTPUT: Final = frozenset({"output"})
_RESPONSES: Final = (("response 1", "response 2"), ("response_1", "response_2"))
_NOT_THE_JUDGE: Final = ("pairwise", EXCHANGED, "output")


def recognise(head: Head) -> Kind | None:
    if head.is_typed and head.fields == _OUTPUT:
        return Kind.COMPARISONS
    named = any(head.fields >= set(names) for names in _RESPONSES)
    return Kind.PAIRS if head.is_typed and head.fields >= _ITEM and named else None


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    if kind is Kind.PAIRS:
        yield from read_rows(file, _item)
        return
    pairs: list[TextPair | None] = []

    def keep(fields: Fields) -> Iterator[Item]:
        pairs.append(_pair(fields))
        yield from ()

    for other in companions.get(Kind.PAIRS, ()):
        for _ in read_rows(other, keep, pass_by=lambda: pairs.append(None)):
            pass
    if not pairs:
        yield file.problem(0, "its lines follow those of the pairs; import the file of the pairs with it")
        return
    parts = file.cased_stem.split("_")
    name = "-".join(part for part in parts if part not in _NOT_THE_JUDGE)
    judge = judge_of(file, name, model=name)
    yield judge
    shown, left = SWAPPED if EXCHANGED in parts else AS_GIVEN, iter(pairs)
    yield from read_rows(file, partial(_judged, judge, shown, left), pass_by=lambda: next(left, None))
    if more := sum(1 for _ in left):
        yield file.problem(0, f"{more} of the {len(pairs)} pairs have no line here")


def _pair(fields: Fields) -> TextPair:
    first, second = next((names for names in _RESPONSES if names[0] in fields), _RESPONSES[0])
    return TextPair.read(fields, "prompt", first, second, category=fields.optional_text("scenario"))


def _item(fields: Fields) -> Iterator[Item]:
    pair = _pair(fields)
    if "label" not in fields:
        fields.problem("label", "missing; 0 or 1 says which response is better, 2 is a tie")
    label = fields.integer("label", least=0, most=2)
    yield from pair.records()
    yield pair.gold(GOLD[label or 0], SOURCE)


def _judged(
    judge: RaterRecord, shown: Shown, pairs: Iterator[TextPair | None], fields: Fields
) -> Iterator[Item]:
    """A verdict on the next pair, which is None where the line of the pair was left out."""
    pair, output = next(pairs, None), fields.integer("output", least=0, most=2)
    if pair is None:
        fields.problem("output", "the file of the pairs has no such line")
    else:
        said = Said(3, None, "unparsable") if output is None else Said(3, RATINGS[output])
        yield pair.rated(judge, said, shown)


FORMAT: Final = Format(
    "autoj",
    "Auto-J pairs and verdicts",
    "scenario, prompt, response 1, response 2 and label (pairs), or output alone (a judge's verdicts)",
    recognise,
    read,
    told=SUBSET_AND_JUDGE,
)
