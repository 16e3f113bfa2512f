"""How people become members of a study, by invitation or sign-up."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from django.contrib.auth import login
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from arena.audit.recording import Kind, record
from arena.models import Invitation, Membership, Rater, RaterGroup, Role, Study
from arena.pages.names import NAME_TAKEN
from arena.pages.permissions import Visitor, may_sign_up
from arena.people.accounts import JoinForm
from arena.people.locking_out import remember_browser
from arena.rating import limits, training
from arena.rating.accounts import rater_of
from arena.rating.tasks import asked
from arena.texts.markdown import summary
from arena.texts.rendering_cache import rendered

CLOSED: Final = "This study is closed and takes no more raters."

ROLES: Final = list(Role)  # from least to most rights


class JoiningError(Exception):
    """Nobody can join this way; the message is for the person who tried."""


def why_not(invitation: Invitation) -> str:
    """Why nobody can join by this invitation, or ''."""
    if invitation.study.is_closed and invitation.role == Role.RATER:
        return CLOSED
    if invitation.revoked_at:
        return "This invitation was withdrawn. Please ask for a new one."
    if invitation.expires_at and invitation.expires_at <= timezone.now():
        return "This invitation has expired. Please ask for a new one."
    if invitation.uses >= invitation.max_uses:
        return "This invitation has been used up. Please ask for a new one."
    return ""


@transaction.atomic
def join_by_invitation(invitation: Invitation, user: Visitor) -> Membership:
    """Give the invitation's role and group; a role is never lowered. Raises JoiningError.

    One use is counted if the role is new.
    """
    role = Role(invitation.role)
    membership, joined = _join(invitation.study, user, role)
    if joined or _raise(membership, role):
        now = timezone.now()
        left = Q(expires_at__isnull=True) | Q(expires_at__gt=now)
        # One statement that checks and counts: two people cannot both take the last use.
        taken = Invitation.objects.filter(
            left, pk=invitation.pk, revoked_at__isnull=True, uses__lt=F("max_uses")
        ).update(uses=F("uses") + 1)
        if not taken:
            invitation.refresh_from_db()
            raise JoiningError(why_not(invitation) or "This invitation does not work any more.")
    if invitation.group:
        _into_group(membership.rater, invitation.group)
    return membership


def _into_group(rater: Rater, group: RaterGroup) -> None:
    if not rater.groups.filter(pk=group.pk).exists():
        rater.groups.add(group)
        for study in Study.objects.rated_by([rater]):
            study.touch()


@transaction.atomic
def join_by_sign_up(study: Study, user: Visitor) -> Membership:
    """Make this person a rater; raises JoiningError if the study is not open to them."""
    current = Study.objects.get(pk=study.pk)
    if not may_sign_up(current, user):
        raise JoiningError("You need an invitation to rate in this study.")
    membership, joined = _join(current, user, Role.RATER)
    if not joined:
        _raise(membership, Role.RATER)
    return membership


def _join(study: Study, user: Visitor, role: Role) -> tuple[Membership, bool]:
    """The membership, and whether it was made now."""
    if role is Role.RATER and Study.objects.filter(pk=study.pk, closed_at__isnull=False).exists():
        raise JoiningError(CLOSED)
    known = Membership.objects.select_related("rater")
    membership, joined = known.get_or_create(study=study, rater=rater_of(user), defaults={"role": role})
    if joined and role is not Role.RATER:
        record(Kind.ROLE, user, f"{role.value}, by joining", study=study, rater=membership.rater)
    return membership, joined


def raises(membership: Membership, role: str) -> bool:
    """Whether a role is higher than the member's."""
    return ROLES.index(Role(role)) > ROLES.index(Role(membership.role))


def _raise(membership: Membership, role: Role) -> bool:
    """Give a member a higher role, on record; False if theirs is as high."""
    lower = ROLES[: ROLES.index(role)]
    before = membership.role
    if not Membership.objects.filter(pk=membership.pk, role__in=lower).update(role=role):
        return False
    membership.role = role
    note = f"{before} to {role.value}, by joining"
    record(Kind.ROLE, membership.rater.user, note, study=membership.study, rater=membership.rater)
    return True


GONE = 410  # HTTP status of a link that lets nobody in any more
INVALID = 422  # HTTP status of an incomplete or wrong form


@never_cache
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    known = Invitation.objects.select_related("study", "group")
    # PostgreSQL refuses to look for a NUL character, which no token holds.
    invitation = known.filter(token=token).first() if "\0" not in token else None
    if invitation is None:
        return _closed_door(
            request, "This invitation link is not valid. Please check that it is complete.", 404
        )
    reason = why_not(invitation)
    membership = _membership(request.user, invitation.study.slug)
    if membership and (reason or not _gives_more(invitation, membership)):
        return redirect(_inside(invitation.study, membership))
    if reason:
        return _closed_door(request, reason, GONE)
    role = Role(invitation.role)
    return _open(request, invitation.study, role, membership, partial(join_by_invitation, invitation))


