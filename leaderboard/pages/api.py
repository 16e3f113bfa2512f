"""What the API's operations about studies share."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, TypeVar

from django.http import HttpRequest, HttpResponse
from ninja import Field, Router, Schema, Status
from ninja.decorators import decorate_view
from ninja.errors import HttpError
from ninja.pagination import LimitOffsetPagination

from arena.api.auth import caller_of
from arena.api.http import conditional
from arena.api.schemas import REFUSALS, ErrorOut, Name
from arena.models import Study
from arena.models.querysets import StudyQuerySet
from leaderboard.models import Snapshot
from leaderboard.pages.page import NoNumbersError, NotReadyError
from leaderboard.snapshots.settings import DECLARED, UnknownSettingError

Slug = Annotated[Name, Field(max_length=80)]
Run = TypeVar("Run", bound=Callable[..., Any])
Reply = TypeVar("Reply")

MISSING: Final[Mapping[int, Any]] = {404: ErrorOut}

COMPUTED: Final[Mapping[int, Any]] = {202: ErrorOut, 503: ErrorOut, **MISSING}
"""Replies of what may have to be computed first."""

_ALWAYS: Final[Mapping[int, Any]] = {304: None, 422: ErrorOut, **REFUSALS}


def reads(
    router: Router, path: str, summary: str, replies: Mapping[int, Any], *, unset: bool = True
) -> Callable[[Run], Run]:
    """A decorator that makes a function the GET of a path, without a token and with an ETag.

    ``replies`` are its own by status; with ``unset`` fields without a value are sent too.
    """

    def operation(run: Run) -> Run:
        made: Run = router.get(
            path,
            response={**replies, **_ALWAYS},
            summary=summary,
            exclude_unset=not unset,
            openapi_extra={"security": [{}]},
        )(decorate_view(conditional)(run))
        return made

    return operation


class Pages(LimitOffsetPagination):
    """limit and offset, no larger than every database can count to."""

    class Input(Schema):
        limit: int = Field(50, ge=1, le=100)
        offset: int = Field(0, ge=0, le=2**31 - 1)


def readable(request: HttpRequest) -> StudyQuerySet:
    return Study.objects.all() if caller_of(request).is_operator else Study.objects.public()


def study_of(request: HttpRequest, slug: str) -> Study:
    """Raises HttpError 404 where this caller may not read it."""
    study = readable(request).filter(slug=slug).first()
    if study is None:
        raise HttpError(404, f'Unknown study "{slug}".')
    return study


def snapshot_of(request: HttpRequest, snapshot_id: int) -> Snapshot:
    """Raises HttpError 404 where this caller may not read its study."""
    found = Snapshot.objects.select_related("study").filter(pk=snapshot_id, study__in=readable(request))
    snapshot = found.first()
    if snapshot is None:
        raise HttpError(404, f"Unknown snapshot {snapshot_id}.")
    return snapshot


def setting_field(name: str, help: str = "") -> Any:
    declared = DECLARED[name]
    return Field(None, max_length=declared.longest, description=help or declared.help)


class ComputedOut(Schema):
    """What every reply of numbers computed on demand says of itself."""

    study: str
    created_at: datetime
    watermark: str
    simulated: bool
    raters: str
    criterion: str | None
    ties: str
    category: str | None


def computed(response: HttpResponse, make: Callable[[], Reply]) -> Reply | Status[ErrorOut]:
    """What ``make`` gives, or when to ask again. Raises HttpError 404 for what is not there."""
    try:
        return make()
    except NotReadyError as error:
        response["Retry-After"] = str(error.pending.retry_after)
        return Status(error.status, ErrorOut(detail=str(error)))
    except (UnknownSettingError, NoNumbersError) as error:
        raise HttpError(404, str(error)) from error
