"""Auto-J: pairs of responses by people's verdict, and a judge's verdicts in each of both orders. Pure.

A judge's file names no pair: its lines follow the pairs, and both are imported together. A pair that is
repeated with another label, as in the published file, is a pair of its own, so that verdicts count as
often as its authors count them.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from arena.data.formats.files import InputFile
from arena.data.formats.pairs import Pair, Said
from arena.data.formats.reading import SUBSET_AND_JUDGE, Fields, Format, Kind, Shape, judge_of, read_rows
from arena.data.formats.records import Item, Note, RaterRecord

GOLD: Final = {0: "first", 1: "second", 2: "tie"}
RATINGS: Final = {0: 1, 1: 3, 2: 2}
"""On three points, by the better of the responses as shown."""

EXCHANGED: Final = "exchange"
_RESPONSES: Final = (("response 1", "response 2"), ("response_1", "response_2"))
_NOT_THE_JUDGE: Final = ("pairwise", EXCHANGED, "output")


def _read_pairs(file: InputFile) -> Iterator[Item]:
    numbers = _Numbers()
    yield from read_rows(file, lambda fields: _item(_pair(fields, numbers), fields))
    if numbers.repeated:
        text = "repeated with another label; each is a pair of its own"
        pairs_are = "1 pair is" if numbers.repeated == 1 else f"{numbers.repeated:,} pairs are"
        yield Note(file.place(), f"{pairs_are} {text}")


def _read_verdicts(file: InputFile) -> Iterator[Item]:
    pairs: list[Pair | None] = []
    for other in file.beside.get(Kind.PAIRS, ()):
        numbers = _Numbers()

        def keep(fields: Fields, numbers: _Numbers = numbers) -> Iterator[Item]:
            pairs.append(_pair(fields, numbers))
            yield from ()

        for _ in read_rows(other, keep, pass_by=lambda: pairs.append(None)):
            pass
    if not pairs:
        yield file.problem(0, "its lines follow those of the pairs; import the file of the pairs with it")
        return
    parts = file.cased_stem.split("_")
    name = "-".join(part for part in parts if part not in _NOT_THE_JUDGE)
    judge = judge_of(file, name, model=name)
    yield judge
    left = iter(pairs)
    judged = partial(_judged, judge, EXCHANGED in parts, left)
    yield from read_rows(file, judged, pass_by=lambda: next(left, None))
    if more := sum(1 for _ in left):
        yield file.problem(0, f"{more} of the {len(pairs)} pairs have no line here")


class _Numbers:
    """Numbers pairs of the same texts by their labels."""

    def __init__(self) -> None:
        self._labels: dict[str, list[Any]] = {}
        self.repeated = 0

    def numbered(self, pair: Pair, label: Any) -> Pair:
        name = pair.prompt.id
        labels = self._labels.setdefault(name, [])
        is_known = label in labels
        if not is_known:
            self.repeated += bool(labels)
            labels.append(label)
        number = labels.index(label) + 1
        name = name if number == 1 else f"{name}-{number}"
        return replace(pair, prompt=replace(pair.prompt, id=name, implied=is_known))


def _pair(fields: Fields, numbers: _Numbers) -> Pair:
    first, second = next((names for names in _RESPONSES if names[0] in fields), _RESPONSES[0])
    category = fields.optional_text("scenario")
    pair = Pair.read(fields, "prompt", first, second, category=category)
    return pair if fields.problems else numbers.numbered(pair, fields.peek("label"))


def _item(pair: Pair, fields: Fields) -> Iterator[Item]:
    label = fields.required_integer("label", "0 or 1 says which response is better, 2 is a tie", 0, 2)
    yield from pair.records()
    yield pair.gold(GOLD[label], "Auto-J")


def _judged(
    judge: RaterRecord, swapped: bool, pairs: Iterator[Pair | None], fields: Fields
) -> Iterator[Item]:
    """A verdict on the next pair, which is None where the line of the pair was left out."""
    pair, output = next(pairs, None), fields.integer("output", least=0, most=2)
    if pair is None:
        fields.problem("output", "the file of the pairs has no such line")
    else:
        said = Said(3, None, "unparsable") if output is None else Said(3, RATINGS[output])
        yield pair.judged(judge, said, swapped=swapped)


FORMAT: Final = Format(
    "autoj",
    "Auto-J pairs and verdicts",
    "scenario, prompt, response 1, response 2 and label (pairs), or output alone (a judge's verdicts)",
    (
        Shape(Kind.COMPARISONS, "output", _read_verdicts, lambda head: len(head.fields) == 1),
        Shape(
            Kind.PAIRS,
            "prompt label scenario",
            _read_pairs,
            lambda head: any(head.fields.issuperset(names) for names in _RESPONSES),
        ),
    ),
    is_typed=True,
    told=SUBSET_AND_JUDGE,
)
