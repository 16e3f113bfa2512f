"""Staff pages below /judging/."""

from django.urls import path

from judging import views

urlpatterns = [
    path("", views.overview, name="judging"),
    path("judges/new/", views.judge_form, name="judge_new"),
    path("judges/<slug:slug>/edit/", views.judge_form, name="judge_edit"),
    path("runs/new/", views.start_run, name="judge_run_new"),
    path("runs/preview/", views.preview_run, name="judge_run_preview"),
    path("runs/<int:run_id>/", views.run_page, name="judge_run"),
    path("runs/<int:run_id>/progress/", views.run_progress, name="judge_run_progress"),
    path("runs/<int:run_id>/cancel/", views.cancel_run, name="judge_run_cancel"),
]
