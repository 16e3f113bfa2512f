"""Raters, their groups, their studies, and the links that let people in."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from arena.admin_bases import AnnouncingAdmin
from arena.models import Invitation, Rater, RaterGroup, Study


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
