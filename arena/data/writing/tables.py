"""What each exported table holds: its columns, named as our importers read them. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import Any, Final, TypeAlias

Row: TypeAlias = Mapping[str, Any]
"""Values by column name. None, or no value, means that there is nothing to say."""


class Type(Enum):
    """What stands in a column."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"
    MOMENT = "moment"
    TEXTS = "list of texts"
    MESSAGES = "list of messages"
    JSON = "JSON"


@dataclass(frozen=True)
class Table:
    """A table by its name, which is also the name of its file.

    ``complete``: JSON Lines write null where nothing is said, because readers want every column in every row.
    ``marked``: CSV begins with a byte order mark, by which spreadsheets tell UTF-8.
    """

    name: str
    columns: Mapping[str, Type]
    complete: bool = False
    marked: bool = True


def _texts(*names: str) -> dict[str, Type]:
    return dict.fromkeys(names, Type.TEXT)


_SIDES: Final = _texts("prompt", "subset", "first", "second", "first_id", "second_id")

_CONTESTANTS: Final = {
    **_texts("name", "slug", "kind", "family", "organisation", "licence", "size"),
    "generation": Type.JSON,
    "benchmarks": Type.JSON,
    "retired_at": Type.MOMENT,
    "extra": Type.JSON,
}
_RATERS: Final = {
    **_texts("rater", "rater_kind", "name"),
    "simulated": Type.FLAG,
    "groups": Type.TEXTS,
}
_PROMPTS: Final = {
    **_texts("id", "subset", "category", "domain", "instruction"),
    "turns": Type.TEXTS,
    "input": Type.TEXT,
    "references": Type.JSON,
    "extra": Type.JSON,
}
_COMPLETIONS: Final = {
    **_texts("prompt", "subset", "contestant", "id", "text"),
    "turns": Type.TEXTS,
    "extra": Type.JSON,
}
_COMPARISONS: Final = {
    "id": Type.TEXT,
    **_SIDES,
    **_texts("rater", "rater_kind"),
    "points": Type.INTEGER,
    "rating": Type.INTEGER,
    "reason": Type.TEXT,
    "identical": Type.FLAG,
    "first_score": Type.NUMBER,
    "second_score": Type.NUMBER,
    "repeat": Type.INTEGER,
    "seconds": Type.NUMBER,
    "created_at": Type.MOMENT,
    **_texts("rationale", "raw_reply"),
    "criteria": Type.JSON,
    "extra": Type.JSON,
}

TABLES: Final = {
    table.name: table
    for table in (
        Table("contestants", _CONTESTANTS),
        Table("raters", _RATERS),
        Table("prompts", _PROMPTS),
        Table("completions", _COMPLETIONS),
        Table("pairs", {**_SIDES, **_texts("gold", "gold_source")}),
        Table("comparisons", _COMPARISONS),
    )
}
"""The tables an import reads, in the order in which it needs them."""


# Rows in handfuls. Pure.


def batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """The rows in lists of ``size``; the last may be shorter."""
    remaining = iter(rows)
    while batch := list(islice(remaining, size)):
        yield batch
