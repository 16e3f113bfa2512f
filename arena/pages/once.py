"""Forms that make one thing for each time their page was shown, however often they are sent."""

import hashlib
from collections.abc import Callable
from typing import Final

from django.core.cache import cache
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

REMEMBERED: Final = 24 * 3600
"""Seconds in which the same form makes nothing more."""

_SHOWN: Final = "csrfmiddlewaretoken"
"""Masked anew each time that a form is shown, so it tells a second wish from a second click."""


def made_once(request: HttpRequest, make: Callable[[], HttpResponse]) -> HttpResponse:
    """The redirect that ``make`` returns; if the same form is sent again, the same without making anything.

    One transaction. Of two at the same moment the second waits for the first.
    """
    with transaction.atomic():
        if not request.POST.get(_SHOWN):
            return make()
        sent = repr((request.user.pk, request.path, sorted(request.POST.lists())))
        key = f"made-once:{hashlib.sha256(sent.encode()).hexdigest()}"
        if not cache.add(key, "", REMEMBERED):
            return redirect(cache.get(key) or request.path)
        response = make()
        cache.set(key, response["Location"], REMEMBERED)
        return response
