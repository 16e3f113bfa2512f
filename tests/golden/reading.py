"""The text of a page as a reader meets it: words, links, tables, and fields of forms with their values."""

import re
from html.parser import HTMLParser
from typing import Final

SILENT: Final = {"script", "style", "svg", "template", "head"}
INLINE: Final = re.compile(
    "a|abbr|b|bdi|bdo|br|button|cite|code|data|del|dfn|em|i|img|input|ins|kbd|label|mark|m[a-z]+|option|output"
    "|progress|q|s|samp|select|semantics|small|span|strong|sub|sup|td|th|textarea|time|u|var|wbr"
)
WIDTH: Final = 1500
HEADINGS: Final = {f"h{level}": "#" * level + " " for level in range(1, 7)}


def read_page(page: str) -> list[str]:
    """Lines of the title and of ``<main>``, or of a part of a page that has neither."""
    title = re.search(r"<title>(.*?)</title>", page, flags=re.DOTALL)
    main = re.search(r"<main.*</main>", page, flags=re.DOTALL)
    return [*([f"title: {' '.join(title[1].split())}"] if title else []), *_lines(main[0] if main else page)]


def read_frame(page: str) -> list[str]:
    """Lines of all that surrounds ``<main>``: header and footer."""
    return _lines(re.sub(r"<main.*</main>", "", page, flags=re.DOTALL))


def _lines(page: str) -> list[str]:
    reader = _Reader()
    reader.feed(page)
    reader.close()
    lines = [re.sub(r"\s+", " ", line).strip(" |") for line in "".join(reader.found).split("\n")]
    return [line if len(line) <= WIDTH else f"{line[:WIDTH]}… {len(line):,}" for line in lines if line]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._silent: list[str] = []
        self._links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: "" if value is None else value for name, value in attrs}
        if tag in SILENT:
            self._silent.append(tag)
        elif not self._silent:
            self._open(tag, given)

    def _open(self, tag: str, given: dict[str, str]) -> None:
        named = given.get("aria-label", "")
        match tag:
            case "a":
                self._links.append(given.get("href", ""))
                self._say(f"[{named and f'{named}: '}")
            case "img":
                self._say(f"![{given.get('alt', '')}]")
            case "button":
                self._say(f" ({named and f'{named}: '}")
            case "input":
                self._say(_field(given))
            case "textarea":
                self._say(f" {{{given.get('name', '')}: ")
            case "select":
                self._say(f" {{{given.get('name', '')}:{' any of' if 'multiple' in given else ''}")
            case "option":
                self._say(f" {'*' if 'selected' in given else ''}{given.get('value', '')}=")
            case "td" | "th":
                self._say(" | ")
            case "form":
                self._say(f"\nform {given.get('method', 'get').lower()} {given.get('action', '')}\n")
            case _ if not INLINE.fullmatch(tag):
                self._say("\n" + HEADINGS.get(tag, "- " if tag == "li" else ""))

    def handle_endtag(self, tag: str) -> None:
        if self._silent:
            if tag == self._silent[-1]:
                self._silent.pop()
            return
        match tag:
            case "a":
                self._say(f"]({self._links.pop() if self._links else ''})")
            case "button":
                self._say(")")
            case "textarea" | "select":
                self._say("}")
            case _ if not INLINE.fullmatch(tag):
                self._say("\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._say(re.sub(r"\s+", " ", data))

    def _say(self, text: str) -> None:
        self.found.append(text)


def _field(given: dict[str, str]) -> str:
    """An input: its name and value, ticked or not; a token that is drawn anew for each page is left out."""
    name, kind, value = given.get("name", ""), given.get("type", "text"), given.get("value", "")
    if name == "csrfmiddlewaretoken":
        return ""
    if kind in ("checkbox", "radio"):
        return f" {{{'x' if 'checked' in given else ' '} {name}={value}}}"
    return f" {{{name}: {kind} {value}}}"
