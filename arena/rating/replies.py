"""What the page's script is told: JSON about what became of what it sent, and the next pair as a fragment."""

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.template.loader import render_to_string

from arena.people.permissions import MemberRequest
from arena.rating.progress import Progress, progress

REFUSED = 409
"""Status of an answer that was not taken, and of a page that says why."""
INVALID = 422
"""Status of a form with something missing or wrong."""


def stored(request: MemberRequest, *, anew: bool, reveal: str = "") -> JsonResponse:
    """It was taken, now or when it was sent before."""
    return JsonResponse(
        {
            "status": "stored" if anew else "same",
            "detail": "",
            "progress": progress_now(request),
            "reveal": reveal or None,
        }
    )


def refused(detail: str, *, status: int = REFUSED, reopen: bool = False) -> JsonResponse:
    """It was not taken, and why. reopen: the pair has another answer, which its rater may change."""
    return JsonResponse({"status": "refused", "detail": detail, "reopen": reopen}, status=status)


def shown(
    request: HttpRequest, name: str, context: dict[str, Any], *, status: int = 200, detail: str = ""
) -> JsonResponse:
    """A part of the rating screen; assignment is that of the pair on it, if there is one."""
    task = context.get("task")
    return JsonResponse(
        {
            "status": "shown",
            "detail": detail,
            "assignment": task.public_id if task else "",
            "html": render_to_string(f"annotation/{name}.html", context, request),
        },
        status=status,
    )


def progress_now(request: MemberRequest) -> dict[str, Any]:
    """How far this person has come, in numbers and in words."""
    done: Progress = progress(request.rater, [request.study])[request.study.pk]
    words = render_to_string("annotation/_progress.html", {"progress": done})
    return {
        "rated": done.rated,
        "skipped": done.skipped,
        "left": done.left,
        "total": done.total,
        "text": words.strip(),
    }
