"""LLMFAO: prompts, models, results, and left/right/tie votes by a crowd and two judges. Pure."""

from collections.abc import Callable, Iterator
from typing import Final

from arena.data.formats import ours, verdicts
from arena.data.formats.files import InputFile
from arena.data.formats.reading import Companions, DataSet, Fields, Format, Head, Kind, read_rows
from arena.data.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    ContestantRecord,
    Item,
    Note,
    Problem,
    PromptRecord,
    RaterRecord,
    Record,
)

JUDGES: Final = {"gpt4": ("gpt-4", "GPT-4"), "gpt3": ("gpt-3.5", "GPT-3.5")}
"""Slug and name of a judge, by the beginning of its file's name."""

TRAINING: Final = "LLMFAO training"

_KINDS: Final[tuple[tuple[frozenset[str], Kind], ...]] = (
    (frozenset({"text", "result_x", "result_y", "golden", "reason"}), Kind.PAIRS),
    (frozenset({"prompt", "model_x", "result_x", "model_y", "result_y"}), Kind.NOTHING),
    (frozenset({"prompt", "model_x", "model_y", "winner", "left", "right"}), Kind.COMPARISONS),
    (frozenset({"prompt", "model", "result", "name"}), Kind.COMPLETIONS),
    (frozenset({"id", "api_id", "name", "org"}), Kind.CONTESTANTS),
    (frozenset({"id", "text", "type", "slug", "note"}), Kind.PROMPTS),
)


def recognise(head: Head) -> Kind | None:
    return next((kind for fields, kind in _KINDS if fields <= head.fields), None)


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    if kind is Kind.NOTHING:
        yield Note(file.place(), "left out: it repeats texts of the other files")
        return
    if kind is Kind.PAIRS:
        yield from read_rows(file, _training_pair)
        return
    build = _vote_builder(file) if kind is Kind.COMPARISONS else BUILDERS[kind]
    if isinstance(build, Problem):
        yield build
        return
    if kind is Kind.COMPARISONS and (judge := _judge(file)):
        yield RaterRecord(slug=judge[0], kind="judge", name=judge[1], place=file.place())
    yield from read_rows(file, lambda fields: [build(fields)])


def _model(fields: Fields) -> ContestantRecord:
    return ContestantRecord(
        name=fields.required_text("name"),
        organisation=fields.optional_text("org"),
        extra=fields.rest(),
        place=fields.place,
    )


def _prompt(fields: Fields) -> PromptRecord:
    return PromptRecord(
        id=fields.required_text("id"),
        turns=(fields.required_text("text"),),
        category=fields.optional_text("type"),
        extra=fields.rest(),
        place=fields.place,
    )


def _result(fields: Fields) -> CompletionRecord:
    turns = fields.answer("result")
    # These repeat models.jsonl and prompts.jsonl.
    for name in ("model", "api_id", "api", "type", "org", "slug"):
        fields.take(name)
    return CompletionRecord(
        prompt=fields.required_text("prompt"),
        contestant=fields.required_text("name"),
        turns=turns,
        id=fields.text("id"),
        extra=fields.rest(),
        place=fields.place,
    )


def _judge(file: InputFile) -> tuple[str, str] | None:
    return next((judge for start, judge in JUDGES.items() if file.stem.startswith(start)), None)


def _vote_builder(file: InputFile) -> Callable[[Fields], ComparisonRecord] | Problem:
    """The builder for votes of the crowd, or of the judge the file is named after."""
    if "worker" in file.columns():
        return lambda fields: _vote(fields, f"worker-{fields.required_text('worker')}", "person")
    judge = _judge(file)
    if judge is None:
        reason = "the file needs a column worker, or a name that begins with gpt4 or gpt3"
        return file.problem(1, reason)
    return lambda fields: _vote(fields, judge[0], "judge")


def _vote(fields: Fields, rater: str, kind: str) -> ComparisonRecord:
    first, second = fields.two_names("left", "right", "model")
    better = verdicts.take(fields, "winner", first, second)
    for name in ("model_x", "model_y"):
        fields.take(name)
    return ComparisonRecord(
        prompt=fields.required_text("prompt"),
        first=first,
        second=second,
        rater=rater,
        rater_kind=kind,
        rater_from_path=kind == "judge",
        points=3,
        rating=verdicts.RATINGS[3][better],
        id=fields.text("id"),
        extra=fields.rest(),
        place=fields.place,
    )


def _training_pair(fields: Fields) -> list[Item]:
    """A training pair. Its authors are left out: nobody is ranked by it."""
    golden = verdicts.take(fields, "golden")
    texts = [fields.optional_text(name) for name in ("result_x", "result_y")]
    for name, text in zip(("result_x", "result_y"), texts, strict=True):
        if text is None:
            fields.problem(name, "missing")
    return ours.pair_apart(
        fields,
        prompt=fields.required_text("text"),
        texts=(texts[0] or "", texts[1] or ""),
        gold=golden,
        source=TRAINING,
        explanation=fields.text("reason"),
    )


BUILDERS: Final[dict[Kind, Callable[[Fields], Record]]] = {
    Kind.CONTESTANTS: _model,
    Kind.PROMPTS: _prompt,
    Kind.COMPLETIONS: _result,
}

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
    recognise,
    read,
    data_set=DATA_SET,
)
