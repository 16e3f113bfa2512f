"""Reading the body of a request: JSON in UTF-8, and nothing that two readers could understand differently."""

import json
from typing import Any

from django.http import HttpRequest
from ninja.parser import Parser


class UnreadableBodyError(Exception):
    """The body cannot be read; the message is a sentence, status the reply's."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class JSONParser(Parser):
    """Django Ninja's parser, but strict, and with a sentence for whatever is wrong."""

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
        names = [name for name, _ in pairs]
        double = next(name for name in names if names.count(name) > 1)
        raise UnreadableBodyError(f'The body names "{double[:100]}" twice in one object.')
    return found
