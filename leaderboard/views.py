"""The public pages: studies, the board of one, and its numbers to take away."""

from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe

from arena import markdown
from arena.models import Study
from leaderboard import services
from leaderboard.board import Board, NoNumbersError
from leaderboard.cards import cards
from leaderboard.models import Refresh, Snapshot
from leaderboard.setting import UnknownSettingError, parse


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Public studies as cards; staff see the private ones too."""
    studies = Study.objects.all() if _is_staff(request) else Study.objects.public()
    return render(request, "leaderboard/home.html", {"cards": cards(studies)})


@require_safe
def methodology(request: HttpRequest) -> HttpResponse:
    """How the numbers are made, from the document that the tests check."""
    heading, _, text = (settings.BASE_DIR / "docs" / "methodology.md").read_text().partition("\n")
    html = mark_safe(markdown.render_document(text))  # noqa: S308 - sanitised
    title = heading.removeprefix("# ")
    return render(request, "leaderboard/methodology.html", {"title": title, "text": html})


@require_safe
def study(request: HttpRequest, slug: str) -> HttpResponse:
    """The board of one study."""
    found = _visible(request, slug)
    context: dict[str, Any] = {"study": found, "description": _description(found)}
    snapshot = Snapshot.objects.newest(found)
    if snapshot is None:
        state = Refresh.objects.filter(study=found).first()
        return render(request, "leaderboard/waiting.html", context | {"refresh": state})
    context |= {"snapshot": snapshot, "behind": services.behind(found, snapshot)}
    try:
        setting = parse(request.GET, snapshot.counts)
    except UnknownSettingError as error:
        return render(request, "leaderboard/unknown_setting.html", context | {"error": error}, status=404)
    if setting is None:
        return render(request, "leaderboard/unrated.html", context)
    return render(
        request, "leaderboard/study.html", context | {"board": Board.read(found, snapshot, setting)}
    )


@require_safe
def status(request: HttpRequest, slug: str) -> HttpResponse:
    """Asked again and again by a page that waits for its first snapshot: reloads it once there is one."""
    found = _visible(request, slug)
    if not request.headers.get("HX-Request"):
        return redirect(found)
    response = HttpResponse(status=204)
    if Snapshot.objects.newest(found):
        response["HX-Refresh"] = "true"
    return response


@require_safe
def table(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """The data table of one figure, on a page of its own or as a part of the board."""
    board = _board(request, slug)
    panel = board.panel(name)
    if panel is None:
        raise Http404("This board has no such table.")
    part = request.headers.get("HX-Request") == "true"
    template = "leaderboard/_data_table.html" if part else "leaderboard/table.html"
    return render(request, template, {"study": board.study, "board": board, "panel": panel})


@require_safe
def table_csv(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """The data table of one figure as CSV."""
    panel = _board(request, slug).panel(name)
    if panel is None:
        raise Http404("This board has no such table.")
    # The byte order mark makes spreadsheets read the names as UTF-8.
    response = HttpResponse("\ufeff" + panel.table.csv(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-{name}.csv"'
    return response


@require_safe
def standings_json(request: HttpRequest, slug: str) -> HttpResponse:
    """The standings of one setting as JSON, with the snapshot they belong to."""
    board = _board(request, slug)
    try:
        return JsonResponse(board.standings())
    except NoNumbersError as error:
        raise Http404(str(error)) from error


def _description(study: Study) -> str:
    """The study's description as sanitised HTML; empty where it has none."""
    return mark_safe(markdown.render(study.description)) if study.description else ""  # noqa: S308 - sanitised


def _is_staff(request: HttpRequest) -> bool:
    return bool(request.user.is_authenticated and request.user.is_staff)


def _visible(request: HttpRequest, slug: str) -> Study:
    """The study if this visitor may see its board; a private one does not exist for the public."""
    studies = Study.objects.all() if _is_staff(request) else Study.objects.public()
    return get_object_or_404(studies, slug=slug)


def _board(request: HttpRequest, slug: str) -> Board:
    """The board an address asks for; Http404 where there is none."""
    try:
        return Board.newest(_visible(request, slug), request.GET)
    except (UnknownSettingError, NoNumbersError) as error:
        raise Http404(str(error)) from error
