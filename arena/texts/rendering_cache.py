"""Rendered texts, stored by digest and version of the renderer. Each process keeps some of them."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from hashlib import sha256
from threading import Lock
from typing import Final

from django.db import connection
from django.utils.safestring import SafeString, mark_safe

from arena.models import Rendering
from arena.models.compiled import CompiledFor, given
from arena.texts import markdown

MOST_KEPT: Final = 4_000_000  # characters of HTML


class Kept:
    """HTML by digest, in the place of what was kept longest."""

    def __init__(self) -> None:
        self._html: OrderedDict[str, str] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def of(self, digests: Iterable[str]) -> dict[str, str]:
        return {each: html for each in digests if (html := self._html.get(each)) is not None}

    def add(self, html: Mapping[str, str]) -> None:
        with self._lock:
            new = {digest: text for digest, text in html.items() if digest not in self._html}
            self._html |= new
            self._size += sum(map(len, new.values()))
            while self._size > MOST_KEPT:
                self._size -= len(self._html.popitem(last=False)[1])


kept = Kept()


def rendered(texts: Iterable[str]) -> dict[str, SafeString]:
    """The sanitised HTML of each Markdown text, by text; renders and stores what is new."""
    by_digest = {sha256(text.encode("utf-8", "replace")).hexdigest(): text for text in texts}
    html = kept.of(by_digest)
    if len(html) < len(by_digest):
        html |= _stored({digest: text for digest, text in by_digest.items() if digest not in html})
    return {text: mark_safe(html[digest]) for digest, text in by_digest.items()}  # noqa: S308 - sanitised


def _stored(texts: Mapping[str, str]) -> dict[str, str]:
    html = {row.digest: row.html for row in _STORED(texts, renderer=markdown.RENDERER)}
    missing = {digest: markdown.render(text) for digest, text in texts.items() if digest not in html}
    _store(missing)
    kept.add(html | missing)
    return html | missing


_STORED: Final = CompiledFor(
    lambda digests: Rendering.objects.filter(digest__in=digests, renderer=given("renderer"))
)


def _store(html: Mapping[str, str]) -> None:
    """Store what nobody has stored meanwhile. One statement, which needs no transaction of its own."""
    if not html:
        return
    places = ", ".join(["(%s, %s, %s)"] * len(html))
    # Sorted by digest, so that two pages storing the same texts lock them in the same order.
    rows = [each for digest, new in sorted(html.items()) for each in (digest, markdown.RENDERER, new)]
    with connection.cursor() as cursor:
        cursor.execute(f"{_INTO} VALUES {places} ON CONFLICT DO NOTHING", rows)


_INTO: Final = "INSERT INTO arena_rendering (digest, renderer, html)"
