"""The operator's account."""

import secrets
from typing import Final

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction

from arena.audit.recording import Kind, record

OPERATOR: Final = "operator"


def how_to_sign_in() -> str:
    """Return how somebody signs in as an operator, with a new account where there is none."""
    if get_user_model().objects.filter(is_superuser=True, is_active=True).exists():
        return f"Sign in with your operator account; if its password is lost, run: {settings.MAKE} operator"
    return sign_in_lines(renew_operator())


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
    again = f"{settings.MAKE} operator makes a new one"
    return f"Sign in as {OPERATOR} with the password {password} (shown this once; {again})"
