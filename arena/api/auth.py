"""Who is asking: bearer tokens of raters and of operators.

Two kinds (docs/decisions/0004): tokens stored as SHA-256, for judges on other machines, and short-lived
tokens signed with the secret key, for workers and commands of this arena. Nothing is stored in clear.
"""

import hashlib
import secrets
from dataclasses import dataclass

from django.core import signing
from django.http import HttpRequest
from ninja.errors import AuthorizationError
from ninja.security import HttpBearer

from arena.models import ApiToken, Rater

STORED_PREFIX = "arena_"
SIGNED_PREFIX = "signed_"
SIGNED_SALT = "arena.api.auth"
SIGNED_SECONDS = 900
"""How long a signed token is good for."""


@dataclass(frozen=True)
class Caller:
    """Who asks: a rater, an operator, or an operator who rates."""

    rater: Rater | None
    is_operator: bool


def issue_token(rater: Rater, label: str = "") -> str:
    """A new stored token for this rater. It is returned here and never can be read again."""
    token = STORED_PREFIX + secrets.token_urlsafe(32)
    ApiToken.objects.create(rater=rater, digest=digest(token), label=label)
    return token


def digest(token: str) -> str:
    """What is kept of a stored token. The token has 256 random bits, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


def rater_token(rater: Rater) -> str:
    """A signed token with which a worker of this arena submits as ``rater``."""
    return SIGNED_PREFIX + signing.dumps({"rater": rater.pk}, salt=SIGNED_SALT)


def operator_token() -> str:
    """A signed token with which a command on the operator's machine starts and watches runs."""
    return SIGNED_PREFIX + signing.dumps({"operator": True}, salt=SIGNED_SALT)


class BearerAuth(HttpBearer):
    """``Authorization: Bearer TOKEN``. A paused rater is refused whatever its token."""

    def authenticate(self, request: HttpRequest, token: str) -> Caller | None:
        """The caller, or None (401) for a token that is unknown, revoked or too old."""
        caller = _signed(token) if token.startswith(SIGNED_PREFIX) else _stored(token)
        if caller and caller.rater and caller.rater.paused_at:
            raise AuthorizationError(message="This rater is paused by the operator.")
        return caller


def _signed(token: str) -> Caller | None:
    try:
        claims = signing.loads(token.removeprefix(SIGNED_PREFIX), salt=SIGNED_SALT, max_age=SIGNED_SECONDS)
    except signing.BadSignature:
        return None
    if claims.get("operator"):
        return Caller(None, is_operator=True)
    rater = Rater.objects.filter(pk=claims.get("rater")).first()
    return Caller(rater, is_operator=False) if rater else None


def _stored(token: str) -> Caller | None:
    found = ApiToken.objects.filter(digest=digest(token), revoked_at=None)
    row = found.select_related("rater__user").first()
    if row is None:
        return None
    user = row.rater.user
    if user and not user.is_active:
        return None
    return Caller(row.rater, is_operator=bool(user and user.is_staff))


def caller_of(request: HttpRequest) -> Caller:
    """The authenticated caller of an API request."""
    caller: Caller = request.auth  # type: ignore[attr-defined]
    return caller


def rater_of(request: HttpRequest) -> Rater:
    """The rater who asks; 403 for a token that belongs to none."""
    rater = caller_of(request).rater
    if rater is None:
        raise AuthorizationError(message="This token belongs to no rater.")
    return rater


def require_operator(request: HttpRequest) -> None:
    """403 unless an operator asks."""
    if not caller_of(request).is_operator:
        raise AuthorizationError(message="Only operators may do this.")
