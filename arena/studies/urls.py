"""The operators' pages: the studies one runs, and the pages of each."""

from django.urls import include, path

from arena.data import import_views
from arena.people import views as people_views
from arena.studies import holdings, names, progress_views, views
from arena.studies import views as studies_views

_study = [
    path("", views.study, name="operate-study"),
    path("guidelines/", views.guidelines, name="operate-guidelines"),
    path("rating/", views.rating, name="operate-rating"),
    path("prompts/", holdings.prompts, name="operate-prompts"),
    path("contestants/", holdings.contestants, name="operate-contestants"),
    path("answers/", holdings.completions, name="operate-completions"),
    path("answers/missing.csv", holdings.holes, name="operate-holes"),
    path("pairs/", holdings.pairs, name="operate-pairs"),
    path("judges/", holdings.judges, name="operate-judges"),
    path("names/", names.names, name="operate-names"),
    path("publish/", views.publish, name="operate-publish"),
    path("import/", import_views.upload, name="operate-import"),
    path("import/<int:job>/", import_views.job, name="operate-import-job"),
    path("import/<int:job>/progress/", import_views.job_progress, name="operate-import-progress"),
    path("import/<int:job>/errors.csv", import_views.job_errors, name="operate-import-errors"),
    path("people/", people_views.people, name="operate-people"),
    path("people/links/<int:link>/withdraw/", people_views.withdraw, name="operate-withdraw"),
    path("people/<int:member>/role/", people_views.role, name="operate-role"),
    path("people/<int:member>/trained/", people_views.trained, name="operate-trained"),
    path("people/<int:rater>/remove-details/", people_views.remove_details, name="operate-remove-details"),
    path("progress/", progress_views.progress, name="operate-progress"),
    path("progress/pairs/", progress_views.pairs, name="operate-progress-pairs"),
    path("progress/flags/", progress_views.flags, name="operate-flags"),
    path("progress/flags/<int:flag>/", progress_views.settle, name="operate-settle"),
    path("state/", studies_views.state, name="operate-state"),
    path("export/", progress_views.export, name="operate-export"),
    path("raters.<slug:form>", progress_views.rater_file, name="operate-rater-file"),
]

urlpatterns = [
    path("", views.studies, name="operate"),
    path("new/", views.new, name="operate-new"),
    path("<slug:slug>/", include(_study)),
]
