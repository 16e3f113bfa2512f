"""Every address that a page leads to answers, to everybody; pages and figures take no text for markup."""

import copy
import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

import pytest
from django.db import connection
from django.test import Client
from django.urls import Resolver404

from tests.crawl.arena import STARTS, Arena, make_arena
from tests.crawl.walk import facets, walk

pytestmark = pytest.mark.django_db

FINE = {200, 202, 304}
IN_BETWEEN = ("rater", "operator")
"""From one board to the next go those who see least and most of them: visitor and staff."""
FOR_STAFF = ("/operate/trained/", "/operate/score/", "/operate/check/")
"""Operators' pages that staff alone go through; an operator sees the same ones of two other studies."""
OTHER_STUDIES = (*FOR_STAFF, "/studies/trained/", "/studies/score/", "/studies/check/")
"""Their views are those of the closed study and the open one: the second database is not asked again."""
FILES = 1_000_000
"""Of a longer reply only so many bytes are looked at."""


class Page(HTMLParser):
    """The links of a page, and what a hostile text would have made of it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.figures: list[str] = []
        self.harm: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "a" and "download" not in given:
            self.links.append(given.get("href", ""))
        if "data-figure" in given:
            self.figures.append(given["data-figure"])
        if given.get("src") == "x" or any(name.startswith("on") for name in given):
            self.harm.append(self.get_starttag_text() or tag)
        if given.get("href", "").startswith("javascript:"):
            self.harm.append(given["href"])


@pytest.fixture(scope="module")
def arena(shared_rows: None) -> Arena:
    return make_arena()


def check_figure(content: bytes) -> None:
    """Plotly's own schema accepts a figure, and no name in it is a tag of those that plotly reads."""
    import plotly.graph_objects as go

    drawn = painted(json.loads(content, parse_constant=pytest.fail))
    go.Figure(drawn["data"], drawn["layout"])
    assert not [text for text in strings(drawn) if "<img" in text or "<script" in text]


def painted(value: Any, key: str = "") -> Any:
    """The figure with colours in place of the names of CSS variables, as the page's script does."""
    if isinstance(value, dict):
        return {name: painted(entry, name) for name, entry in value.items()}
    if isinstance(value, list):
        return [painted(entry, key) for entry in value]
    is_variable = isinstance(value, str) and value.startswith("--") and key.endswith(("color", "colorscale"))
    return "#123456" if is_variable else value


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from strings(entry)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize(
    "role", ["visitor", "rater", "operator", pytest.param("staff", marks=pytest.mark.both_databases)]
)
def test_every_page_answers_and_escapes(arena: Arena, role: str) -> None:
    client = Client(raise_request_exception=True)
    if user := copy.deepcopy(arena.users[role]):
        client.force_login(user)

    figures: set[str] = set()

    def look(address: str) -> list[str]:
        reply = client.get(address, follow=True)
        waits = "Retry-After" in reply.headers  # until a worker has computed the numbers asked for
        fine = reply.status_code in FINE or waits or refused(address, reply.status_code)
        assert fine, f"{address}: {reply.status_code}"
        body = b"".join(reply.streaming_content) if reply.streaming else reply.content
        if not reply.headers["Content-Type"].startswith("text/html"):
            return []
        assert b"<script>window.hostile" not in body, address
        page = Page(body.decode()[:FILES])
        assert page.harm == [], address
        for figure in page.figures if role == "visitor" else ():
            drawn = client.get(urljoin(address, figure))
            assert drawn.status_code in FINE, figure
            if drawn.status_code == 200 and figure not in figures:
                check_figure(drawn.content)
                figures.add(figure)
        if role in IN_BETWEEN:
            left_out = ("?", "/studies/") if address.startswith("/studies/") else ()
            return [link for link in page.links if not link.startswith((*left_out, *FOR_STAFF))]
        if connection.vendor == "postgresql":
            return [link for link in page.links if not link.startswith(OTHER_STUDIES)]
        return page.links

    def refused(address: str, status: int) -> bool:
        """Starts that this role may not see say so."""
        return address in STARTS and status == 403

    seen = walk(STARTS, look)
    assert len(seen) > 20
    assert role != "visitor" or len(figures) > 20


def test_facets_of_an_address() -> None:
    board, sorted_board = facets("/studies/a/"), facets("/studies/a/?sort=name&raters=people")
    assert board < sorted_board
    assert len(sorted_board) == 3
    assert not board & facets("/studies/b/")
    with pytest.raises(Resolver404):
        facets("/nowhere/")
