"""Likert Arena's own records: one set of fields, written as JSON objects or as table rows. Pure."""

from collections.abc import Callable, Iterator, Set
from decimal import Decimal
from typing import Final

from arena.data.formats import benchmarks
from arena.data.formats.fields import MAX_SCORE, Fields
from arena.data.formats.files import Form, InputFile
from arena.data.formats.json_text import json_type
from arena.data.formats.reading import Companions, Format, Head, Kind, read_rows
from arena.data.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    ContestantRecord,
    GoldRecord,
    Item,
    PromptRecord,
    RaterRecord,
    Record,
    ReferenceRecord,
)
from arena.rating import scales

REASONS: Final = ("empty", "out_of_range", "unparsable", "truncated", "refused", "undecided")
"""Why an answer has no rating."""

GOLD: Final = ("first", "tie", "second")
"""Which completion of a pair is the better one."""

SIDES: Final = ("first", "second")
"""A pair's two completions in the order of the record; with ``_id`` where their own ids name them."""

NEEDS: Final = (
    "prompts: id and instruction or turns; contestants: name; "
    "completions: prompt and text or turns; raters: rater and rater_kind; "
    "pairs: prompt, first, second and gold; comparisons: prompt, first, second, rater, rating and points"
)


def written_as(form: Form, name: str, title: str) -> Format:
    """The format of our own data in files of one form."""

    def in_this_form(head: Head) -> Kind | None:
        return recognise(head.fields) if head.form is form else None

    return Format(name, title, NEEDS, in_this_form, read)


def recognise(fields: Set[str]) -> Kind | None:
    """Which of our records has these fields; None where it is none of ours."""
    sides = all(fields & {name, f"{name}_id"} for name in SIDES)
    if "prompt" in fields and sides:
        return Kind.PAIRS if "gold" in fields else Kind.COMPARISONS
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
    """The file's records."""
    build = BUILDERS[kind]
    if file.form is Form.CELLS:
        return read_rows(file, lambda fields: [build(fields.unguarded())])
    if file.form is Form.PARQUET:
        # A column has one type, and what has no fixed shape fits none.
        return read_rows(file, lambda fields: [build(fields.with_json_texts())])
    return read_rows(file, lambda fields: [build(fields)])


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
        benchmarks=benchmarks.take(fields),
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
        fields.problem("contestant", "missing; a completion without a contestant needs an id")
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
    groups = fields.json("groups")
    if groups is not None and not (isinstance(groups, list) and all(isinstance(g, str) for g in groups)):
        fields.problem("groups", "expected a list of texts")
        groups = None
    record = RaterRecord(
        slug=fields.required_text("rater"),
        kind=fields.choice("rater_kind", ("person", "judge")) or "person",
        name=fields.optional_text("name"),
        simulated=fields.flag("simulated"),
        groups=tuple(groups or ()),
        place=fields.place,
    )
    for unknown in fields.rest():
        fields.problem(unknown, "unknown field; a rater has rater, rater_kind, name, simulated and groups")
    return record


def _comparison(fields: Fields) -> ComparisonRecord:
    points = _points(fields)
    identical = fields.flag("identical") or False
    rating, reason = _verdict(fields, points, needed=not identical)
    (first, first_id), (second, second_id) = _sides(fields)
    seconds = fields.number("seconds", least=0, most=1e9)
    return ComparisonRecord(
        prompt=fields.required_text("prompt"),
        subset=fields.text("subset"),
        first=first,
        second=second,
        first_id=first_id,
        second_id=second_id,
        rater=fields.required_text("rater"),
        rater_kind=fields.choice("rater_kind", ("person", "judge")) or "person",
        points=points,
        rating=rating,
        reason=reason,
        identical=identical,
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


def _gold(fields: Fields) -> GoldRecord:
    (first, first_id), (second, second_id) = _sides(fields)
    if "gold" not in fields:
        fields.problem("gold", f"missing; one of {', '.join(GOLD)}")
    record = GoldRecord(
        prompt=fields.required_text("prompt"),
        subset=fields.text("subset"),
        first=first,
        second=second,
        first_id=first_id,
        second_id=second_id,
        gold=fields.choice("gold", GOLD) or "",
        source=fields.required_text("gold_source"),
        place=fields.place,
    )
    for unknown in fields.rest():
        fields.problem(
            unknown, "unknown field; a pair has prompt, subset, first, second, gold and gold_source"
        )
    return record


def _sides(fields: Fields) -> list[tuple[str, str]]:
    """Both completions, each by its contestant's name or by its own id, and by one of them alone."""
    sides = []
    for name in SIDES:
        own_id = fields.text(f"{name}_id")
        if not own_id.strip():
            sides.append((fields.required_text(name), ""))
            continue
        if name in fields:
            fields.problem(f"{name}_id", f"given beside {name}; name the completion in one of the two ways")
        fields.take(name)
        sides.append(("", own_id))
    (first, first_id), (second, second_id) = sides
    if first and first == second:
        fields.problem("second", f'the same contestant as first ("{first}")')
    if first_id and first_id == second_id:
        fields.problem("second_id", f'the same completion as first_id ("{first_id}")')
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
    """Rating and reason: exactly one of them is said, or none where none is ``needed``."""
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


def _criteria(fields: Fields, points: int) -> dict[str, int]:
    criteria = fields.mapping("criteria") or {}
    for name, rating in criteria.items():
        _check_rating(fields, f"criteria.{name}", rating, points)
    return criteria


BUILDERS: Final[dict[Kind, Callable[[Fields], Record]]] = {
    Kind.CONTESTANTS: _contestant,
    Kind.RATERS: _rater,
    Kind.PROMPTS: _prompt,
    Kind.COMPLETIONS: _completion,
    Kind.PAIRS: _gold,
    Kind.COMPARISONS: _comparison,
}
