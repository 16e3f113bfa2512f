"""The database side of import."""

from arena.transfer.imports import (
    Cancelled,
    InvalidStudyError,
    check_slug,
    import_files,
    import_records,
)
from arena.transfer.missing import Missing, MissingMatrix
from arena.transfer.report import Counts, ImportReport

__all__ = [
    "Cancelled",
    "Counts",
    "ImportReport",
    "InvalidStudyError",
    "Missing",
    "MissingMatrix",
    "check_slug",
    "import_files",
    "import_records",
]
