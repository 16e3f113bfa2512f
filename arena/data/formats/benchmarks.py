"""Named scores of a contestant on other benchmarks: what is taken in, from files and in the admin. Pure."""

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple

from arena.data.formats.fields import DISTURBING, Fields
from arena.data.formats.json_text import json_type

MOST: Final = 20
"""Most benchmarks of one contestant."""

LONGEST: Final = 60
"""Most characters in a benchmark's name."""

LARGEST: Final = 1e12
"""Scores lie between minus this and this."""

PREFIX: Final = "benchmark."
"""A column of this name and a benchmark's holds that one score."""


class Fault(NamedTuple):
    """What is wrong with one benchmark, or, where ``name`` is None, with all of them together."""

    name: str | None
    reason: str


def faults(scores: Mapping[str, Any]) -> Iterator[Fault]:
    """Everything that keeps scores by benchmark from being stored."""
    if len(scores) > MOST:
        yield Fault(None, f"{len(scores)} benchmarks; at most {MOST} fit")
    for name, score in scores.items():
        if not name.strip():
            yield Fault(name, "a benchmark needs a name")
        elif len(name) > LONGEST:
            yield Fault(name[:LONGEST] + "…", f"a name of {len(name)} characters; at most {LONGEST} fit")
        elif found := DISTURBING.search(name):
            yield Fault(DISTURBING.sub("", name), f"holds the invisible character U+{ord(found[0]):04X}")
        elif reason := _not_a_score(score):
            yield Fault(name, reason)


def _not_a_score(score: Any) -> str:
    if isinstance(score, bool) or not isinstance(score, int | float):
        return f"expected a number, found {json_type(score)}"
    if isinstance(score, float) and not math.isfinite(score):
        return f"{score} is not a finite number"
    return "" if -LARGEST < score < LARGEST else f"a score lies between {-LARGEST:g} and {LARGEST:g}"


def take(fields: Fields) -> dict[str, float] | None:
    """The scores of a record: those of the object ``benchmarks`` and of the columns ``benchmark.NAME``.

    None where the record says nothing about them. What is wrong is added to the problems of the fields.
    """
    before = len(fields.problems)
    whole = fields.mapping("benchmarks")
    single = {name: _number(value) for name, value in fields.take_prefixed(PREFIX).items()}
    for name in single.keys() & (whole or {}).keys():
        fields.problem(f"{PREFIX}{name}", "stands in benchmarks as well")
    found = {**(whole or {}), **single}
    for fault in faults(found):
        place = f"{PREFIX}{fault.name}" if fault.name in single else f"benchmarks.{fault.name}"
        fields.problem("benchmarks" if fault.name is None else place, fault.reason)
    said = whole is not None or single
    return found if said and len(fields.problems) == before else None


def _number(value: Any) -> Any:
    """The number that a cell holds; other values as they came."""
    if not isinstance(value, str):
        return value
    try:
        number = Decimal(value.strip().replace("_", "x"))
        return (
            int(number) if number == number.to_integral_value() and abs(number) < LARGEST else float(number)
        )
    except (InvalidOperation, ValueError, OverflowError):
        return value
