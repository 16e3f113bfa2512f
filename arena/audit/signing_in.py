"""What operators' accounts go through: sign-ins, failures, lock-outs, passwords and second factors."""

from typing import Any, Final

from allauth.account import signals as accounts
from allauth.account.authentication import get_authentication_records
from allauth.mfa import signals as second_factor
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.http import HttpRequest

from arena.audit.recording import Kind, record
from arena.models import Membership, Role
from arena.pages.permissions import Visitor, is_staff

_FACTORS: Final = {
    Authenticator.Type.TOTP: "Authenticator app",
    Authenticator.Type.RECOVERY_CODES: "Recovery codes",
}


def is_operator(user: Visitor) -> bool:
    """Whether this account operates a study, or all."""
    return is_staff(user) or Membership.objects.filter(rater__user=user, role=Role.OPERATOR).exists()


def failed(name: str, *, locked_out: bool) -> None:
    """A wrong password for this name. What was typed is not stored: it may be a password."""
    account = User.objects.filter(username=name).first() if "\0" not in name else None
    if account is None or not is_operator(account):
        return
    record(Kind.SIGN_IN_FAILED, None, "Wrong password.", account=account)
    if locked_out:
        record(Kind.LOCKED_OUT, None, "After too many wrong passwords.", account=account)


def connect() -> None:
    accounts.user_logged_in.connect(_signed_in)
    accounts.password_changed.connect(_password_changed)
    accounts.password_reset.connect(_password_reset)
    second_factor.authentication_failed.connect(_wrong_code)
    second_factor.authenticator_added.connect(_added)
    second_factor.authenticator_removed.connect(_removed)
    second_factor.authenticator_reset.connect(_renewed)


def _of_operator(kind: Kind, user: User, note: str, *, own: bool = True) -> None:
    if is_operator(user):
        record(kind, user if own else None, note, account=user)


def _signed_in(request: HttpRequest, user: User, sociallogin: Any = None, **_: Any) -> None:
    how = sociallogin.provider.app.name if sociallogin else "password"
    steps = get_authentication_records(request, user)
    factors = [_FACTORS[step["type"]].lower() for step in steps if step.get("type") in _FACTORS]
    _of_operator(Kind.SIGNED_IN, user, f"By {' and '.join([how, *factors[-1:]])}.")


def _password_changed(user: User, **_: Any) -> None:
    _of_operator(Kind.PASSWORD, user, "")


def _password_reset(user: User, **_: Any) -> None:
    _of_operator(Kind.PASSWORD, user, "By a link sent by mail.")


def _wrong_code(request: HttpRequest, user: User, **_: Any) -> None:
    _of_operator(Kind.SIGN_IN_FAILED, user, "Wrong code of the second factor.", own=False)


def _factor(authenticator: Authenticator) -> str:
    return _FACTORS.get(authenticator.type, str(authenticator.type))


def _added(user: User, authenticator: Authenticator, **_: Any) -> None:
    _of_operator(Kind.SECOND_FACTOR, user, f"{_factor(authenticator)} added.")


def _removed(user: User, authenticator: Authenticator, **_: Any) -> None:
    _of_operator(Kind.SECOND_FACTOR, user, f"{_factor(authenticator)} removed.")


def _renewed(user: User, authenticator: Authenticator, **_: Any) -> None:
    _of_operator(Kind.SECOND_FACTOR, user, f"{_factor(authenticator)} made anew.")
