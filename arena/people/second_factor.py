"""The second factor: codes of an authenticator app, and recovery codes."""

import base64
import hashlib
from typing import Any

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base.forms import AuthenticateForm as LibraryAuthenticateForm
from allauth.mfa.base.forms import ReauthenticateForm as LibraryReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm as LibraryActivateForm
from allauth.mfa.totp.internal.auth import TOTP
from allauth.mfa.utils import is_mfa_enabled
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from django_htmx.http import HttpResponseClientRedirect

from arena.pages.permissions import Visitor, is_staff
from arena.people.accounts import AccountAdapter, Labelled

APP = Authenticator.Type.TOTP
FREE = "/account/"
"""Where staff without a required second factor still go: to set it up, or to sign out."""


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": AccountAdapter.error_messages["incorrect_code"],
        "cannot_delete_authenticator": "Staff accounts need a second factor here.",
    }

    def get_totp_issuer(self) -> str:
        return "Likert Arena"

    def get_totp_label(self, user: Visitor) -> str:
        return str(user.get_username())

    def encrypt(self, text: str) -> str:
        return _cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """ "" if SECRET_KEY has changed since, so that no code is right."""
        try:
            return _cipher().decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            return ""

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        return not (authenticator.type == APP and is_required(authenticator.user))


def _cipher() -> Fernet:
    """A database without SECRET_KEY gives no codes away."""
    key = hashlib.sha256(b"arena.people.second_factor" + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))


def is_required(user: Visitor) -> bool:
    return settings.REQUIRE_SECOND_FACTOR and is_staff(user)


class SecondFactorMiddleware(MiddlewareMixin):
    """Sends staff to set a second factor up, where it is required, before they see anything else."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if not settings.REQUIRE_SECOND_FACTOR or request.path.startswith(FREE):
            return None
        if not is_required(request.user) or is_mfa_enabled(request.user, [APP]):
            return None
        address = reverse("mfa_activate_totp")
        if request.headers.get("HX-Request"):
            return HttpResponseClientRedirect(address)
        messages.warning(request, "Staff accounts need a second factor here. Set it up to go on.")
        return redirect(address)


class AuthenticateForm(Labelled, LibraryAuthenticateForm):  # type: ignore[misc]
    labels = {"code": "Code of your authenticator app, or a recovery code"}


class ReauthenticateForm(Labelled, LibraryReauthenticateForm):  # type: ignore[misc]
    labels = AuthenticateForm.labels


class ActivateForm(Labelled, LibraryActivateForm):  # type: ignore[misc]
    labels = {"code": "Code that the app shows"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].widget.attrs["inputmode"] = "numeric"

    def clean_code(self) -> str:
        """A code that sets the second factor up is used, and signs nobody in."""
        code = str(super().clean_code())
        if not TOTP(Authenticator(user=self.user))._mark_code_used(code):
            raise SecondFactorAdapter().validation_error("incorrect_code")
        return code
