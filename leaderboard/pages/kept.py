"""Pages that are the same for everybody who is not signed in, kept as they were sent.

A view is kept that has a place in ``MARKS``. Each process has its own pages in memory; before one is sent
again, the database is asked whether its mark is still the same.
"""

from __future__ import annotations

import gzip
import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch
from django.utils.cache import get_conditional_response, patch_vary_headers

from arena.process.compressing import TEXTS
from leaderboard.pages.marks import Mark

MARKS: Final[dict[Callable[..., Any], Callable[..., Mark | None]]] = {}
"""What reads the mark of a view's page from its arguments; None where the page is not to be kept."""

SIGNS: Final = (settings.SESSION_COOKIE_NAME, "messages")
"""Cookies of those who have pages of their own."""

LONGEST_WAIT: Final = 10.0
"""Seconds to wait for another request that renders the same page."""

_AT_A_TIME: Final = 64
"""Locks for rendering; pages that share one wait for each other, which does no harm."""

OVERHEAD: Final = 2048
"""Bytes that a kept page takes besides its content and address."""

_LONGEST: Final = 2**22
"""Bytes of a page that is kept, before it is compressed."""

_WITHOUT_GAIN: Final = 200
"""Bytes below which compressing gains nothing, as GZipMiddleware has it."""


Place = tuple[str, ...]


@dataclass(frozen=True)
class Kept:
    """A page as it was sent, compressed where that gains something."""

    mark: Mark | None
    read: Callable[[], Mark | None]
    headers: dict[str, str]
    content: bytes = field(repr=False)
    is_zipped: bool
    view: ResolverMatch | None = None

    @classmethod
    def of(cls, request: HttpRequest, response: HttpResponse, making: Making) -> Kept:
        patch_vary_headers(response, ["Accept-Encoding"])
        content = response.content
        # Weak, because it stands for both encodings.
        response["ETag"] = f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'
        del response["Content-Length"]
        is_zipped = len(content) >= _WITHOUT_GAIN and response["Content-Type"].startswith(TEXTS)
        content = gzip.compress(content, mtime=0) if is_zipped else content
        headers = dict(response.items())
        return cls(making.mark, making.read, headers, content, is_zipped, request.resolver_match)

    def is_current(self) -> bool:
        return _read(self.read) == self.mark

    def answer(self, request: HttpRequest) -> HttpResponseBase:
        request.resolver_match = self.view  # for what counts requests by view
        content, headers = self.content, self.headers
        if self.is_zipped:
            if "gzip" in request.META.get("HTTP_ACCEPT_ENCODING", ""):
                headers = {**headers, "Content-Encoding": "gzip"}
            else:
                content = gzip.decompress(content)
        response = HttpResponse(content, headers={**headers, "Content-Length": str(len(content))})
        return get_conditional_response(request, etag=headers["ETag"], response=response) or response


class Pages:
    """Pages by place, the least recently read first, within a number of bytes."""

    def __init__(self, most: int) -> None:
        self.size = 0
        self._most = most
        self._pages: OrderedDict[Place, Kept] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._pages)

    def get(self, place: Place) -> Kept | None:
        with self._lock:
            page = self._pages.get(place)
            if page is not None:
                self._pages.move_to_end(place)
            return page

    def put(self, place: Place, page: Kept) -> None:
        with self._lock:
            if place in self._pages:
                self.size -= _size(place, self._pages.pop(place))
            self._pages[place] = page
            self.size += _size(place, page)
            while self.size > self._most:
                self.size -= _size(*self._pages.popitem(last=False))


def _size(place: Place, page: Kept) -> int:
    return len(page.content) + sum(map(len, place)) + OVERHEAD


@dataclass
class Making:
    """A page that this request renders, once it is known that its view is kept."""

    place: Place
    lock: Lock | None = None
    mark: Mark | None = None
    read: Callable[[], Mark | None] = lambda: None


