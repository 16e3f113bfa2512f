"""Removing a person's details; what they rated stays and counts as before."""

import re
import secrets
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from django import forms
from django.apps import apps
from django.contrib import messages
from django.contrib.auth import get_user_model, logout
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from arena.audit.recording import Kind, record
from arena.models import (
    Answer,
    ApiToken,
    Assignment,
    Comparison,
    Flag,
    ImportFile,
    ImportJob,
    Invitation,
    Membership,
    Rater,
    Score,
    Study,
    StudyEvent,
)
from arena.models.invariants import REMOVED
from arena.models.signals import details_removed
from arena.monitoring.redacting import in_texts
from arena.pages.operating import show
from arena.pages.permissions import OperatorRequest, Visitor, is_staff, operable, operator
from arena.people.sessions import end_sessions
from arena.rating.accounts import rater_of

GONE: Final = REMOVED  # what replaces names and comments
SHORT: Final = 3  # shorter names are not looked for in notes: every word would hold them


def _studies_of(rater: Rater) -> QuerySet[Study]:
    member = Membership.objects.filter(rater=rater).values("study")
    rated = Study.objects.rated_by([rater]).values("pk")
    return Study.objects.filter(Q(pk__in=member) | Q(pk__in=rated) | Q(pk=rater.study_id))


def why_not(rater: Rater, by: Visitor) -> str:
    """Why this operator may not remove the person's details, or ''."""
    if rater.kind != Rater.Kind.PERSON:
        return "A judge has no personal details."
    if rater.anonymised_at:
        return "The personal details have already been removed."
    if rater.user is not None and rater.user == by:
        return "Use the account menu to remove your own details."
    if rater.user is not None and rater.user.is_staff:
        return "This is a staff account. Remove its staff rights in the admin first."
    if is_staff(by):
        return ""
    if _studies_of(rater).exclude(pk__in=operable(by).values("pk")).exists():
        return "This person also rates in studies of other operators. Ask a member of staff."
    return ""


@transaction.atomic
def anonymise(rater: Rater, by: Visitor | None, *, keep_comments: bool = True) -> Rater:
    """Delete the person's account and all that names them; what they rated and boards stay.

    It cannot be undone; again, it changes nothing.
    """
    locked = Rater.objects.select_for_update(of=("self",)).get(pk=rater.pk)
    if locked.anonymised_at:
        return locked
    if locked.kind != Rater.Kind.PERSON:
        raise ValueError("a judge has no personal details")
    user = locked.user
    names = _names(locked, user)
    own = user is not None and by is not None and user.pk == by.pk
    studies = list(_studies_of(locked))
    ending = _free_ending(locked)
    locked.name, locked.slug = f"former rater {ending}", f"former-rater-{ending}"
    locked.user, locked.anonymised_at = None, timezone.now()
    locked.save(update_fields=["name", "slug", "user", "anonymised_at"])
    _forget_texts(locked, keep_comments=keep_comments)
    ApiToken.objects.filter(rater=locked).delete()
    details_removed.send(sender=Rater, rater=locked, by=None if own else by)
    _forget_in_notes(studies, names)
    if user is not None:
        _forget_account(user, names)
    without: list[Study | None] = [None]  # who joined no study
    for study in studies or without:
        record(
            Kind.ANONYMISED,
            None if own else by,
            "Asked for by the person." if own else "",
            study=study,
            rater=locked,
        )
    return locked


def _names(rater: Rater, user: Any) -> list[str]:
    """All names that notes may use for the person, the longest first."""
    told = {rater.name, rater.slug}
    if user is not None:
        told |= {user.get_username(), user.email, user.first_name, user.last_name, user.get_full_name()}
    return sorted((name.strip() for name in told if len(name.strip()) >= SHORT), key=len, reverse=True)


def _free_ending(rater: Rater) -> str:
    """A random ending that no other rater of this kind and study has."""
    for size in (2, 2, 4, 8):
        ending = secrets.token_hex(size)
        taken = Rater.objects.filter(kind=rater.kind, study=rater.study_id, slug=f"former-rater-{ending}")
        if not taken.exists():
            return ending
    raise RuntimeError("no free name was found")


def _forget_texts(rater: Rater, *, keep_comments: bool) -> None:
    changed: dict[str, Any] = {"external_id": "", "extra": {}}
    if not keep_comments:
        changed |= {"rationale": "", "raw_reply": ""}
        Assignment.objects.filter(rater=rater).exclude(skip_reason="").update(skip_reason=GONE)
        Flag.objects.filter(assignment__rater=rater).exclude(comment="").update(comment=GONE)
    for opinions in (Comparison, Score, Answer):
        opinions._default_manager.filter(rater=rater).update(**changed)


