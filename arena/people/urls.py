"""Accounts: the library's views with our pages, under the names that it looks for."""

from allauth.account import views as accounts
from allauth.mfa.base import views as second_factor
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as app
from django.contrib.auth.views import LogoutView
from django.urls import path, re_path
from django.views.generic import RedirectView, TemplateView

from arena.people import anonymising, openid
from arena.people.accounts import ResetFromMail, account, where_mail_is_set_up


def _page(template: str, title: str, **more: str) -> dict[str, object]:
    """A page that is a form, or says something, and little else."""
    return {"template_name": f"account/{template}.html", "extra_context": {"title": title, **more}}


_RESET = _page(
    "form",
    "Reset your password",
    button="Send a link",
    lede="Enter the email address of your account. We will send you a link to choose a new password.",
)
_SENT = _page(
    "said",
    "Check your mail",
    lede="We have sent a mail to this address. If it does not arrive, look in your spam folder or ask the "
    "operator.",
)
_WAS_RESET = _page("said", "Password changed", lede="Sign in with your new password.")
_INACTIVE = _page("said", "Account closed", lede="This account is closed. Ask the operator why.")
_REMOVE_APP = _page(
    "form",
    "Remove the second factor",
    button="Remove",
    lede="Afterwards your password is enough to sign in, and the recovery codes stop working.",
)
_NEW_CODES = _page("form", "New recovery codes", button="Make new codes", lede="Your old codes stop working.")
_CONFIRM = _page("form", "Confirm who you are", button="Confirm")
_PASSWORD = _page("form", "Change password", button="Change password")
_CODE = _page("form", "Enter your code", button="Sign in")

urlpatterns = [
    path("", account, name="account"),
    path("sign-in/", accounts.LoginView.as_view(), name="account_login"),
    path("sign-out/", LogoutView.as_view(), name="account_logout"),
    path("new/", RedirectView.as_view(pattern_name="rate"), name="account_signup"),
    path("inactive/", TemplateView.as_view(**_INACTIVE), name="account_inactive"),
    path("confirm/", accounts.ReauthenticateView.as_view(**_CONFIRM), name="account_reauthenticate"),
    path("password/", accounts.PasswordChangeView.as_view(**_PASSWORD), name="account_change_password"),
    path("password/none/", RedirectView.as_view(pattern_name="account"), name="account_set_password"),
    path(
        "password/reset/",
        where_mail_is_set_up(accounts.PasswordResetView.as_view(**_RESET)),
        name="account_reset_password",
    ),
    path(
        "password/reset/sent/",
        accounts.PasswordResetDoneView.as_view(**_SENT),
        name="account_reset_password_done",
    ),
    path(
        "password/reset/done/",
        accounts.PasswordResetFromKeyDoneView.as_view(**_WAS_RESET),
        name="account_reset_password_from_key_done",
    ),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        ResetFromMail.as_view(),
        name="account_reset_password_from_key",
    ),
    path("email/", where_mail_is_set_up(accounts.EmailView.as_view()), name="account_email"),
    path("email/key/<str:key>/", accounts.ConfirmEmailView.as_view(), name="account_confirm_email"),
    path("remove-details/", anonymising.remove_own_details, name="own-details"),
    path("second-factor/", second_factor.IndexView.as_view(), name="mfa_index"),
    path("second-factor/set-up/", app.ActivateTOTPView.as_view(), name="mfa_activate_totp"),
    path(
        "second-factor/remove/",
        app.DeactivateTOTPView.as_view(**_REMOVE_APP),
        name="mfa_deactivate_totp",
    ),
    path(
        "second-factor/codes/", recovery_codes.ViewRecoveryCodesView.as_view(), name="mfa_view_recovery_codes"
    ),
    path(
        "second-factor/codes/file/",
        recovery_codes.DownloadRecoveryCodesView.as_view(),
        name="mfa_download_recovery_codes",
    ),
    path(
        "second-factor/codes/new/",
        recovery_codes.GenerateRecoveryCodesView.as_view(**_NEW_CODES),
        name="mfa_generate_recovery_codes",
    ),
    path("second-factor/code/", second_factor.AuthenticateView.as_view(**_CODE), name="mfa_authenticate"),
    path(
        "second-factor/confirm/",
        second_factor.ReauthenticateView.as_view(**_CONFIRM),
        name="mfa_reauthenticate",
    ),
    path(
        "openid/cancelled/",
        RedirectView.as_view(pattern_name="account_login"),
        name="socialaccount_login_cancelled",
    ),
    path("openid/<slug:provider_id>/", openid.sign_in, name="openid_connect_login"),
    path("openid/<slug:provider_id>/callback/", openid.callback, name="openid_connect_callback"),
]
