"""The database side of import."""

from arena.transfer.imports import (
    InvalidStudyError,
    check_slug,
    import_files,
    import_records,
)
from arena.transfer.report import Counts, ImportReport, Missing

__all__ = [
    "Counts",
    "ImportReport",
    "InvalidStudyError",
    "Missing",
    "check_slug",
    "import_files",
    "import_records",
]
