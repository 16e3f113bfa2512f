"""Likert Arena's own records as JSON objects or table rows. Pure."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple

from arena.data.formats.files import Form, InputFile, json_type
from arena.data.formats.reading import (
    DISTURBING,
    MAX_SCORE,
    Companions,
    Fields,
    Format,
    Head,
    Kind,
    digest,
    read_rows,
    why_disturbing,
)
from arena.data.formats.records import (
    CONSENSUS_FIELDS,
    FIELDS,
    NO_CONSENSUS,
    AnswerRecord,
    ComparisonRecord,
    CompletionRecord,
    ContestantRecord,
    FeatureRecord,
    GoldRecord,
    Item,
    PromptRecord,
    QuestionRecord,
    RaterRecord,
    Record,
    ReferenceRecord,
    ScoreRecord,
    Unused,
)
from arena.data.formats.text_scores import Mentioned
from arena.features import known as features
from arena.rating import scales
from arena.rating.subsets import TRAINING_SUBSET

MOST_BENCHMARKS: Final = 20

LONGEST_NAME: Final = 60

LONGEST_FACT: Final = 500

LARGEST_SCORE: Final = 1e12

MOST_QUESTIONS: Final = 1000
"""Of a prompt; also the most turns."""

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


REASONS: Final = ("empty", "out_of_range", "unparsable", "truncated", "refused", "undecided")
GOLD: Final = ("first", "tie", "second")
SIDES: Final = ("first", "second")

NEEDS: Final = (
    "for prompts id and instruction or turns; for models name; "
    "for answers prompt and text or turns; for raters rater and rater_kind; for gold labels prompt, first, "
    "second and gold; for ratings prompt, first, second, rater, rating and points; for requirements prompt, "
    "text and position; for scores prompt, contestant and score; for checks prompt, contestant, question, "
    "rater and answer; for features prompt, contestant, name, variant and value"
)


QUESTION_FIELDS: Final = frozenset({"position", "labels", "required"})
"""Of which a requirement has one that no answer has."""


def written_as(form: Form, name: str, title: str) -> Format:
    return Format(
        name, title, NEEDS, lambda head: recognise(head.fields) if head.form is form else None, read
    )


def recognise(fields: Set[str]) -> Kind | None:
    """Which of our records has these fields, or None."""
    sides = all(fields & {name, f"{name}_id"} for name in SIDES)
    if "prompt" in fields and sides:
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
    if {"rater", "rater_kind"} <= fields:
        return Kind.RATERS
    if "name" in fields and not fields & {"prompt", "winner", "text"}:
        return Kind.CONTESTANTS
    return None


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    mentioned = Mentioned()

    def built(fields: Fields) -> list[Item]:
        # A pair about which there is no consensus has no label.
        if kind is Kind.PAIRS and fields.peek("consensus") == NO_CONSENSUS:
            return []
        return _scored(fields, file, mentioned) if kind is Kind.SCORES else [BUILDERS[kind](fields)]

    if file.form is Form.CELLS:
        yield from read_rows(file, lambda fields: built(fields.unguarded()))
    elif file.form is Form.PARQUET:
        # A column has one type, and what has no fixed shape fits none.
        yield from read_rows(file, lambda fields: built(fields.with_json_texts()))
    else:
        yield from read_rows(file, built)
    if found := unused(file, kind):
        yield Unused(file.place(), found)


def _scored(fields: Fields, file: InputFile, mentioned: Mentioned) -> list[Item]:
    """A score, by the judge after whom the file is named unless it names another rater."""
    is_named = "rater" in fields
    if not is_named:
        fields.put("rater", file.cased_stem)
        fields.put("rater_kind", "judge")
    record = replace(_score(fields), rater_from_path=not is_named)
    return [*mentioned.records(record.prompt, record.subset, record.contestant, record.place), record]


def unused(file: InputFile, kind: Kind) -> tuple[str, ...]:
    """The columns that are no fields of this kind, and are kept as they are."""
    if kind in (Kind.RATERS, Kind.PAIRS, Kind.QUESTIONS, Kind.FEATURES):
        return ()  # there they are errors
    known = {entry.name for entry in FIELDS[kind.name.lower()]}
    return tuple(
        column for column in file.columns() if column not in known and not column.startswith(BENCHMARK_PREFIX)
    )


def _contestant(fields: Fields) -> ContestantRecord:
    return ContestantRecord(
        name=fields.required_text("name"),
        slug=fields.optional_text("slug"),
        kind=fields.choice("kind", ("model", "people")),
        family=fields.optional_text("family"),
        organisation=fields.optional_text("organisation"),
        licence=fields.optional_text("licence"),
        size=fields.optional_text("size"),
        generation=fields.mapping("generation"),
        benchmarks=take_benchmarks(fields),
        retired_at=fields.moment("retired_at"),
        extra=fields.rest(),
        place=fields.place,
    )


def _prompt(fields: Fields) -> PromptRecord:
    turns = fields.turns("instruction")
    if turns and not turns[0].strip():
        fields.problem("instruction", "empty")
    return PromptRecord(
        id=fields.required_text("id"),
        turns=turns,
        subset=fields.text("subset"),
        category=fields.optional_text("category"),
        domain=fields.optional_text("domain"),
        input=fields.optional_text("input"),
        references=_references(fields),
        extra=fields.rest(),
        place=fields.place,
    )


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


def _completion(fields: Fields) -> CompletionRecord:
    contestant = fields.optional_text("contestant")
    external_id = fields.text("id")
    if not (contestant or "").strip() and not external_id.strip():
        reason = (
            "missing; name the model that wrote the answer, or give the answer an id. If the rows are "
            "requirements, give each its position"
        )
        fields.problem("contestant", reason)
    return CompletionRecord(
        prompt=fields.required_text("prompt"),
        turns=fields.turns("text"),
        subset=fields.text("subset"),
        contestant=contestant or None,
        id=external_id,
        extra=fields.rest(),
        place=fields.place,
    )


def _rater(fields: Fields) -> RaterRecord:
    groups = fields.texts("groups")
    record = RaterRecord(
        slug=fields.required_text("rater"),
        kind=_rater_kind(fields),
        name=fields.optional_text("name"),
        simulated=fields.flag("simulated"),
        groups=groups,
        facts=take_facts(fields),
        derived_from=fields.texts("derived_from"),
        place=fields.place,
    )
    only_judges = [*record.facts, *(["derived_from"] if record.derived_from else [])]
    if only_judges and record.kind == "person":
        fields.problem(only_judges[0], "only a judge has this")
    _refuse_unknown(fields, "a rater", [entry.name for entry in FIELDS["raters"]])
    return record


PRICES: Final = ("prompt", "completion", "thousand_pairs")
"""Of a million tokens read and written, and of a thousand pairs."""


def take_facts(fields: Fields) -> dict[str, Any]:
    """What is known of a judge: its model, how it was asked, and what it costs."""
    seconds = fields.number("seconds", least=0, most=1e9)
    texts = {name: fields.text(name).strip() for name in ("model", "protocol", "source")}
    for name, text in texts.items():
        if len(text) > LONGEST_FACT:
            fields.problem(name, f"{len(text):,} characters; at most {LONGEST_FACT} fit")
        if reason := why_disturbing(text):
            fields.problem(name, reason)
    found: dict[str, Any] = {
        **texts,
        "prices": _prices(fields),
        "seconds": None if seconds is None else float(seconds),
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


def _rater_kind(fields: Fields) -> str:
    return fields.choice("rater_kind", ("person", "judge")) or "person"


def _comparison(fields: Fields) -> ComparisonRecord:
    points = _points(fields)
    identical = fields.flag("identical") or False
    rating, reason = _verdict(fields, points, needed=not identical)
    sides = _sides(fields)
    seconds = fields.number("seconds", least=0, most=1e9)
    rater_kind, members = _rater_kind(fields), fields.texts("derived_from")
    if members and rater_kind == "person":
        fields.problem("derived_from", "only a judge has this")
    return ComparisonRecord(
        prompt=fields.required_text("prompt"),
        subset=fields.text("subset"),
        **sides,
        rater=fields.required_text("rater"),
        rater_kind=rater_kind,
        points=points,
        rating=rating,
        reason=reason,
        identical=identical,
        derived_from=members,
        scores=_scores(fields),
        raw_reply=fields.text("raw_reply"),
        rationale=fields.text("rationale"),
        seconds=None if seconds is None else float(seconds),
        repeat=fields.integer("repeat"),
        created_at=fields.moment("created_at"),
        id=fields.text("id"),
        criteria=_criteria(fields, points),
        extra=fields.rest(),
        place=fields.place,
    )


def _question(fields: Fields) -> QuestionRecord:
    record = QuestionRecord(
        prompt=fields.required_text("prompt"),
        subset=fields.text("subset"),
        position=fields.integer("position", least=1, most=MOST_QUESTIONS),
        text=fields.required_text("text"),
        labels=_labels(fields),
        required=fields.flag("required"),
        proposed_by=fields.optional_text("proposed_by"),
        place=fields.place,
    )
    _refuse_unknown(fields, "a requirement", [entry.name for entry in FIELDS["questions"]])
    return record


def _labels(fields: Fields) -> tuple[str, ...] | None:
    """A list of texts, or in a cell also texts between semicolons or commas."""
    value = fields.peek("labels")
    if "labels" not in fields:
        fields.take("labels")
        return None
    if isinstance(value, str) and not value.lstrip().startswith("["):
        parts = re.split("[;,]", fields.text("labels"))
        return tuple(part.strip() for part in parts if part.strip())
    return fields.texts("labels")


def _score(fields: Fields) -> ScoreRecord:
    lowest, highest = scale(fields)
    problems = len(fields.problems)
    score, expected = (_number_of(fields, name) for name in ("score", "expected"))
    reason = fields.choice("reason", REASONS) or ""
    if len(fields.problems) == problems:
        _check_either(fields, "score", score, reason)
    return ScoreRecord(
        **_of_text(fields),
        score=score,
        expected=expected,
        reason=reason,
        lowest=lowest,
        highest=highest,
        turn=fields.integer("turn", most=MOST_QUESTIONS) or 0,
        extra=fields.rest(),
    )


def scale(fields: Fields) -> tuple[float | None, float | None]:
    """The ends of the scale of a row, None where it does not say."""
    lowest, highest = (_number_of(fields, name) for name in ("lowest", "highest"))
    if lowest is not None and highest is not None and not lowest < highest:
        fields.problem("highest", f"{highest:g} is not above the lowest score, {lowest:g}")
    return lowest, highest


def _number_of(fields: Fields, name: str) -> float | None:
    number = fields.number(name, least=-LARGEST_SCORE, most=LARGEST_SCORE)
    return None if number is None else float(number)


def _check_either(fields: Fields, name: str, value: object, reason: str) -> None:
    """Report a value beside a reason why there is none, or neither."""
    if value is None and not reason:
        fields.problem(name, f"missing; without one a reason is needed: {', '.join(REASONS)}")
    elif value is not None and reason:
        fields.problem("reason", f"given beside the {name}; give one of them")


ANSWERS: Final = ("yes", "no", "unknown")


def _answered(fields: Fields) -> AnswerRecord:
    answer, reason = fields.choice("answer", ANSWERS), fields.choice("reason", REASONS) or ""
    if not fields.problems:
        _check_either(fields, "answer", answer, reason)
    problems = len(fields.problems)
    question = fields.integer("question", least=1, most=MOST_QUESTIONS)
    if question is None and len(fields.problems) == problems:
        fields.problem("question", "missing; give the position of the requirement")
    return AnswerRecord(
        **_of_text(fields), question=question or 1, answer=answer, reason=reason, extra=fields.rest()
    )


def _feature(fields: Fields) -> FeatureRecord:
    name = fields.required_text("name")
    variant = fields.required_choice("variant", tuple(features.Variant))
    if not fields.problems and (reason := features.fault(name, variant)):
        fields.problem("name", reason)
    problems = len(fields.problems)
    limit = features.LARGEST
    value = fields.number("value", least=-limit, most=limit)
    if value is None and len(fields.problems) == problems:
        fields.problem("value", "missing; leave out the row of a feature that has no value")
    elif not fields.problems and (reason := features.value_fault(name, variant, float(value or 0))):
        fields.problem("value", reason)
    record = FeatureRecord(
        **_whose(fields),
        turn=fields.integer("turn", most=MOST_QUESTIONS) or 0,
        name=name,
        variant=variant,
        value=float(value or 0),
        source=fields.text("source"),
    )
    _refuse_unknown(fields, "a feature", [entry.name for entry in FIELDS["features"]])
    return record


def _whose(fields: Fields) -> dict[str, Any]:
    """The completion that a record is about."""
    contestant, own_id = fields.text("contestant"), fields.text("completion")
    if contestant.strip() and own_id.strip():
        fields.problem("completion", "given beside contestant; give one of them")
    if not contestant.strip() and not own_id.strip():
        fields.problem("contestant", "missing; give the model, or the id of the answer as completion")
    return {
        "prompt": fields.required_text("prompt"),
        "subset": fields.text("subset"),
        "contestant": contestant,
        "completion": own_id,
        "place": fields.place,
    }


def _of_text(fields: Fields) -> dict[str, Any]:
    """What a score and an answer have in common, but for what is left in the end."""
    seconds = fields.number("seconds", least=0, most=1e9)
    return {
        **_whose(fields),
        "rater": fields.required_text("rater"),
        "rater_kind": _rater_kind(fields),
        "raw_reply": fields.text("raw_reply"),
        "rationale": fields.text("rationale"),
        "seconds": None if seconds is None else float(seconds),
        "repeat": fields.integer("repeat"),
        "created_at": fields.moment("created_at"),
        "id": fields.text("id"),
    }


def _gold(fields: Fields) -> GoldRecord:
    sides = _sides(fields)
    if "gold" not in fields:
        fields.problem("gold", f"missing; one of {', '.join(GOLD)}")
    record = GoldRecord(
        prompt=fields.required_text("prompt"),
        subset=fields.text("subset"),
        **sides,
        gold=fields.choice("gold", GOLD) or "",
        source=fields.required_text("gold_source"),
        place=fields.place,
    )
    if fields.take("consensus") is not None:
        for entry in CONSENSUS_FIELDS:
            fields.take(entry.name)
    _refuse_unknown(
        fields, "a pair", [entry.name for entry in FIELDS["pairs"] if not entry.name.endswith("_id")]
    )
    return record


def _refuse_unknown(fields: Fields, what: str, known: Sequence[str]) -> None:
    for unknown in fields.rest():
        fields.problem(unknown, f"unknown field; {what} has {', '.join(known[:-1])} and {known[-1]}")


def _sides(fields: Fields) -> dict[str, Any]:
    """Name and own id of both completions, one of them empty."""
    sides: dict[str, Any] = {}
    for name in SIDES:
        own_id = fields.text(f"{name}_id")
        if not own_id.strip():
            sides |= {name: fields.required_text(name), f"{name}_id": ""}
            continue
        if name in fields:
            fields.problem(f"{name}_id", f"given beside {name}; give one of them")
        fields.take(name)
        sides |= {name: "", f"{name}_id": own_id}
    if sides["first"] and sides["first"] == sides["second"]:
        fields.problem("second", f'the same model as first ("{sides["first"]}")')
    if sides["first_id"] and sides["first_id"] == sides["second_id"]:
        fields.problem("second_id", f'the same answer as first_id ("{sides["first_id"]}")')
    return sides


def _points(fields: Fields) -> int:
    problems = len(fields.problems)
    points = fields.integer("points")
    if points is None:
        if len(fields.problems) == problems:
            fields.problem("points", "missing; say on how many points the rating was given")
        return 8
    try:
        return scales.check_points(points)
    except scales.ScaleError as error:
        fields.problem("points", str(error))
        return 8


def _verdict(fields: Fields, points: int, *, needed: bool) -> tuple[int | None, str]:
    """Rating and reason, exactly one of them, or neither if not ``needed``."""
    problems = len(fields.problems)
    rating = fields.integer("rating", least=-(2**31))
    reason = fields.choice("reason", REASONS) or ""
    if len(fields.problems) > problems:
        return None, reason
    if needed and rating is None and not reason:
        fields.problem("rating", f"missing; an answer without a rating needs a reason: {', '.join(REASONS)}")
    elif rating is not None and reason:
        fields.problem("reason", "given beside a rating; an answer has one or the other")
    elif rating is not None:
        _check_rating(fields, "rating", rating, points)
    return rating, reason


def _check_rating(fields: Fields, name: str, rating: object, points: int) -> None:
    if isinstance(rating, bool) or not isinstance(rating, int):
        fields.problem(name, f"expected a whole number, found {json_type(rating)}")
        return
    try:
        scales.check_rating(rating, points)
    except scales.ScaleError as error:
        fields.problem(name, str(error))


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


def _criteria(fields: Fields, points: int) -> dict[str, int | str]:
    criteria = fields.mapping("criteria") or {}
    for name, said in criteria.items():
        if not isinstance(said, str):
            _check_rating(fields, f"criteria.{name}", said, points)
        elif said not in REASONS:
            fields.problem(
                f"criteria.{name}", f'"{said}" is neither a rating nor one of {", ".join(REASONS)}'
            )
    return criteria


BUILDERS: Final[dict[Kind, Callable[[Fields], Record]]] = {
    Kind.CONTESTANTS: _contestant,
    Kind.RATERS: _rater,
    Kind.PROMPTS: _prompt,
    Kind.COMPLETIONS: _completion,
    Kind.PAIRS: _gold,
    Kind.COMPARISONS: _comparison,
    Kind.QUESTIONS: _question,
    Kind.SCORES: _score,
    Kind.ANSWERS: _answered,
    Kind.FEATURES: _feature,
}

# --- Training pairs and hidden checks. A row becomes a prompt apart from those of the study, two completions
# without a contestant, and a pair with a gold label. The completions are named after their places in the
# file, because an explanation may speak of "the first answer".

USES: Final = ("train", "check")
SOURCE: Final = "training file"

TRAINING_FIELDS: Final = (
    "id",
    "prompt",
    "input",
    "category",
    "first",
    "second",
    "gold",
    "gold_source",
    "use",
)
_TRAINING_NEEDS: Final = frozenset({"prompt", "first", "second", "gold"})


def recognise_training(head: Head) -> Kind | None:
    """Pairs that explain themselves bring their own texts."""
    told = head.fields & {"explanation", "use"}
    return Kind.PAIRS if told and head.fields >= _TRAINING_NEEDS else None


def read_training(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    if file.form is Form.CELLS:
        yield from read_rows(file, lambda fields: _row(fields.unguarded()))
    else:
        yield from read_rows(file, _row)


def _row(fields: Fields) -> list[Item]:
    texts = tuple(_answer(fields, name) for name in ("first", "second"))
    if "gold" not in fields:
        fields.problem("gold", f"missing; one of {', '.join(GOLD)}")
    use = fields.choice("use", USES) or "train"
    found = pair_apart(
        fields,
        prompt=fields.required_text("prompt"),
        texts=(texts[0], texts[1]),
        gold=fields.choice("gold", GOLD) or "tie",
        source=fields.text("gold_source") or SOURCE,
        explanation=fields.text("explanation"),
        use=use,
    )
    _refuse_unknown(fields, "a pair to learn on", [*TRAINING_FIELDS, "explanation"])
    return found


def _answer(fields: Fields, name: str) -> str:
    """A text that must be given but may be empty."""
    problems = len(fields.problems)
    text = fields.optional_text(name)
    if text is None and len(fields.problems) == problems:
        fields.problem(name, "missing")
    return text or ""


def pair_apart(
    fields: Fields,
    *,
    prompt: str,
    texts: tuple[str, str],
    gold: str,
    source: str,
    explanation: str,
    use: str = "train",
) -> list[Item]:
    """Prompt, completions and gold label of one row.

    Without ``id`` a digest of the texts is the id, so that equal rows are one pair.
    """
    own_id, given, category = fields.text("id"), fields.text("input"), fields.optional_text("category")
    name = own_id or digest(prompt, given, *texts)
    place, implied = fields.place, not own_id
    return [
        PromptRecord(
            id=name,
            subset=TRAINING_SUBSET,
            turns=(prompt,),
            input=given or None,
            category=category,
            implied=implied,
            place=place,
        ),
        *(
            CompletionRecord(
                prompt=name, subset=TRAINING_SUBSET, id=side, turns=(text,), implied=implied, place=place
            )
            for side, text in zip(("first", "second"), texts, strict=True)
        ),
        GoldRecord(
            prompt=name,
            subset=TRAINING_SUBSET,
            first="",
            second="",
            first_id="first",
            second_id="second",
            gold=gold,
            source=source,
            use=use,
            explanation=explanation,
            place=place,
        ),
    ]


TRAINING: Final = Format(
    "training",
    "Training pairs and hidden checks",
    "prompt, first, second and gold, with explanation or use",
    recognise_training,
    read_training,
)

FEATURES: Final = Format(
    "features",
    "Features of answers from a model's own probabilities",
    "prompt, contestant or completion, name, variant and value",
    lambda head: kind if (kind := recognise(head.fields)) is Kind.FEATURES else None,
    read,
)

FORMATS: Final = (
    written_as(Form.JSON, "jsonl", "Likert Arena JSON Lines"),
    written_as(Form.CELLS, "csv", "Likert Arena CSV or Excel"),
    written_as(Form.PARQUET, "parquet", "Likert Arena Parquet"),
)
