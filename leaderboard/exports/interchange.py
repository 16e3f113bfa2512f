"""The files for other programs: what there is, in which forms, and what a file leaves out."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from arena.formats.writing import MEDIA_TYPES, WRITERS
from arena.formats.writing.interchange import ARENA, CONVERSATIONS, EVALICA, PREFERENCES
from arena.formats.writing.schema import Row, Table
from arena.models import Study
from leaderboard.exports import catalogue
from leaderboard.exports.errors import ExportError
from leaderboard.exports.preferences import preferences
from leaderboard.exports.tables import check_form
from leaderboard.exports.votes import arena, evalica
from leaderboard.exports.wanted import Wanted

JSON: Final = "json"
"""The form of a leaderboard that no table has."""

TYPES: Final = {**MEDIA_TYPES, JSON: "application/json"}
"""Media types by form."""

Rows = Callable[[Study, Wanted, Counter[str]], Iterator[Row]]

_ROWS: Final[Mapping[str, Rows]] = {"arena": arena, "evalica": evalica, "preferences": preferences}

OTHERS: Final[Mapping[str, tuple[str, ...]]] = {
    "leaderboard": (JSON, *WRITERS),
    "arena": tuple(WRITERS),
    "preferences": tuple(WRITERS),
    "evalica": ("csv", "jsonl", "parquet"),
}
"""The forms of each, the usual one first."""


@dataclass
class Piecewise:
    """A file as pieces that are read while they are taken; afterwards it is known what was left out."""

    what: str
    wanted: Wanted
    pieces: Iterator[bytes]
    rows: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def note(self) -> dict[str, Any]:
        """What the file holds and what not, once it is written."""
        return {
            "what": self.what,
            "raters": self.wanted.raters,
            "ties": "on" if self.wanted.ties else "off",
            "category": self.wanted.category or None,
            "rows": self.rows,
            "left_out": dict(sorted(self.left_out.items())),
        }


def interchange(study: Study, what: str, form: str, asked: Mapping[str, Any]) -> Piecewise:
    """A file of votes for another program; ``what`` is arena, evalica or preferences. Raises ExportError."""
    _check(what, form)
    # Votes tell who gave them in every row; a ranking or a preference mixes nobody unless asked to.
    wanted = Wanted.read(study, asked, everybody=what == "arena")
    found = Piecewise(what, wanted, iter(()))

    def counted() -> Iterator[Row]:
        for row in _ROWS[what](study, wanted, found.left_out):
            found.rows += 1
            yield row

    found.pieces = WRITERS[form](table_of(what, wanted), counted())
    return found


def table_of(what: str, wanted: Wanted) -> Table:
    """The columns of a file of votes."""
    if what == "preferences":
        return CONVERSATIONS if wanted.conversational else PREFERENCES
    return {"arena": ARENA, "evalica": EVALICA}[what]


def note_of(study: Study, what: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What such a file would hold and leave out, without keeping it. Raises ExportError."""
    found = interchange(study, what, "jsonl", asked)
    for _ in found.pieces:
        pass
    return found.note()


def note_json(note: Mapping[str, Any]) -> bytes:
    """A note as a small file."""
    return f"{json.dumps(note, ensure_ascii=False, indent=2)}\n".encode()


def leaderboard_pieces(study: Study, form: str, asked: Mapping[str, str]) -> Iterator[bytes]:
    """The newest leaderboard as JSON by category and contestant, or as a table. Raises ExportError."""
    _check("leaderboard", form)
    _, found = catalogue.leaderboard(study, asked)
    if form == JSON:
        return catalogue.text(found)
    return WRITERS[form](catalogue.LEADERBOARD, catalogue.rows(found))


def _check(what: str, form: str) -> None:
    if form not in OTHERS[what]:
        raise ExportError(f"There is no {what} as {form}; there is {', '.join(OTHERS[what])}.")
    check_form(form)
