"""Locking out those who guess passwords, and nobody else.

Failures count for a name at an address, so that one person's do not lock out others at the same address, and
nobody elsewhere locks a person out. A browser that has signed in with the name before is known: its failures
count for itself, wherever it is. All unknown browsers together have so many guesses at a name in a day, which
keep out no known browser.
"""

import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessFailureLog
from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.crypto import salted_hmac

from arena.audit import signing_in

A_DAY: Final = timedelta(days=1)
GUESSES_A_DAY: Final = 100
"""At one name, by all browsers that are unknown to it."""

COOKIE: Final = "known-browser"
SALT: Final = "arena.people.locking_out"
A_YEAR: Final = 365 * 24 * 3600
MOST_NAMES: Final = 20  # whose people share a browser
LONGEST_NAME: Final = 150


class Handler(AxesDatabaseHandler):  # type: ignore[misc]
    """Axes with a limit per day, and without records that outlive their use."""

    def is_locked(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> bool:
        if super().is_locked(request, credentials):
            return True
        name = name_tried(credentials)
        recent = AccessFailureLog.objects.filter(username=name, attempt_time__gt=timezone.now() - A_DAY)
        return not _mark_of(request, name) and recent.count() >= GUESSES_A_DAY

    def user_login_failed(
        self, sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **kwargs: Any
    ) -> None:
        AccessFailureLog.objects.filter(attempt_time__lte=timezone.now() - A_DAY).delete()
        was_locked = getattr(request, "axes_locked_out", False)
        super().user_login_failed(sender, credentials, request, **kwargs)
        if not was_locked:  # else it would be recorded without end
            locked = getattr(request, "axes_locked_out", False)
            signing_in.failed(name_tried(credentials), locked_out=locked)

    def reset_attempts(self, *, username: str | None = None, **kwargs: Any) -> int:
        if username:
            AccessFailureLog.objects.filter(username=username).delete()
        return int(super().reset_attempts(username=username, **kwargs))


def name_tried(credentials: Mapping[str, Any] | None) -> str:
    return str((credentials or {}).get("username") or "")[:LONGEST_NAME]


def counted_for(request: HttpRequest, credentials: Mapping[str, Any] | None) -> str:
    """What failures are recorded under: the name, and the browser if the name knows it."""
    name = name_tried(credentials)
    mark = _mark_of(request, name)
    return f"{name} (browser {mark})" if mark else name


def counted_by(request: HttpRequest, credentials: Mapping[str, Any] | None = None) -> list[Any]:
    """What failures are counted by: a known browser alone, else name and address."""
    return ["username"] if _mark_of(request, name_tried(credentials)) else [["username", "ip_address"]]


def remember_browser(request: HttpRequest, response: HttpResponseBase, name: str) -> None:
    """Let the browser that has just signed in be known to this name."""
    known = _known(request)
    mark = known.pop(_hidden(name), None) or secrets.token_hex(8)
    known = dict(list(known.items())[-MOST_NAMES + 1 :]) | {_hidden(name): mark}
    response.set_cookie(
        COOKIE,
        signing.dumps(known, salt=SALT),
        max_age=A_YEAR,
        httponly=True,
        secure=settings.SESSION_COOKIE_SECURE,
        samesite="Lax",
    )


def _mark_of(request: HttpRequest, name: str) -> str:
    """What tells this browser from others that the name knows; "" if it is unknown."""
    return _known(request).get(_hidden(name), "")


def _known(request: HttpRequest) -> dict[str, str]:
    try:
        found = signing.loads(request.COOKIES.get(COOKIE, ""), salt=SALT, max_age=A_YEAR)
    except signing.BadSignature:
        return {}
    return dict(found)


def _hidden(name: str) -> str:
    """A name as the cookie has it: whoever uses the browser next reads no names."""
    return salted_hmac(SALT, name).hexdigest()[:16]
