"""Studies: what raters are told, how much is wanted, who may look, and the data."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.views.decorators.csrf import csrf_exempt

from arena import lifecycle, study_settings
from arena.admin_bases import AnnouncingAdmin
from arena.admin_forms import StudyForm
from arena.models import Comparison, Completion, Study, StudyEvent
from arena.uploads.views import ImportPages


class AdminImportPages(ImportPages):
    """The pages behind a study's "Import data" button in the admin."""

    def __init__(self, model_admin: "admin.ModelAdmin[Study]") -> None:
        self.model_admin = model_admin

    def address(self, study: Study) -> str:
        return reverse("admin:arena_study_import", args=[study.pk])

    def frame(self, request: HttpRequest, study: Study) -> dict[str, Any]:
        return {
            **self.model_admin.admin_site.each_context(request),
            "title": "Import data",
            "subtitle": str(study),
            "opts": Study._meta,
            "import_base": "admin/arena/study/_import_base.html",
            "study_url": reverse("admin:arena_study_change", args=[study.pk]),
        }


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
            study_settings.store(obj, request.user, form.changed_data)
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

    def get_urls(self) -> list[URLPattern]:
        pages = AdminImportPages(self)

        def guard(view: Callable[..., HttpResponse]) -> Callable[..., Any]:
            """For those who may change the study, which the view is given instead of its id."""

            @wraps(view)  # with its exemption from the CSRF check, which it makes itself
            def checked(request: HttpRequest, pk: int, **place: Any) -> HttpResponse:
                study = get_object_or_404(Study, pk=pk)
                if not self.has_change_permission(request, study):
                    raise PermissionDenied
                return view(request, study, **place)

            return self.admin_site.admin_view(checked)

        job = "<int:pk>/import/<int:job>/"
        own = [
            path("<int:pk>/import/", guard(csrf_exempt(pages.upload)), name="arena_study_import"),
            path(job, guard(pages.job), name="arena_study_import_job"),
            path(f"{job}progress/", guard(pages.progress), name="arena_study_import_progress"),
            path(f"{job}errors.csv", guard(pages.errors), name="arena_study_import_errors"),
        ]
        return own + super().get_urls()

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> HttpResponse:
        self.message_user(
            request, "Next: import prompts and completions with the button on the study's page."
        )
        return super().response_add(request, obj, post_url_continue)
