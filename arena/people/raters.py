"""Raters of all studies, groups and API keys: pages for staff accounts."""

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from arena.api.auth import USUAL_SCOPES, Scope, ScopeError, check_scopes, issue_token
from arena.audit.recording import Kind, record
from arena.models import Answer, ApiToken, Comparison, Rater, RaterGroup, Score, Study
from arena.models.comparisons import Opinion
from arena.models.signals import announce
from arena.pages.counts import is_number
from arena.pages.names import NamedForm
from arena.pages.operating import paged, refused_if_taken
from arena.pages.permissions import Visitor, staff_only
from arena.pages.written import LineField
from arena.rating.accounts import rater_of


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def raters(request: HttpRequest) -> HttpResponse:
    """People and judges; POST makes a judge of a program elsewhere."""
    form = JudgeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with refused_if_taken(form, "slug", OTHER_JUDGE):
            judge = form.save()
            record(Kind.JUDGE, request.user, f"Judge {judge.slug} of a program elsewhere added.", rater=judge)
    if request.method == "POST" and form.is_valid():
        messages.success(request, f"{judge} created. Now create an API key for its program.")
        return redirect("operate-keys")
    asked = request.GET.get("q", "").replace("\0", "")
    found = Rater.objects.filter(study=None).filter(Q(name__icontains=asked) | Q(slug__icontains=asked))
    ratings = _said(Comparison) + _said(Score) + _said(Answer, "completion")
    page = paged(
        request, found.prefetch_related("groups").annotate(ratings=ratings).order_by("kind", "name", "pk")
    )
    context = {"page": page, "asked": asked, "query": f"&q={quote(asked)}" if asked else "", "form": form}
    return render(request, "operating/raters.html", context, status=422 if form.errors else 200)


def _said(model: type[Opinion], counted: str = "pk") -> Coalesce:
    """How much a rater said, by what is counted once."""
    rows = model._default_manager.filter(rater=OuterRef("pk"), is_current=True).order_by().values("rater")
    return Coalesce(Subquery(rows.annotate(n=Count(counted, distinct=True)).values("n")), 0)


OTHER_JUDGE: Final = "Another judge has this short name."


class JudgeForm(NamedForm):
    """A judge for which a program elsewhere answers over the API."""

    class Meta:
        model = Rater
        fields = ("name", "slug")
        labels = {"slug": "Short name"}
        help_texts = {
            "name": "The name on leaderboards.",
            "slug": "For addresses and commands. Letters, digits and hyphens.",
        }

    def others(self) -> "QuerySet[Rater]":
        return Rater.objects.filter(kind=Rater.Kind.JUDGE, study=None)

    def clean_slug(self) -> str:
        slug = str(self.cleaned_data["slug"])
        if self.others().filter(slug=slug).exists():
            raise forms.ValidationError(OTHER_JUDGE)
        return slug

    def save(self, commit: bool = True) -> Any:
        self.instance.kind = Rater.Kind.JUDGE
        return super().save(commit)


@require_POST
@staff_only
def pause_everywhere(request: HttpRequest, rater: int) -> HttpResponse:
    found = get_object_or_404(Rater, pk=rater, study=None)
    again = "resume" in request.POST
    with transaction.atomic():
        other = Rater.objects.filter(pk=found.pk, paused_at__isnull=not again)
        if other.update(paused_at=None if again else timezone.now()):
            kind = Kind.RATER_RESUMED if again else Kind.RATER_PAUSED
            record(kind, request.user, "In all studies.", rater=found)
    messages.success(request, f"{found} is no longer paused." if again else f"{found} paused.")
    return redirect("operate-all-raters")


