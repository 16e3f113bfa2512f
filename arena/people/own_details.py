"""The page on which somebody removes their own personal details."""

from django import forms
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from arena.people import anonymising, joining


class OwnDetailsForm(forms.Form):
    """What becomes of comments, and the password as proof of who asks."""

    comments = forms.ChoiceField(
        label="Comments you wrote about pairs",
        choices=[("blank", "Empty them"), ("keep", "Keep them, without your name")],
        initial="blank",
        widget=forms.RadioSelect,
    )
    password = forms.CharField(
        label="Your password",
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )

    def __init__(self, user: joining.User, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.user = user

    def clean_password(self) -> str:
        password = str(self.cleaned_data["password"])
        if not self.user.check_password(password):
            raise forms.ValidationError("This is not your password. Nothing was changed.")
        return password


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def remove(request: HttpRequest) -> HttpResponse:
    """Explain what is removed and what stays; with the password, do it and sign out."""
    if request.user.is_staff:
        return render(request, "registration/own_details.html", {"form": None}, status=403)
    form = OwnDetailsForm(request.user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        keep = form.cleaned_data["comments"] == "keep"
        anonymising.anonymise(joining.rater_of(request.user), request.user, keep_comments=keep)
        logout(request)
        messages.success(request, "Your details are removed. What you rated stays, without your name.")
        return redirect("home")
    status = 422 if form.errors else 200
    return render(request, "registration/own_details.html", {"form": form}, status=status)
