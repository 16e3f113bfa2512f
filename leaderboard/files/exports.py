"""What a study can be exported as: tables an import reads, its standings, and what other programs read."""

from leaderboard.files.interchange import (
    OTHERS,
    TYPES,
    Piecewise,
    interchange,
    leaderboard_pieces,
    note_json,
    note_of,
)
from leaderboard.files.tables import (
    ALL,
    RECORD,
    STANDINGS,
    check_form,
    counts,
    everything,
    file_name,
    note_on_old_texts,
    pieces,
    save_everything,
    standings,
    study_json,
    zipped,
)
from leaderboard.files.tables import WHAT as TABLE_NAMES
from leaderboard.files.wanted import ExportError, Wanted

WHAT = (*TABLE_NAMES, *OTHERS)
"""The names of what can be exported, one at a time."""

__all__ = [
    "ALL",
    "OTHERS",
    "RECORD",
    "STANDINGS",
    "TYPES",
    "WHAT",
    "ExportError",
    "Piecewise",
    "Wanted",
    "check_form",
    "counts",
    "everything",
    "file_name",
    "interchange",
    "leaderboard_pieces",
    "note_json",
    "note_of",
    "note_on_old_texts",
    "pieces",
    "save_everything",
    "standings",
    "study_json",
    "zipped",
]
