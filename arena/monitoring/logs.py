"""How lines of the log look: JSON in production, readable elsewhere, without secrets in both.

Every line written for a request or task carries its id.
"""

import logging
import os
import pwd
import re
import secrets
from typing import Any, Final

import structlog
from celery import Task, signals
from django.conf import settings
from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars, merge_contextvars
from structlog.stdlib import ProcessorFormatter
from structlog.typing import EventDict, WrappedLogger

from arena.monitoring.redacting import redact, redact_all
from arena.texts.visible import visible

REQUEST_ID: Final = re.compile(r"[\w.:-]{8,100}")
REFUSALS: Final = (PermissionDenied, SuspiciousOperation, BadRequest)
SERVICES: Final = {"serve", "worker"}
"""Commands that are the arena itself."""


def new_id() -> str:
    return secrets.token_hex(8)


def formatter() -> logging.Formatter:
    """What logging.config calls for the console."""
    tell_of_exceptions = structlog.processors.format_exc_info
    return ProcessorFormatter(
        foreign_pre_chain=[
            merge_contextvars,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.stdlib.ExtraAdder(allow=("view", "method", "status", "seconds")),
            structlog.processors.TimeStamper(fmt="iso", utc=True),
        ],
        processors=[
            ProcessorFormatter.remove_processors_meta,
            _brief,
            tell_of_exceptions,
            _redacted,
            *(_as_json() if settings.PRODUCTION else [_as_line]),
        ],
    )


def _brief(_: WrappedLogger, __: str, line: EventDict) -> EventDict:
    """A request that is refused is no defect: its line needs no traceback."""
    found = line.get("exc_info")
    if isinstance(found, tuple) and isinstance(found[1], REFUSALS):
        del line["exc_info"]
    return line


def _redacted(_: WrappedLogger, __: str, line: EventDict) -> EventDict:
    return {key: redact_all(value) for key, value in line.items()}


def _as_json() -> list[Any]:
    return [structlog.processors.EventRenamer("message"), structlog.processors.JSONRenderer(default=str)]


def _as_line(_: WrappedLogger, __: str, line: EventDict) -> str:
    exception = line.pop("exception", "")
    head = " ".join(str(line.pop(key)) for key in ("timestamp", "level", "logger"))
    said = f"{head}: {line.pop('event')}"
    rest = " ".join(f"{key}={value}" for key, value in line.items())
    return visible("\n".join(part for part in (f"{said} [{rest}]" if rest else said, exception) if part))


def begin_request(given: str) -> str:
    """The id of a request, in every line from now on: the one that a trusted proxy gave it, or a new one."""
    usable = settings.TRUSTED_PROXIES and REQUEST_ID.fullmatch(given)
    number = given if usable else new_id()
    clear_contextvars()
    bind_contextvars(request_id=redact(number))
    return number


def current_request() -> str:
    return str(get_contextvars().get("request_id", ""))


def begin_command(name: str = "") -> None:
    """Have lines say which command of manage.py wrote them, and which account of the machine gave it."""
    if name not in SERVICES:
        bind_contextvars(command=f"{_machine_account()}: manage.py {name[:50]}")


def pass_on_command(command: str) -> None:
    """Have this request count as a part of a command that sent it."""
    bind_contextvars(command=command)


def current_command() -> str:
    return str(get_contextvars().get("command", ""))


def _machine_account() -> str:
    """Who signed in to this machine, also behind sudo; else the account of this process."""
    try:
        return os.getlogin()
    except OSError:  # there is no terminal, as in a container or at night
        number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"account {number}"


def _send_id(headers: dict[str, Any], **_: Any) -> None:
    if number := current_request():
        headers["request_id"] = number


def _begin_task(task: Task, task_id: str, **_: Any) -> None:
    clear_contextvars()
    bind_contextvars(task=task.name, task_id=task_id)
    if number := getattr(task.request, "request_id", None):
        bind_contextvars(request_id=number)


def _end_task(**_: Any) -> None:
    clear_contextvars()


def connect() -> None:
    """Have tasks carry the id of the request that sent them."""
    signals.before_task_publish.connect(_send_id)
    signals.task_prerun.connect(_begin_task)
    signals.task_postrun.connect(_end_task)
