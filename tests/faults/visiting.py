"""Visitors of a study with live battles, who know it by HTTP alone and note what every byte tells them.

A visitor does what the script of the page does: does the work that is asked, looks twice a second, goes on
when the arena is away, and sends a rating until it is taken.
"""

import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from email.message import Message
from hashlib import sha256
from html import unescape
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from tests.judging.battles.timing import Look

PAGE: Final = "/battle/live/"
EVERY, LONGEST = 0.5, 8.0
"""Seconds from one look to the next, and at most while the arena is away."""

PATIENCE: Final = 240.0
"""Seconds in which a request is answered and a battle ends; what takes longer is trouble."""

PLANS: Final = {"patient": 50, "hasty": 25, "curious": 10, "stopping": 10, "leaving": 5}
"""How many of a hundred battles a visitor rates once both have answered, rates early, and so on."""

GOING, ENDED = ("waiting", "answering"), ("voted", "void")
TASK: Final = re.compile(r'data-battle="([^"]+)" data-state="(\w+)" data-turn="(\d+)"')
SIDE: Final = re.compile(r'battle-answer"[^>]*>(.*?)</section>', re.DOTALL)
BLOCK: Final = re.compile(r'<div class="block">(.*?)</div>', re.DOTALL)
FIELD: Final = re.compile(r'name="(csrfmiddlewaretoken|token)" value="([^"]*)"')
BITS: Final = re.compile(r'data-bits="(\d+)"')
WHY: Final = re.compile(r'(?:notice|field)-(?:error|warn)"[^>]*>([^<]+)</p>')
NAME: Final = re.compile(r"Answer [AB]: ([^<]+)")
TAG: Final = re.compile(r"<[^>]+>")


@dataclass(frozen=True)
class Watched:
    """Where visitors go until ``over`` is there, and what they watch for.

    ``secrets``: not to be known before a vote. ``stopped``: a word of answers that is never to be seen.
    ``blocked``: one that prompts have now and then.
    """

    url: str
    over: Path
    secrets: Sequence[str]
    stopped: str
    blocked: str


@dataclass
class Turn:
    """What was said, how much of both answers was seen at each look, and their last texts."""

    said: str
    looks: list[Look] = field(default_factory=list)
    texts: list[str] = field(default_factory=lambda: ["", ""])


@dataclass
class Seen:
    """A battle as its visitor saw it. ``vote``: once accepted. ``why``: how one without a vote ended."""

    name: str
    turns: list[Turn]
    vote: tuple[int | None, bool] | None = None
    told: list[str] = field(default_factory=list)
    why: str = ""
    is_hidden: bool = False  # without its texts, in the end


@dataclass
class Diary:
    """What a visitor has seen, and what should not have been."""

    battles: list[Seen] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)
    shortened: list[str] = field(default_factory=list)
    flagged: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    bytes: int = 0
    away: int = 0


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Message
    text: str


class AwayError(Exception):
    """The arena has not answered for as long as a visitor waits."""


def visit(watched: Watched, numbers: Sequence[int]) -> list[Diary]:
    """Visit as so many people at once, in threads of one process."""
    with ThreadPoolExecutor(len(numbers)) as pool:
        return list(pool.map(lambda number: Visitor(watched, number).run(), numbers))


def proof(token: str, bits: int) -> str:
    """Find what makes the digest of the token begin with so many bits of zero."""
    digests = ((n, sha256(f"{token}:{n}".encode()).digest()) for n in count())
    return str(next(n for n, digest in digests if int.from_bytes(digest) >> (256 - bits) == 0))


