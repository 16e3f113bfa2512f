"""ReIFE: labelled pairs, and judges' results for each of both orders. Pure.

Only the name of a file tells data set, judge and order: DATASET.MODEL.METHOD.PROTOCOL[_swap][.round_N].jsonl.
Outputs keep their names in both orders, so the winner needs no mapping back.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

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
from arena.data.formats.text_pairs import AS_GIVEN, GOLD, OUTPUTS, SWAPPED, Said, Shown, TextPair, no_rating

SOURCE: Final = "ReIFE"
_NAME: Final = re.compile(r"(\w+)\.(.+)\.(\w+)\.(?!round_)(\w+?)(_swap)?(\.round_\d+)?")


def recognise(head: Head) -> Kind | None:
    if not (head.is_typed and head.fields >= OUTPUTS):
        return None
    if "result" in head.fields:
        return Kind.COMPARISONS
    return Kind.PAIRS if "winner" in head.fields else None


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    if kind is Kind.PAIRS:
        yield from read_rows(file, partial(_labelled, file.about.subset or file.cased_stem))
        return
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
    shown = SWAPPED if "_swap" in file.stem else AS_GIVEN
    yield from read_rows(file, partial(_judged, file.about.subset or subset, judge, shown))


def _pair(fields: Fields, subset: str, *, implied: bool) -> TextPair:
    about: dict[str, Any] = {"subset": subset, "category": subset or None, "implied": implied}
    return TextPair.read(fields, "instruction", "output_1", "output_2", **about)


def _labelled(subset: str, fields: Fields) -> Iterator[Item]:
    pair = _pair(fields, subset, implied=False)
    if "winner" not in fields:
        fields.problem("winner", "missing; 1 or 2 says which output is better")
    winner = fields.integer("winner", least=1, most=2)
    yield from pair.records()
    yield pair.gold(GOLD[winner or 1], SOURCE)


def _judged(subset: str, judge: RaterRecord, shown: Shown, fields: Fields) -> Iterator[Item]:
    pair = _pair(fields, subset, implied=True)
    yield from pair.records()
    result = fields.json("result")
    winner = result.get("winner") if isinstance(result, dict) else None
    if isinstance(winner, bool) or winner not in (1, 2):
        fields.problem("result", "expected an object whose winner is 1 or 2")
        return
    reply = _reply(fields)
    if not result.get("fail") and not result.get("tie"):
        yield pair.rated(judge, Said(2, shown.index(str(winner)) + 1, raw_reply=reply), shown)
        return
    # The winner was drawn, because no reply could be read or because several disagreed.
    reason = no_rating(reply) if result.get("fail") else "undecided"
    yield pair.rated(judge, Said(2, None, reason, raw_reply=reply, extra={"drawn winner": winner}), shown)


def _reply(fields: Fields) -> str:
    replies = fields.json("response")
    texts = [one.get("text") for one in replies if isinstance(one, dict)] if isinstance(replies, list) else []
    return "\n\n".join(text for text in texts if isinstance(text, str))


FORMAT: Final = Format(
    "reife",
    "ReIFE pairs and results",
    "instruction, output_1, output_2, and winner (pairs) or result (a judge's results)",
    recognise,
    read,
    told=SUBSET_AND_JUDGE,
)
