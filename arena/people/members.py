"""The members of a study: invitations, roles, pausing and leaving out."""

from datetime import datetime, time, timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from arena.audit.recording import Kind, record
from arena.models import Comparison, Invitation, Membership, Pair, Rater, RaterGroup, Role, Study, StudyEvent
from arena.models.signals import announce
from arena.pages.counts import up_to
from arena.pages.once import made_once
from arena.pages.operating import paged, show
from arena.pages.permissions import OperatorRequest, Visitor, is_staff, operator
from arena.pages.written import LineField
from arena.people import joining
from arena.rating import training
from arena.rating.progress import why_nothing


class MemberError(Exception):
    """A decision that cannot be taken; the message is for the operator."""


@transaction.atomic
def change_role(membership: Membership, role: Role, by: Visitor) -> bool:
    """Give a member another role, on record; False if they have it already. Raises MemberError."""
    locked = (
        Membership.objects.select_for_update(of=("self",))
        .select_related("rater", "study")
        .get(pk=membership.pk)
    )
    if locked.rater.user_id == by.pk:
        raise MemberError("Another operator has to change your role.")
    before = Role(locked.role)
    if before == role:
        return False
    locked.role = role
    locked.save(update_fields=["role"])
    note = f"{before.value} to {role.value}"
    record(Kind.ROLE, by, note, study=locked.study, rater=locked.rater)
    return True


LONGEST_NOTE = 1000


_FIELD = {
    StudyEvent.Kind.LEFT_OUT: ("left_out_at", True),
    StudyEvent.Kind.TAKEN_BACK: ("left_out_at", False),
    StudyEvent.Kind.RATER_PAUSED: ("paused_at", True),
    StudyEvent.Kind.RATER_RESUMED: ("paused_at", False),
}
"""The column of the membership that a decision sets (True) or empties."""


@transaction.atomic
def decide(study: Study, rater: Rater, kind: StudyEvent.Kind, by: User, note: str = "") -> bool:
    """Leave what a person rated out of all figures, offer them nothing more, or undo either, on record.

    False if it is so already. What is left out is offered to others again. Raises MemberError.
    """
    if kind == StudyEvent.Kind.LEFT_OUT and not note.strip():
        raise MemberError("Please give a reason for not counting these ratings.")
    # The lock that claims take: nobody is offered a pair between the decision and the new counts.
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if len(note) > LONGEST_NOTE:
        raise MemberError(f"Please keep the reason under {LONGEST_NOTE:,} characters.")
    if "\0" in note:
        raise MemberError("The reason contains a NUL character, which cannot be stored.")
    membership = _membership(locked, rater)
    field, wanted = _FIELD[kind]
    if (getattr(membership, field) is not None) == wanted:
        return False
    setattr(membership, field, timezone.now() if wanted else None)
    membership.save(update_fields=[field])
    record(kind, by, note.strip(), study=locked, rater=rater)
    if field == "left_out_at":
        rated = Comparison.objects.filter(study=locked, rater=rater).values("pair")
        Pair.objects.filter(pk__in=rated).recount(locked)
        announce([locked])
    return True


def _membership(study: Study, rater: Rater) -> Membership:
    """The membership, made if what the person rated was imported."""
    if rater.kind != Rater.Kind.PERSON:
        raise MemberError("You can pause or leave out only people here. Judges have their own leaderboards.")
    found = Membership.objects.select_for_update().filter(study=study, rater=rater).first()
    if found is None and Study.objects.rated_by([rater]).filter(pk=study.pk).exists():
        found = Membership.objects.create(study=study, rater=rater)
    if found is None:
        raise MemberError("This person is not a rater of the study.")
    return found


MOST_USES = 10_000