class Browser:
    """A browser without an account at an address of its own, of which all that comes is watched."""

    def __init__(self, watched: Watched, number: int, diary: Diary) -> None:
        self._address, self._source = (
            urlsplit(watched.url).netloc,
            f"127.0.{1 + number // 250}.{number % 250 + 1}",
        )
        self._connection: HTTPConnection | None = None
        self._cookies: dict[str, str] = {}
        self._diary, self._stopped = diary, watched.stopped.casefold()
        self._secrets = re.compile("|".join(map(re.escape, watched.secrets)), re.IGNORECASE)
        self.is_blind = True

    def get(self, path: str, **headers: str) -> Reply:
        return self._ask("GET", path, None, headers)

    def post(self, path: str, form: dict[str, Any], **headers: str) -> Reply:
        return self._ask("POST", path, urlencode(form), headers)

    def _ask(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> Reply:
        """Ask until the arena answers, as the script does."""
        deadline = time.monotonic() + PATIENCE
        for tries in count(1):
            try:
                reply = self._once(method, path, body, headers)
            except (OSError, HTTPException):
                self._connection = None
            else:
                if reply.status < 500:
                    return reply
            self._diary.away += 1
            if time.monotonic() > deadline:
                raise AwayError(f"no answer to {method} {path}")
            time.sleep(min(LONGEST, EVERY * 2**tries))
        raise AssertionError

    def _once(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> Reply:
        if self._connection is None:
            self._connection = HTTPConnection(self._address, timeout=60, source_address=(self._source, 0))
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items()), **headers}
        if body is not None:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        self._connection.request(method, path, body, sent)
        came = self._connection.getresponse()
        reply = Reply(came.status, came.headers, came.read().decode())
        for cookie in came.headers.get_all("Set-Cookie", []):
            name, _, value = cookie.partition(";")[0].partition("=")
            self._cookies[name] = value
        self.watch(path, came.headers.as_string(), reply.text)
        return reply

    def watch(self, *told: str) -> None:
        """Look for what must not be told in all that was: as it is, and as a page shows it."""
        self._diary.requests += 1
        self._diary.bytes += sum(map(len, told))
        shown = "\n".join([*told, unescape(TAG.sub("", told[-1]))])
        if self.is_blind and (found := self._secrets.search(shown)):
            self._diary.leaks.append(shown[max(found.start() - 80, 0) : found.end() + 80])
        if self._stopped in shown.casefold():
            self._diary.flagged.append(told[0])


class Visitor:
    """Begins battles and ends them, one way or another, until it is over."""

    def __init__(self, watched: Watched, number: int) -> None:
        self._watched, self._number, self._diary = watched, number, Diary()
        self._rng, self._asked = random.Random(number), count(1)
        self._browser = Browser(watched, number, self._diary)

    def run(self) -> Diary:
        while not self._watched.over.exists():
            try:
                self._battle()
            except AwayError as error:
                self._diary.troubles.append(str(error))
        return self._diary

    def _battle(self) -> None:
        self._browser.is_blind = True
        page = self._browser.get(f"{PAGE}?new=1").text
        said = self._prompt()
        if not TASK.search(page):
            reply = self._browser.post(f"{PAGE}start/", {**fields(page), "prompt": said, "consent": "1"})
            if reply.status != 302:
                self._refused(reply)
                return
            page = self._browser.get(PAGE).text
        if found := TASK.search(page):
            seen = Seen(found[1], [Turn(said)])
            self._diary.battles.append(seen)
            Sitting(self._browser, seen, self._diary, self._rng, self._prompt).follow(page)

    def _prompt(self) -> str:
        """Words that nobody else says; one in twenty is not let through."""
        bad = f" Why {self._watched.blocked.upper()}?" if self._rng.random() < 0.05 else ""
        return f"Visitor {self._number} asks {next(self._asked)} {self._rng.getrandbits(48):012x}.{bad}"

    def _refused(self, reply: Reply) -> None:
        found = WHY.search(reply.text)
        self._diary.refused[unescape(found[1]).strip() if found else f"status {reply.status}"] += 1
        time.sleep(1.0)


def fields(page: str) -> dict[str, str]:
    """The hidden fields of the page's form, with the work done that it asks for."""
    found = dict(FIELD.findall(page))
    bits = BITS.search(page)
    return {**found, "proof": proof(found["token"], int(bits[1]))} if bits else found


