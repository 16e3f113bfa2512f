"""Pages as a reader sees them: their sentences, and their tables with the rows as dictionaries."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

BLOCKS: Final = frozenset(
    [
        "p",
        "li",
        "h1",
        "h2",
        "h3",
        "h4",
        "dt",
        "dd",
        "figcaption",
        "summary",
        "caption",
        "legend",
        "label",
        "button",
        "th",
        "td",
        "div",
        "section",
        "header",
        "footer",
        "article",
        "fieldset",
        "form",
        "ul",
        "ol",
        "dl",
        "table",
        "tr",
        "details",
        "nav",
        "main",
        "body",
        "option",
        "select",
        "figure",
        "blockquote",
        "br",
    ]
)
SILENT: Final = frozenset(("script", "style", "template", "svg", "head", "select", "math"))
VOID: Final = frozenset(("br", "hr", "img", "input", "meta", "link", "col", "wbr", "source", "path"))


@dataclass
class Table:
    """A table under the heading or caption that precedes it."""

    title: str
    columns: list[str] = field(default_factory=list)
    rows: list[dict[str, str]] = field(default_factory=list)


class Page(HTMLParser):
    """What a page says: ``texts`` outside of tables, in their order, and ``tables``."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tables: list[Table] = []
        self._open: list[str] = []
        self._said: list[str] = []
        self._heading = ""
        self._row: list[str] = []
        self._is_head = False
        self.feed(source)
        self._end()

    @classmethod
    def plain(cls, text: str) -> Page:
        """What a command prints or an API answers: every line is a text."""
        page = cls("")
        page.texts = [line.strip() for line in text.splitlines() if line.strip()]
        return page

    @property
    def _silent(self) -> bool:
        return any(tag in SILENT for tag in self._open)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in BLOCKS:
            self._end()
        if tag not in VOID:
            self._open.append(tag)
        if tag == "table":
            self.tables.append(Table(self._heading))
        if tag == "tr":
            self._row, self._is_head = [], "thead" in self._open

    def handle_endtag(self, tag: str) -> None:
        if tag in BLOCKS:
            self._end()
        if tag in self._open:
            while self._open.pop() != tag:
                pass
        if tag == "tr" and self.tables:
            self._end_row()

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._said.append(data)

    def _end(self) -> None:
        """A block ends: its text is a cell, a heading, or something said."""
        text, self._said = " ".join("".join(self._said).split()), []
        if "table" in self._open and ("td" in self._open or "th" in self._open):
            if text and self._row and self._in_cell:
                self._row[-1] = f"{self._row[-1]} {text}".strip()
            elif self._open[-1] in ("td", "th") or text:
                self._row.append(text)
            self._in_cell = self._open[-1] not in ("td", "th")
            return
        if not text:
            return
        if self._open and self._open[-1] in ("h1", "h2", "h3", "h4", "caption", "summary", "figcaption"):
            self._heading = text
            if self.tables and "table" in self._open:
                self.tables[-1].title = text
        self.texts.append(text)

    _in_cell = False

    def _end_row(self) -> None:
        table = self.tables[-1]
        if self._is_head:
            table.columns = self._row
        elif table.columns:
            table.rows.append(dict(zip(table.columns, self._row, strict=False)))

    @property
    def sentences(self) -> list[str]:
        """Texts cut where a sentence ends."""
        return [each for text in self.texts for each in re.split(r"(?<=[.!?])\s+(?=[A-Z“])", text)]


def masked(sentence: str, names: dict[str, str]) -> str:
    """The sentence with every name and number replaced by what it is."""
    for name in sorted(names, key=len, reverse=True):
        sentence = sentence.replace(name, names[name])
    sentence = re.sub(r"\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d UTC", "DATE", sentence)
    return re.sub(r"[−+-]?\d[\d,.]*\d|\d", "#", sentence)
