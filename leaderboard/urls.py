"""Addresses of the public pages; ``shell.routes`` adds those of each page's figures."""

from django.urls import path

from leaderboard import downloads
from leaderboard.pages import (
    agreement,
    categories,
    comparisons,
    contestants,
    data,
    home,
    judges,
    rater,
    raters,
    results,
    standings,
)
from leaderboard.pages.kinds import judges_now
from leaderboard.pages.shell import routes
from leaderboard.quality import dispute_views, rater_views, report_view

urlpatterns = [
    path("", home.home, name="home"),
    path("methodology/", home.methodology, name="methodology"),
    *routes("studies/<slug:slug>/", "study", standings.read),
    *routes("studies/<slug:slug>/categories/", "study-categories", categories.read),
    *routes("studies/<slug:slug>/raters/", "study-raters", raters.read, judges_now),
    *routes("studies/<slug:slug>/raters/<str:selector>/", "study-rater", rater.read, judges_now),
    *routes("studies/<slug:slug>/judges/", "study-judges", judges.read, judges.runs_now),
    *routes("studies/<slug:slug>/agreement/", "study-agreement", agreement.read, judges_now),
    path("studies/<slug:slug>/contestants/", contestants.to_board, name="study-contestants"),
    *routes("studies/<slug:slug>/contestants/<slug:contestant>/", "study-contestant", contestants.read),
    *routes("studies/<slug:slug>/comparisons/", "study-comparisons", comparisons.read, judges_now),
    *routes(
        "studies/<slug:slug>/comparisons/<int:pair>/", "study-comparison", comparisons.read_one, judges_now
    ),
    *routes("studies/<slug:slug>/data/", "study-data", data.read),
    *routes("studies/<slug:slug>/results/", "study-results", results.read),
    path("studies/<slug:slug>/results/bundle.zip", results.bundle, name="study-bundle"),
    path("studies/<slug:slug>/results/<slug:what>.<slug:form>", results.votes, name="study-votes"),
    path("studies/<slug:slug>/leaderboard.<slug:form>", results.leaderboard, name="study-leaderboard-file"),
    path("studies/<slug:slug>/status/", home.status, name="study-status"),
    path("studies/<slug:slug>/export/", downloads.page, name="study-export"),
    path("studies/<slug:slug>/export/file/", downloads.download, name="study-export-file"),
    path("studies/<slug:slug>/standings.json", standings.standings_json, name="standings-json"),
    path("operate/<slug:slug>/raters/", rater_views.table, name="operate-raters"),
    path("operate/<slug:slug>/raters/quality.<slug:form>", rater_views.file, name="operate-raters-file"),
    path("operate/<slug:slug>/raters/<int:rater>/", rater_views.one, name="operate-rater"),
    path("operate/<slug:slug>/raters/<int:rater>/decide/", rater_views.decide, name="operate-rater-decide"),
    path("operate/<slug:slug>/disagreements/", dispute_views.disagreements, name="operate-disagreements"),
    path("operate/<slug:slug>/disagreements/<int:pair>/", dispute_views.settle, name="operate-dispute"),
    path("rate/<slug:slug>/report/", report_view.my_report, name="rater-report"),
]
