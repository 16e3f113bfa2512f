"""How far the numbers of a setting are that somebody waits for: asked again and again by their page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from leaderboard.board import contents as board_contents
from leaderboard.board.setting import UnknownSettingError, parse
from leaderboard.board.switches import words
from leaderboard.models import Snapshot
from leaderboard.pages.shell import visible


@never_cache
@require_safe
def state(request: HttpRequest, slug: str) -> HttpResponse:
    """Nothing where nothing happened, the new state in words, or a word to the page to show the numbers.

    ``shown`` in the address is the state that the page shows. A browser without htmx is sent to the board.
    """
    study = visible(request, slug)
    if not request.headers.get("HX-Request"):
        query = request.GET.copy()
        query.pop("shown", None)
        return redirect(f"{study.get_absolute_url()}?{query.urlencode()}")
    snapshot = Snapshot.objects.newest(study)
    try:
        setting = parse(request.GET, snapshot.counts) if snapshot else None
    except UnknownSettingError:  # of the snapshot that came meanwhile; the board says so
        setting = None
    found = board_contents.find(snapshot, setting) if snapshot and setting else None
    if (
        snapshot is None
        or setting is None
        or found is None
        or found.pending is None
        or not found.pending.is_coming
    ):
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    if found.pending.state == request.GET.get("shown"):
        return HttpResponse(status=204)
    context = {
        "study": study,
        "pending": found.pending,
        "setting": words(setting, snapshot.counts),
        "query": setting.query(),
    }
    return render(request, "leaderboard/_computing.html", context)
