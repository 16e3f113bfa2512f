"""Environment variables with keys."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase

from django.conf import settings

from arena.monitoring.redacting import keep_secret

NOT_FOR_JUDGES = frozenset(
    {"SECRET_KEY", "DATABASE_URL", "BROKER_URL", "REDIS_URL", "PGPASSWORD", "ARENA_TOKEN"}
)
"""A judge's endpoint must never be sent the value of one of them, nor of a variable that is a setting."""


SENDABLE = re.compile(r"[!-~]+")
"""Characters that a header can hold. A library that refuses a header may quote it, key and all."""


NO_KEY = "none"
"""Key that is sent to an endpoint that needs none."""


class KeyVariableError(Exception):
    """The message is a sentence and never holds the key."""


def check_key_variable(name: str) -> None:
    """Raise KeyVariableError for a variable whose value no endpoint may be sent."""
    if name.upper() in NOT_FOR_JUDGES | settings.OWN_VARIABLES:
        raise KeyVariableError(
            f"The variable {name} holds a secret of the arena itself and cannot be a judge's key."
        )
    if name and not any(fnmatchcase(name, allowed) for allowed in settings.JUDGE_KEYS):
        raise KeyVariableError(
            f"Keys of judges are in variables like {', '.join(settings.JUDGE_KEYS)}, not in {name}. The "
            "setting JUDGE_KEYS names more."
        )


def unset_key(name: str) -> str:
    return f"The environment variable {name} is not set where the arena runs. Set it and restart the arena."


def read_key(name: str, environment: Mapping[str, str]) -> str:
    """The key in this variable, NO_KEY without a variable, "" if it is not set; raises KeyVariableError."""
    if not name:
        return NO_KEY
    check_key_variable(name)
    key = environment.get(name, "")
    if key:
        check_sendable(name, key)
        keep_secret(key)
    return key


def check_sendable(name: str, key: str) -> None:
    """Raise KeyVariableError for a key that no header can hold, such as one with a line break."""
    if not SENDABLE.fullmatch(key):
        raise KeyVariableError(
            f"The value of {name} cannot be sent: it holds a line break, a space or another character that "
            "no key has."
        )
