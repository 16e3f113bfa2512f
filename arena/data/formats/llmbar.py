"""LLMBar: pairs of texts without authors, gold labels, and verdicts in both orders. Pure.

An item is a prompt named by a digest of its texts; its outputs are the completions "1" and "2". Only the path
of a file says the subset and of results who judged: SUBSET/dataset.json, SUBSET/MODEL/PROTOCOL.json, or as
LLMBar has it SUBSET/evaluators/MODEL/PROTOCOL/result.json.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from arena.data.formats.files import InputFile
from arena.data.formats.pairs import GOLD, Pair, Said, by_scores, no_rating, score
from arena.data.formats.reading import (
    SUBSET,
    SUBSET_AND_JUDGE,
    DataSet,
    Fields,
    Format,
    Kind,
    Shape,
    judge_of,
    read_rows,
)
from arena.data.formats.records import Item, Problem, RaterRecord
from arena.data.formats.values import json_type

ORDERS: Final = {"swap = False": ("1", "2"), "swap = True": ("2", "1")}
"""Outputs in presentation order, by the name of the order."""

RESULT: Final = "result"  # a file so named is named after its folder
RESULTS: Final = "results"  # the field of a judge's replies
EVALUATORS: Final = "evaluators"  # the folder of LLMBar's own between a subset and its models

SCORES: Final = {"1": "score_1", "2": "score_2"}  # of a judge that sees each output alone

_ITEM: Final = "input output_1 output_2 label"


def is_statistics(path: Path) -> bool:
    """Tell whether this only counts the results beside it."""
    return path.name == "statistics.json" and path.with_name(f"{RESULT}.json").exists()


class Told(NamedTuple):
    """Facts in the path of a file of results."""

    subset: str = ""
    model: str = ""
    protocol: str = ""

    @property
    def judge(self) -> str:
        """The judge's slug: its model and its way of asking; empty if the path names none."""
        return "-".join(filter(None, (self.model, self.protocol.lower().replace("_", "-"))))

    @property
    def judge_name(self) -> str:
        return " ".join(filter(None, (self.model, self.protocol.replace("_", " "))))


def told(file: InputFile) -> Told:
    if file.stem != RESULT:
        names: tuple[str, ...] = (file.cased_stem, *file.folders)
    elif len(file.folders) < 2:
        return Told()
    else:
        names = file.folders
    protocol, model, *above = (*names, "")
    if above and above[0] == EVALUATORS:
        above = above[1:]
    return Told(next(iter(above), ""), model, protocol)


def _read_pairs(file: InputFile) -> Iterator[Item]:
    return read_rows(file, partial(_labelled, file.about.subset or next(iter(file.folders), "")))


def _read_replies(file: InputFile) -> Iterator[Item]:
    path = told(file)
    how = {"model": path.model, "protocol": path.protocol} if path.model else {}
    judge = judge_of(file, path.judge, **how, order_free=_is_pointwise(file))
    if judge.slug:
        yield judge if file.about.judge else replace(judge, name=path.judge_name)
    yield from read_rows(file, partial(_replied, file.about.subset or path.subset, judge))


def _is_pointwise(file: InputFile) -> bool:
    """Tell whether the judge scored each output alone, by the first item."""
    items = (row[1] for row in file.rows() if not isinstance(row, Problem))
    results = next(items, {}).get(RESULTS)
    return isinstance(results, list) and bool(results) and _has_scores(results[-1])


def _has_scores(result: Any) -> bool:
    return isinstance(result, dict) and not result.keys().isdisjoint(SCORES.values())


def _item(fields: Fields, subset: str, *, implied: bool) -> tuple[Pair, list[Item]]:
    """The pair of a row, and its records with the label."""
    names = _ITEM.split()[:3]
    pair = Pair.read(fields, *names, subset=subset, category=subset or None, implied=implied)
    label = fields.required_integer("label", "1 or 2 says which output is better", 1, 2)
    return pair, [*pair.records(), pair.gold(GOLD[label], "LLMBar")]