@never_cache
@sensitive_post_parameters("password1", "password2")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_up(request: HttpRequest, slug: str) -> HttpResponse:
    membership = _membership(request.user, slug)  # asked first, also where there is no such study
    study = get_object_or_404(Study, slug=slug)
    if membership and membership.role != Role.VIEWER:
        return redirect("rate-study", slug=slug)
    if not may_sign_up(study, request.user):
        if study.is_public:
            reason = CLOSED if study.is_closed else "You need an invitation to rate in this study."
            return _closed_door(request, reason, GONE)
        raise Http404
    return _open(request, study, Role.RATER, membership, partial(join_by_sign_up, study))


def _membership(user: Visitor, slug: str) -> Membership | None:
    """This person's membership of the study with this address."""
    if not user.is_authenticated:
        return None
    return Membership.objects.select_related("study").filter(study__slug=slug, rater__user=user).first()


def _gives_more(invitation: Invitation, membership: Membership) -> bool:
    """Whether the invitation gives a member a higher role or a group."""
    group = invitation.group
    joins_group = group is not None and not group.raters.filter(pk=membership.rater_id).exists()
    return joins_group or raises(membership, invitation.role)


def _inside(study: Study, membership: Membership | None) -> str:
    """Where a member begins."""
    if membership and membership.role == Role.VIEWER:
        return study.get_absolute_url()
    if membership and membership.role == Role.OPERATOR:
        return reverse("operate-study", args=[study.slug])
    return reverse("guidelines", args=[study.slug])


@dataclass(frozen=True)
class Consent:
    """A study's text on consent and privacy. Agreeing names the text, so that nobody agrees to another."""

    text: str
    said: str = ""
    is_asked: bool = False

    @property
    def mark(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def html(self) -> str:
        return rendered([self.text])[self.text]

    @property
    def is_given(self) -> bool:
        return self.said == self.mark

    @property
    def error(self) -> str:
        if not self.is_asked or self.is_given:
            return ""
        return "This text has just changed. Please read it again." if self.said else "Tick the box to join."


def _consent(study: Study, role: Role, sent: Mapping[str, str], *, is_asked: bool) -> Consent | None:
    text = study.consent.strip()
    return Consent(text, sent.get("agreed", ""), is_asked) if text and role is Role.RATER else None


@transaction.atomic
def admit(
    account: Callable[[], Visitor], join: Callable[[Visitor], Membership], consent: Consent | None = None
) -> Visitor:
    """Have an account join; one that is made for it is not there if joining fails."""
    user = account()
    membership = join(user)
    if consent:
        membership.consent, membership.consented_at = consent.text, timezone.now()
        membership.save(update_fields=["consent", "consented_at"])
    return user


def _open(
    request: HttpRequest,
    study: Study,
    role: Role,
    membership: Membership | None,
    join: Callable[[Visitor], Membership],
) -> HttpResponse:
    """Join with the account in use, or with a new one."""
    is_sent = request.method == "POST"
    form = None if request.user.is_authenticated else JoinForm(request.POST or None)
    consent = _consent(study, role, request.POST, is_asked=is_sent)
    refused = consent is not None and not consent.is_given
    if is_sent and (form is None or form.is_valid()) and not refused:
        try:
            user = admit(form.save if form else lambda: request.user, join, consent)
        except JoiningError as error:
            return _closed_door(request, str(error), GONE)
        except IntegrityError:
            if form is None:
                raise
            form.add_error("username", NAME_TAKEN)  # by somebody who joined at the same moment
        else:
            response = redirect(_inside(study, _membership(user, study.slug)))
            if form is not None:
                login(request, user, backend="django.contrib.auth.backends.ModelBackend")
                remember_browser(request, response, user.get_username())
            return response
    context = {
        "study": study,
        "about": summary(study.description),
        "role": role,
        "membership": membership,
        "is_raised": bool(membership and raises(membership, role)),
        "has_training": role == Role.RATER and study.compares and training.pairs_of(study).exists(),
        "asked": asked(study),
        "limits": limits.told(study) if role == Role.RATER else "",
        "form": form,
        "consent": consent,
    }
    return render(request, "annotation/join.html", context, status=INVALID if is_sent else 200)


def _closed_door(request: HttpRequest, reason: str, status: int) -> HttpResponse:
    return render(request, "annotation/closed_door.html", {"reason": reason}, status=status)
