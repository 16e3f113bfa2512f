from django.urls import path

from judging.judges import rights
from judging.judges import views as judges_views
from judging.panels import views as panels_views
from judging.proposing import views as proposing_views
from judging.runs import views
from judging.spending.views import budgets
from judging.writing import views as writing_views

urlpatterns = [
    path("", views.overview, name="judging"),
    path("judges/new/", judges_views.judge_form, name="judge_new"),
    path("judges/<slug:slug>/edit/", judges_views.judge_form, name="judge_edit"),
    path("judges/try/", views.try_judge, name="judge_try"),
    path("judges/<slug:slug>/try/", views.try_judge, name="judge_edit_try"),
    path("judges/protocol/", judges_views.about_protocol, name="judge_protocol"),
    path("rights/", rights.rights, name="judge_rights"),
    path("rights/<int:account>/", rights.change_right, name="judge_right"),
    path("budgets/", budgets, name="judge_budgets"),
    path("panels/new/", panels_views.panel_form, name="panel_new"),
    path("panels/<slug:slug>/edit/", panels_views.panel_form, name="panel_edit"),
    path("proposals/<slug:slug>/", proposing_views.proposals, name="judge_proposals"),
    path("proposals/<slug:slug>/stop/", proposing_views.stop, name="judge_proposals_stop"),
    path("writing/<slug:slug>/", writing_views.writing, name="judge_writing"),
    path("writing/<slug:slug>/new/", writing_views.author_form, name="judge_author_new"),
    path("writing/<slug:slug>/model/<slug:contestant>/", writing_views.author_page, name="judge_author"),
    path(
        "writing/<slug:slug>/model/<slug:contestant>/edit/",
        writing_views.author_form,
        name="judge_author_edit",
    ),
    path(
        "writing/<slug:slug>/model/<slug:contestant>/probe/",
        writing_views.probe_endpoint,
        name="judge_author_probe",
    ),
    path("writing-runs/<int:run_id>/progress/", writing_views.run_progress, name="judge_writing_progress"),
    path("writing-runs/<int:run_id>/cancel/", writing_views.cancel_run, name="judge_writing_cancel"),
    path("runs/new/", views.start_run, name="judge_run_new"),
    path("runs/preview/", views.preview_run, name="judge_run_preview"),
    path("runs/<int:run_id>/", views.run_page, name="judge_run"),
    path("runs/<int:run_id>/progress/", views.run_progress, name="judge_run_progress"),
    path("runs/<int:run_id>/next/", views.run_next, name="judge_run_next"),
    path("runs/<int:run_id>/pause/", views.change_run, {"change": "pause"}, name="judge_run_pause"),
    path("runs/<int:run_id>/resume/", views.change_run, {"change": "resume"}, name="judge_run_resume"),
    path("runs/<int:run_id>/cancel/", views.change_run, {"change": "cancel"}, name="judge_run_cancel"),
    path("runs/<int:run_id>/budget/", views.change_budget, name="judge_run_budget"),
]
