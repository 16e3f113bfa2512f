"""Signing in with a password, changing and resetting it, and making an account."""

import logging
from collections.abc import Callable
from functools import wraps
from secrets import randbelow
from typing import Any, Final
from urllib.parse import urlsplit

from allauth.account import forms as allauth_forms
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.views import PasswordResetFromKeyView
from allauth.mfa.utils import is_mfa_enabled
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.forms import AdminUserCreationForm, BaseUserCreationForm, UserChangeForm
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.validators import RegexValidator
from django.db import IntegrityError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from arena.pages.names import NAME_TAKEN, check_name
from arena.pages.permissions import is_staff, signed_in
from arena.people.locking_out import remember_browser
from arena.people.mail import NOT_SENT
from arena.process.addresses import client_address
from arena.texts.names import folded

log = logging.getLogger(__name__)

WRONG: Final = "Name or password is wrong."
RESERVED: Final = {"admin", "administrator", "moderator", "operator", "root", "staff", "support", "system"}
"""Names by which people would take somebody for who runs the arena."""

_ALLOWED: Final = RegexValidator(
    UnicodeUsernameValidator.regex, "A name has no spaces: use letters, digits and . + - _ @ only."
)

SAID: Final = {
    "account/messages/password_changed.txt": "Password changed. You are signed out everywhere else.",
    "account/messages/password_set.txt": "Password set.",
    "account/messages/email_confirmation_sent.txt": "We have sent a link to this address.",
    "account/messages/email_confirmed.txt": "Address confirmed.",
    "account/messages/email_deleted.txt": "Address removed.",
    "mfa/messages/totp_activated.txt": "Second factor set up. Keep the recovery codes in a safe place.",
    "mfa/messages/totp_deactivated.txt": "Second factor removed.",
    "mfa/messages/recovery_codes_generated.txt": "",
}
"""Our words for the library's messages; it says nothing else."""


