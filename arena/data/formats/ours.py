"""Likert Arena's own records as JSON objects or table rows. Pure."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from functools import cache, partial
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from arena.data.formats.files import Form, InputFile
from arena.data.formats.pairs import Pair, Side
from arena.data.formats.reading import (
    DISTURBING,
    Fields,
    Format,
    Head,
    Kind,
    Read,
    Shape,
    by_row,
    digest,
    read_rows,
    why_disturbing,
)
from arena.data.formats.records import (
    CONSENSUS_FIELDS,
    FIELDS,
    GOLD,
    NO_CONSENSUS,
    RECORDS,
    SIDES,
    Item,
    PromptRecord,
    Record,
    ReferenceRecord,
    ScoreRecord,
    StudyRecord,
    Unused,
    attributes,
)
from arena.data.formats.text_scores import unknown_texts
from arena.data.formats.values import LARGEST_SCORE, MAX_SCORE, json_type, unstorable
from arena.rules.subsets import TRAINING_SUBSET

MOST_BENCHMARKS: Final = 20

LONGEST_NAME: Final = 60

LONGEST_FACT: Final = 500

BENCHMARK_PREFIX: Final = "benchmark."


class BenchmarkFault(NamedTuple):
    """A fault of one benchmark, or with ``name`` None of all."""

    name: str | None
    reason: str


def benchmark_faults(scores: Mapping[str, Any]) -> Iterator[BenchmarkFault]:
    """All faults that keep scores from being stored."""
    if len(scores) > MOST_BENCHMARKS:
        yield BenchmarkFault(None, f"{len(scores)} benchmarks; at most {MOST_BENCHMARKS} fit")
    for name, score in scores.items():
        if not name.strip():
            yield BenchmarkFault(name, "a benchmark needs a name")
        elif len(name) > LONGEST_NAME:
            yield BenchmarkFault(
                name[:LONGEST_NAME] + "…", f"a name of {len(name)} characters; at most {LONGEST_NAME} fit"
            )
        elif reason := why_disturbing(name):
            yield BenchmarkFault(DISTURBING.sub("", name), reason)
        elif reason := _not_a_score(score):
            yield BenchmarkFault(name, reason)


def _not_a_score(score: Any) -> str:
    if isinstance(score, bool) or not isinstance(score, int | float):
        return f"expected a number, found {json_type(score)}"
    if isinstance(score, float) and not math.isfinite(score):
        return f"{score} is not a finite number"
    return (
        ""
        if -LARGEST_SCORE < score < LARGEST_SCORE
        else f"a score lies between {-LARGEST_SCORE:g} and {LARGEST_SCORE:g}"
    )


def take_benchmarks(fields: Fields) -> dict[str, float] | None:
    """The scores of ``benchmarks`` and of columns ``benchmark.NAME``; None if absent."""
    before = len(fields.problems)
    whole = fields.mapping("benchmarks")
    single = {name: _number(value) for name, value in fields.take_prefixed(BENCHMARK_PREFIX).items()}
    for name in single.keys() & (whole or {}).keys():
        fields.problem(f"{BENCHMARK_PREFIX}{name}", "also given in benchmarks; give it once")
    found = {**(whole or {}), **single}
    for fault in benchmark_faults(found):
        place = f"{BENCHMARK_PREFIX}{fault.name}" if fault.name in single else f"benchmarks.{fault.name}"
        fields.problem("benchmarks" if fault.name is None else place, fault.reason)
    said = whole is not None or single
    return found if said and len(fields.problems) == before else None


def _number(value: Any) -> Any:
    """The number in a cell; other values unchanged."""
    if not isinstance(value, str):
        return value
    try:
        number = Decimal(value.strip().replace("_", "x"))
        return (
            int(number)
            if number == number.to_integral_value() and abs(number) < LARGEST_SCORE
            else float(number)
        )
    except (InvalidOperation, ValueError, OverflowError):
        return value


NEEDS: Final = (
    "for prompts id and instruction or turns; for models name; "
    "for answers prompt and text or turns; for raters rater and rater_kind; for gold labels prompt, first, "
    "second and gold; for ratings prompt, first, second, rater, rating and points; for requirements prompt, "
    "text and position; for scores prompt, contestant and score; for checks prompt, contestant, question, "
    "rater and answer; for features prompt, contestant, name, variant and value"
)


QUESTION_FIELDS: Final = frozenset({"position", "labels", "required"})
"""Fields of a requirement that no answer has."""


def written_as(form: Form, name: str, title: str) -> Format:
    return Format(name, title, NEEDS, tuple(_shape(Kind[kind.upper()], form) for kind in RECORDS))


def _shape(kind: Kind, form: Form | None = None) -> Shape:
    """Files of this kind, of one form or any."""

    def fits(head: Head) -> bool:
        return form in (None, head.form) and recognise(head.fields) is kind

    return Shape(kind, "", partial(read, kind), fits)


def recognise(fields: Set[str]) -> Kind | None:
    """Which of our records has these fields, or None."""
    sides = all(fields & {name, f"{name}_id"} for name in SIDES)
    if "prompt" in fields and sides and fields & {"gold", "points"}:
        return Kind.PAIRS if "gold" in fields else Kind.COMPARISONS
    if "prompt" in fields and fields & {"contestant", "completion"}:
        if fields >= {"question", "answer"}:
            return Kind.ANSWERS
        if "score" in fields:
            return Kind.SCORES
        if fields >= {"name", "variant", "value"}:
            return Kind.FEATURES
    if fields >= {"prompt", "text"} and fields & QUESTION_FIELDS and not fields & {"contestant", "id"}:
        return Kind.QUESTIONS
    if "prompt" in fields and fields & {"text", "turns"}:
        return Kind.COMPLETIONS
    if "id" in fields and fields & {"instruction", "turns"}:
        return Kind.PROMPTS
    if {"rater", "rater_kind"} <= fields and "prompt" not in fields:
        return Kind.RATERS
    if "name" in fields and not fields & {"prompt", "winner", "text"}:
        return Kind.CONTESTANTS
    return None


def read(kind: Kind, file: InputFile) -> Iterator[Item]:
    """The records of a file; a score is by the judge after whom it is named unless it names a rater."""

    def built(fields: Fields) -> Iterator[Item]:
        # A pair about which there is no consensus has no label.
        if kind is Kind.PAIRS and "consensus" in fields:
            said = {entry.name: fields.take(entry.name) for entry in CONSENSUS_FIELDS}
            if said["consensus"] == NO_CONSENSUS:
                return
        if is_by_file := kind is Kind.SCORES and "rater" not in fields:
            fields.put("rater", file.cased_stem)
            fields.put("rater_kind", "judge")
        record = record_of(kind, fields)
        if isinstance(record, ScoreRecord):
            yield from unknown_texts(fields, record.prompt, record.contestant, subset=record.subset)
            record = replace(record, rater_from_path=is_by_file)
        if record:
            yield record

    yield from read_rows(file, built, own=True)
    if found := unused(file, kind):
        yield Unused(file.place(), found)


def unused(file: InputFile, kind: Kind) -> tuple[str, ...]:
    """The columns that are no fields of this kind, and are kept as they are."""
    if kind in (Kind.RATERS, Kind.PAIRS, Kind.QUESTIONS, Kind.FEATURES):
        return ()  # there they are errors
    known = {entry.name for entry in FIELDS[kind.name.lower()]}
    return tuple(
        column for column in file.columns() if column not in known and not column.startswith(BENCHMARK_PREFIX)
    )


_MISSING: Final = {
    "points": "missing; say on how many points the rating was given",
    "question": "missing; give the position of the requirement",
    "value": "missing; leave out the row of a feature that has no value",
    "gold": f"missing; one of {', '.join(GOLD)}",
}
_WITHOUT_EXTRA: Final = {
    Kind.RATERS: "a rater",
    Kind.QUESTIONS: "a requirement",
    Kind.FEATURES: "a feature",
    Kind.PAIRS: "a pair",
}


class _Made:
    """How rows become records of one kind."""

    def __init__(self, kind: Kind) -> None:
        record = RECORDS[kind.name.lower()]
        self.adapter: TypeAdapter[Record] = TypeAdapter(record)
        self.columns = {name: one.name for name, (one, *_) in attributes(record).items() if name != "extra"}
        self.known = [one.name for one in FIELDS[kind.name.lower()] if not one.name.endswith("_id")]


_ways: Final = cache(_Made)


def record_of(
    kind: Kind, fields: Fields, columns: Mapping[str, str] | None = None, **given: Any
) -> Record | None:
    """The record of this kind that the fields make; None after problems that leave none.

    Of a file of another data set ``columns`` are its fields by attribute, and ``given`` further attributes.
    """
    way = _ways(kind)
    read = way.columns if columns is None else columns
    makers = _OF_ANSWERS if kind is Kind.COMPLETIONS else _MADE
    told = {name: makers[name](fields, field) for name, field in read.items() if name in makers}
    told |= fields.take_all({field: name for name, field in read.items() if name not in makers})
    told |= given
    if columns is None and (what := _WITHOUT_EXTRA.get(kind)):
        _refuse_unknown(fields, what, way.known)
    else:
        told["extra"] = {**fields.rest(), **given.get("extra", {})}
    try:
        record = way.adapter.validate_python({**told, "place": fields.place}, context=fields.written)
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            _report(fields, read, fault)
        return None
    if columns is None or not fields.problems:
        for wrong in record.wrong():
            fields.problem(*wrong)
    return record


def by_columns(kind: Kind, columns: Mapping[str, str]) -> Read:
    """Reading of files of which each row is a record of this kind, with these fields by attribute."""
    return by_row(lambda fields: [record_of(kind, fields, columns)])


def _report(fields: Fields, columns: Mapping[str, str], fault: Mapping[str, Any]) -> None:
    attribute, *parts = fault["loc"]
    if (name := columns.get(attribute)) is None:
        return  # what is given to it has a problem of its own
    if fault["type"] == "missing":
        fields.problem(name, _MISSING.get(name, "missing"))
    elif fault["type"] == "value_error" and not unstorable(fault["input"]):  # which is said already
        inner = parts if attribute == "criteria" else ()
        fields.problem(".".join([name, *map(str, inner)]), str(fault["ctx"]["error"]))


def _references(fields: Fields) -> tuple[ReferenceRecord, ...]:
    values = fields.json("references")
    if values is None:
        return ()
    if not isinstance(values, list):
        fields.problem("references", f"expected a list, found {json_type(values)}")
        return ()
    found: dict[str, ReferenceRecord] = {}
    for number, value in enumerate(values, start=1):
        name = f"references[{number}]"
        if not isinstance(value, dict):
            fields.problem(name, f"expected an object with author and text, found {json_type(value)}")
            continue
        inner = Fields(value, fields.place)
        reference = ReferenceRecord(inner.required_text("author"), inner.turns("text"))
        for problem in inner.problems:
            fields.problem(f"{name}.{problem.field}", problem.reason)
        for unknown in inner.rest():
            fields.problem(f"{name}.{unknown}", "unknown field; a reference has author and text or turns")
        if reference.author in found:
            fields.problem(name, f'the author "{reference.author}" has two references')
        found[reference.author] = reference
    return tuple(found.values())


PRICES: Final = ("prompt", "completion", "thousand_pairs")
"""Prices of a million tokens read and written, and of a thousand pairs."""


def take_facts(fields: Fields) -> dict[str, Any]:
    """Return the facts of a judge: its model, how it was asked, and what it costs."""
    seconds = fields.seconds("seconds")
    texts = {name: fields.text(name).strip() for name in ("model", "protocol", "source")}
    for name, text in texts.items():
        if len(text) > LONGEST_FACT:
            fields.problem(name, f"{len(text):,} characters; at most {LONGEST_FACT} fit")
        if reason := why_disturbing(text):
            fields.problem(name, reason)
    found: dict[str, Any] = {
        **texts,
        "prices": _prices(fields),
        "seconds": seconds,
        "order_free": fields.flag("order_free"),
    }
    return {name: value for name, value in found.items() if value not in (None, "", {})}


def _prices(fields: Fields) -> dict[str, Any]:
    given = fields.mapping("prices") or {}
    for name, value in given.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if name not in (*PRICES, "currency"):
            fields.problem(f"prices.{name}", f"unknown; prices have {', '.join(PRICES)} and currency")
        elif name == "currency" and not (isinstance(value, str) and 0 < len(value) <= 10):
            fields.problem("prices.currency", "expected a short text such as USD")
        elif name in PRICES and not (is_number and 0 <= value < 1e9):
            fields.problem(f"prices.{name}", "expected a number from 0")
    return given


def _refuse_unknown(fields: Fields, what: str, known: Sequence[str]) -> None:
    for unknown in fields.rest():
        fields.problem(unknown, f"unknown field; {what} has {', '.join(known[:-1])} and {known[-1]}")


def _scores(fields: Fields) -> tuple[Decimal, Decimal] | None:
    limit = float(MAX_SCORE)
    problems = len(fields.problems)
    first = fields.number("first_score", least=-limit, most=limit)
    second = fields.number("second_score", least=-limit, most=limit)
    if first is not None and second is not None:
        return first, second
    if (first is None) != (second is None) and len(fields.problems) == problems:
        missing = "first_score" if first is None else "second_score"
        fields.problem(missing, "missing; give both scores or none")
    return None


_MADE: Final[Mapping[str, Callable[[Fields, str], Any]]] = {
    "benchmarks": lambda fields, _: take_benchmarks(fields),
    "turns": Fields.turns,
    "references": lambda fields, _: _references(fields),
    "facts": lambda fields, _: take_facts(fields),
    "scores": lambda fields, _: _scores(fields),
}
"""Makers of attributes from several fields, or from the parts of one; each gets the first of the fields."""

_OF_ANSWERS: Final = {**_MADE, "turns": Fields.answer}

# --- Training pairs and hidden checks. A row becomes a prompt apart from those of the study, two completions
# without a contestant, and a pair with a gold label. The completions are named after their places in the
# file, because an explanation may speak of "the first answer".

USES: Final = ("train", "check")
SOURCE: Final = "training file"

TRAINING_FIELDS: Final = (
    *("id", "prompt", "input", "category", "first", "second"),
    *("gold", "gold_source", "use", "explanation"),
)


def _row(fields: Fields) -> list[Item]:
    first, second = _answer(fields, "first"), _answer(fields, "second")
    if "gold" not in fields:
        fields.problem("gold", f"missing; one of {', '.join(GOLD)}")
    use = fields.choice("use", USES) or "train"
    prompt, gold = fields.required_text("prompt"), fields.choice("gold", GOLD) or "tie"
    source, explanation = fields.text("gold_source") or SOURCE, fields.text("explanation")
    found = pair_apart(fields, prompt, first, second, gold, source=source, explanation=explanation, use=use)
    _refuse_unknown(fields, "a pair to learn on", TRAINING_FIELDS)
    return found


def _answer(fields: Fields, name: str) -> str:
    """A text that must be given but may be empty."""
    problems, is_empty = len(fields.problems), fields.peek(name) == ""
    text = fields.optional_text(name)
    if text is None and not is_empty and len(fields.problems) == problems:
        fields.problem(name, "missing")
    return text or ""


def pair_apart(
    fields: Fields, prompt: str, first: str, second: str, gold: str, *, use: str = "train", **told: str
) -> list[Item]:
    """Prompt, completions and gold label of one row.

    Without ``id`` a digest of the texts is the id, so that equal rows are one pair.
    """
    own_id, given, category = fields.text("id"), fields.text("input"), fields.optional_text("category")
    name = own_id or digest(prompt, given, first, second)
    about: dict[str, Any] = {"subset": TRAINING_SUBSET, "input": given or None, "category": category}
    asked = PromptRecord(id=name, turns=(prompt,), **about, implied=not own_id, place=fields.place)
    sides = [Side(id=side, turns=(text,)) for side, text in zip(SIDES, (first, second), strict=True)]
    pair = Pair(asked, *sides)
    return [*pair.records(), pair.gold(gold, use=use, **told)]


TRAINING: Final = Format(
    "training",
    "Training pairs and hidden checks",
    "prompt, first, second and gold, with explanation or use",
    # Pairs that explain themselves bring their own texts.
    (Shape(Kind.PAIRS, "prompt first second gold explanation|use", by_row(_row, own=True)),),
)


STUDY: Final = Format(
    "study",
    "Settings of a study",
    "tasks, points, guidelines and gold_share",
    (
        Shape(
            Kind.STUDY,
            "tasks points guidelines gold_share",
            by_row(lambda fields: [StudyRecord(fields.rest(), fields.place)], own=True),
        ),
    ),
)

FEATURES: Final = Format(
    "features",
    "Features of answers from a model's own probabilities",
    "prompt, contestant or completion, name, variant and value",
    (_shape(Kind.FEATURES),),
)

FORMATS: Final = (
    written_as(Form.JSON, "jsonl", "Likert Arena JSON Lines"),
    written_as(Form.CELLS, "csv", "Likert Arena CSV or Excel"),
    written_as(Form.PARQUET, "parquet", "Likert Arena Parquet"),
)
