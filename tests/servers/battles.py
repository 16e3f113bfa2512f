"""Battles over HTTP, as a browser without scripts plays them."""

import re
import time
import urllib.request
from http.cookiejar import CookieJar
from typing import Final
from urllib.parse import urlencode

from tests.faults.evidence import Line
from tests.faults.places import Embedded
from tests.waiting import eventually

BATTLES: Final = 4
PATIENCE: Final = 120.0  # seconds for both answers
SYSTEM: Final = "Write sentences."
"""By which a model of these tests knows that no rating is wanted."""

SEED: Final = """
from tests.factories import make_battle_rules
live = make_study(slug="live", visibility="public")
asked.pop("max_tokens")
authors = [make_author(contestant=make_contestant(study=live, name=name), **asked) for name in ("One", "Two")]
make_battle_rules(study=live, authors=authors, system={system!r}, temperature=1.0, max_tokens=100)
"""


class Visitor:
    """A browser with cookies of its own."""

    def __init__(self, arena: Embedded) -> None:
        self._page = f"{arena.url}/battle/live/"
        self._browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))

    def read(self) -> str:
        return str(self._browser.open(self._page).read().decode())

    def send(self, form: str, **fields: str) -> str:
        """Send a form of the page, with what it hides; the page after it."""
        page = self.read()
        hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page))
        sent = urlencode(hidden | fields).encode()
        return str(self._browser.open(f"{self._page}{form}/", sent).read().decode())


def play(arena: Embedded) -> list[Line]:
    """Play battles one after the other, and tell what came of them."""
    started = time.monotonic()
    for number in range(1, BATTLES + 1):
        _play(Visitor(arena), number)
    seconds = time.monotonic() - started
    rated = states(arena).count("voted")
    told = [text for (text,) in arena.query("SELECT shown FROM judging_battlecall WHERE is_current")]
    sentences = sum("." in text for text in told)
    return [
        Line("battles rated", f"{rated} of {BATTLES} in {seconds:.0f} s", rated == BATTLES),
        Line("their answers with a sentence", f"{sentences} of {len(told)}", sentences == 2 * BATTLES),
        Line("one of them", max(told, key=len, default="")[:60]),
    ]


def _play(visitor: Visitor, number: int) -> None:
    """Ask, wait until both have answered, and rate; a battle that is void ends so."""
    visitor.send("start", prompt=f"Why is the sky blue, number {number}?", consent="1")
    ended = re.compile('data-state="(ready|void)"')
    eventually(lambda: ended.search(visitor.read()), PATIENCE, 0.5)
    if 'data-state="ready"' in visitor.read():
        visitor.send("vote", rating=str(number))


def states(arena: Embedded) -> list[str]:
    return [state for (state,) in arena.query("SELECT state FROM judging_battle")]
