"""What pages of a study share: permission, addresses, and 304 answers."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Protocol, TypeVar
from urllib.parse import urlencode
from zlib import crc32

from django.conf import settings
from django.db.models import Subquery
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.safestring import mark_safe
from django.views.decorators.http import condition, require_safe

from arena.models import Study
from arena.pages.permissions import Visitor, viewable
from arena.rating.publication import in_groups
from arena.texts import markdown
from leaderboard.models import Refresh, Snapshot
from leaderboard.pages.kept import MARKS, is_being_made
from leaderboard.pages.marks import Mark, marks_with
from leaderboard.pages.page import ElsewhereError, NoNumbersError, NotReadyError, Page, Panel, existing
from leaderboard.pages.switches import list_of
from leaderboard.pages.table_html import data_table
from leaderboard.snapshots import freshness
from leaderboard.snapshots.method_names import METHOD_NAMES
from leaderboard.snapshots.settings import MOST_LISTED, UnknownSettingError


class Reader(Protocol):
    """Makes the page for a request. Raises UnknownSettingError, Http404 or NoNumbersError."""

    def __call__(self, request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> Page: ...


View = Callable[..., HttpResponse]
Shown = TypeVar("Shown", bound=Page)


@dataclass(frozen=True)
class Published:
    """A study with its newest snapshot; ``behind`` counts comparisons added since.

    -1 says that something else changed. Readers who are not signed in are told that alone: their page is the
    same until the next snapshot.
    """

    study: Study
    snapshot: Snapshot | None
    behind: int
    refresh: Refresh | None

    @classmethod
    def of(cls, study: Study, user: Visitor, *, opens: bool = False) -> "Published":
        """``opens``: of the page that the newest tables are made for first."""
        snapshots = Snapshot.objects
        snapshot = snapshots.opened(study) if opens else snapshots.newest(study)
        if snapshot is None:
            return cls(study, None, 0, Refresh.objects.filter(study=study).first())
        if not user.is_authenticated:
            return cls(study, snapshot, -(study.revision != snapshot.revision), None)
        return cls(study, snapshot, freshness.behind(study, snapshot), None)


def routes(address: str, name: str, read: Reader, *beyond: Subquery, opens: bool = False) -> list[URLPattern]:
    """A page, its state, and its panels as table, CSV and Plotly's JSON.

    ``beyond`` is what the page shows besides what the marks of all pages tell. With ``opens`` the snapshot
    may be one that holds only what this page opens with.
    """

    def shown(answer: Callable[[HttpRequest, Page, Panel], HttpResponse]) -> View:
        return published(_panel_view(read, answer), *beyond, opens=opens)

    return [
        path(address, published(_page(read), *beyond, opens=opens), name=name),
        path(f"{address}computing/", published(_computing(read), opens=opens), name=f"{name}-computing"),
        path(f"{address}tables/<slug:panel>.csv", shown(_csv), name=f"{name}-csv"),
        path(f"{address}tables/<slug:panel>/", shown(_table), name=f"{name}-table"),
        path(f"{address}figures/<slug:panel>.json", shown(_figure), name=f"{name}-figure"),
    ]


def visible(request: HttpRequest, slug: str) -> Study:
    """The study, if this visitor may see it. Raises Http404."""
    return get_object_or_404(viewable(request.user), slug=slug)


def is_staff(request: HttpRequest) -> bool:
    return bool(request.user.is_authenticated and request.user.is_staff)


def described(study: Study) -> str:
    return _described(study.description) if study.description else ""


@lru_cache(maxsize=64)
def _described(description: str) -> str:
    return mark_safe(markdown.render(description))  # noqa: S308 - sanitised


def _page(read: Reader) -> View:
    def view(request: HttpRequest, now: Published, **place: Any) -> HttpResponse:
        context: dict[str, Any] = {"study": now.study, "description": described(now.study)}
        if now.snapshot is None:
            context |= {"refresh": now.refresh, "opening": Snapshot.objects.opened(now.study)}
            return render(request, "leaderboard/waiting.html", context)
        context |= {"snapshot": now.snapshot, "behind": now.behind}
        try:
            page = read(request, now.study, now.snapshot, **place)
            context["snapshot"] = page.snapshot  # an older one, where the newest does not hold the page yet
        except UnknownSettingError as error:
            context |= {"error": error, **_instead(error, now.snapshot, request.path)}
            return render(request, "leaderboard/unknown_setting.html", context, status=404)
        except ElsewhereError as error:
            return redirect(error.address)
        except NoNumbersError as error:
            context |= {"error": error, "in_groups": in_groups(now.study)}
            return render(request, "leaderboard/unrated.html", context)
        return _unless_pending(render(request, page.template, context | {"page": page}), page)

    return view


def _instead(error: UnknownSettingError, snapshot: Snapshot, path: str) -> dict[str, Any]:
    """What a reader can choose instead: a few links, or a list to pick from."""
    known = _choices(error, snapshot)
    if len(known) <= MOST_LISTED:
        return {
            "links": [(label, f"{path}?{urlencode({error.name: value})}") for value, label in known.items()]
        }
    picked = {"": "Choose one", **known}
    return {"lists": [list_of(error.name, error.name.capitalize(), picked, {}, address=path)]}


def _choices(error: UnknownSettingError, snapshot: Snapshot) -> dict[str, str]:
    """Labels of what a switch has by value; empty where each value would need others beside it."""
    raters = {choice["selector"]: choice["label"] for choice in snapshot.counts["raters"]}
    labels = METHOD_NAMES | raters
    linked = error.name in ("raters", "category", "criterion", "method", "ties")
    known = error.known if linked else ()
    return {value: labels.get(value, value) for value in known}


def _unless_pending(response: HttpResponse, page: Page) -> HttpResponse:
    if page.pending is not None:
        patch_cache_control(response, no_store=True)
        if page.pending.state == "crowded":
            response.status_code = 503
            response["Retry-After"] = str(page.pending.retry_after)
    return response


def _computing(read: Reader) -> View:
    """A view for a waiting page: reload, new state in words, or 204 where the state is still ``shown``."""

    def view(request: HttpRequest, now: Published, **place: Any) -> HttpResponse:
        query = request.GET.copy()
        shown = query.pop("shown", [""])[-1]
        if not request.headers.get("HX-Request"):
            return redirect(f"{request.path.removesuffix('computing/')}?{query.urlencode()}")
        try:
            page = read(request, now.study, now.snapshot, **place) if now.snapshot else None
        except (UnknownSettingError, NoNumbersError):  # of the snapshot that came meanwhile; the page says so
            page = None
        if page is None or page.pending is None or not page.pending.is_coming:
            response = HttpResponse(status=204, headers={"HX-Refresh": "true"})
        elif page.pending.state == shown:
            response = HttpResponse(status=204)
        else:
            response = render(request, "leaderboard/_computing.html", {"page": page})
        patch_cache_control(response, no_store=True)
        return response

    return view


def not_ready(error: NotReadyError) -> HttpResponse:
    response = JsonResponse({"detail": str(error)}, status=error.status)
    response["Retry-After"] = str(error.pending.retry_after)
    patch_cache_control(response, no_store=True)
    return response


def page_or_404(read: Callable[..., Shown], request: HttpRequest, now: Published, **place: Any) -> Shown:
    """The page for what is beside it. Raises Http404 where there is none."""
    try:
        return read(request, now.study, existing(now.snapshot), **place)
    except (UnknownSettingError, NoNumbersError) as error:
        raise Http404(str(error)) from error


def _panel_view(read: Reader, answer: Callable[[HttpRequest, Page, Panel], HttpResponse]) -> View:
    def view(request: HttpRequest, now: Published, panel: str, **place: Any) -> HttpResponse:
        page = page_or_404(read, request, now, **place)
        found = page.panel(panel)
        if found is None and page.pending is not None:
            return not_ready(NotReadyError(page.pending))
        if found is None:
            raise Http404("This page has no such table.")
        return answer(request, page, found)

    return view


def _csv(request: HttpRequest, page: Page, panel: Panel) -> HttpResponse:
    # The byte order mark makes spreadsheets read the names as UTF-8.
    response = HttpResponse("\ufeff" + panel.table.csv(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{page.study.slug}-{panel.name}.csv"'
    return response


def _table(request: HttpRequest, page: Page, panel: Panel) -> HttpResponse:
    if request.headers.get("HX-Request") == "true":
        return HttpResponse(data_table(panel))
    return render(request, "leaderboard/table.html", {"study": page.study, "page": page, "panel": panel})


def _figure(request: HttpRequest, page: Page, panel: Panel) -> HttpResponse:
    if panel.draw is None:
        raise Http404("This table has no figure.")
    return JsonResponse(panel.figure)


def published(view: View, *beyond: Subquery, opens: bool = False) -> View:
    """A view for those who may see the study; 304 where the browser has it, kept for everybody."""
    marks = marks_with(*beyond)

    def etag(request: HttpRequest, now: Published, **place: Any) -> str | None:
        if now.snapshot is None:  # the page tells how its computation goes
            return None
        return _etag(request, marks.of(now.study.slug), now.behind)

    conditional = condition(etag_func=etag)(view)

    def checked(request: HttpRequest, slug: str, **place: Any) -> HttpResponse:
        now = Published.of(visible(request, slug), request.user, opens=opens)
        answer = view if is_being_made(request) else conditional
        response: HttpResponse = answer(request, now=now, **place)
        if "no-store" in response.get("Cache-Control", ""):
            del response["ETag"]  # what it stands for is still to come
        patch_cache_control(response, private=True, no_cache=True)
        patch_vary_headers(response, ["Cookie", "HX-Request"])
        return response

    shown = require_safe(checked)
    MARKS[shown] = marks.for_everybody
    return shown


def _etag(request: HttpRequest, mark: Mark | None, behind: int) -> str:
    asker = (
        getattr(request.user, "pk", None),
        request.COOKIES.get(settings.CSRF_COOKIE_NAME),
        request.COOKIES.get("messages"),
        request.headers.get("HX-Request"),
    )
    facts = (_build(), request.get_full_path(), asker, mark, behind)
    return '"' + hashlib.sha256(repr(facts).encode()).hexdigest()[:32] + '"'


@cache
def _build() -> int:
    """A number that changes with an upgrade."""
    folders = (settings.BASE_DIR / name for name in ("leaderboard", "arena"))
    files = (path for folder in folders for path in folder.rglob("*.*") if path.suffix != ".pyc")
    # All files of an installed package may have one time.
    return max(path.stat().st_mtime_ns for path in files) + crc32(settings.VERSION.encode())


@require_safe
def status(request: HttpRequest, slug: str) -> HttpResponse:
    """Reloads a page that waits for a snapshot, ``complete`` or ``after`` the one it shows, once there is."""
    found = visible(request, slug)
    if not request.headers.get("HX-Request"):
        return redirect(found)
    response = HttpResponse(status=204)
    snapshots = Snapshot.objects
    newest = snapshots.newest(found) if "complete" in request.GET else snapshots.opened(found)
    if newest and str(newest.pk) != request.GET.get("after"):
        response["HX-Refresh"] = "true"
    return response
