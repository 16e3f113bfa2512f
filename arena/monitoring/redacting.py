"""Keeps secrets and answers out of what leaves the arena for its operators: logs and error reports."""

import json
import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from django.conf import settings

SHORTEST: Final = 8
"""Anything shorter may be an ordinary word; as the password of an address it is hidden all the same."""

HIDDEN: Final = "[hidden]"

_NAMES: Final = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|DSN)$")
"""Ends of the names of variables that hold a secret: among them the keys of judges."""

_FORMS: Final = re.compile(
    r"""(?P<before>
        Bearer\s+ (?=\S{8}) | ://[^/\s:@"']*: (?=[^@\s/"']+@)  # a token; a password in an address
        | /join/ (?=[\w-]{8}) | /key/ (?=[\w-]{8})             # links to join, and to set a password
        | \b(?:arena_|signed_) (?=[\w:.-]{40})                 # tokens of the arena
    )[^@\s/"',;)\]}]+""",
    re.VERBOSE,
)
_ROW: Final = re.compile(r"DETAIL:.*?(?=\n\nThe above exception|\n\nDuring handling|\Z)", re.DOTALL)
"""PostgreSQL's copy of a row that it refused, which may hold a text; it reaches to the end of the message."""

_kept: set[str] = set()


def keep_secret(value: str) -> None:
    """Hide this value from now on, such as a judge's key."""
    if len(value) >= SHORTEST and value not in _kept:
        _kept.add(value)
        _values.cache_clear()


def redact(text: str) -> str:
    """The text without secrets, and without rows of the database."""
    text = _FORMS.sub(lambda found: found["before"] + HIDDEN, _values().sub(HIDDEN, text))
    return _ROW.sub(f"DETAIL: {HIDDEN}", text) if "DETAIL:" in text else text


def redact_all(value: Any) -> Any:
    """The same for every text in lists and dictionaries."""
    return in_texts(value, redact)


def in_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Change every text in lists and dictionaries."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: in_texts(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [in_texts(each, change) for each in value]
    return value


@cache
def _values() -> re.Pattern[str]:
    """Matches every known secret, as it is and as JSON writes it."""
    values = {value for value in (*_of_this_process(), *_kept) if len(value) >= SHORTEST}
    written = values | {json.dumps(value)[1:-1] for value in values}
    longest_first = sorted(written, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")


def _of_this_process() -> Iterator[str]:
    yield settings.SECRET_KEY
    addresses = [settings.DATABASE_URL, settings.CELERY_BROKER_URL]
    for name, value in os.environ.items():
        if _NAMES.search(name):
            yield value
        if name.endswith("URL"):
            addresses.append(value)
    for address in addresses:
        try:
            password = urlsplit(address).password or ""
        except ValueError:
            continue
        yield password
        yield unquote(password)
