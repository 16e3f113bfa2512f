"""Conditional answers of the API: 304 where the caller has what would be sent."""

import hashlib
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers

Run = Callable[..., HttpResponseBase]


def conditional(run: Run) -> Run:
    """Give the reply of an operation an ETag, the digest of its content; send 304 where the caller has it.

    It stands around the whole operation, so whoever may not read something learns nothing by guessing.
    """

    @wraps(run)
    def checked(request: HttpRequest, **values: Any) -> HttpResponseBase:
        response = run(request, **values)
        if response.status_code != 200 or not isinstance(response, HttpResponse):
            return response
        etag = '"' + hashlib.sha256(response.content).hexdigest()[:32] + '"'
        response["ETag"] = etag
        patch_cache_control(response, private=True, no_cache=True)
        patch_vary_headers(response, ["Authorization"])
        return get_conditional_response(request, etag=etag, response=response) or response

    return checked
