"""Serves Plotly's browser file from the installed wheel."""

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

FILE: Final = "plotly.min.js"
PREFIX: Final = "vendor/plotly"


class PlotlyFinder(BaseFinder):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Looked up without importing plotly, which takes half a second.
        spec = find_spec("plotly")
        folders = list(spec.submodule_search_locations or ()) if spec else []
        self.folder = Path(folders[0]) / "package_data" if folders else None
        super().__init__(*args, **kwargs)

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        found = str(self.folder / FILE) if self.folder and path == f"{PREFIX}/{FILE}" else None
        if find_all:
            return [found] if found else []
        return found or []

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, Any]]:
        if self.folder:
            storage = FileSystemStorage(location=self.folder)
            storage.prefix = PREFIX  # type: ignore[attr-defined]
            yield FILE, storage
