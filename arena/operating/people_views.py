"""The people of a study: links that let them in, what they may do, and taking their details away."""

from datetime import timedelta

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from arena import anonymising, joining, members, training
from arena.models import Invitation, Membership, Pair, Rater, Role
from arena.operating.pages import next_of, paged, show
from arena.operating.people_forms import InvitationForm, RoleForm
from arena.permissions import OperatorRequest, is_staff, operator


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
