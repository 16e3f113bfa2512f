"""The log of operators' accounts: sign-ins, failures, lock-outs, passwords and second factors."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from allauth.account import signals as accounts
from allauth.account.authentication import get_authentication_records
from allauth.mfa import signals as second_factor
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.dispatch import Signal
from django.http import HttpRequest

from arena.audit.recording import Kind, record
from arena.models import Membership, Role
from arena.pages.permissions import Visitor, is_staff

_FACTORS: Final = {
    Authenticator.Type.TOTP: "Authenticator app",
    Authenticator.Type.RECOVERY_CODES: "Recovery codes",
}


def is_operator(user: Visitor) -> bool:
    """Return True if this account operates a study, or all."""
    return is_staff(user) or Membership.objects.filter(rater__user=user, role=Role.OPERATOR).exists()


def failed(name: str, *, locked_out: bool) -> None:
    """A wrong password for this name. What was typed is not stored: it may be a password."""
    account = User.objects.filter(username=name).first() if "\0" not in name else None
    if account is None or not is_operator(account):
        return
    record(Kind.SIGN_IN_FAILED, None, "Wrong password.", account=account)
    if locked_out:
        record(Kind.LOCKED_OUT, None, "After too many wrong passwords.", account=account)


def _signed_in(request: HttpRequest, user: User, sociallogin: Any = None, **_: Any) -> str:
    how = sociallogin.provider.app.name if sociallogin else "password"
    steps = get_authentication_records(request, user)
    factors = [_FACTORS[step["type"]].lower() for step in steps if step.get("type") in _FACTORS]
    return f"By {' and '.join([how, *factors[-1:]])}."


def _factor(done: str) -> Callable[..., str]:
    def note(authenticator: Authenticator, **_: Any) -> str:
        return f"{_FACTORS.get(authenticator.type, str(authenticator.type))} {done}."

    return note


_HEARD: Final[tuple[tuple[Signal, Kind, str | Callable[..., str]], ...]] = (
    (accounts.user_logged_in, Kind.SIGNED_IN, _signed_in),
    (accounts.password_changed, Kind.PASSWORD, ""),
    (accounts.password_reset, Kind.PASSWORD, "By a link sent by mail."),
    (second_factor.authentication_failed, Kind.SIGN_IN_FAILED, "Wrong code of the second factor."),
    (second_factor.authenticator_added, Kind.SECOND_FACTOR, _factor("added")),
    (second_factor.authenticator_removed, Kind.SECOND_FACTOR, _factor("removed")),
    (second_factor.authenticator_reset, Kind.SECOND_FACTOR, _factor("made anew")),
)
"""What allauth tells of an account, and what the log then says of that of an operator."""


def connect() -> None:
    for signal, kind, note in _HEARD:
        signal.connect(partial(_hear, kind, note), weak=False, dispatch_uid="audit")


def _hear(kind: Kind, note: str | Callable[..., str], user: User, **told: Any) -> None:
    if is_operator(user):
        by = None if kind == Kind.SIGN_IN_FAILED else user
        record(kind, by, note if isinstance(note, str) else note(user=user, **told), account=user)