class InvitationForm(forms.ModelForm):  # type: ignore[type-arg]
    last_day = forms.DateField(
        label="Last day",
        required=False,
        input_formats=["%d %b %Y", "%d %B %Y", "%Y-%m-%d"],
        widget=forms.DateInput({"placeholder": "31 Dec 2030"}),
        help_text="The link works until the end of this day (UTC). Leave empty for no end.",
        error_messages={"invalid": "Enter a day such as 31 Dec 2030."},
    )

    class Meta:
        model = Invitation
        fields = ("role", "max_uses", "note", "group")
        field_classes = {"max_uses": up_to(MOST_USES), "note": LineField}
        labels = {"max_uses": "Number of people", "note": "Note (optional)", "group": "Group of raters"}
        help_texts = {
            "role": "Somebody with a higher role keeps it.",
            "note": "Only operators see it. Avoid names of people.",
            "group": "The group gets a leaderboard of its own.",
        }

    def __init__(self, *args: Any, may_group: bool = False, **kwargs: Any) -> None:
        """may_group: whether the link may put people into a group of the study's people."""
        super().__init__(*args, **kwargs)
        groups = _groups_of(self.instance.study) if may_group else RaterGroup.objects.none()
        self.fields["group"].queryset = groups  # type: ignore[attr-defined]
        if not groups.exists():
            del self.fields["group"]

    def clean_last_day(self) -> Any:
        day = self.cleaned_data["last_day"]
        if day and day < timezone.now().date():
            raise forms.ValidationError("Choose today or a later day.")
        if day and day > timezone.now().date() + timedelta(days=3660):
            raise forms.ValidationError("Choose a day in the next ten years, or leave the field empty.")
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


def _groups_of(study: Study) -> QuerySet[RaterGroup]:
    """Groups with people of the study, and those that nobody is in yet."""
    ours = Q(raters__memberships__study=study, raters__kind=Rater.Kind.PERSON)
    return RaterGroup.objects.filter(ours | Q(raters=None)).distinct()


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def people(request: OperatorRequest) -> HttpResponse:
    """Links and members; POST makes another link."""
    blank = Invitation(study=request.study)
    form = InvitationForm(request.POST or None, instance=blank, may_group=is_staff(request.user))
    if request.method == "POST" and form.is_valid():
        return made_once(request, lambda: _invite(request, form))
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
        "nothing": why_nothing(request.study),
        "has_training": Pair.objects.filter(prompt__study=request.study, use="train").exists(),
    }
    return show(request, "people.html", context, status=422 if form.errors else 200)


@transaction.atomic
def invite(form: InvitationForm, by: Visitor) -> Invitation:
    """Store the link that the valid form describes, on record."""
    link: Invitation = form.save()
    record(Kind.INVITATION, by, _described(link), study=link.study)
    return link


def _invite(request: OperatorRequest, form: InvitationForm) -> HttpResponse:
    invite(form, request.user)
    messages.success(request, "Link created. Copy it below and send it.")
    return redirect("operate-people", slug=request.study.slug)


def _described(link: Invitation) -> str:
    role = Role(link.role).label.partition(":")[0].lower()
    people = f"{link.max_uses:,} {pluralize(link.max_uses, 'person,people')}"
    return f"Link {link.pk} created: for the role {role}, for {people} at most."


@require_POST
@operator
def withdraw_link(request: OperatorRequest, link: int) -> HttpResponse:
    found = get_object_or_404(Invitation, pk=link, study=request.study)
    with transaction.atomic():
        if Invitation.objects.filter(pk=found.pk, revoked_at=None).update(revoked_at=timezone.now()):
            record(Kind.INVITATION, request.user, f"Link {found.pk} withdrawn.", study=request.study)
    messages.success(request, "Link withdrawn. Nobody can join with it.")
    return redirect("operate-people", slug=request.study.slug)


@require_POST
@operator
def role(request: OperatorRequest, member: int) -> HttpResponse:
    found = get_object_or_404(Membership, pk=member, study=request.study)
    wanted = request.POST.get("role")
    try:
        if wanted not in Role.values:
            raise MemberError("Please choose a role from the list.")
        changed = change_role(found, Role(wanted), request.user)
        messages.success(request, "Role changed." if changed else "Nothing was changed.")
    except MemberError as error:
        messages.error(request, str(error))
    return redirect("operate-people", slug=request.study.slug)


@require_POST
@operator
def trained(request: OperatorRequest, member: int) -> HttpResponse:
    """Let a member rate without having passed the training."""
    found = get_object_or_404(Membership.objects.select_related("rater"), pk=member, study=request.study)
    with transaction.atomic():
        training.let_through(found)
        record(Kind.TRAINED, request.user, study=request.study, rater=found.rater)
    messages.success(request, "Training counted as passed.")
    return redirect("operate-people", slug=request.study.slug)