class Sitting:
    """The page of one battle, from its beginning to its end."""

    def __init__(
        self, browser: Browser, seen: Seen, diary: Diary, rng: random.Random, prompts: Callable[[], str]
    ) -> None:
        self._browser, self._seen, self._diary, self._rng = browser, seen, diary, rng
        self._prompts = prompts
        self._plan = rng.choices(list(PLANS), list(PLANS.values()))[0]
        self._blocks: list[list[str]] = [[], []]
        self._complete, self._can = (False, False), set[str]()
        self._state, self._mark, self._page = "", ("", ""), ""

    def follow(self, page: str) -> None:
        """Look at the battle, and do as planned, until it has ended."""
        deadline = time.monotonic() + PATIENCE
        self.load(page)
        while self._state not in ENDED and time.monotonic() < deadline:
            if self._acts() or (self._state in GOING and self._has_turned()):
                self.load(self._browser.get(PAGE).text)
            else:
                time.sleep(EVERY)
        if self._state not in ENDED:
            self._diary.troubles.append(f"battle {self._seen.name} is {self._state}")
            self._post("leave")
        elif self._state == "void":
            found = WHY.search(self._page)
            self._seen.why = unescape(found[1]) if found else "nothing was told"
        else:
            self._seen.told = NAME.findall(self._page)

    def load(self, page: str) -> None:
        """Take the page as it is loaded anew."""
        found = TASK.search(page)
        if found is None or found[1] != self._seen.name:
            self._diary.troubles.append(f"battle {self._seen.name} is gone")
            self._state = "void"
            return
        self._page, self._state, self._mark = page, found[2], ("", "")
        self._can = {"vote"} if "data-choices>" in page else set()
        self._can |= {"more"} if "data-further>" in page else set()
        shown = [BLOCK.findall(side) for side in SIDE.findall(page)]
        self._seen.is_hidden = not shown
        if shown:
            self._blocks = shown
            self._note()

    def _has_turned(self) -> bool:
        """Ask for news; True where the script would load the page anew."""
        a, b = map(len, self._blocks)
        asked = f"{PAGE}state/?{urlencode({'battle': self._seen.name, 'a': a, 'b': b})}"
        headers = {"If-None-Match": self._mark[1]} if self._mark[0] == asked else {}
        reply = self._browser.get(asked, **headers)
        if reply.status == 200:
            self._mark = (asked, reply.headers.get("ETag", ""))
            return self._shows(json.loads(reply.text))
        if reply.status == 304:
            self._note()
        return reply.status >= 400

    def _shows(self, told: dict[str, Any]) -> bool:
        if told["state"] in ENDED or told["turn"] != len(self._seen.turns):
            return True
        for held, news in zip(self._blocks, told["sides"], strict=True):
            held[news["from"] :] = news["blocks"]
        self._complete = tuple(news["complete"] for news in told["sides"])
        self._state, self._can = told["state"], set(told["can"])
        self._note()
        return False

    def _note(self) -> None:
        """Note what can be seen of both answers, of which nothing may have gone."""
        turn, texts = self._seen.turns[-1], [text_of(blocks) for blocks in self._blocks]
        for before, now in zip(turn.texts, texts, strict=True):
            if not now.startswith(before):
                self._diary.shortened.append(f"{self._seen.name} ({self._state}): {before!r} became {now!r}")
        turn.texts = texts
        if self._state not in ENDED:
            turn.looks.append(Look((len(texts[0]), len(texts[1])), self._complete))

    def _acts(self) -> bool:
        """Do what is planned, if the time for it has come; True if something was done."""
        is_ready = self._state == "ready"
        is_time = self._rng.random() < 0.2
        if self._plan == "leaving" and is_time:
            return self._post("leave")
        if self._plan == "stopping" and is_time and "stop" in self._can:
            self._plan = "patient"
            return self._post("stop")
        if self._plan == "curious" and is_ready and "more" in self._can:
            self._plan = "patient"
            return self._goes_on()
        if is_ready or (self._plan == "hasty" and is_time and "vote" in self._can):
            return self._vote()
        return False

    def _goes_on(self) -> bool:
        said = self._prompts()
        if self._post("more", prompt=said, turn=len(self._seen.turns)):
            self._seen.turns.append(Turn(said))
            self._blocks, self._complete = [[], []], (False, False)
        return True

    def _vote(self) -> bool:
        rating, neither = self._rng.randint(1, 8), self._rng.random() < 0.1
        form: dict[str, Any] = {"rating": rating, "turn": len(self._seen.turns)}
        if self._post("vote", **form, **({"neither": "1"} if neither else {})):
            self._browser.is_blind = False
            self._seen.vote = (rating, neither)
        return True

    def _post(self, action: str, **form: Any) -> bool:
        """Send a form of the page; False where it is refused."""
        sent = {**fields(self._page), "battle": self._seen.name, **form}
        reply = self._browser.post(f"{PAGE}{action}/", sent, Accept="application/json")
        if reply.status not in (200, 302, 409, 422):
            self._diary.troubles.append(f"{action}: status {reply.status}")
        return reply.status in (200, 302)


def text_of(blocks: Sequence[str]) -> str:
    """The text of an answer as it is read."""
    return "\n\n".join(unescape(TAG.sub("", each)).strip() for each in blocks)


def all_of(diaries: Sequence[Diary], kind: str) -> Iterator[Any]:
    """The notes of one kind of all visitors."""
    return (note for diary in diaries for note in getattr(diary, kind))
