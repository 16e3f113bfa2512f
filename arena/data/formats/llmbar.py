"""LLMBar: pairs of texts without authors, gold labels, and verdicts in both orders. Pure.

An item is a prompt named by a digest of its texts; its outputs are the completions "1" and "2". Only the path
of a file of results says who judged: MODEL/PROTOCOL.json, or as LLMBar has it MODEL/PROTOCOL/result.json.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from itertools import chain
from pathlib import Path
from typing import Any, Final

from arena.data.formats.files import InputFile, json_type
from arena.data.formats.reading import MAX_SCORE, Companions, Fields, Format, Head, Kind, digest, read_rows
from arena.data.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    GoldRecord,
    Item,
    PromptRecord,
    RaterRecord,
)

SOURCE: Final = "LLMBar"
GOLD: Final = {1: "first", 2: "second"}
ORDERS: Final = {"swap = False": ("1", "2"), "swap = True": ("2", "1")}
"""Outputs in presentation order, by the name of the order."""

RESULT: Final = "result"  # a file so named is named after its folder

_ITEM: Final = frozenset({"input", "output_1", "output_2", "label"})


def recognise(head: Head) -> Kind | None:
    if not (head.is_typed and head.fields >= _ITEM):
        return None
    return Kind.COMPARISONS if "results" in head.fields else Kind.PAIRS


def is_statistics(path: Path) -> bool:
    """Whether this only counts the results beside it."""
    return path.name == "statistics.json" and path.with_name(f"{RESULT}.json").exists()


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    judge = _judge(file)
    if judge and kind is Kind.COMPARISONS:
        yield RaterRecord(slug=judge, kind="judge", implied=True, place=file.place())
    category = next(iter(file.folders), None) if kind is Kind.PAIRS else None
    yield from read_rows(file, lambda fields: _item(fields, category, judge))


def _item(fields: Fields, category: str | None, judge: str) -> Iterator[Item]:
    outputs = {number: fields.turns(f"output_{number}") for number in ("1", "2")}
    instruction = fields.required_text("input")
    if "label" not in fields:
        fields.problem("label", "missing; 1 or 2 says which output is better")
    label = fields.integer("label", least=1, most=2)
    prompt = digest(instruction, *chain(*outputs.values()))
    implied = "results" in fields
    yield PromptRecord(
        id=prompt, turns=(instruction,), category=category, implied=implied, place=fields.place
    )
    for number, turns in outputs.items():
        yield CompletionRecord(prompt=prompt, id=number, turns=turns, implied=implied, place=fields.place)
    yield GoldRecord(
        prompt=prompt,
        first="",
        second="",
        first_id="1",
        second_id="2",
        gold=GOLD[label or 1],
        source=SOURCE,
        place=fields.place,
    )
    if implied:
        yield from _comparisons(fields, prompt, judge)


def _comparisons(fields: Fields, prompt: str, judge: str) -> Iterator[Item]:
    """The verdicts in both orders, from the last result; earlier ones are steps."""
    if not judge:
        reason = "the path names no judge; name the file after model and protocol, or import its folders"
        fields.problem("results", f"{reason} with it (MODEL/PROTOCOL/{RESULT}.json)")
    results = fields.json("results")
    last = results[-1] if isinstance(results, list) and results else None
    if not isinstance(last, dict):
        fields.problem("results", "expected a list whose last element is an object with the verdict")
        return
    for order, shown in ORDERS.items():
        said = last.get(order)
        if not isinstance(said, dict) or said.get("winner") not in ("1", "2", None):
            fields.problem(f"results.{order}", 'expected an object whose winner is "1", "2" or null')
            continue
        reply, finish = _reply(fields, last, said, shown)
        winner = said.get("winner")
        yield ComparisonRecord(
            prompt=prompt,
            first="",
            second="",
            first_id=shown[0],
            second_id=shown[1],
            rater=judge,
            rater_kind="judge",
            rater_from_path=True,
            points=2,
            rating=shown.index(winner) + 1 if winner else None,
            reason="" if winner else _reason(reply, finish),
            scores=_scores(last, shown),
            raw_reply=reply,
            extra={"steps before": results[:-1]} if len(results) > 1 else {},
            place=fields.place,
        )


def _reply(
    fields: Fields, last: Mapping[str, Any], said: Mapping[str, Any], shown: tuple[str, str]
) -> tuple[str, str]:
    """The reply and finish reason: for the pair, or for each output in order."""
    if "completion" in said:
        replies = [said["completion"]]
    else:
        replies = [last.get(f"score_{number}") for number in shown]
    for reply in replies:
        if not (isinstance(reply, list) and len(reply) == 2 and all(isinstance(part, str) for part in reply)):
            found = json_type(reply)
            reason = f"expected a reply and why it ended, two texts in a list, found {found}"
            fields.problem("results", reason)
            return "", ""
    return "\n".join(reply[0] for reply in replies), replies[-1][1]


def _reason(reply: str, finish: str) -> str:
    if not reply.strip():
        return "empty"
    return "truncated" if finish == "length" else "unparsable"


def _scores(last: Mapping[str, Any], shown: tuple[str, str]) -> tuple[Decimal, Decimal] | None:
    """Both scores in order, if the judge gave them and they can be some."""
    try:
        first, second = (Decimal(last[f"score_{number}"][0].strip()) for number in shown)
    except (KeyError, TypeError, IndexError, AttributeError, InvalidOperation):
        return None
    return (first, second) if max(abs(first), abs(second)) < MAX_SCORE else None


def _judge(file: InputFile) -> str:
    """The judge's name: its model and its way of asking; empty if the path names none."""
    names = file.folders if file.stem == RESULT else (file.stem, *file.folders)
    if len(names) < 2 and file.stem == RESULT:
        return ""
    protocol, *model = names[:2]
    return "-".join((*model, protocol.lower().replace("_", "-")))


FORMAT = Format("llmbar", "LLMBar", "input, output_1, output_2 and label", recognise, read)
