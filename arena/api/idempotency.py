"""The header Idempotency-Key: the reply to a request is kept for a day, and given again for the same request.

Refusals are not kept, as they changed nothing: the request may be repeated under its key.
"""

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from enum import Enum
from functools import wraps
from typing import Any, Final, TypeVar

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from arena.api.auth import Caller, Scope, caller_of
from arena.models import KeptReply

HEADER: Final = "Idempotency-Key"
SCOPES: Final = frozenset({Scope.OPERATE, Scope.RUNS})
METHODS: Final = frozenset({"POST", "PATCH"})
LONGEST: Final = 200
KEPT: Final = timedelta(hours=24)
PARAMETER: Final[dict[str, Any]] = {
    "in": "header",
    "name": HEADER,
    "required": False,
    "schema": {"type": "string", "pattern": f"^[!-~]{{1,{LONGEST}}}$"},
    "description": "Chosen by you, anew for each wish. If this request is sent again under it within "
    f"{KEPT // timedelta(hours=1)} hours, the first reply is given again and nothing is done twice.",
}
"""For the document of the API."""

OTHER: Final = "This key was used for another request. Choose a new key."
UNENDED: Final = (
    "A request with this key has begun and has no reply yet. If it does not get one, look at what it did "
    "before you use another key."
)
Operation = TypeVar("Operation", bound=Callable[..., Any])


class Keeping(Enum):
    """When a reply is kept: with the writes of the request in one transaction, or otherwise."""

    TOGETHER = "together"
    CLAIMED = "claimed"
    """The key is taken before anything is done and stays if the process ends: it may have cost money."""
    AFTER = "after"
    """The service makes nothing twice, and does its work outside transactions."""


def keeping(how: Keeping) -> Callable[[Operation], Operation]:
    """Mark an operation whose reply is not kept together with its writes."""

    def marked(operation: Operation) -> Operation:
        operation._keeping = how  # type: ignore[attr-defined]
        return operation

    return marked


def idempotent(api: NinjaAPI, view: Callable[..., Any]) -> Callable[..., Any]:
    """The view of an operation, which gives a kept reply again."""
    operation = view._ninja_operation.clone()  # type: ignore[attr-defined]
    operation.api = api
    keep = {Keeping.TOGETHER: _together, Keeping.CLAIMED: _claimed, Keeping.AFTER: _after}[
        getattr(view, "_keeping", Keeping.TOGETHER)
    ]

    @wraps(view)
    def checked(request: HttpRequest, **values: Any) -> Any:
        caller = caller_of(request)
        if HEADER not in request.headers or request.method not in METHODS or caller.asked not in SCOPES:
            return view(request, **values)

        def reply() -> HttpResponse:
            made = view(request, **values)
            found = operation._result_to_response(request, made, api.create_temporal_response(request))
            assert isinstance(found, HttpResponse)  # noqa: S101 - of JSON
            return found

        kept = KeptReply(caller=_name(caller), key=_key(request), digest=_digest(request))
        KeptReply.objects.filter(
            caller=kept.caller, key=kept.key, created_at__lt=timezone.now() - KEPT
        ).delete()
        return keep(kept, reply)

    return checked


def sweep(now: datetime | None = None) -> int:
    """Remove what was kept long enough; returns how many replies."""
    return KeptReply.objects.filter(created_at__lt=(now or timezone.now()) - KEPT).delete()[0]


def _name(caller: Caller) -> str:
    return f"account {caller.rater.user_id}" if caller.rater else "command"


def _key(request: HttpRequest) -> str:
    key = request.headers[HEADER]
    if not (0 < len(key) <= LONGEST and all("!" <= sign <= "~" for sign in key)):
        said = f"send 1 to {LONGEST} printable ASCII characters without blanks"
        raise ValidationError([{"loc": ["header", HEADER], "msg": said}])
    return key


def _digest(request: HttpRequest) -> str:
    said = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
    if request.content_type != "multipart/form-data":
        said.update(request.body)
        return said.hexdigest()
    said.update(repr(sorted(request.POST.lists())).encode())
    for name, files in sorted(request.FILES.lists()):
        for file in files:
            said.update(repr((name, file.name, file.size)).encode())
            for piece in file.chunks():
                said.update(piece)
            file.seek(0)
    return said.hexdigest()


def _together(kept: KeptReply, reply: Callable[[], HttpResponse]) -> HttpResponse:
    with transaction.atomic():
        # Of two at once the second waits here for the end of the first.
        row, is_new = _taken(kept)
        return _kept(row, reply()) if is_new else _again(row, kept)


def _claimed(kept: KeptReply, reply: Callable[[], HttpResponse]) -> HttpResponse:
    with transaction.atomic():
        row, is_new = _taken(kept)
    if not is_new:
        return _again(row, kept)
    try:
        return _kept(row, reply())
    except (HttpError, Http404):
        row.delete()
        raise


def _after(kept: KeptReply, reply: Callable[[], HttpResponse]) -> HttpResponse:
    row = KeptReply.objects.filter(caller=kept.caller, key=kept.key).first()
    if row:
        return _again(row, kept)
    response = reply()
    with transaction.atomic():
        row, is_new = _taken(kept)
        return _kept(row, response) if is_new else _again(row, kept)


def _taken(kept: KeptReply) -> tuple[KeptReply, bool]:
    return KeptReply.objects.get_or_create(caller=kept.caller, key=kept.key, defaults={"digest": kept.digest})


def _kept(row: KeptReply, response: HttpResponse) -> HttpResponse:
    """The reply, kept unless it is a refusal."""
    if response.status_code >= 400:
        row.delete()
        return response
    row.status, row.body = response.status_code, response.content.decode()
    row.save(update_fields=["status", "body"])
    return response


def _again(row: KeptReply, kept: KeptReply) -> HttpResponse:
    if row.digest != kept.digest:
        raise ValidationError([{"loc": ["header", HEADER], "msg": OTHER}])
    if row.status is None:
        raise HttpError(409, UNENDED)
    return HttpResponse(row.body, status=row.status, content_type="application/json; charset=utf-8")
