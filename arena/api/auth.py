"""Bearer tokens of raters and operators. See docs/decisions/0004.

Stored tokens are for judges on other machines, signed ones for workers and commands of this arena.
"""

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass, replace

from django.core import signing
from django.db import transaction
from django.http import HttpRequest
from ninja.errors import AuthorizationError, HttpError
from ninja.security import HttpBearer

from arena.audit.recording import Kind, record
from arena.models import ApiToken, Rater, Study
from arena.models.querysets import StudyQuerySet
from arena.monitoring.logs import current_command, pass_on_command
from arena.pages.permissions import Visitor, is_staff, operable

Scope = ApiToken.Scope
USUAL_SCOPES = (Scope.RATE, Scope.READ)
OF_COMMANDS = frozenset({Scope.OPERATE, Scope.RUNS, Scope.READ})
STORED_PREFIX = "arena_"
SIGNED_PREFIX = "signed_"
SIGNED_SALT = "arena.api.auth"
SIGNED_SECONDS = 900


@dataclass(frozen=True)
class Caller:
    """A rater, an operator, or an operator who rates. ``is_here``: a worker or command of this arena.

    ``asked`` is the scope of the operation.
    """

    rater: Rater | None
    is_operator: bool
    scopes: frozenset[str]
    is_here: bool = False
    asked: str = ""


class ScopeError(ValueError):
    """The rater can have no such token; the message says why."""


@transaction.atomic
def issue_token(
    rater: Rater, label: str = "", scopes: Collection[str] = USUAL_SCOPES, *, by: Visitor | None = None
) -> str:
    """A new stored token, which can be read only here. Raises ScopeError."""
    check_scopes(rater, scopes)
    row = ApiToken(rater=rater, label=label, scopes=sorted(scopes))
    token = renew_key(row)
    row.save()
    record(Kind.KEY, by, f"Key {row.pk} created, for {', '.join(row.scopes)}.", rater=rater)
    return token


def renew_key(row: ApiToken) -> str:
    """A new token; the row, still to be saved, holds its hash."""
    token = STORED_PREFIX + secrets.token_urlsafe(32)
    row.digest = digest(token)
    return token


def check_scopes(rater: Rater, scopes: Collection[str]) -> None:
    """Raise ScopeError unless a token of this rater can have these scopes."""
    unknown = sorted(set(scopes) - set(Scope.values))
    if unknown or not scopes:
        there = ", ".join(Scope.values)
        named = f'Unknown scope "{unknown[0]}"' if unknown else "A token needs a scope"
        raise ScopeError(f"{named}; the scopes are {there}.")
    if Scope.RUNS in scopes and not _is_operator(rater):
        raise ScopeError(f'Only an operator\'s own token may start runs; "{rater.slug}" is no operator.')
    if Scope.OPERATE in scopes and not (_is_operator(rater) or operable(rater.user).exists()):
        raise ScopeError(f'Only an operator\'s own token may set up studies; "{rater.slug}" is no operator.')


def _is_operator(rater: Rater) -> bool:
    return is_staff(rater.user)


def digest(token: str) -> str:
    """The hash of a stored token; 256 random bits need no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


def rater_token(rater: Rater) -> str:
    """A signed token with which a worker submits as ``rater``."""
    return SIGNED_PREFIX + signing.dumps({"rater": rater.pk}, salt=SIGNED_SALT)


def operator_token() -> str:
    """A signed token for commands on the operator's machine."""
    return SIGNED_PREFIX + signing.dumps({"operator": True, "command": current_command()}, salt=SIGNED_SALT)


class BearerAuth(HttpBearer):
    """``Authorization: Bearer TOKEN`` with a scope; refuses paused raters, unless ``also_paused``."""

    def __init__(self, scope: str, *, also_paused: bool = False) -> None:
        super().__init__()
        self.scope, self.also_paused = scope, also_paused

    def authenticate(self, request: HttpRequest, token: str) -> Caller | None:
        """The caller, or None (401) for a token that is unknown, revoked or expired."""
        caller = _signed(token) if token.startswith(SIGNED_PREFIX) else _stored(token)
        if caller and caller.rater and caller.rater.paused_at and not self.also_paused:
            raise AuthorizationError(message="This rater is paused by the operator.")
        if caller and self.scope not in caller.scopes:
            raise AuthorizationError(message=f'This token lacks the scope "{self.scope}".')
        return caller and replace(caller, asked=self.scope)


class OpenAuth(BearerAuth):
    """BearerAuth that also lets anonymous callers read."""

    def __call__(self, request: HttpRequest) -> Caller | None:
        if not request.headers.get(self.header):
            return Caller(None, is_operator=False, scopes=frozenset({self.scope}))
        found: Caller | None = super().__call__(request)
        return found


def _signed(token: str) -> Caller | None:
    try:
        claims = signing.loads(token.removeprefix(SIGNED_PREFIX), salt=SIGNED_SALT, max_age=SIGNED_SECONDS)
    except signing.BadSignature:
        return None
    if claims.get("operator"):
        pass_on_command(claims.get("command", ""))
        return Caller(None, is_operator=True, scopes=OF_COMMANDS, is_here=True)
    rater = Rater.objects.filter(pk=claims.get("rater")).first()
    if rater is None:
        return None
    return Caller(rater, is_operator=False, scopes=frozenset({Scope.RATE}), is_here=True)


def _stored(token: str) -> Caller | None:
    tokens = ApiToken.objects.filter(digest=digest(token), revoked_at=None)
    row = tokens.select_related("rater__user").first()
    if row is None:
        return None
    user = row.rater.user
    if user and not user.is_active:
        return None
    return Caller(row.rater, is_operator=_is_operator(row.rater), scopes=frozenset(row.scopes))


def caller_of(request: HttpRequest) -> Caller:
    caller: Caller = request.auth  # type: ignore[attr-defined]
    return caller


def rater_of(request: HttpRequest) -> Rater:
    """The rater who asks; 403 for a token without one."""
    rater = caller_of(request).rater
    if rater is None:
        raise AuthorizationError(message="This token belongs to no rater.")
    return rater


def require_operator(request: HttpRequest) -> None:
    """403 unless an operator asks."""
    if not caller_of(request).is_operator:
        raise AuthorizationError(message="Only operators may do this.")


def account_of(request: HttpRequest) -> Visitor | None:
    """Whose token it is; None for a command on the arena's own machine."""
    rater = caller_of(request).rater
    return rater.user if rater else None


def operated(request: HttpRequest) -> StudyQuerySet:
    """Return the studies that whoever asks operates."""
    return Study.objects.all() if caller_of(request).is_operator else operable(account_of(request))


def operated_study(request: HttpRequest, slug: str) -> Study:
    """Raises HttpError 404 where it is none of those, as if there were none."""
    study = operated(request).filter(slug=slug).first()
    if study is None:
        raise HttpError(404, f'You operate no study "{slug}".')
    return study


def require_staff_of(request: HttpRequest, slug: str) -> Study:
    """Return the study that somebody operates whom pages about models let pass; 404, then 403."""
    study = operated_study(request, slug)
    require_operator(request)
    return study
