"""Reading the environment: what must be set, and the secret key of a local arena."""

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


class ImproperEnvironment(ImproperlyConfigured):
    """An environment variable is missing or has a value that cannot work."""


def require_in_production(*names: str) -> None:
    """Raise ImproperEnvironment naming every variable of ``names`` that is unset or empty."""
    missing = [name for name in names if not os.environ.get(name)]
    if missing:
        raise ImproperEnvironment(f"ARENA_ENV=production needs {', '.join(missing)} in the environment")


def local_secret_key(var_dir: Path) -> str:
    """The secret key of a local arena: made once, kept in ``var_dir`` readable by its owner alone."""
    path = var_dir / "secret_key"
    try:
        return path.read_text()
    except FileNotFoundError:
        pass
    var_dir.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # another process made it between the two calls
        return path.read_text()
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(50))
    return path.read_text()
