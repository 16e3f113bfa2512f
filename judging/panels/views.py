from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from arena.pages.operating import refuse
from arena.pages.permissions import Visitor, staff_only
from judging.judges.services import JudgeError, slug_of
from judging.models import Judge, Panel
from judging.panels.services import configure_panel, create_panel


class MembersField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    def clean(self, value: Any) -> Any:
        """Also refuses a number of more digits than a database looks for."""
        if any(len(str(sent)) > 18 for sent in value or ()):
            raise forms.ValidationError(self.error_messages["invalid_choice"])
        return super().clean(value)


class PanelForm(forms.Form):
    name = forms.CharField(max_length=200)
    slug = forms.SlugField(
        label="Short name",
        max_length=120,
        required=False,
        help_text="Leave empty to use the name. It cannot be changed later.",
    )
    rule = forms.ChoiceField(
        choices=Panel.Rule.choices,
        widget=forms.RadioSelect,
        initial=Panel.Rule.MAJORITY,
        help_text="A majority gives one answer or a tie. A mean gives the nearest rating from 1 to 8, and "
        "of 2.5 the one further from the middle, 2.",
    )
    members = MembersField(
        Judge.objects.whole(),
        widget=forms.CheckboxSelectMultiple,
        help_text="At least two. The panel rates a pair once all members have, in the same order.",
    )
    active = forms.BooleanField(
        required=False, initial=True, help_text="An inactive panel rates no more pairs."
    )

    def __init__(self, *args: Any, panel: Panel | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.panel = panel
        if panel:
            self.fields["slug"].disabled = True
            self.initial = {
                "name": panel.rater.name,
                "slug": panel.rater.slug,
                "rule": panel.rule,
                "members": panel.members.all(),
                "active": panel.active,
            }
        else:
            del self.fields["active"]

    def store(self, by: Visitor) -> Panel | None:
        """The stored panel; None, with an error of the form, if that cannot be."""
        given = self.cleaned_data
        try:
            if self.panel:
                return configure_panel(
                    self.panel, given["name"], given["rule"], given["members"], active=given["active"], by=by
                )
            slug = given["slug"] or slug_of(given["name"])
            return create_panel(slug, given["name"], given["rule"], given["members"], by)
        except JudgeError as error:
            refuse(self, error.field, str(error))
            return None


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def panel_form(request: HttpRequest, slug: str | None = None) -> HttpResponse:
    panel = get_object_or_404(Panel.objects.select_related("rater"), rater__slug=slug) if slug else None
    form = PanelForm(request.POST or None, panel=panel)
    if request.method == "POST" and form.is_valid():
        stored = form.store(request.user)
        if stored:
            messages.success(request, f"Saved the panel {stored}.")
            return redirect("judging")
    context = {"form": form, "panel": panel}
    return render(request, "judging/panel_form.html", context, status=422 if form.errors else 200)
