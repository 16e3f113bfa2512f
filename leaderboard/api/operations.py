"""What all operations of this part of the API share: anybody may read, and what has not changed is 304."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from ninja import Router
from ninja.decorators import decorate_view

from arena.api.conditional import conditional
from arena.api.schemas import REFUSALS, ErrorOut

Run = TypeVar("Run", bound=Callable[..., Any])

MISSING: Final[Mapping[int, Any]] = {404: ErrorOut}
"""The reply where there is no such study, snapshot or number."""

_ALWAYS: Final[Mapping[int, Any]] = {304: None, 422: ErrorOut, **REFUSALS}
"""Nothing for whoever sends the ETag of what would be sent, and what any operation may refuse."""


def reads(
    router: Router, path: str, summary: str, replies: Mapping[int, Any], *, unset: bool = True
) -> Callable[[Run], Run]:
    """Make a function the operation that GET of a path calls; it needs no token, its replies have an ETag.

    ``replies`` are its own by status; ``unset``: whether fields without a value are sent.
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