def _labelled(subset: str, fields: Fields) -> list[Item]:
    return _item(fields, subset, implied=False)[1]


def _replied(subset: str, judge: RaterRecord, fields: Fields) -> Iterator[Item]:
    """The verdicts in both orders, from the last result; earlier ones are steps."""
    pair, records = _item(fields, subset, implied=True)
    yield from records
    if not judge.slug:
        reason = "the path names no judge; name the judge, call the file MODEL-PROTOCOL.json, or import its"
        fields.problem(RESULTS, f"{reason} folders with it (MODEL/PROTOCOL/{RESULT}.json)")
    results = fields.json(RESULTS)
    last = results[-1] if isinstance(results, list) and results else None
    if not isinstance(last, dict):
        fields.problem(RESULTS, "expected a list whose last element is an object with the verdict")
        return
    read = _scored if _has_scores(last) else _chosen
    steps = {"steps before": results[:-1]} if len(results) > 1 else {}
    for order, shown in ORDERS.items():
        result = last.get(order)
        if not isinstance(result, dict) or result.get("winner") not in ("1", "2", None):
            fields.problem(f"results.{order}", 'expected an object whose winner is "1", "2" or null')
            continue
        said = read(fields, last, result, shown)
        yield pair.judged(judge, said._replace(extra={**steps, **said.extra}), swapped=shown[0] == "2")


def _chosen(
    fields: Fields, last: Mapping[str, Any], result: Mapping[str, Any], shown: tuple[str, str]
) -> Said:
    """The verdict of a judge that saw both outputs."""
    reply, finish = _reply(fields, result.get("completion"))
    winner = result.get("winner")
    rating = shown.index(winner) + 1 if winner else None
    return Said(2, rating, "" if winner else no_rating(reply, finish), raw_reply=reply)


def _scored(
    fields: Fields, last: Mapping[str, Any], result: Mapping[str, Any], shown: tuple[str, str]
) -> Said:
    """The verdict of a judge that scored each output alone: LLMBar draws a winner where scores tell none."""
    replies = [_reply(fields, last.get(SCORES[number])) for number in shown]
    first, second = (score(reply) for reply, _ in replies)
    said = by_scores(first, second)._replace(raw_reply="\n".join(reply for reply, _ in replies))
    if first is None or second is None:
        said = said._replace(reason=no_rating(*replies[0 if first is None else 1]))
    return said if said.rating in (1, 3) else said._replace(extra={"drawn winner": result.get("winner")})


def _reply(fields: Fields, reply: Any) -> tuple[str, str]:
    """A reply and why it ended."""
    if isinstance(reply, list) and len(reply) == 2 and all(isinstance(part, str) for part in reply):
        return reply[0], reply[1]
    found = json_type(reply)
    fields.problem(RESULTS, f"expected a reply and why it ended, two texts in a list, found {found}")
    return "", ""


DATA_SET: Final = DataSet(
    "LLMBar",
    "MIT",
    "Judges say which of two answers follows an instruction better. Experts agreed on the right answers.\n\n"
    "Zeng and others published the pairs and the judges’ replies in 2023 as "
    "[LLMBar](https://github.com/princeton-nlp/LLMBar) (MIT licence), with the paper [Evaluating Large "
    "Language Models at Evaluating Instruction Following](https://arxiv.org/abs/2310.07641). The subset "
    "*Natural* is from existing data sets. In the other subsets, the worse answer often looks better.",
)

PAIRS: Final = Format(
    "llmbar",
    "LLMBar pairs",
    "input, output_1, output_2 and label, without results",
    (Shape(Kind.PAIRS, _ITEM, _read_pairs, lambda head: RESULTS not in head.fields),),
    is_typed=True,
    told=SUBSET,
    data_set=DATA_SET,
)
REPLIES: Final = Format(
    "llmbar-replies",
    "LLMBar replies",
    "input, output_1, output_2, label and results",
    (Shape(Kind.COMPARISONS, f"{_ITEM} {RESULTS}", _read_replies),),
    is_typed=True,
    told=SUBSET_AND_JUDGE,
    data_set=DATA_SET,
)
