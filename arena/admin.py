"""Django's admin: rows to look up."""

from typing import Any, Final

from allauth.socialaccount.models import SocialApp, SocialToken
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.db.models import Model
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

    has_change_permission = has_delete_permission = has_add_permission


class ReadOnlyAdmin(ReadOnly, admin.ModelAdmin):  # type: ignore[type-arg]
    show_full_result_count = False


class ReferenceInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg]
    model = Reference


class CriterionInline(ReadOnly, admin.TabularInline):  # type: ignore[type-arg]
    model = CriterionRating


def look_up(
    model: type[Model], columns: str, filters: str = "", search: str = "", related: str = "", **options: Any
) -> None:
    """Show rows of a model and what columns and ``related`` refer to; ``field?`` filters by emptiness."""
    listed = columns.split()
    referred = [field.name for field in model._meta.concrete_fields if field.is_relation]
    admin.site.register(
        model,
        ReadOnlyAdmin,
        list_display=listed,
        list_filter=[
            (name[:-1], admin.EmptyFieldListFilter) if name.endswith("?") else name
            for name in filters.split()
        ],
        list_select_related=[*(name for name in referred if name in listed), *related.split()],
        search_fields=search.split(),
        **options,
    )


_OPINION: Final = "study rater__kind status reason source is_current"
_NAMED: Final = "external_id rater__name rater__slug completion__prompt__external_id"
_BY_DAY: Final = {"date_hierarchy": "created_at"}

look_up(Study, "name slug visibility points closed_at", "visibility points simulated closed_at?", "name slug")
look_up(StudyEvent, "at study kind by rater note", "kind study", "note")
look_up(
    Prompt,
    "external_id study subset category domain",
    "study category subset",
    "external_id turns",
    inlines=[ReferenceInline],
)
look_up(
    Contestant,
    "name study kind family organisation size retired_at",
    "study kind retired_at?",
    "name slug family organisation",
)
look_up(
    Completion,
    "pk prompt contestant version is_current is_empty",
    "prompt__study is_empty is_current prompt__category",
    "external_id prompt__external_id contestant__name",
)
look_up(
    CompletionFeature,
    "completion turn name variant value source",
    "completion__prompt__study variant name",
    "name source completion__prompt__external_id completion__contestant__name",
)
look_up(
    Pair,
    "pk prompt first second use gold people_ratings judge_ratings",
    "prompt__study use gold",
    "prompt__external_id first__contestant__name second__contestant__name",
)
look_up(
    Rater,
    "name kind slug study simulated paused_at",
    "kind simulated groups study paused_at?",
    "name slug user__username",
)
look_up(RaterGroup, "name slug", search="name slug")
look_up(
    Membership,
    "rater study role joined_at trained_at paused_at left_out_at",
    "study role",
    "rater__name rater__user__username",
)
look_up(Invitation, "__str__ study role uses max_uses expires_at revoked_at", "study revoked_at?", "note")
look_up(
    ApiToken,
    "__str__ rater scopes created_at revoked_at",
    "revoked_at?",
    "label rater__name rater__slug",
    exclude=["digest"],
)
look_up(
    Assignment,
    "public_id study rater kind pair completion turn swapped repeat state leased_until",
    "state kind study rater__kind",
    "public_id rater__name rater__slug",
    **_BY_DAY,
)
look_up(
    Comparison,
    "pk study rater pair turn swapped status rating points reason source is_current created_at",
    "study rater__kind status reason source points turn is_current",
    "external_id rater__name rater__slug pair__prompt__external_id",
    inlines=[CriterionInline],
    **_BY_DAY,
)
look_up(
    Question,
    "__str__ prompt text required proposed_by is_accepted is_current",
    "is_current is_accepted required prompt__study",
    "text prompt__external_id proposed_by",
)
look_up(
    Score,
    "pk study rater completion turn status value lowest highest reason source is_current created_at",
    _OPINION,
    _NAMED,
    **_BY_DAY,
)
look_up(
    Answer,
    "pk study rater completion question status value reason source is_current created_at",
    _OPINION,
    _NAMED,
    **_BY_DAY,
)


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
