"""Lines of the log: an id in each, as JSON in production, and no secret or answer in any."""

import json
import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.exceptions import DisallowedHost, PermissionDenied
from django.db import IntegrityError
from structlog.contextvars import clear_contextvars

from arena.api.auth import SIGNED_PREFIX, STORED_PREFIX
from arena.monitoring import logs, redacting
from judging.endpoints.keys import read_key

logger = logging.getLogger("tests.logs")
Line = Callable[..., str]


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(redacting, "_kept", set())
    redacting._values.cache_clear()
    clear_contextvars()
    yield
    clear_contextvars()
    redacting._values.cache_clear()


@pytest.fixture
def line(settings: Any) -> Line:
    """What the console would show for a record."""

    def formatted(text: str, *args: Any, error: Exception | None = None, production: bool = True) -> str:
        settings.PRODUCTION = production
        exc_info = (type(error), error, error.__traceback__) if error else None
        record = logger.makeRecord("tests.logs", logging.ERROR, "", 1, text, args, exc_info)
        return logs.formatter().format(record)

    return formatted


def test_production_writes_json(line: Line) -> None:
    logs.begin_request("")
    said = json.loads(line("%s of %s", 1, 2))
    assert (said["message"], said["level"], said["logger"]) == ("1 of 2", "error", "tests.logs")
    assert said["timestamp"].endswith("Z")
    assert said["request_id"] == logs.current_request() != ""


def test_elsewhere_lines_are_readable(line: Line) -> None:
    logs.begin_request("")
    written = line("What %s", "happened", error=ValueError("a reason"), production=False)
    first, *rest = written.splitlines()
    assert first.endswith(f"error tests.logs: What happened [request_id={logs.current_request()}]")
    assert rest[-1] == "ValueError: a reason"


@pytest.mark.parametrize("error", [PermissionDenied("no"), DisallowedHost("bad host")])
def test_a_refused_request_is_one_line(line: Line, error: Exception) -> None:
    assert len(line("Refused", error=error, production=False).splitlines()) == 1
    assert "exception" not in json.loads(line("Refused", error=error))


def test_a_line_steers_no_terminal(line: Line) -> None:
    assert r"a\u001b[2J" in line("a\x1b[2J", production=False)


SECRETS = {
    "SECRET_KEY": "the-secret-key-of-this-arena-0123",
    "METRICS_TOKEN": "the-token-of-metrics",
    "ARENA_TOKEN": "the-token-of-a-judge-worker",
    "OIDC_CLIENT_SECRET": "the-secret-of-a-provider",
    "SOME_API_KEY": 'a-judge\'s "key" \\ with quotes',
    "SENTRY_DSN": "https://public@errors.example.org/1",
    "DATABASE_URL": "postgresql://arena:database-password@db/arena",
    "BROKER_URL": "redis://:broker-password@cache:6379/0",
    "EMAIL_URL": "smtp://user:mail-pass%40word@mail",
}
HIDDEN = {
    **{name: value for name, value in SECRETS.items() if not name.endswith("_URL")},
    "password of the database": "database-password",
    "password of the broker": "broker-password",
    "password for mail": "mail-pass@word",
    "short password in an address": "redis://:pw-5x@cache",
    "token of the API": STORED_PREFIX + "x" * 43,
    "signed token": SIGNED_PREFIX + "eyJ1" * 10 + ":1abc:" + "y" * 43,
    "header": "Bearer abcdefghijkl",
    "invitation": "/join/0123456789abcdef/",
    "link for a password": "/account/password/reset/key/1-abcdefgh-0123/",
}


@pytest.mark.parametrize("production", [True, False])
@pytest.mark.parametrize("what", HIDDEN)
def test_no_secret_is_written(
    line: Line, settings: Any, monkeypatch: pytest.MonkeyPatch, what: str, production: bool
) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    settings.SECRET_KEY = SECRETS["SECRET_KEY"]
    value = HIDDEN[what]
    try:
        raise ValueError(f"in an exception: {value}")
    except ValueError as error:
        written = line("in %s", f"a line: {value}", error=error, production=production)
    bare = re.sub(r"^(Bearer |/join/|redis://:|.*/key/)|@cache$|/$", "", value)
    assert bare not in written
    assert json.dumps(bare)[1:-1] not in written
    assert written.count("[hidden]") >= 2


def test_a_key_of_a_judge_is_hidden_whatever_its_variable_is_called(line: Line, settings: Any) -> None:
    settings.JUDGE_KEYS = ["OF_MY_ENDPOINT"]
    assert read_key("OF_MY_ENDPOINT", {"OF_MY_ENDPOINT": "a-key-that-was-read"})
    assert "a-key-that-was-read" not in line("refused: a-key-that-was-read")


def test_no_row_of_the_database_is_written(line: Line) -> None:
    """PostgreSQL quotes the row that it refused, and so perhaps an answer."""
    try:
        raise IntegrityError(
            "null value violates a constraint\nDETAIL:  Failing row contains (1, An\n\nanswer)."
        )
    except IntegrityError as error:
        written = line("It failed", error=error)
    assert "answer" not in written
    assert "null value violates a constraint" in written


@pytest.mark.parametrize(
    ("proxies", "given", "is_taken"),
    [
        (1, "0123-of-a-proxy", True),
        (0, "0123-of-a-client", False),
        (1, "short", False),
        (1, "with\nline-breaks", False),
        (1, "x" * 101, False),
    ],
)
def test_an_id_is_taken_from_a_trusted_proxy_alone(
    settings: Any, proxies: int, given: str, is_taken: bool
) -> None:
    settings.TRUSTED_PROXIES = proxies
    assert (logs.begin_request(given) == given) is is_taken


@pytest.mark.django_db
def test_a_reply_says_its_id(client: Any, settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1
    assert client.get("/healthz", headers={"X-Request-ID": "0123456789"})["X-Request-ID"] == "0123456789"
    settings.TRUSTED_PROXIES = 0
    first, second = (client.get("/healthz", headers={"X-Request-ID": "0123456789"}) for _ in range(2))
    assert len({"0123456789", first["X-Request-ID"], second["X-Request-ID"]}) == 3


def test_a_task_carries_the_id_of_the_request_that_sent_it(settings: Any) -> None:
    number = logs.begin_request("")
    headers: dict[str, Any] = {}
    logs._send_id(headers=headers)
    clear_contextvars()

    class Request:
        request_id = headers["request_id"]

    class Task:
        name, request = "a.task", Request()

    logs._begin_task(Task(), "42")  # type: ignore[arg-type]
    assert logs.current_request() == number
    logs._end_task()
    assert logs.current_request() == ""
