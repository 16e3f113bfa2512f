"""Signing in by OpenID Connect, with the providers that the settings name."""

import hashlib
import json
import logging
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Final

import jwt
from allauth.account.models import EmailAddress
from allauth.account.utils import get_next_redirect_url
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.internal import jwtkit
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from requests import RequestException

from arena.audit.recording import Kind, record

log = logging.getLogger(__name__)

SIGNED_WITH: Final = ("EdDSA", *(f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)))
"""Signatures with a public key; with others, the key that the provider publishes would be the secret."""

KINDS: Final = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
"""Kinds of keys by the beginning of what they sign with."""

Claims = Mapping[str, Any]


class Exchange(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    """The exchange with a provider. Every ID token is checked in full, by whatever way it came."""

    def complete_login(self, request: HttpRequest, app: SocialApp, token: Any, **kwargs: Any) -> SocialLogin:
        if not isinstance(kwargs["response"].get("id_token"), str):
            raise OAuth2Error("The provider sent no ID token.")
        try:
            login = super().complete_login(request, app, token, **kwargs)
            claims = login.account.extra_data
            issuer, person = claims["id_token"]["iss"], claims["id_token"]["sub"]
            if claims["userinfo"]["sub"] != person:
                raise OAuth2Error("The provider's replies are about two people.")
        except KeyError as error:
            raise OAuth2Error(f"The provider's reply has no {error}.") from None
        except (TypeError, ValueError, jwt.PyJWTError) as error:
            raise OAuth2Error("The provider's reply cannot be read.") from error
        # The same number at another provider is another person, also after OIDC_SERVER has changed.
        login.account.uid = hashlib.sha256(json.dumps([issuer, person]).encode()).hexdigest()
        login.claims, login.account.extra_data = claims, {}  # nothing of it is stored
        for address in login.email_addresses:
            address.verified = _claim(claims, "email_verified") in (True, "true")
        return login

    @property
    def openid_config(self) -> Any:
        config = super().openid_config
        for name in ("issuer", "jwks_uri", "authorization_endpoint", "token_endpoint", "userinfo_endpoint"):
            if not isinstance(config, dict) or not isinstance(config.get(name), str):
                raise OAuth2Error(f"The provider's configuration has no {name}.")
        return config

    def _decode_id_token(self, app: SocialApp, id_token: str) -> Any:
        """The claims of a token. The library leaves those unchecked that came straight from the provider."""
        header = jwt.get_unverified_header(id_token)
        if header.get("alg") not in SIGNED_WITH:
            raise OAuth2Error("The ID token is not signed with a public key.")
        config = self.openid_config
        with get_adapter().get_requests_session() as session:
            response = session.get(config["jwks_uri"])
            response.raise_for_status()
        claims = jwt.decode(
            id_token,
            _key(jwt.PyJWKSet.from_dict(response.json()).keys, header).key,
            algorithms=[header["alg"]],
            audience=app.client_id,
            issuer=config["issuer"],
            options={"require": ["iss", "sub", "aud", "exp"]},
        )
        jwtkit.verify_jti(claims)
        return claims


def _key(keys: Sequence[jwt.PyJWK], header: Mapping[str, Any]) -> jwt.PyJWK:
    """The key that a token names or, where the token or its key has no name, the only one of its kind."""
    wanted, kind = header.get("kid"), KINDS[header["alg"][:2]]
    fitting = [key for key in keys if key.key_type == kind and key.public_key_use != "enc"]
    named = [key for key in fitting if key.key_id == wanted]
    found = named or [key for key in fitting if None in (key.key_id, wanted)]
    if len(found) != 1:
        name = "has no kid" if wanted is None else f'has the kid "{wanted}"'
        raise OAuth2Error(f"The ID token {name}, and {len(found)} of the provider's {kind} keys fit it.")
    return found[0]


def _claim(claims: Claims, name: str) -> Any:
    """A claim of the ID token, else of the user info. Dots lead into objects."""
    for source in (claims["id_token"], claims["userinfo"]):
        found: Any = source if name not in source else {name: source[name]}
        for part in [name] if name in source else name.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        if found is not None:
            return found
    return None


class OpenIDAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Who may come in, and whom the provider's groups make staff."""

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        app, claims = sociallogin.provider.app, sociallogin.claims
        if claims["id_token"].get("nonce") != sociallogin.state["nonce"]:
            raise PermissionDenied("The ID token was made for another sign-in.")
        domains = app.settings["domains"]
        confirmed = [address.email for address in sociallogin.email_addresses if address.verified]
        if domains and not any(email.rpartition("@")[2].lower() in domains for email in confirmed):
            places = " or ".join(domains)
            reason = f"You need a confirmed email address at {places} to sign in with {app.name}."
            page = render(request, "socialaccount/authentication_error.html", {"reason": reason}, status=403)
            raise ImmediateHttpResponse(page)
        user = sociallogin.user
        _set_staff(user, app, claims)
        if not sociallogin.is_existing:
            _forget_taken_address(sociallogin)
            messages.info(
                request, "This is a new account. If you have another one here, sign out, and sign in to that."
            )

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None, **kwargs: Any
    ) -> None:
        why = (
            getattr(exception, "__cause__", None)
            or exception
            or request.GET.get("error_description")
            or request.GET.get("error")
            or error
        )
        log.warning("Signing in with %s failed: %s", provider.name, str(why)[:500])

    def generate_state_param(self, state: dict[str, Any]) -> str:
        return secrets.token_urlsafe(32)


