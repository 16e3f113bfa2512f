"""The LLMFAO data set: prompts, models, results, and left/right/tie votes by a crowd and two judges. Pure.

Votes are on three points; the crowd's workers are people, GPT-4 and GPT-3.5 are judges named by their files.
A vote's id numbers its pair, so it tells votes apart for one rater only. The training pairs carry gold labels
and name models by number, so they are read together with models.jsonl.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from arena.formats.fields import Fields
from arena.formats.files import InputFile
from arena.formats.kinds import Companions, Format, Head, Kind
from arena.formats.reading import read_rows
from arena.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    ContestantRecord,
    GoldRecord,
    Item,
    Note,
    Problem,
    PromptRecord,
    RaterRecord,
    Record,
)

RATINGS: Final = {"left": 1, "tie": 2, "right": 3}
JUDGES: Final = {"gpt4": ("gpt-4", "GPT-4"), "gpt3": ("gpt-3.5", "GPT-3.5")}
"""The judge behind a vote file, by the beginning of the file's name: slug and name."""

GOLD: Final = {"left": "first", "tie": "tie", "right": "second"}
TRAINING: Final = "LLMFAO training"
"""Source of the gold labels; the reason stands behind it."""

_KINDS: Final[tuple[tuple[frozenset[str], Kind], ...]] = (
    (frozenset({"prompt", "model_x", "model_y", "golden", "reason"}), Kind.PAIRS),
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
    build = _builder(file, kind, companions)
    if isinstance(build, Problem):
        yield build
        return
    if kind is Kind.COMPARISONS and (judge := _judge(file)):
        yield RaterRecord(slug=judge[0], kind="judge", name=judge[1], place=file.place())
    yield from read_rows(file, lambda fields: [build(fields)])


def _builder(file: InputFile, kind: Kind, companions: Companions) -> Callable[[Fields], Record] | Problem:
    """How to read a line of this file, or why it cannot be read."""
    if kind is Kind.COMPARISONS:
        return _vote_builder(file)
    if kind is Kind.PAIRS:
        return _label_builder(file, companions)
    return BUILDERS[kind]


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
    turns = fields.turns("result")
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
    """How to read a line of this file: with its workers, or all by the judge the file is named after."""
    if "worker" in file.columns():
        return _crowd_vote
    judge = _judge(file)
    if judge is None:
        return file.problem(
            1, "there is no column worker, and the file's name does not begin with gpt4 or gpt3"
        )
    slug = judge[0]
    return lambda fields: _vote(fields, slug, "judge")


def _crowd_vote(fields: Fields) -> ComparisonRecord:
    worker = fields.required_text("worker")
    return _vote(fields, f"worker-{worker}", "person")


def _vote(fields: Fields, rater: str, kind: str) -> ComparisonRecord:
    winner = fields.required_text("winner")
    if winner and winner not in RATINGS:
        fields.problem("winner", f'"{winner}" is not one of {", ".join(RATINGS)}')
    first, second = fields.required_text("left"), fields.required_text("right")
    if first and first == second:
        fields.problem("right", f'the same model as left ("{first}")')
    for name in ("model_x", "model_y"):
        fields.take(name)
    return ComparisonRecord(
        prompt=fields.required_text("prompt"),
        first=first,
        second=second,
        rater=rater,
        rater_kind=kind,
        points=3,
        rating=RATINGS.get(winner, 2),
        id=fields.text("id"),
        extra=fields.rest(),
        place=fields.place,
    )


def _label_builder(file: InputFile, companions: Companions) -> Callable[[Fields], GoldRecord] | Problem:
    """How to read a training pair, with the names of the models of the file that is imported with it."""
    names = {
        str(row[1]["id"]): str(row[1]["name"])
        for models in companions.get(Kind.CONTESTANTS, ())
        for row in models.json_objects()
        if not isinstance(row, Problem) and {"id", "name"} <= row[1].keys()
    }
    if not names:
        return file.problem(0, "names models by number; import models.jsonl together with it")
    return lambda fields: _label(fields, names)


def _label(fields: Fields, names: Mapping[str, str]) -> GoldRecord:
    golden = fields.required_text("golden")
    if golden and golden not in GOLD:
        fields.problem("golden", f'"{golden}" is not one of {", ".join(GOLD)}')
    models = {name: fields.required_text(name) for name in ("model_x", "model_y")}
    for name, number in models.items():
        if number and number not in names:
            fields.problem(name, f"models.jsonl has no model {number}")
    return GoldRecord(
        prompt=fields.required_text("prompt"),
        first=names.get(models["model_x"], ""),
        second=names.get(models["model_y"], ""),
        gold=GOLD.get(golden, "tie"),
        source=f"{TRAINING}: {fields.text('reason')}",
        place=fields.place,
    )


BUILDERS: Final[dict[Kind, Callable[[Fields], Record]]] = {
    Kind.CONTESTANTS: _model,
    Kind.PROMPTS: _prompt,
    Kind.COMPLETIONS: _result,
}

FORMAT = Format(
    "llmfao",
    "LLMFAO data set",
    "the files models.jsonl, prompts.jsonl, results.jsonl and the comparisons",
    recognise,
    read,
)
