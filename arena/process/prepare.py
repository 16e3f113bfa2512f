"""Preparing an arena: tables, static files, a first study."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

from arena.models import Study


def prepare(say: Callable[[str], None]) -> None:
    """Bring a new or updated arena up to date; ``say`` receives lines for the operator."""
    call_command("migrate", verbosity=0, interactive=False)
    collect_static()
    if not Study.objects.exists():
        say("Loading the demo studies.")
        call_command("load_demo", verbosity=0)


def collect_static() -> None:
    """Collect the static files if one changed."""
    stamp = Path(settings.STATIC_ROOT) / ".collected"
    wanted = _static_fingerprint()
    if not stamp.exists() or stamp.read_text() != wanted:
        call_command("collectstatic", verbosity=0, interactive=False, clear=True)
        stamp.write_text(wanted)


def _static_fingerprint() -> str:
    """A digest of the path, size and time of every static file, and of how they are stored."""
    # The version as well: all files of an installed package may have one time.
    digest = hashlib.sha256(repr((settings.VERSION, settings.STORAGES["staticfiles"])).encode())
    for finder in get_finders():
        for path, storage in finder.list([]):
            file = Path(storage.path(path)).stat()
            digest.update(f"{path}:{file.st_size}:{file.st_mtime_ns}\n".encode())
    return digest.hexdigest()
