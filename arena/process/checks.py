"""System checks: operator mistakes reported at start, and before tables are made."""

from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connections
from django.db.migrations.loader import MigrationLoader
from kombu.transport import TRANSPORT_ALIASES

SETTINGS: Final = "settings"
"""The tag of checks of an operator's settings."""

SEVERAL_MIGRATIONS: Final = "a72d8362"
"""The last commit with the migrations that one of each app replaces."""


@register(SETTINGS)
def check_settings(**_: Any) -> list[CheckMessage]:
    found = [*_addresses(), *_work()]
    return [*found, *_production()] if settings.PRODUCTION else found


def _addresses() -> Iterator[CheckMessage]:
    url = urlsplit(settings.ARENA_URL)
    if url.scheme not in {"http", "https"} or not url.hostname:
        yield Error(
            f'ARENA_URL is "{settings.ARENA_URL}", which is no web address.',
            hint="Use the address at which workers reach the arena, such as http://127.0.0.1:8000.",
            id="arena.E001",
        )
    hint = "Name hosts, such as llm.example.org, or addresses, such as https://llm.example.org/v1."
    for each in settings.JUDGE_ENDPOINTS:
        if not _names_a_host(each):
            yield Error(f'JUDGE_ENDPOINTS holds "{each}", which is no host.', hint=hint, id="arena.E006")


def _names_a_host(entry: str) -> bool:
    try:
        url = urlsplit(entry if "://" in entry else f"https://{entry}")
        return url.scheme in {"http", "https"} and bool(url.hostname) and (url.port or 1) > 0
    except ValueError:
        return False


def _work() -> Iterator[CheckMessage]:
    scheme = settings.CELERY_BROKER_URL.partition("://")[0]
    if scheme.partition("+")[0] not in TRANSPORT_ALIASES:  # redis+socket:// names a Unix socket
        # The URL may hold a password, so the sentence shows its beginning alone.
        yield Error(
            f'BROKER_URL begins with "{scheme[:20]}", which is not a broker.',
            hint="Use memory:// or redis://host:port/0.",
            id="arena.E005",
        )
    if settings.EMBEDDED_WORKER and settings.WEB_WORKERS > 1:
        yield Error(
            "WEB_WORKERS is more than 1, but the broker lives in the memory of one process.",
            hint="Set BROKER_URL to a Redis server, or WEB_WORKERS=1.",
            id="arena.E002",
        )
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3") and not settings.EMBEDDED_WORKER:
        yield Warning(
            "The database is SQLite, but BROKER_URL invites workers of other processes and machines.",
            hint="Set DATABASE_URL to a PostgreSQL database that every worker reaches.",
            id="arena.W001",
        )


SHORTEST_KEY: Final = 32


def _production() -> Iterator[CheckMessage]:
    if len(settings.SECRET_KEY) < SHORTEST_KEY:
        yield Error(
            f"SECRET_KEY has {len(settings.SECRET_KEY)} characters; production needs {SHORTEST_KEY} "
            "that nobody can guess.",
            hint="Make one: python -c 'import secrets; print(secrets.token_urlsafe(50))'",
            id="arena.E004",
        )
    if settings.DEBUG:
        yield Warning("DEBUG is on in production: errors show settings and code.", id="arena.W002")
    if "*" in settings.ALLOWED_HOSTS:
        yield Warning("ALLOWED_HOSTS is *: anybody may make links with another host name.", id="arena.W003")
    if settings.SECURE_SSL_REDIRECT and settings.ARENA_URL.startswith("http://"):
        yield Warning(
            "ARENA_URL is plain HTTP, which this arena redirects: judges cannot submit.",
            hint="Set ARENA_URL to the https:// address, or SECURE_SSL_REDIRECT=false behind a proxy.",
            id="arena.W005",
        )
    if settings.EMBEDDED_WORKER:
        yield Warning(
            "BROKER_URL is in memory: one web process does all the work.",
            hint="Set BROKER_URL to a Redis server to add workers.",
            id="arena.W004",
        )


@register(Tags.database)
def check_tables(databases: Iterable[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Django itself passes over an app that has only some of the migrations which one replaces."""
    return [
        Error(
            "The database was made by an earlier version and lacks some of the tables that this one expects.",
            hint=f"Run {settings.COMMAND} migrate of the commit {SEVERAL_MIGRATIONS}, then that of this "
            "version. Or name an empty database in DATABASE_URL, or another folder in VAR_DIR.",
            id="arena.E007",
        )
        for alias in databases or ()
        if _stands_in_between(alias)
    ]


def _stands_in_between(alias: str) -> bool:
    loader = MigrationLoader(connections[alias])
    begun = {app for app, _ in loader.applied_migrations}
    return any(
        key[0] in begun and key not in loader.applied_migrations
        for key, migration in loader.replacements.items()
        if loader.disk_migrations.keys().isdisjoint(migration.replaces)
    )
