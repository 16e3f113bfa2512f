"""Keys to the API: listed, made and shown once, revoked. Their hashes are shown nowhere."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from arena.api.auth import USUAL_SCOPES, Scope, ScopeError, check_scopes, renew_key
from arena.joining import rater_of
from arena.models import ApiToken, Rater


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new token, of a judge or of the operator who asks."""

    operator: Any = None
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices, initial=USUAL_SCOPES, widget=forms.CheckboxSelectMultiple
    )

    class Meta:
        model = ApiToken
        fields = ["rater", "label", "scopes"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rater = self.fields["rater"]
        assert isinstance(rater, forms.ModelChoiceField)  # noqa: S101 - Meta says so
        rater.queryset = Rater.objects.filter(Q(kind="judge", study=None) | Q(user=self.operator))
        rater.required = False
        rater.empty_label = "Yourself"
        rater.help_text = (
            "A judge, or yourself. For somebody else: python manage.py api_token, on the server."
        )

    def clean(self) -> dict[str, Any]:
        """The rater is the operator unless one is chosen, and may have the scopes."""
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors:
            cleaned["rater"] = cleaned["rater"] or rater_of(self.operator)
            try:
                check_scopes(cleaned["rater"], cleaned["scopes"])
            except ScopeError as error:
                self.add_error("scopes", str(error))
        return cleaned


class TokenAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ["__str__", "rater", "used_for", "created_at", "revoked_at"]
    list_filter = [("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["rater"]
    search_fields = ["label", "rater__name", "rater__slug"]
    ordering = ["-pk"]
    actions = ["revoke"]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        if obj:
            return super().get_form(request, obj, change, **kwargs)
        return type("TokenForm", (TokenForm,), {"operator": request.user})

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ["label", *self.get_readonly_fields(request, obj)] if obj else TokenForm.Meta.fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["rater", "used_for", "created_at", "revoked_at"] if obj else []

    @admin.display(description="used for")
    def used_for(self, token: ApiToken) -> str:
        return ", ".join(token.scopes)

    @admin.action(description="Revoke: the tokens stop working", permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        count = queryset.filter(revoked_at__isnull=True).update(revoked_at=timezone.now())
        self.message_user(request, f"Revoked: {count}.")

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            obj.key = renew_key(obj)
        super().save_model(request, obj, form, change)

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> HttpResponse:
        """The one page that shows the token: nothing keeps it, no session, cookie or cache."""
        context = {**self.admin_site.each_context(request), "title": "New token", "row": obj, "key": obj.key}
        return render(request, "admin/arena/apitoken/key.html", context)