class _Request(HttpRequest):
    making: Making | None


def is_being_made(request: HttpRequest) -> bool:
    """Whether the request renders a page that may be kept, whose ETag then comes of what it says."""
    making: Making | None = getattr(request, "making", None)
    return making is not None and making.mark is not None


class KeptPagesMiddleware:
    """Sends kept pages, and keeps those that views of MARKS render."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        if not settings.PAGE_CACHE_MB:
            raise MiddlewareNotUsed
        self._get_response = get_response
        # Addresses with a query have no end. They must not drive out those without.
        half = settings.PAGE_CACHE_MB * 2**20 // 2
        self._plain, self._asked = Pages(half), Pages(half)
        self._locks = tuple(Lock() for _ in range(_AT_A_TIME))

    def __call__(self, request: _Request) -> HttpResponseBase:
        request.making = None
        if not _is_for_everybody(request):
            return self._get_response(request)
        making = Making(_place(request))
        page = self._pages(request).get(making.place)
        if page is not None and page.is_current():
            return page.answer(request)
        request.making = making
        known = request.META.pop("HTTP_IF_NONE_MATCH", None)  # the whole page is needed to keep it
        try:
            response = self._get_response(request)
            if known is not None:
                request.META["HTTP_IF_NONE_MATCH"] = known
            return self._kept(request, making, response)
        finally:
            if making.lock is not None:
                making.lock.release()

    def process_view(
        self, request: _Request, view: Callable[..., Any], args: Any, place: dict[str, Any]
    ) -> HttpResponseBase | None:
        """Wait for whoever renders the same page; the page, if it is there then."""
        making, read = request.making, MARKS.get(view)
        if making is None or read is None:
            return None
        lock = self._locks[hash(making.place) % _AT_A_TIME]
        if lock.acquire(timeout=LONGEST_WAIT):
            making.lock = lock
        making.read = partial(read, **place)
        making.mark = _read(making.read)
        page = self._pages(request).get(making.place)
        if page is None or page.mark != making.mark:
            return None
        making.mark = None
        return page.answer(request)

    def _kept(self, request: HttpRequest, making: Making, response: HttpResponseBase) -> HttpResponseBase:
        """The response, kept if it may be."""
        if making.mark is None or not isinstance(response, HttpResponse) or not _may_be_kept(response):
            return response
        if _read(making.read) != making.mark:  # changed while it was rendered
            return response
        page = Kept.of(request, response, making)
        self._pages(request).put(making.place, page)
        return page.answer(request)

    def _pages(self, request: HttpRequest) -> Pages:
        return self._asked if request.META.get("QUERY_STRING") else self._plain


def _is_for_everybody(request: HttpRequest) -> bool:
    """Whether nothing tells who asks."""
    if request.method not in ("GET", "HEAD") or "HTTP_AUTHORIZATION" in request.META:
        return False
    if request.META.get("HTTP_HX_REQUEST", "true") != "true":
        return False
    return "HTTP_COOKIE" not in request.META or not any(name in request.COOKIES for name in SIGNS)


def _place(request: HttpRequest) -> Place:
    """All of a request that a page for everybody may depend on.

    The query as it was sent: bytes beyond ASCII are read otherwise than the same ones escaped twice.
    """
    sent = request.META
    part, query = sent.get("HTTP_HX_REQUEST", ""), sent.get("QUERY_STRING", "")
    return request.scheme or "", request.get_host(), request.path, query, part


def _may_be_kept(response: HttpResponse) -> bool:
    # A token of a form is sent as a cookie, too.
    if response.status_code != 200 or response.cookies or len(response.content) > _LONGEST:
        return False
    return "no-store" not in response.get("Cache-Control", "")


def _read(read: Callable[[], Mark | None]) -> Mark | None:
    """The mark; None where the database does not answer, of which the view will speak."""
    try:
        return read()
    except DatabaseError:
        return None
