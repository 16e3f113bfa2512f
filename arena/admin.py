"""The operator's pages in Django's admin: what is compared, who compares, and what they said."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.db.models import Count, JSONField, Model, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.text import Truncator

from arena.api.auth import USUAL_SCOPES, Scope, ScopeError, check_scopes, renew_key
from arena.data.formats import ours
from arena.data.json_input import JSONInput
from arena.models import (
    ApiToken,
    Assignment,
    Comparison,
    Completion,
    Contestant,
    CriterionRating,
    Invitation,
    Membership,
    Pair,
    Prompt,
    Rater,
    RaterGroup,
    Reference,
    Study,
    StudyEvent,
)
from arena.models.signals import announce
from arena.people.joining import rater_of
from arena.studies import lifecycle, settings
from arena.studies.setting_up import AddressedForm

# What several admin pages share: rows that are only read, and changes that reach the published figures.


JSON_FIELDS: Any = {JSONField: {"form_class": JSONInput}}
"""``formfield_overrides`` of every page on which JSON is typed."""


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows that are history: written by services and imports, looked at here."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class AnnouncingAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows on which a study's figures rest: every change is announced."""

    formfield_overrides = JSON_FIELDS

    def studies_of(self, rows: QuerySet[Any]) -> QuerySet[Study]:
        """The studies whose figures rest on these rows."""
        return Study.objects.filter(pk__in=rows.values("study"))

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        announce(self.studies_of(self.model._default_manager.filter(pk=obj.pk)))

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        studies = list(self.studies_of(self.model._default_manager.filter(pk=obj.pk)))
        super().delete_model(request, obj)
        announce(studies)

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        studies = list(self.studies_of(queryset))
        super().delete_queryset(request, queryset)
        announce(studies)


# Forms of the admin that check what a JSON column cannot: lists of texts.


def _texts(value: Any, example: str) -> list[str]:
    """The value if it is a list of texts that are not blank; raises ValidationError otherwise."""
    if not isinstance(value, list) or not all(isinstance(text, str) and text.strip() for text in value):
        raise forms.ValidationError(f"Please give a list of texts, for example {example}")
    return value


class StudyForm(AddressedForm):
    class Meta:
        model = Study
        fields = "__all__"  # the admin chooses them

    def clean_criteria(self) -> list[str]:
        criteria = _texts(self.cleaned_data["criteria"] or [], '["helpfulness", "accuracy"].')
        if len(set(criteria)) < len(criteria) or any(len(name) > 100 for name in criteria):
            raise forms.ValidationError("Each criterion is named once, in at most 100 characters.")
        return criteria

    def clean_reasons(self) -> list[str]:
        reasons = _texts(self.cleaned_data["reasons"] or [], '["More accurate", "Clearer"].')
        if len(set(reasons)) < len(reasons) or any(len(reason) > 100 for reason in reasons):
            raise forms.ValidationError("Each reason stands once, in at most 100 characters.")
        return reasons


class ContestantForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Contestant
        fields = "__all__"  # noqa: DJ007 - the admin chooses the fields

    def clean_benchmarks(self) -> dict[str, float]:
        scores = self.cleaned_data["benchmarks"] or {}
        if not isinstance(scores, dict):
            raise forms.ValidationError('Please give names and numbers, for example {"MMLU": 69.8}.')
        if wrong := [": ".join(filter(None, fault)) for fault in ours.benchmark_faults(scores)]:
            raise forms.ValidationError(wrong)
        return scores


class TurnsForm(forms.ModelForm):  # type: ignore[type-arg]
    """For rows with turns, which are one or more texts."""

    def clean_turns(self) -> list[str]:
        return _texts(self.cleaned_data["turns"], '["Name three rivers."].')


class PromptForm(TurnsForm):
    class Meta:
        model = Prompt
        fields = "__all__"  # noqa: DJ007 - the admin chooses the fields


class ReferenceForm(TurnsForm):
    class Meta:
        model = Reference
        fields = "__all__"  # noqa: DJ007 - the admin chooses the fields


