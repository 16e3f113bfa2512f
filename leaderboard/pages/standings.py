"""The leaderboard of a study."""

from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from arena.models import Study
from leaderboard.board.board import Board
from leaderboard.board.setting import UnknownSettingError
from leaderboard.board.standings_view import Asked
from leaderboard.models import Snapshot
from leaderboard.page import NoNumbersError, NotReadyError
from leaderboard.pages.shell import not_ready, visible


def read(request: HttpRequest, study: Study, snapshot: Snapshot, **place: Any) -> Board:
    """The board of the switches an address asks for."""
    board = Board.read(study, snapshot, Board.setting_for(request.GET, snapshot))
    return replace(board, asked=Asked.of(request.GET))


@require_safe
def standings_json(request: HttpRequest, slug: str) -> HttpResponse:
    """The standings of one setting as JSON, with the snapshot they belong to."""
    try:
        return JsonResponse(Board.newest(visible(request, slug), request.GET).standings())
    except NotReadyError as error:
        return not_ready(error)
    except (UnknownSettingError, NoNumbersError) as error:
        raise Http404(str(error)) from error
