"""Django's admin: rows to look up."""

from typing import Any

from allauth.socialaccount.models import SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.http import HttpRequest

from arena.models import (
    Answer,
    ApiToken,
    Assignment,
    Comparison,
    Completion,
    CompletionFeature,
    Contestant,
    CriterionRating,
    Invitation,
    Membership,
    Pair,
    Prompt,
    Question,
    Rater,
    RaterGroup,
    Reference,
    Score,
    Study,
    StudyEvent,
)
from arena.people.accounts import AccountForm, NewAccountForm


class ReadOnly:
    """Rows are written by services and imports."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyAdmin(ReadOnly, admin.ModelAdmin):  # type: ignore[type-arg]
    show_full_result_count = False


class ReferenceInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg]
    model = Reference


class CriterionInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg]
    model = CriterionRating


@admin.register(Study)
class StudyAdmin(ReadOnlyAdmin):
    list_display = ["name", "slug", "visibility", "points", "closed_at"]
    list_filter = ["visibility", "points", "simulated", ("closed_at", admin.EmptyFieldListFilter)]
    search_fields = ["name", "slug"]


@admin.register(StudyEvent)
class StudyEventAdmin(ReadOnlyAdmin):
    list_display = ["at", "study", "kind", "by", "rater", "note"]
    list_filter = ["kind", "study"]
    list_select_related = ["study", "by", "rater"]
    search_fields = ["note"]


@admin.register(Prompt)
class PromptAdmin(ReadOnlyAdmin):
    list_display = ["external_id", "study", "subset", "category", "domain"]
    list_filter = ["study", "category", "subset"]
    list_select_related = ["study"]
    search_fields = ["external_id", "turns"]
    inlines = [ReferenceInline]


@admin.register(Contestant)
class ContestantAdmin(ReadOnlyAdmin):
    list_display = ["name", "study", "kind", "family", "organisation", "size", "retired_at"]
    list_filter = ["study", "kind", ("retired_at", admin.EmptyFieldListFilter)]
    list_select_related = ["study"]
    search_fields = ["name", "slug", "family", "organisation"]


@admin.register(Completion)
class CompletionAdmin(ReadOnlyAdmin):
    list_display = ["pk", "prompt", "contestant", "version", "is_current", "is_empty"]
    list_filter = ["prompt__study", "is_empty", "is_current", "prompt__category"]
    list_select_related = ["prompt", "contestant"]
    search_fields = ["external_id", "prompt__external_id", "contestant__name"]


@admin.register(CompletionFeature)
class CompletionFeatureAdmin(ReadOnlyAdmin):
    list_display = ["completion", "turn", "name", "variant", "value", "source"]
    list_filter = ["completion__prompt__study", "variant", "name"]
    list_select_related = ["completion"]
    search_fields = ["name", "source", "completion__prompt__external_id", "completion__contestant__name"]


@admin.register(Pair)
class PairAdmin(ReadOnlyAdmin):
    list_display = ["pk", "prompt", "first", "second", "use", "gold", "people_ratings", "judge_ratings"]
    list_filter = ["prompt__study", "use", "gold"]
    list_select_related = ["prompt", "first", "second"]
    search_fields = ["prompt__external_id", "first__contestant__name", "second__contestant__name"]


@admin.register(Rater)
class RaterAdmin(ReadOnlyAdmin):
    list_display = ["name", "kind", "slug", "study", "simulated", "paused_at"]
    list_filter = ["kind", "simulated", "groups", "study", ("paused_at", admin.EmptyFieldListFilter)]
    list_select_related = ["study"]
    search_fields = ["name", "slug", "user__username"]


@admin.register(RaterGroup)
class RaterGroupAdmin(ReadOnlyAdmin):
    list_display = ["name", "slug"]
    search_fields = ["name", "slug"]


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    list_display = ["rater", "study", "role", "joined_at", "trained_at", "paused_at", "left_out_at"]
    list_filter = ["study", "role"]
    list_select_related = ["rater", "study"]
    search_fields = ["rater__name", "rater__user__username"]


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "study", "role", "uses", "max_uses", "expires_at", "revoked_at"]
    list_filter = ["study", ("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["study"]
    search_fields = ["note"]


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "rater", "scopes", "created_at", "revoked_at"]
    list_filter = [("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["rater"]
    search_fields = ["label", "rater__name", "rater__slug"]
    exclude = ["digest"]


@admin.register(Assignment)
class AssignmentAdmin(ReadOnlyAdmin):
    list_display = [
        *("public_id", "study", "rater", "kind", "pair", "completion", "swapped", "repeat", "state"),
        "leased_until",
    ]
    list_filter = ["state", "kind", "study", "rater__kind"]
    list_select_related = ["study", "rater", "pair", "completion"]
    search_fields = ["public_id", "rater__name", "rater__slug"]
    date_hierarchy = "created_at"


@admin.register(Comparison)
class ComparisonAdmin(ReadOnlyAdmin):
    list_display = [
        *("pk", "study", "rater", "pair", "swapped", "status", "rating", "points", "reason"),
        *("source", "is_current", "created_at"),
    ]
    list_filter = ["study", "rater__kind", "status", "reason", "source", "points", "is_current"]
    list_select_related = ["study", "rater", "pair"]
    search_fields = ["external_id", "rater__name", "rater__slug", "pair__prompt__external_id"]
    date_hierarchy = "created_at"
    inlines = [CriterionInline]


@admin.register(Question)
class QuestionAdmin(ReadOnlyAdmin):
    list_display = ["__str__", "prompt", "text", "required", "proposed_by", "is_accepted", "is_current"]
    list_filter = ["is_current", "is_accepted", "required", "prompt__study"]
    list_select_related = ["prompt"]
    search_fields = ["text", "prompt__external_id", "proposed_by"]


class TextOpinionAdmin(ReadOnlyAdmin):
    list_filter = ["study", "rater__kind", "status", "reason", "source", "is_current"]
    search_fields = ["external_id", "rater__name", "rater__slug", "completion__prompt__external_id"]
    date_hierarchy = "created_at"


@admin.register(Score)
class ScoreAdmin(TextOpinionAdmin):
    list_display = [
        *("pk", "study", "rater", "completion", "turn", "status", "value", "lowest", "highest", "reason"),
        *("source", "is_current", "created_at"),
    ]
    list_select_related = ["study", "rater", "completion"]


@admin.register(Answer)
class AnswerAdmin(TextOpinionAdmin):
    list_display = [
        *("pk", "study", "rater", "completion", "question", "status", "value", "reason"),
        *("source", "is_current", "created_at"),
    ]
    list_select_related = ["study", "rater", "completion", "question"]


# Providers come from settings; nothing of what they say is kept.
for model in (SocialApp, SocialToken, User):
    admin.site.unregister(model)


@admin.register(User)
class AccountAdmin(UserAdmin):  # type: ignore[type-arg]
    """Django's own, with our rule of names."""

    form = AccountForm
    add_form = NewAccountForm


admin.site.site_header = "Likert Arena"
admin.site.site_title = "Likert Arena"
admin.site.index_title = "Accounts, prices, and rows to look up"