# Assignments and comparisons: history, looked at and never edited.


class CriterionInline(admin.TabularInline):  # type: ignore[type-arg]
    model = CriterionRating
    extra = 0


class AssignmentAdmin(ReadOnlyAdmin):
    list_display = ["public_id", "study", "rater", "pair", "swapped", "repeat", "state", "leased_until"]
    list_filter = ["state", "study", "rater__kind"]
    list_select_related = ["study", "rater", "pair"]
    search_fields = ["public_id", "rater__name", "rater__slug"]
    date_hierarchy = "created_at"


class ComparisonAdmin(ReadOnlyAdmin):
    list_display = [
        "pk",
        "study",
        "rater",
        "pair",
        "swapped",
        "status",
        "rating",
        "points",
        "reason",
        "source",
        "is_current",
        "created_at",
    ]
    list_filter = ["study", "rater__kind", "status", "reason", "source", "points", "is_current"]
    list_select_related = ["study", "rater", "pair"]
    search_fields = ["external_id", "rater__name", "rater__slug", "pair__prompt__external_id"]
    date_hierarchy = "created_at"
    inlines = [CriterionInline]
    show_full_result_count = False


# Raters, their groups, their studies, and the links that let people in.


class RaterAdmin(AnnouncingAdmin):
    list_display = ["name", "kind", "slug", "study", "ratings", "simulated", "paused_at"]
    list_filter = ["kind", "simulated", "groups", "study", ("paused_at", admin.EmptyFieldListFilter)]
    list_select_related = ["study"]
    search_fields = ["name", "slug", "user__username"]
    filter_horizontal = ["groups"]
    actions = ["pause", "resume"]

    def studies_of(self, rows: QuerySet[Any]) -> QuerySet[Study]:
        """The studies in which these raters have a say."""
        return Study.objects.filter(comparisons__rater__in=rows).distinct()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Rater]:
        current = Count("comparisons", filter=Q(comparisons__is_current=True))
        return Rater.objects.annotate(rating_total=current)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["kind", "slug", "study", "user", "anonymised_at"] if obj else ["study", "anonymised_at"]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A rater who has rated is paused, not deleted: the history stays."""
        rated = obj is not None and (obj.comparisons.exists() or obj.assignments.exists())
        return not rated and super().has_delete_permission(request, obj)

    def get_actions(self, request: HttpRequest) -> Any:
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    @admin.display(description="ratings", ordering="rating_total")
    def ratings(self, rater: Any) -> int:
        return int(rater.rating_total)

    @admin.action(description="Pause: offer nothing new")
    def pause(self, request: HttpRequest, queryset: QuerySet[Rater]) -> None:
        self._set_paused(request, queryset, paused=True)

    @admin.action(description="Resume")
    def resume(self, request: HttpRequest, queryset: QuerySet[Rater]) -> None:
        self._set_paused(request, queryset, paused=False)

    def _set_paused(self, request: HttpRequest, queryset: QuerySet[Rater], *, paused: bool) -> None:
        chosen = Rater.objects.filter(pk__in=queryset.values("pk"), paused_at__isnull=paused)
        count = chosen.update(paused_at=timezone.now() if paused else None)
        self.message_user(request, f"{'Paused' if paused else 'Resumed'}: {count}.")


class GroupAdmin(AnnouncingAdmin):
    """Groups are selected like raters: group:NAME."""

    list_display = ["name", "slug", "size"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}

    def studies_of(self, rows: QuerySet[RaterGroup]) -> QuerySet[Study]:
        """The studies in which members of these groups have a say."""
        return Study.objects.filter(comparisons__rater__groups__in=rows).distinct()

    def get_queryset(self, request: HttpRequest) -> QuerySet[RaterGroup]:
        return RaterGroup.objects.annotate(total=Count("raters"))

    @admin.display(description="raters", ordering="total")
    def size(self, group: Any) -> int:
        return int(group.total)


class MembershipAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ["rater", "study", "role", "joined_at", "trained_at", "paused_at", "left_out_at"]
    list_filter = ["study", "role"]
    list_select_related = ["rater", "study"]
    search_fields = ["rater__name", "rater__user__username"]
    autocomplete_fields = ["rater", "study"]
    # What is decided about a member is recorded with its reason: on the operators' pages of the study.
    readonly_fields = ["joined_at", "guidelines_read_at", "paused_at", "left_out_at"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return [*self.readonly_fields, "role"] if obj else list(self.readonly_fields)


class InvitationAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """The link is the invitation: whoever has it can join, as often as it says."""

    list_display = ["__str__", "study", "role", "path", "uses", "max_uses", "expires_at", "open"]
    list_filter = ["study", ("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["study"]
    search_fields = ["note"]
    autocomplete_fields = ["study"]
    actions = ["revoke"]

    readonly_fields = ["link", "uses", "revoked_at", "created_at"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        asked = ["study", "role", "note", "group", "max_uses", "expires_at"]
        return [*asked, *self.readonly_fields] if obj else asked

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """The invitation with its full address, which depends on how the operator reached this page."""
        invitation = super().get_object(request, object_id, from_field)
        if invitation is not None:
            invitation.address = _address(request, invitation)
        return invitation

    @admin.display(description="link to send")
    def link(self, invitation: Any) -> str:
        return format_html('<a href="{0}">{0}</a>', invitation.address)

    @admin.display(description="link")
    def path(self, invitation: Invitation) -> str:
        return format_html('<a href="{}">link</a>', reverse("join", args=[invitation.token]))

    @admin.display(description="open", boolean=True)
    def open(self, invitation: Invitation) -> bool:
        return invitation.is_open

    @admin.action(description="Withdraw: the links stop working")
    def revoke(self, request: HttpRequest, queryset: QuerySet[Invitation]) -> None:
        count = queryset.filter(revoked_at__isnull=True).update(revoked_at=timezone.now())
        self.message_user(request, f"Withdrawn: {count}.")

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> HttpResponse:
        self.message_user(request, format_html("Send this link: {}", _address(request, obj)))
        return super().response_add(request, obj, post_url_continue)


def _address(request: HttpRequest, invitation: Invitation) -> str:
    return request.build_absolute_uri(reverse("join", args=[invitation.token]))


# Studies: what raters are told, how much is wanted, who may look, and the data.


class StudyAdmin(AnnouncingAdmin):
    form = StudyForm
    list_display = [
        "name",
        "slug",
        "open_to",
        "points",
        "prompt_count",
        "contestant_count",
        "comparison_count",
        "closed_at",
    ]
    list_filter = ["visibility", "points", "simulated", ("closed_at", admin.EmptyFieldListFilter)]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    readonly_fields = ["created_at", "paused_at", "closed_at"]  # each change of them is recorded: see actions
    actions = ["close", "reopen"]
    fieldsets = [
        (None, {"fields": ["name", "slug", "description"]}),
        (
            "For raters",
            {"fields": ["guidelines", "points", "criteria", "reasons", "training_threshold", "reveal_names"]},
        ),
        ("How much is wanted", {"fields": ["ratings_per_pair_people", "ratings_per_pair_judges"]}),
        (
            "Which pairs people get",
            {"fields": ["pairing", "control_share", "repeat_share", "gold_share", "naming"]},
        ),
        ("Who gets in", {"fields": ["visibility", "sign_up_open", "paused_at", "closed_at"]}),
        ("For those who take results away", {"fields": ["licence"]}),
        ("More", {"classes": ["collapse"], "fields": ["simulated", "created_at"]}),
    ]

    def studies_of(self, rows: QuerySet[Any]) -> QuerySet[Study]:
        return rows

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Only what was changed is written, and on record."""
        if change:
            settings.store(obj, request.user, form.changed_data)
        else:
            super().save_model(request, obj, form, change)

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        obj.delete()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Study]:
        return Study.objects.annotate(
            prompt_total=Count("prompts", distinct=True),
            contestant_total=Count(
                "contestants", distinct=True, filter=Q(contestants__retired_at__isnull=True)
            ),
        )

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change, **kwargs)
        points = form.base_fields.get("points")
        if points is not None:
            points.help_text += " Ratings given already keep the scale they were given on."
        slug = form.base_fields.get("slug")
        if slug is not None:
            slug.help_text = "The last part of its address. Empty: made of the name."
        return form

    @admin.display(description="visibility", ordering="visibility")
    def open_to(self, study: Study) -> str:
        return study.get_visibility_display().partition(":")[0]

    @admin.display(description="prompts", ordering="prompt_total")
    def prompt_count(self, study: Any) -> int:
        return int(study.prompt_total)

    @admin.display(description="contestants", ordering="contestant_total")
    def contestant_count(self, study: Any) -> int:
        return int(study.contestant_total)

    @admin.display(description="comparisons")
    def comparison_count(self, study: Study) -> int:
        return Comparison.objects.current().filter(study=study).count()

    @admin.action(description="Close: take no more ratings; names may then stand beside texts")
    def close(self, request: HttpRequest, queryset: QuerySet[Study]) -> None:
        self._decide(request, queryset, StudyEvent.Kind.CLOSED)

    @admin.action(description="Reopen: take ratings again")
    def reopen(self, request: HttpRequest, queryset: QuerySet[Study]) -> None:
        self._decide(request, queryset, StudyEvent.Kind.REOPENED)

    def _decide(self, request: HttpRequest, queryset: QuerySet[Study], kind: StudyEvent.Kind) -> None:
        changed = sum(lifecycle.decide(study, kind, request.user) for study in list(queryset))
        self.message_user(request, f"{kind.value.capitalize()}: {changed}.")

    def get_actions(self, request: HttpRequest) -> Any:
        """Without the bulk deletion: a study with all its ratings goes one at a time."""
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Counts of what goes with a study: it may hold a hundred thousand rows."""
        counts = {
            "prompts": sum(study.prompts.count() for study in objs),
            "contestants": sum(study.contestants.count() for study in objs),
            "completions": Completion.objects.filter(prompt__study__in=objs).count(),
            "comparisons": Comparison.objects.filter(study__in=objs).count(),
        }
        named = [f"Study: {study}" for study in objs]
        return named, {"studies": len(named), **counts}, set(), []


# Prompts, contestants, completions and pairs. Texts that were rated are changed by imports alone.


class ReferenceInline(admin.StackedInline):  # type: ignore[type-arg]
    model = Reference
    form = ReferenceForm
    formfield_overrides = JSON_FIELDS
    extra = 0


class PromptAdmin(AnnouncingAdmin):
    form = PromptForm
    list_display = ["external_id", "study", "subset", "category", "domain", "beginning"]
    list_filter = ["study", "category", "subset"]
    list_select_related = ["study"]
    search_fields = ["external_id", "turns"]
    inlines = [ReferenceInline]

    @admin.display(description="instruction")
    def beginning(self, prompt: Prompt) -> str:
        return Truncator(prompt.instruction).chars(80)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """A prompt's name never changes, nor its text once a pair of its completions exists."""
        if obj is None:
            return []
        named = ["study", "external_id", "subset"]
        return [*named, "turns", "input"] if obj.pairs.exists() else named

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        rated = obj is not None and obj.pairs.exists()
        return not rated and super().has_delete_permission(request, obj)

    def get_actions(self, request: HttpRequest) -> Any:
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions


class ContestantAdmin(AnnouncingAdmin):
    form = ContestantForm
    list_display = ["name", "study", "kind", "family", "organisation", "size", "retired_at"]
    list_filter = ["study", "kind", ("retired_at", admin.EmptyFieldListFilter)]
    list_select_related = ["study"]
    search_fields = ["name", "slug", "family", "organisation"]
    actions = ["retire", "reinstate"]
    prepopulated_fields = {"slug": ["name"]}

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["study"] if obj else []

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> dict[str, Any]:
        return {} if obj else self.prepopulated_fields

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A contestant that was paired is retired, not deleted: its history stays."""
        rated = obj is not None and _paired(obj)
        return not rated and super().has_delete_permission(request, obj)

    def get_actions(self, request: HttpRequest) -> Any:
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    @admin.action(description="Retire: no new pairs, the history stays")
    def retire(self, request: HttpRequest, queryset: QuerySet[Contestant]) -> None:
        self._set_retired(request, queryset.filter(retired_at__isnull=True), retired=True)

    @admin.action(description="Reinstate: pair it again")
    def reinstate(self, request: HttpRequest, queryset: QuerySet[Contestant]) -> None:
        self._set_retired(request, queryset.filter(retired_at__isnull=False), retired=False)

    @transaction.atomic
    def _set_retired(self, request: HttpRequest, queryset: QuerySet[Contestant], *, retired: bool) -> None:
        chosen = list(queryset.select_related("study"))
        Contestant.objects.filter(pk__in=[contestant.pk for contestant in chosen]).update(
            retired_at=timezone.now() if retired else None
        )
        announce({contestant.study for contestant in chosen})
        self.message_user(request, f"{'Retired' if retired else 'Reinstated'}: {len(chosen)}.")


def _paired(contestant: Contestant) -> bool:
    return Pair.objects.filter(Q(first__contestant=contestant) | Q(second__contestant=contestant)).exists()


class CompletionAdmin(ReadOnlyAdmin):
    """Read only: a changed text comes by an import, which makes a new version of it."""

    list_display = ["pk", "study", "prompt", "contestant", "version", "is_current", "is_empty", "beginning"]
    list_filter = ["prompt__study", "is_empty", "is_current", "prompt__category"]
    list_select_related = ["prompt__study", "contestant"]
    search_fields = ["external_id", "prompt__external_id", "contestant__name"]

    @admin.display(ordering="prompt__study")
    def study(self, completion: Completion) -> Study:
        return completion.prompt.study

    @admin.display(description="text")
    def beginning(self, completion: Completion) -> str:
        return Truncator(completion.text).chars(80)


class PairAdmin(AnnouncingAdmin):
    """The texts of a pair are fixed; a gold label may be given with its source."""

    list_display = ["pk", "study", "prompt", "first", "second", "gold", "people_ratings", "judge_ratings"]
    list_filter = ["prompt__study", "gold"]
    list_select_related = ["prompt__study", "first__contestant", "second__contestant"]
    search_fields = ["prompt__external_id", "first__contestant__name", "second__contestant__name"]
    readonly_fields = ["prompt", "first", "second", "people_ratings", "judge_ratings"]

    def studies_of(self, rows: QuerySet[Any]) -> QuerySet[Study]:
        return Study.objects.filter(pk__in=rows.values("prompt__study"))

    @admin.display(ordering="prompt__study")
    def study(self, pair: Pair) -> Study:
        return pair.prompt.study

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


# Keys to the API: listed, made and shown once, revoked. Their hashes are shown nowhere.


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


admin.site.site_header = "Likert Arena"
admin.site.site_title = "Likert Arena"
admin.site.index_title = "For operators"

admin.site.register(Study, StudyAdmin)
admin.site.register(Prompt, PromptAdmin)
admin.site.register(Contestant, ContestantAdmin)
admin.site.register(Completion, CompletionAdmin)
admin.site.register(Pair, PairAdmin)
admin.site.register(Rater, RaterAdmin)
admin.site.register(RaterGroup, GroupAdmin)
admin.site.register(Membership, MembershipAdmin)
admin.site.register(Invitation, InvitationAdmin)
admin.site.register(ApiToken, TokenAdmin)
admin.site.register(Assignment, AssignmentAdmin)
admin.site.register(Comparison, ComparisonAdmin)