def _notes(studies: list[Study]) -> Iterator[tuple[QuerySet[Any], str]]:
    """Rows in which operators and imports may have named people, and the field.

    Other studies are left alone: a name that is a common word must not be blanked there.
    """
    yield Invitation.objects.filter(study__in=studies), "note"
    yield StudyEvent.objects.filter(study__in=studies), "note"
    yield StudyEvent.objects.filter(study=None, kind__in=[Kind.ADMIN, Kind.KEY, Kind.GROUP]), "note"
    yield ImportFile.objects.filter(job__study__in=studies), "name"
    yield ImportJob.objects.filter(study__in=studies), "report"
    about = [get_user_model(), Rater, Membership, ApiToken, Invitation]
    kinds = apps.get_model("contenttypes", "ContentType").objects.get_for_models(*about).values()
    log = apps.get_model("admin", "LogEntry").objects.filter(content_type__in=list(kinds))
    yield log, "object_repr"
    yield log, "change_message"


def _forget_in_notes(studies: list[Study], names: list[str]) -> None:
    if not names:
        return
    whole_words = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in names)
    pattern = re.compile(whole_words, re.IGNORECASE)
    for rows, field in _notes(studies):
        for pk, said in list(rows.values_list("pk", field)):
            clean = in_texts(said, partial(pattern.sub, GONE))
            if clean != said:
                rows.filter(pk=pk).update(**{field: clean})


def _forget_account(user: Any, names: list[str]) -> None:
    end_sessions(user)
    tried = Q()
    for name in (user.get_username(), *names):
        tried |= Q(username__iexact=name) | Q(username__istartswith=f"{name} (browser ")
    for model in ("AccessAttempt", "AccessLog", "AccessFailureLog"):
        apps.get_model("axes", model).objects.filter(tried).delete()
    get_user_model().objects.filter(pk=user.pk).delete()


class OwnDetailsForm(forms.Form):
    comments = forms.ChoiceField(
        label="Your comments",
        choices=[("blank", "Delete them"), ("keep", "Keep them without your name")],
        initial="blank",
        widget=forms.RadioSelect,
    )
    password = forms.CharField(
        label="Your password",
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "current-password"}),
    )

    def __init__(self, user: Visitor, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.user = user
        if not user.has_usable_password():  # who signs in elsewhere
            self.fields["password"] = forms.CharField(label="Your name here, to confirm")

    def clean_password(self) -> str:
        given = str(self.cleaned_data["password"])
        if not self.user.has_usable_password():
            if given != self.user.get_username():
                raise forms.ValidationError("This is not your name here. Nothing was changed.")
        elif not self.user.check_password(given):
            raise forms.ValidationError("This is not your password. Nothing was changed.")
        return given


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def remove_own_details(request: HttpRequest) -> HttpResponse:
    """Explain what is removed; POST with the password removes it and signs out."""
    if request.user.is_staff:
        return render(request, "registration/own_details.html", {"form": None}, status=403)
    form = OwnDetailsForm(request.user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        keep = form.cleaned_data["comments"] == "keep"
        anonymise(rater_of(request.user), request.user, keep_comments=keep)
        logout(request)
        messages.success(request, "Your details are removed. Your ratings stay without your name.")
        return redirect("home")
    status = 422 if form.errors else 200
    return render(request, "registration/own_details.html", {"form": form}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@operator
def remove_details(request: OperatorRequest, rater: int) -> HttpResponse:
    """Remove a person's details; their name has to be typed."""
    found = get_object_or_404(Rater, pk=rater, kind=Rater.Kind.PERSON)
    if not _studies_of(found).filter(pk=request.study.pk).exists():
        raise Http404
    reason = why_not(found, request.user)
    if request.method == "POST" and not reason:
        if request.POST.get("typed", "").strip() != found.name:
            reason = "The name you typed is not the name above. Nothing was changed."
        else:
            keep = request.POST.get("comments") != "blank"
            name = anonymise(found, request.user, keep_comments=keep).name
            messages.success(request, f"The details are removed. The ratings stay as those of {name}.")
            return redirect("operate-people", slug=request.study.slug)
        return show(request, "remove_details.html", {"rater": found, "problem": reason}, status=422)
    return show(request, "remove_details.html", {"rater": found, "why_not": reason})
