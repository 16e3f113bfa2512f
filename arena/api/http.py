"""Strict JSON bodies and parameters, conditional replies, HEAD and errors of the API."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.http.response import ResponseHeaders
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers
from ninja.errors import ValidationError
from ninja.parser import Parser

Run = Callable[..., HttpResponseBase]
View = Callable[..., Any]


def conditional(run: Run) -> Run:
    """Give a reply an ETag of its content; 304 if the caller has it."""

    # Around the whole operation, so that callers without access learn nothing by guessing.
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


def without_others(view: View) -> View:
    """The view of an operation, which refuses parameters that it does not have or that are there twice.

    Without them the reply would be to something that nobody asked for.
    """
    models = view._ninja_operation.models  # type: ignore[attr-defined]
    known = {
        name
        for model in models
        if model.__ninja_param_source__ == "query"
        for name in model.__ninja_flatten_map__
    }

    @wraps(view)
    def checked(request: HttpRequest, **values: Any) -> Any:
        for name, given in request.GET.lists():
            if name not in known:
                there = f"; there are {', '.join(sorted(known))}" if known else ""
                raise _refused(name, f"no such parameter{there}")
            if len(given) > 1:
                raise _refused(name, "give this parameter once")
        return view(request, **values)

    return checked


def _refused(name: str, message: str) -> ValidationError:
    return ValidationError([{"loc": ["query", name[:100]], "msg": message}])


PREFIX: Final = "/api/"
LONGEST_ADDRESS: Final = 8000
SENTENCES: Final[Mapping[int, str]] = {
    400: "The request cannot be read.",
    405: "This address does not take the method; the header Allow names those that it takes.",
    414: f"An address may have at most {LONGEST_ADDRESS} characters.",
    500: "The arena failed here. Its log says why, under the id in the header X-Request-ID.",
}


class APIMiddleware:
    """Answers HEAD below PREFIX, which Ninja's router does not know, like GET, and every error with JSON."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        is_api = request.path_info.startswith(PREFIX)
        if is_api and request.method == "HEAD":
            request.method = "GET"
        if len(request.get_full_path()) > LONGEST_ADDRESS:
            response: HttpResponseBase = HttpResponse(SENTENCES[414], status=414, content_type="text/plain")
        else:
            response = self._get_response(request)
        status = response.status_code
        if not is_api or status < 400 or response["Content-Type"].startswith("application/json"):
            return response
        sentence = SENTENCES.get(status, f"{response.reason_phrase}.")
        told = JsonResponse({"detail": sentence, "field": None}, status=status)
        kept = {name: value for name, value in response.items() if name != "Content-Encoding"}
        length = {"Content-Length": str(len(told.content))}
        told.headers = ResponseHeaders({**kept, **told.headers, **length})
        return told


class UnreadableBodyError(Exception):
    """The body cannot be read; the message says why, ``status`` is the reply's."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class JSONParser(Parser):
    def parse_body(self, request: HttpRequest) -> Any:
        """The decoded body; raises UnreadableBodyError."""
        if request.content_type != "application/json":
            raise UnreadableBodyError("Send JSON, with Content-Type: application/json.", 415)
        try:
            return json.loads(request.body.decode(), object_pairs_hook=_without_doubles)
        except UnicodeDecodeError as error:
            raise UnreadableBodyError(f"The body is not UTF-8 (byte {error.start + 1}).") from error
        except json.JSONDecodeError as error:
            raise UnreadableBodyError(f"The body is no JSON: {error}.") from error
        except ValueError as error:
            raise UnreadableBodyError("The body holds a number of too many digits.") from error
        except RecursionError as error:
            raise UnreadableBodyError("The body is nested too deeply.") from error


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        times = Counter(name for name, _ in pairs)
        double = next(name for name in times if times[name] > 1)
        raise UnreadableBodyError(f'The body names "{double[:100]}" twice in one object.')
    return found
