"""ReIFE: labelled pairs, and judges' results for each of both orders. Pure.

Only the name of a file tells data set, judge and order: DATASET.MODEL.METHOD.PROTOCOL[_swap][.round_N].jsonl.
Outputs keep their names in both orders, so the winner needs no mapping back.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from arena.data.formats.files import InputFile
from arena.data.formats.pairs import GOLD, OUTPUTS, Pair, Said, no_rating
from arena.data.formats.reading import SUBSET_AND_JUDGE, Fields, Format, Kind, Shape, judge_of, read_rows
from arena.data.formats.records import Item, RaterRecord

_NAME: Final = re.compile(r"(\w+)\.(.+)\.(\w+)\.(?!round_)(\w+?)(_swap)?(\.round_\d+)?")


def _read_pairs(file: InputFile) -> Iterator[Item]:
    return read_rows(file, partial(_labelled, file.about.subset or file.cased_stem))


def _read_results(file: InputFile) -> Iterator[Item]:
    found = _NAME.fullmatch(file.cased_stem)
    subset, model, _, protocol, _, turn = found.groups() if found else ("",) * 6
    how = f"{protocol}{(turn or '').replace('.', '_')}"
    slug = f"{model}-{how}".replace("_", "-") if found else ""
    judge = judge_of(file, slug, model=model, protocol=how)
    if not judge.slug:
        name = "DATASET.MODEL.METHOD.PROTOCOL.jsonl"
        yield file.problem(0, f"the name of the file tells no judge; call it {name}, or name the judge")
        return
    yield judge
    yield from read_rows(file, partial(_judged, file.about.subset or subset, judge, "_swap" in file.stem))


def _pair(fields: Fields, subset: str, *, implied: bool) -> Pair:
    return Pair.read(fields, *OUTPUTS.split(), subset=subset, category=subset or None, implied=implied)


def _labelled(subset: str, fields: Fields) -> Iterator[Item]:
    pair = _pair(fields, subset, implied=False)
    winner = fields.required_integer("winner", "1 or 2 says which output is better", 1, 2)
    yield from pair.records()
    yield pair.gold(GOLD[winner], "ReIFE")


def _judged(subset: str, judge: RaterRecord, swapped: bool, fields: Fields) -> Iterator[Item]:
    pair = _pair(fields, subset, implied=True)
    yield from pair.records()
    result = fields.json("result")
    winner = result.get("winner") if isinstance(result, dict) else None
    if isinstance(winner, bool) or winner not in (1, 2):
        fields.problem("result", "expected an object whose winner is 1 or 2")
        return
    reply = _reply(fields)
    if not result.get("fail") and not result.get("tie"):
        said = Said(2, 3 - int(winner) if swapped else int(winner), raw_reply=reply)
    else:
        # The winner was drawn, because no reply could be read or because several disagreed.
        reason = no_rating(reply) if result.get("fail") else "undecided"
        said = Said(2, None, reason, raw_reply=reply, extra={"drawn winner": winner})
    yield pair.judged(judge, said, swapped=swapped)


def _reply(fields: Fields) -> str:
    replies = fields.json("response")
    texts = [one.get("text") for one in replies if isinstance(one, dict)] if isinstance(replies, list) else []
    return "\n\n".join(text for text in texts if isinstance(text, str))


FORMAT: Final = Format(
    "reife",
    "ReIFE pairs and results",
    "instruction, output_1, output_2, and winner (pairs) or result (a judge's results)",
    (
        Shape(Kind.COMPARISONS, f"{OUTPUTS} result", _read_results),
        Shape(Kind.PAIRS, f"{OUTPUTS} winner", _read_pairs),
    ),
    is_typed=True,
    told=SUBSET_AND_JUDGE,
)
