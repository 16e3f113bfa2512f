"""The people of a study: links that let them in, what they may do, and taking their details away."""

from datetime import datetime, time, timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from arena.models import Invitation, Membership, Pair, Rater, RaterGroup, Role
from arena.people import anonymising, joining, members
from arena.people.permissions import OperatorRequest, is_staff, operator
from arena.rating import training
from arena.studies.pages import next_of, paged, show

# Forms about people: an invitation link, a role.


MOST_USES = 10_000
"""People one link can let in."""


class InvitationForm(forms.ModelForm):  # type: ignore[type-arg]
    """A link by which people join."""

    last_day = forms.DateField(
        label="Last day",
        required=False,
        widget=forms.DateInput({"type": "date"}),
        help_text="The link stops working at the end of this day (UTC). Empty: it does not expire.",
    )

    class Meta:
        model = Invitation
        fields = ("role", "max_uses", "note", "group")
        labels = {"max_uses": "For how many people", "group": "Group of raters"}
        help_texts = {
            "note": "For you: whom the link is for. Nobody else sees it; better no names of people.",
            "group": "Boards can be made of its members alone.",
        }

    def __init__(self, *args: Any, may_group: bool = False, **kwargs: Any) -> None:
        """may_group: whether the link may put people into a group. Groups are shared by all studies."""
        super().__init__(*args, **kwargs)
        self.fields["max_uses"].widget.attrs |= {"min": 1, "max": MOST_USES}
        if not (may_group and RaterGroup.objects.exists()):
            del self.fields["group"]

    def clean_max_uses(self) -> int:
        uses = int(self.cleaned_data["max_uses"])
        if not 1 <= uses <= MOST_USES:
            raise forms.ValidationError(f"A link lets in 1 to {MOST_USES:,} people.")
        return uses

    def clean_last_day(self) -> Any:
        day = self.cleaned_data["last_day"]
        if day and day < timezone.now().date():
            raise forms.ValidationError("This day is over; choose today or a later one.")
        if day and day > timezone.now().date() + timedelta(days=3660):
            raise forms.ValidationError("At most ten years ahead are possible; leave it empty for no end.")
        return day

    def save(self, commit: bool = True) -> Any:
        day = self.cleaned_data["last_day"]
        # The first moment after the day: links work until then, not at it.
        end = (
            datetime.combine(day + timedelta(days=1), time.min, timezone.get_default_timezone())
            if day
            else None
        )
        self.instance.expires_at = end
        return super().save(commit)


class RoleForm(forms.Form):
    """What a member may do."""

    role = forms.ChoiceField(choices=Role.choices)


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def people(request: OperatorRequest) -> HttpResponse:
    """Invitation links and members; a posted form makes another link."""
    blank = Invitation(study=request.study)
    form = InvitationForm(request.POST or None, instance=blank, may_group=is_staff(request.user))
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "The link is made: it is the first in the list. Copy it and send it.")
        return redirect("operate-people", slug=request.study.slug)
    links = paged(request, request.study.invitations.select_related("group").order_by("-pk"), 20, "links")
    for link in links:
        link.address = request.build_absolute_uri(reverse("join", args=[link.token]))
        link.last_day = link.expires_at and link.expires_at - timedelta(microseconds=1)
        link.why_not = joining.why_not(link)
    everybody = request.study.memberships.select_related("rater__user").order_by("rater__name", "pk")
    context = {
        "form": form,
        "links": links,
        "members": paged(request, everybody),
        "roles": [(role.value, role.label.partition(": ")[2]) for role in Role],
        "has_training": Pair.objects.filter(prompt__study=request.study, use="train").exists(),
        "next_address": next_of(request),
    }
    return show(request, "people.html", context, status=422 if form.errors else 200)


@require_POST
@operator
def withdraw(request: OperatorRequest, link: int) -> HttpResponse:
    """Make an invitation link stop working."""
    found = get_object_or_404(Invitation, pk=link, study=request.study)
    members.withdraw(found)
    messages.success(request, "The link is withdrawn; it lets nobody in any more.")
    return redirect("operate-people", slug=request.study.slug)


@require_POST
@operator
def role(request: OperatorRequest, member: int) -> HttpResponse:
    """Change what a member may do."""
    found = get_object_or_404(Membership, pk=member, study=request.study)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "There is no such role; choose one of the list.")
        return redirect("operate-people", slug=request.study.slug)
    try:
        changed = members.change_role(found, Role(form.cleaned_data["role"]), request.user)
        messages.success(request, "The role is changed." if changed else "Nothing was changed.")
    except members.MemberError as error:
        messages.error(request, str(error))
    return redirect("operate-people", slug=request.study.slug)


@require_POST
@operator
def trained(request: OperatorRequest, member: int) -> HttpResponse:
    """Let a member rate without having passed the training."""
    training.let_through(get_object_or_404(Membership, pk=member, study=request.study))
    messages.success(request, "The training counts as passed.")
    return redirect("operate-people", slug=request.study.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def remove_details(request: OperatorRequest, rater: int) -> HttpResponse:
    """Take a person's details away for good; their name has to be typed."""
    found = get_object_or_404(Rater, pk=rater, kind=Rater.Kind.PERSON)
    if not anonymising.has_part(found, request.study):
        raise Http404
    reason = anonymising.why_not(found, request.user)
    if request.method == "POST" and not reason:
        if request.POST.get("typed", "").strip() != found.name:
            reason = "Nothing was changed: what you typed is not the name above."
        else:
            keep = request.POST.get("comments") != "blank"
            name = anonymising.anonymise(found, request.user, keep_comments=keep).name
            messages.success(request, f"The details are removed. The comparisons stay, as those of {name}.")
            return redirect("operate-people", slug=request.study.slug)
        return show(request, "remove_details.html", {"rater": found, "problem": reason}, status=422)
    return show(request, "remove_details.html", {"rater": found, "why_not": reason})
