"""Preparing an arena: tables, static files, a first study, an operator."""

import hashlib
import secrets
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command, get_commands
from django.db import transaction

from arena.audit.recording import Kind, record
from arena.models import Study

OPERATOR = "operator"


def prepare(say: Callable[[str], None]) -> None:
    """Bring a new or updated arena up to date; ``say`` receives lines for the operator."""
    call_command("migrate", verbosity=0, interactive=False)
    collect_static()
    load_demo_into_empty_database(say)
    if get_user_model().objects.filter(is_superuser=True, is_active=True).exists():
        say("Sign in with your operator account; if its password is lost, run: make operator")
    else:
        say(sign_in_lines(renew_operator()))


def collect_static() -> bool:
    """Collect the static files if one changed; returns whether it did."""
    stamp = Path(settings.STATIC_ROOT) / ".collected"
    wanted = _static_fingerprint()
    if stamp.exists() and stamp.read_text() == wanted:
        return False
    call_command("collectstatic", verbosity=0, interactive=False, clear=True)
    stamp.write_text(wanted)
    return True


def _static_fingerprint() -> str:
    """A digest of the path, size and time of every static file, and of how they are stored."""
    digest = hashlib.sha256(repr(settings.STORAGES["staticfiles"]).encode())
    for finder in get_finders():
        for path, storage in finder.list([]):
            file = Path(storage.path(path)).stat()
            digest.update(f"{path}:{file.st_size}:{file.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def load_demo_into_empty_database(say: Callable[[str], None]) -> None:
    if not Study.objects.exists() and "load_demo" in get_commands():
        say("Loading the demo studies.")
        call_command("load_demo", verbosity=0)


def renew_operator() -> str:
    """Create the operator account or give it a new password, which is returned and kept only as a hash."""
    password = secrets.token_urlsafe(12)
    operator, _ = get_user_model().objects.get_or_create(username=OPERATOR)
    operator.is_staff = operator.is_superuser = operator.is_active = True
    operator.set_password(password)
    with transaction.atomic():
        operator.save()
        record(Kind.PASSWORD, None, "A new one, shown once.", account=operator)
    return password


def sign_in_lines(password: str) -> str:
    return (
        f"Sign in as {OPERATOR} with the password {password} (shown this once; make operator makes a new one)"
    )