def check_account_name(name: str, others: QuerySet[User]) -> None:
    """Raise ValidationError for a name that no new account may have beside the others."""
    _ALLOWED(name)
    if folded(name) in RESERVED:
        raise ValidationError(NAME_TAKEN)
    if not any(sign.isalnum() for sign in name):
        raise ValidationError("A name needs a letter or a digit.")
    check_name(name, others, column="username")


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """What the library does here otherwise than by itself."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": WRONG,
        "incorrect_password": "This is not your password.",
        "enter_current_password": "This is not your password.",
        "incorrect_code": "This code is wrong. Codes change every 30 seconds.",
        "too_many_login_attempts": "Too many wrong codes. Try again in 5 minutes.",
        "rate_limited": "Too many wrong codes. Try again in 5 minutes.",
    }

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Passwords are limited by locking_out, which never keeps out whom it should not."""

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """The library asks about the name that an OpenID provider gives; if refused, it makes another one."""
        check_account_name(username, User.objects.all())
        return username

    def generate_unique_username(self, txts: list[str | None], regex: str | None = None) -> str:
        """Of the first text that makes a name, with a number behind it where that is taken."""
        number = 1000 + randbelow(9000)
        texts = [text.partition("@")[0] for text in txts if text]
        names = [name for text in texts for name in (text, f"{text}{number}")]
        return str(super().generate_unique_username(names, regex))

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_address(request)

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Staff accounts begin with what they operate."""
        return reverse("operate" if is_staff(request.user) else "home")

    def post_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **kwargs)
        remember_browser(request, response, user.get_username())
        return response

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")

    def add_message(
        self,
        request: HttpRequest,
        level: int,
        message_template: str | None = None,
        message_context: dict[str, Any] | None = None,
        extra_tags: str = "",
        message: str | None = None,
    ) -> None:
        if words := message or SAID.get(message_template or "", ""):
            messages.add_message(request, level, words, extra_tags=extra_tags)

    def send_password_reset_mail(self, user: User, email: str, context: dict[str, Any]) -> None:
        """Who signs in elsewhere gets no password here, which would outlive the account there."""
        if user.has_usable_password():
            super().send_password_reset_mail(user, email, context)
        else:
            self.send_mail("account/email/unknown_account", email, {"signup_url": reverse("rate")})

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """The page says the same whether the mail could be sent or not; the log says why not.

        Links lead to the arena's own address: a request may name another port, which others may listen at.
        """
        own = {
            name: settings.PUBLIC_URL + urlsplit(value)._replace(scheme="", netloc="").geturl()
            for name, value in context.items()
            if name.endswith("_url")
        }
        try:
            host = urlsplit(settings.PUBLIC_URL).netloc
            super().send_mail(template_prefix, email, context | own | {"own_host": host})
        except NOT_SENT:
            log.exception("A mail about an account could not be sent. Look at EMAIL_URL.")

    def format_email_subject(self, subject: str) -> str:
        return subject


class Labelled(forms.Form):
    """A form of the library with our labels."""

    labels = {
        "email": "Email address",
        "oldpassword": "Current password",
        "password1": "New password",
        "password2": "Repeat the new password",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.label = self.labels.get(name, field.label)
            field.help_text = ""
            field.widget.attrs.pop("placeholder", None)


class SignInForm(Labelled, allauth_forms.LoginForm):  # type: ignore[misc]
    labels = {"login": "Name"}

    def add_prefix(self, field_name: str) -> str:
        """What browsers keep passwords for."""
        return "username" if field_name == "login" else str(super().add_prefix(field_name))


class ChangePasswordForm(Labelled, allauth_forms.ChangePasswordForm):  # type: ignore[misc]
    pass


class ResetPasswordKeyForm(Labelled, allauth_forms.ResetPasswordKeyForm):  # type: ignore[misc]
    pass


class ResetPasswordForm(Labelled, allauth_forms.ResetPasswordForm):  # type: ignore[misc]
    pass


class AddEmailForm(Labelled, allauth_forms.AddEmailForm):  # type: ignore[misc]
    pass


class ReauthenticateForm(Labelled, allauth_forms.ReauthenticateForm):  # type: ignore[misc]
    labels = {"password": "Your password"}


class NamedAccount(forms.ModelForm):  # type: ignore[type-arg]
    """A form of an account whose name has to be new."""

    def clean_username(self) -> str:
        name = str(self.cleaned_data["username"])
        if name != self.initial.get("username"):
            check_account_name(name, User.objects.exclude(pk=self.instance.pk))
        return name


class NewAccountForm(NamedAccount, AdminUserCreationForm):  # type: ignore[type-arg]
    """A new account in the admin."""


class AccountForm(NamedAccount, UserChangeForm):  # type: ignore[type-arg]
    """An account in the admin."""


class JoinForm(NamedAccount, BaseUserCreationForm):  # type: ignore[type-arg]
    """A new account. Most rules are told where they are broken."""

    error_messages = {"password_mismatch": "The two passwords differ."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, label, help_text in (
            ("username", "Choose a name", "A pseudonym is fine."),
            ("password1", "Choose a password", "At least 8 characters."),
            ("password2", "Repeat the password", ""),
        ):
            self.fields[name].label, self.fields[name].help_text = label, help_text

    def save(self, commit: bool = True) -> User:
        """Raises IntegrityError if somebody took the name meanwhile."""
        try:
            self.clean_username()
        except ValidationError as error:
            raise IntegrityError(NAME_TAKEN) from error
        user: User = super().save(commit)
        return user


class ResetFromMail(PasswordResetFromKeyView):  # type: ignore[misc]
    """Who reads the mail of an account gets in with this browser, however many guess its password."""

    def form_valid(self, form: forms.Form) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        remember_browser(self.request, response, self.reset_user.get_username())
        return response


def where_mail_is_set_up(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not settings.SENDS_MAIL:
            raise Http404
        return view(request, *args, **kwargs)

    return checked


@require_safe
@signed_in
def account(request: HttpRequest) -> HttpResponse:
    """What people can change about their account."""
    context = {"sends_mail": settings.SENDS_MAIL, "has_second_factor": is_mfa_enabled(request.user)}
    return render(request, "account/account.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def admin_sign_in(request: HttpRequest) -> HttpResponseBase:
    """In place of the admin's own: people sign in as everywhere, and those without the right hear so."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.GET.get("next") or reverse("admin:index"))
    if not is_staff(request.user):
        raise PermissionDenied
    return redirect("admin:index")
