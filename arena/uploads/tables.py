"""An import report as rows for a page."""

from dataclasses import dataclass

from arena.transfer import ImportReport


@dataclass(frozen=True)
class Preview:
    """The first records of one kind: only columns in which something stands."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def previews(report: ImportReport) -> list[Preview]:
    """One table per kind of record."""
    return [_preview(kind, rows) for kind, rows in report.preview.items()]


def _caption(name: str) -> str:
    """A field's name as a heading: what stands under "turns" is nearly always one text."""
    return "text" if name == "turns" else name.replace("_", " ")


def _preview(kind: str, rows: list[dict[str, str]]) -> Preview:
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[row.get(name, "") for name in names] for row in rows]
    return Preview(kind.capitalize(), [_caption(name) for name in names], cells)
