"""Error reports to a server that speaks Sentry's protocol, where SENTRY_DSN names one."""

from typing import TYPE_CHECKING

from django.conf import settings

from arena.monitoring.logs import current_request
from arena.monitoring.redacting import redact_all

if TYPE_CHECKING:
    from sentry_sdk.types import Event, Hint


def report_errors() -> None:
    """Report from now on whatever is logged as an error, without bodies, variables or people."""
    if not settings.SENTRY_DSN:
        return
    import sentry_sdk  # a quarter of a second that an arena without it does not spend
    from sentry_sdk.integrations.celery import CeleryIntegration
    from sentry_sdk.integrations.django import DjangoIntegration

    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        release=settings.VERSION,
        environment=settings.ARENA_ENV,
        send_default_pii=False,
        max_request_body_size="never",
        include_local_variables=False,
        before_send=_redacted,
        # Others would be found by what is installed, such as the one that records what models are asked.
        auto_enabling_integrations=False,
        integrations=[DjangoIntegration(), CeleryIntegration()],
    )


def _redacted(event: "Event", hint: "Hint") -> "Event":
    """The event without what may be personal or secret, and with the id that its lines in the log carry."""
    event.pop("user", None)
    request = event.get("request", {})
    for part in ("data", "cookies", "query_string", "env"):
        request.pop(part, None)
    if number := current_request():
        event.setdefault("tags", {})["request_id"] = number
    redacted: Event = redact_all(event)
    return redacted
