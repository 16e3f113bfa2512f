"""LLMFAO: prompts, models, results, and left/right/tie votes by a crowd and two judges. Pure."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from arena.data.formats import ours, verdicts
from arena.data.formats.files import InputFile
from arena.data.formats.ours import by_columns, record_of
from arena.data.formats.reading import DataSet, Fields, Format, Kind, Shape, by_row, left_out, read_rows
from arena.data.formats.records import Item, RaterRecord

JUDGES: Final = {"gpt4": ("gpt-4", "GPT-4"), "gpt3": ("gpt-3.5", "GPT-3.5")}
"""Slug and name of a judge, by the beginning of its file's name."""

TRAINING: Final = "LLMFAO training"

_CONTESTANT: Final = {"name": "name", "organisation": "org"}
_PROMPT: Final = {"id": "id", "turns": "text", "category": "type"}
_RESULT: Final = {"prompt": "prompt", "turns": "result", "id": "id"}
_REPEATED: Final = ("model", "api_id", "api", "type", "org", "slug")
"""Fields of a result that repeat models.jsonl and prompts.jsonl."""


def _result(fields: Fields) -> Iterator[Item | None]:
    for name in _REPEATED:
        fields.take(name)
    yield record_of(Kind.COMPLETIONS, fields, _RESULT, contestant=fields.required_text("name"))


def _read_votes(file: InputFile) -> Iterator[Item]:
    """Votes of the crowd, or of the judge the file is named after."""
    if "worker" in file.columns():
        yield from read_rows(file, partial(_vote, ""))
    elif judge := next((judge for start, judge in JUDGES.items() if file.stem.startswith(start)), None):
        yield RaterRecord(slug=judge[0], kind="judge", name=judge[1], place=file.place())
        yield from read_rows(file, partial(_vote, judge[0]))
    else:
        yield file.problem(1, "the file needs a column worker, or a name that begins with gpt4 or gpt3")


def _vote(judge: str, fields: Fields) -> Iterator[Item | None]:
    rater = judge or f"worker-{fields.required_text('worker')}"
    first, second = fields.two_names("left", "right", "model")
    better = verdicts.take(fields, "winner", first, second)
    for name in ("model_x", "model_y"):
        fields.take(name)
    said: dict[str, Any] = {"points": 3, "rating": verdicts.RATINGS[3][better]}
    by = {"rater": rater, "rater_kind": "judge" if judge else "person", "rater_from_path": bool(judge)}
    columns = {"prompt": "prompt", "id": "id"}
    yield record_of(Kind.COMPARISONS, fields, columns, first=first, second=second, **by, **said)


def _training_pair(fields: Fields) -> list[Item]:
    """A training pair. Its authors are left out: nobody is ranked by it."""
    golden = verdicts.take(fields, "golden")
    texts = [fields.optional_text(name) for name in ("result_x", "result_y")]
    for name, text in zip(("result_x", "result_y"), texts, strict=True):
        if text is None:
            fields.problem(name, "missing")
    prompt, (first, second) = fields.required_text("text"), texts
    told = {"source": TRAINING, "explanation": fields.text("reason")}
    return ours.pair_apart(fields, prompt, first or "", second or "", golden, **told)


DATA_SET: Final = DataSet(
    "LLMFAO",
    "CC BY 4.0",
    "A crowd and two judges, GPT-4 and GPT-3.5, say which of two language models answers a prompt better.\n\n"
    "Dmitry Ustalov published these ratings in 2023 as [LLMFAO](https://github.com/dustalov/llmfao) "
    "(CC BY 4.0). The prompts and answers are from the crowdsourced benchmark of "
    "[llmonitor.com](https://benchmarks.llmonitor.com/) (CC BY 4.0).",
)

FORMAT = Format(
    "llmfao",
    "LLMFAO data set",
    "models.jsonl, prompts.jsonl, results.jsonl and the files of ratings",
    (
        Shape(Kind.PAIRS, "text result_x result_y golden reason", by_row(_training_pair)),
        Shape(
            Kind.NOTHING,
            "prompt model_x result_x model_y result_y",
            left_out(": it repeats texts of the other files"),
        ),
        Shape(Kind.COMPARISONS, "prompt model_x model_y winner left right", _read_votes),
        Shape(Kind.COMPLETIONS, "prompt model result name", by_row(_result)),
        Shape(Kind.CONTESTANTS, "id api_id name org", by_columns(Kind.CONTESTANTS, _CONTESTANT)),
        Shape(Kind.PROMPTS, "id text type slug note", by_columns(Kind.PROMPTS, _PROMPT)),
    ),
    data_set=DATA_SET,
)
