"""Prompts, contestants, completions and pairs. Texts that were rated are changed by imports alone."""

from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.text import Truncator

from arena.admin_bases import JSON_FIELDS, AnnouncingAdmin, ReadOnlyAdmin
from arena.admin_forms import ContestantForm, PromptForm, ReferenceForm
from arena.announcing import announce
from arena.models import Completion, Contestant, Pair, Prompt, Reference, Study


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