def _set_staff(user: User, app: SocialApp, claims: Claims) -> None:
    """Where a group makes staff, leaving it ends that too. Superusers stay what they are."""
    group = app.settings["staff_group"]
    if not group or user.is_superuser:
        return
    given = _claim(claims, app.settings["groups_claim"])
    is_staff = group in (given if isinstance(given, list) else [given])
    if user.is_staff != is_staff:
        user.is_staff = is_staff
        if user.pk:
            with transaction.atomic():
                user.save(update_fields=["is_staff"])
                now = "in" if is_staff else "no longer in"
                note = f"{'Staff now' if is_staff else 'No longer staff'}: {now} the group of {app.name}."
                record(Kind.RIGHT, None, note, account=user)


def _forget_taken_address(sociallogin: SocialLogin) -> None:
    """A new account leaves an address to the account that has it, and does not say that there is one."""
    email = sociallogin.user.email
    taken = User.objects.filter(email__iexact=email).exists()
    if email and (taken or EmailAddress.objects.filter(email__iexact=email).exists()):
        sociallogin.user.email, sociallogin.email_addresses = "", []


def _exchange(request: HttpRequest, provider_id: str) -> Exchange:
    if provider_id not in {app["provider_id"] for app in settings.OIDC_PROVIDERS}:
        raise Http404
    return Exchange(request, provider_id)


@require_safe
@never_cache
def sign_in(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Go to the provider. Asked for by a link: it only ever signs in, and changes no account."""
    provider = _exchange(request, provider_id).get_provider()
    provider.oauth2_adapter_class = Exchange
    nonce = secrets.token_urlsafe(32)
    wanted = get_next_redirect_url(request)
    try:
        going: HttpResponse = provider.redirect(
            request, AuthProcess.LOGIN, next_url=wanted, auth_params={"nonce": nonce}, nonce=nonce
        )
    except _TROUBLE as error:
        going = render_authentication_error(request, provider, exception=error)
    return going


@require_safe
@never_cache
def callback(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Come back from the provider."""
    exchange = _exchange(request, provider_id)
    try:
        came: HttpResponse = OAuth2CallbackView.adapter_view(exchange)(request)
    except _TROUBLE as error:  # in its configuration, which the view reads before it minds errors
        came = render_authentication_error(request, exchange.get_provider(), exception=error)
    return came


_TROUBLE: Final = (RequestException, OAuth2Error, ValueError)
