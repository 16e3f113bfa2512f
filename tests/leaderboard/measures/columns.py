"""Tables of a page by their headings; headings in two rows are read together."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

VOID: Final = frozenset(("br", "hr", "img", "input", "meta", "link", "col", "wbr", "source", "path"))


@dataclass
class Cell:
    """``note``: what stands below the number in smaller type."""

    is_head: bool
    is_number: bool
    across: int
    down: int
    text: str = ""
    note: str = ""


@dataclass
class Table:
    """A table with ``heads`` of one or two rows."""

    title: str = ""
    heads: list[list[Cell]] = field(default_factory=list)
    rows: list[list[Cell]] = field(default_factory=list)

    @property
    def columns(self) -> list[str]:
        """The heading of each column, "Over: under" where two rows share it."""
        if len(self.heads) < 2:
            return [cell.text for row in self.heads for cell in row]
        under = iter(self.heads[1])
        return [
            cell.text if cell.down > 1 else f"{cell.text}: {next(under).text}"
            for cell in self.heads[0]
            for _ in range(1 if cell.down > 1 else cell.across)
        ]

    @property
    def numeric(self) -> list[str]:
        """The headings of columns that hold numbers."""
        return [
            heading
            for place, heading in enumerate(self.columns)
            if any(row[place].is_number for row in self.rows if place < len(row))
        ]


class Tables(HTMLParser):
    """``tables`` of a page, and its ``links``."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tables: list[Table] = []
        self.links: list[str] = []
        self._open: list[tuple[str, str]] = []
        self._cell: Cell | None = None
        self.feed(source)

    def _inside(self, tag: str) -> bool:
        return any(each == tag for each, _ in self._open)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag not in VOID:
            self._open.append((tag, given.get("class", "")))
        if tag == "a" and "download" not in given:
            self.links.append(given.get("href", ""))
        links = [name for name in ("hx-get", "data-state") if name in given]
        self.links += [given[name] for name in links]
        if tag == "table":
            self.tables.append(Table())
        elif tag == "tr" and self.tables:
            (self.tables[-1].heads if self._inside("thead") else self.tables[-1].rows).append([])
        elif tag in ("td", "th") and self._inside("tr"):
            self._start(tag, given)

    def _start(self, tag: str, given: dict[str, str]) -> None:
        number = "num" in given.get("class", "").split()
        across, down = (int(given.get(name) or 1) for name in ("colspan", "rowspan"))
        self._cell = Cell(tag == "th", number, across, down)
        table = self.tables[-1]
        (table.heads if self._inside("thead") else table.rows)[-1].append(self._cell)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._cell = None
        if any(each == tag for each, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._inside("caption") and self.tables:
            self.tables[-1].title += data
        if self._cell is None or self._inside("svg"):
            return
        small = any(re.search(r"\b\w+-note\b|\bmuted\b|\borganisation\b", name) for _, name in self._open)
        if small:
            self._cell.note = " ".join(f"{self._cell.note} {data}".split())
        else:
            self._cell.text = " ".join(f"{self._cell.text} {data}".split())
