"""Names of environment variables that hold secrets of the arena itself. Pure."""

NOT_FOR_JUDGES = frozenset(
    {"SECRET_KEY", "DATABASE_URL", "BROKER_URL", "REDIS_URL", "PGPASSWORD", "ARENA_TOKEN"}
)
"""A judge's endpoint must never be sent the value of one of them."""


class KeyVariableError(Exception):
    """The variable must not be a judge's key; the message is a sentence."""


def check_key_variable(name: str) -> None:
    """Raise KeyVariableError for a secret of the arena itself: its value would go to the endpoint."""
    if name.upper() in NOT_FOR_JUDGES:
        raise KeyVariableError(
            f"The variable {name} holds a secret of the arena itself; it cannot be a judge's key."
        )
