"""Signing in and making an account."""

from typing import Any, Final

from django.contrib.auth.forms import AuthenticationForm, BaseUserCreationForm
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.contrib.auth.views import LoginView, redirect_to_login
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.validators import RegexValidator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from arena.people.locking_out import remember_browser
from arena.people.permissions import is_staff

WRONG: Final = "Name or password is wrong."


class SignInForm(AuthenticationForm):
    error_messages = {"invalid_login": WRONG, "inactive": WRONG}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].label = "Name"


class SignIn(LoginView):
    """Staff accounts begin with what they operate."""

    authentication_form = SignInForm
    redirect_authenticated_user = True

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_valid(form)
        remember_browser(self.request, response, form.get_user().get_username())
        return response

    def get_default_redirect_url(self) -> str:
        return reverse("operate") if is_staff(self.request.user) else super().get_default_redirect_url()


class JoinForm(BaseUserCreationForm):  # type: ignore[type-arg]
    """A new account. The rules are told where they are broken."""

    error_messages = {"password_mismatch": "The two passwords differ."}
    allowed = RegexValidator(
        UnicodeUsernameValidator.regex, "A name has no spaces: use letters, digits and . + - _ @ only."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, label, help_text in (
            ("username", "Choose a name", "A pseudonym is fine."),
            ("password1", "Choose a password", ""),
            ("password2", "Repeat the password", ""),
        ):
            self.fields[name].label, self.fields[name].help_text = label, help_text

    def clean_username(self) -> str:
        name = str(self.cleaned_data["username"])
        self.allowed(name)
        if User.objects.filter(username__iexact=name).exists():
            raise ValidationError("This name is taken. Choose another one.")
        return name


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def admin_sign_in(request: HttpRequest) -> HttpResponseBase:
    """In place of the admin's own: people sign in as everywhere, and those without the right hear so."""
    if not request.user.is_authenticated:
        return redirect_to_login(request.GET.get("next") or reverse("admin:index"))
    if not is_staff(request.user):
        raise PermissionDenied
    return redirect("admin:index")
