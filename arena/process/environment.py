"""Reading the environment, and the values a local arena makes itself."""

import os
import secrets
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import dj_database_url
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, OperationalError, ProgrammingError
from environs import EnvError

WILDCARD_HOSTS = {"0.0.0.0", "::"}  # noqa: S104 - recognised here, not bound


class ImproperEnvironment(ImproperlyConfigured):
    """An environment variable is missing or wrong; the message is one sentence."""


UNUSABLE: Final = 3
"""Exit code where settings or database cannot be used."""


MISUSED: Final = 2
"""Exit code of a command that was not given what it takes, as argparse has it."""


def require_utf8(arguments: Sequence[str]) -> None:
    """Say in one sentence which argument is no text, and exit: no database and no page could hold it."""
    for number, argument in enumerate(arguments):
        try:
            argument.encode()
        except UnicodeEncodeError:
            sys.stderr.write(f"Argument {number} is not UTF-8: {argument!r}. Write or rename it in UTF-8.\n")
            sys.exit(MISUSED)


def load_settings() -> None:
    """Load the Django settings, or say in one sentence what is wrong and exit."""
    try:
        settings.configured or settings.DEBUG  # noqa: B018 - reading a setting loads them all
    except (ImproperEnvironment, EnvError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(UNUSABLE)


@contextmanager
def database_trouble(arguments: Sequence[str]) -> Iterator[None]:
    """Say in one sentence that a command cannot use the database, and exit; --traceback shows all."""
    try:
        yield
    except DatabaseError as error:
        # What else goes wrong with a database, such as a broken constraint, is a defect of ours.
        if "--traceback" in arguments or type(error) not in (
            DatabaseError,
            OperationalError,
            ProgrammingError,
        ):
            raise
        from arena.process.busy import disk_is_full  # settings import this module

        reason = (str(error).splitlines() or ["no reason given"])[0].rstrip(".")
        if disk_is_full(error):
            sys.stderr.write(f"The database has no room ({reason}). Free some, then run the command again.\n")
            sys.exit(UNUSABLE)
        sys.stderr.write(
            f"The database cannot be used ({reason}). Look at DATABASE_URL; {settings.COMMAND} migrate makes "
            "missing tables.\n"
        )
        sys.exit(UNUSABLE)


def require_in_production(*names: str) -> None:
    """Raise ImproperEnvironment naming every variable that is unset or empty."""
    missing = [name for name in names if not os.environ.get(name)]
    if missing:
        raise ImproperEnvironment(f"ARENA_ENV=production needs {', '.join(missing)} in the environment.")


def parse_database_url(url: str) -> dict[str, Any]:
    """Django's database settings for a URL; raises ImproperEnvironment, without the URL."""
    try:
        parsed: dict[str, Any] = dict(dj_database_url.parse(url))
    except ValueError:
        parsed = {}
    engine = parsed.get("ENGINE", "")
    if not parsed.get("NAME") or not engine.endswith(("sqlite3", "postgresql")):
        # The URL may hold a password, so the sentence shows the form and not the value.
        raise ImproperEnvironment(
            "DATABASE_URL must be sqlite:///path or postgresql://user:password@host:port/name."
        )
    return parsed


def mail_server(url: str) -> tuple[str, int, str, str, bool, bool]:
    """Host, port, user, password, STARTTLS and TLS of EMAIL_URL.

    Raises ImproperEnvironment, without the URL.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit("wrong:"), None
    usual = {"smtp": 25, "smtp+tls": 587, "smtps": 465}
    if url and (parts.scheme not in usual or not parts.hostname):
        # The URL may hold a password, so the sentence shows the form and not the value.
        raise ImproperEnvironment(
            "EMAIL_URL must be smtp+tls://user:password@host:587, smtps://user:password@host:465 or "
            "smtp://host:25."
        )
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    place = parts.hostname or "localhost", port or usual.get(parts.scheme, 25)
    return *place, user, password, parts.scheme == "smtp+tls", parts.scheme == "smtps"


OIDC_SETTINGS: Final = (
    *("server", "client_id", "client_secret", "name", "allowed_domains", "link_by_email", "staff_group"),
    *("groups_claim", "scopes"),
)


def openid_providers(read: Callable[[str], str]) -> list[dict[str, Any]]:
    """The providers of OIDC_SERVER, OIDC_2_SERVER and so on, as the library reads them."""
    found: list[dict[str, Any]] = []
    for number in count(1):
        prefix = "OIDC" if number == 1 else f"OIDC_{number}"
        given = {name: read(f"{prefix}_{name.upper()}").strip() for name in OIDC_SETTINGS}
        if not given["server"]:
            return found
        if not given["client_id"] or not given["server"].startswith(("https://", "http://")):
            raise ImproperEnvironment(
                f"{prefix}_SERVER must be the address of an OpenID Connect provider, with {prefix}_CLIENT_ID."
            )
        if given["link_by_email"].lower() not in ("", "true", "false"):
            raise ImproperEnvironment(f"{prefix}_LINK_BY_EMAIL must be true or false.")
        found.append(
            {
                "provider_id": prefix.lower(),
                "name": given["name"] or "single sign-on",
                "client_id": given["client_id"],
                "secret": given["client_secret"],
                "settings": {
                    "server_url": given["server"].rstrip("/"),
                    "email_authentication": given["link_by_email"].lower() == "true",
                    "domains": [each.strip().lower() for each in given["allowed_domains"].split(",") if each],
                    "staff_group": given["staff_group"],
                    "groups_claim": given["groups_claim"] or "groups",
                    "scope": given["scopes"].split() or ["openid", "profile", "email"],
                },
            }
        )
    raise AssertionError("counting ends")


BROKER_SECONDS: Final = 5.0
"""How long to wait for Redis: one that accepts connections and never answers would hold every request."""


def cache_for(broker_url: str) -> dict[str, Any]:
    """Django's cache settings: Redis if the broker is one, else this process's memory."""
    if broker_url.startswith(("redis://", "rediss://", "redis+socket://")):
        location = broker_url.replace("redis+socket://", "unix://", 1)
        return {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": location,
            "OPTIONS": {"socket_timeout": BROKER_SECONDS, "socket_connect_timeout": BROKER_SECONDS},
        }
    return {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}


def local_hosts(host: str) -> list[str]:
    """The names of an arena that binds ``host``; for a wildcard also this machine's name and addresses."""
    hosts = ["localhost", "127.0.0.1", "[::1]"]
    if host not in WILDCARD_HOSTS:
        return [*hosts, _bracketed(host)]
    name = socket.gethostname()
    try:
        addresses = {str(info[4][0]) for info in socket.getaddrinfo(name, None)}
    except OSError:
        addresses = set()
    return [*hosts, name, *sorted(_bracketed(address) for address in addresses)]


def public_url(allowed_hosts: Sequence[str]) -> str:
    """The address of an arena in production: the first of its hosts that is a whole name."""
    names = [host for host in allowed_hosts if not host.startswith((".", "*"))]
    return f"https://{names[0] if names else 'localhost'}"


def local_url(host: str, port: int) -> str:
    """The address at which this machine reaches the arena."""
    return f"http://{'127.0.0.1' if host in WILDCARD_HOSTS else _bracketed(host)}:{port}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def words(given: list[str]) -> list[str]:
    """The entries of a list without blanks around them."""
    return [each.strip() for each in given if each.strip()]


def local_secret_key(var_dir: Path) -> str:
    """The secret key of a local arena, made once and readable by its owner alone."""
    path = var_dir / "secret_key"
    try:
        return path.read_text()
    except FileNotFoundError:
        pass
    draft = var_dir / f".secret_key.{os.getpid()}.{secrets.token_hex(4)}"
    try:
        var_dir.mkdir(mode=0o700, parents=True, exist_ok=True)  # the database of a local arena will be there
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise ImproperEnvironment(
            f"Cannot write to {var_dir} ({error.strerror}); name a writable folder in VAR_DIR."
        ) from error
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(50))
    try:
        os.link(draft, path)  # complete or not there at all, and never over another process's key
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return path.read_text()
