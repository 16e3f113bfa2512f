"""The errors of an import as a CSV file for a spreadsheet."""

from collections.abc import Iterable, Iterator
from typing import Final

from arena.formats.records import Problem
from arena.formats.writing import csv_text
from arena.formats.writing.schema import Table, Type

_TABLE: Final = Table(
    "errors", {"file": Type.TEXT, "line": Type.INTEGER, "field": Type.TEXT, "reason": Type.TEXT}
)


def error_list(problems: Iterable[Problem]) -> Iterator[bytes]:
    """File, line, field and reason of each problem."""
    rows = (
        {
            "file": problem.place.file,
            "line": problem.place.line or None,
            "field": problem.field,
            "reason": problem.reason,
        }
        for problem in problems
    )
    return csv_text.pieces(_TABLE, rows)