class GroupForm(NamedForm):
    class Meta:
        model = RaterGroup
        fields = ("name", "slug")
        labels = {"slug": "Short name"}
        help_texts = {"slug": "For the address of its leaderboard. Letters, digits and hyphens."}


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def groups(request: HttpRequest) -> HttpResponse:
    """The groups with their sizes; POST makes another."""
    form = GroupForm(request.POST or None)
    if request.method == "POST":
        with refused_if_taken(form, "slug", "Another group has this short name."):
            if form.is_valid():
                made = form.save()
                record(Kind.GROUP, request.user, f"Group {made.slug} created.")
    if request.method == "POST" and form.is_valid():
        return redirect("operate-group", group=made.pk)
    found = RaterGroup.objects.annotate(size=Count("raters"))
    status = 422 if form.errors else 200
    return render(request, "operating/groups.html", {"groups": found, "form": form}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def group(request: HttpRequest, group: int) -> HttpResponse:
    """A group and its raters; POST renames, adds, takes out or deletes."""
    found = get_object_or_404(RaterGroup, pk=group)
    form = GroupForm(request.POST if "rename" in request.POST else None, instance=found)
    if request.method == "POST" and (not form.is_bound or form.is_valid()):
        with transaction.atomic():
            return _change(request, found, form)
    if form.errors:
        found.refresh_from_db()
    chosen = request.GET.get("q", "").replace("\0", "")
    others = Rater.objects.exclude(groups=found).select_related("study").order_by("kind", "name", "pk")
    context = {
        "group": found,
        "form": form,
        "page": paged(request, found.raters.select_related("study").order_by("kind", "name", "pk")),
        "asked": chosen,
        "others": others.filter(Q(name__icontains=chosen) | Q(slug__icontains=chosen))[:MOST_OFFERED],
        "most": MOST_OFFERED,
    }
    return render(request, "operating/group.html", context, status=422 if form.errors else 200)


MOST_OFFERED = 50


def _change(request: HttpRequest, group: RaterGroup, form: GroupForm) -> HttpResponse:
    named = Rater.objects.filter(pk__in=filter(is_number, request.POST.getlist("rater")))
    studies = _studies_of(group.raters.all())
    if "delete" in request.POST:
        record(Kind.GROUP, request.user, f"Group {group.slug} deleted.")
        group.delete()
    elif "rename" in request.POST:
        before = form.initial["slug"]
        form.save()
        record(Kind.GROUP, request.user, f"Group {group.slug} renamed. Before: {before}.")
    elif "add" in request.POST:
        group.raters.add(*named)
        studies |= _studies_of(named)
        for rater in named:
            record(Kind.GROUP, request.user, f"Put into group {group.slug}.", rater=rater)
    elif "take-out" in request.POST:
        group.raters.remove(*named)
        for rater in named:
            record(Kind.GROUP, request.user, f"Taken out of group {group.slug}.", rater=rater)
    announce(studies)
    if "delete" in request.POST:
        messages.success(request, f"Group {group.name} deleted. Its raters keep their ratings.")
        return redirect("operate-groups")
    messages.success(request, "Saved.")
    return redirect("operate-group", group=group.pk)


def _studies_of(raters: Iterable[Rater]) -> set[Study]:
    return set(Study.objects.rated_by(raters))


class KeyForm(forms.ModelForm):  # type: ignore[type-arg]
    scopes = forms.MultipleChoiceField(
        label="What the key may do",
        choices=Scope.choices,
        initial=USUAL_SCOPES,
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        model = ApiToken
        fields = ("rater", "label", "scopes")
        field_classes = {"label": LineField}
        labels = {"rater": "Rater", "label": "Label"}

    def __init__(self, user: Visitor, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        judges = Rater.objects.filter(Q(kind="judge", study=None) | Q(user=user))
        self.fields["rater"] = forms.ModelChoiceField(
            judges,
            required=False,
            label="Rater",
            empty_label="Yourself",
            help_text="A judge or yourself. "
            f"For somebody else, run {settings.COMMAND} api_token on the server.",
        )

    def clean(self) -> dict[str, Any]:
        """Check the scopes; the rater defaults to the account's own."""
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors:
            cleaned["rater"] = cleaned["rater"] or rater_of(self.user)
            try:
                check_scopes(cleaned["rater"], cleaned["scopes"])
            except ScopeError as error:
                self.add_error("scopes", str(error))
        return cleaned


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def keys(request: HttpRequest) -> HttpResponse:
    """All keys; the answer to POST is the one page that shows the new key."""
    form = KeyForm(request.user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        made = form.cleaned_data
        key = issue_token(made["rater"], made["label"], made["scopes"], by=request.user)
        context = {"rater": made["rater"], "scopes": sorted(made["scopes"]), "key": key}
        return render(request, "operating/key.html", context)
    found = ApiToken.objects.select_related("rater").order_by("-pk")
    context = {"page": paged(request, found), "form": form}
    return render(request, "operating/keys.html", context, status=422 if form.errors else 200)


@require_POST
@staff_only
def revoke(request: HttpRequest, key: int) -> HttpResponse:
    found = get_object_or_404(ApiToken, pk=key)
    with transaction.atomic():
        if ApiToken.objects.filter(pk=found.pk, revoked_at=None).update(revoked_at=timezone.now()):
            record(Kind.KEY, request.user, f"Key {found.pk} revoked.", rater=found.rater)
    messages.success(request, f"Key {found} revoked.")
    return redirect("operate-keys")
