"""Addresses of the public pages; ``shell.routes`` adds those of each page's figures."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from django.http import HttpRequest
from django.urls import path
from django.views.generic import RedirectView

from arena.models import Answer, Score
from leaderboard.anchoring import page as anchoring_page
from leaderboard.comparisons import page as comparisons_page
from leaderboard.data import page as data_page
from leaderboard.files import views as files_views
from leaderboard.head_to_head import page as head_to_head_page
from leaderboard.home import page as home
from leaderboard.judges import page as judges_page
from leaderboard.pages import methodology
from leaderboard.pages.marks import newest
from leaderboard.pages.shell import published, routes, status
from leaderboard.planning import page as planning_page
from leaderboard.raters import page as raters_page
from leaderboard.raters import rater_page
from leaderboard.raters.agreement import page as agreement_page
from leaderboard.raters.agreement import two_page
from leaderboard.releases import changes_page
from leaderboard.releases import page as releases_page
from leaderboard.results import page as results_page
from leaderboard.standings import page as standings_page
from leaderboard.standings.categories import page as categories_page
from leaderboard.standings.contestants import page as contestants_page
from leaderboard.trust import page as trust_page
from leaderboard.trust.tags import TAGS_NOW


def on_request(module: str, name: str) -> Callable[..., Any]:
    """A view, or the reader of a page, in a module that is loaded when it is asked for: it needs SciPy."""

    def view(request: HttpRequest, *given: Any, **place: Any) -> Any:
        return getattr(import_module(f"leaderboard.{module}"), name)(request, *given, **place)

    return view


RELEASE = "studies/<slug:slug>/releases/<int:number>"

WRONG = "studies/<slug:slug>/trust/wrong"
REQUIREMENTS = "studies/<slug:slug>/requirements"

urlpatterns = [
    path("", home.home, name="home"),
    path("methodology/", methodology.methodology, name="methodology"),
    path("studies/", RedirectView.as_view(pattern_name="home")),
    *routes("studies/<slug:slug>/", "study", standings_page.read, opens=True),
    *routes("studies/<slug:slug>/categories/", "study-categories", categories_page.read),
    *routes("studies/<slug:slug>/raters/", "study-raters", raters_page.read),
    *routes("studies/<slug:slug>/raters/<str:selector>/", "study-rater", rater_page.read),
    *routes("studies/<slug:slug>/judges/", "study-judges", judges_page.read, *judges_page.RUNS_NOW),
    *routes("studies/<slug:slug>/agreement/", "study-agreement", agreement_page.read),
    *routes("studies/<slug:slug>/agreement/two/", "study-two", two_page.read),
    *routes("studies/<slug:slug>/trust/", "study-trust", trust_page.read, *judges_page.RUNS_NOW, *TAGS_NOW),
    *routes(f"{REQUIREMENTS}/", "study-requirements", on_request("answers.requirements.page", "read")),
    *routes(
        f"{REQUIREMENTS}/texts/<int:text>/",
        "study-requirement-text",
        on_request("answers.requirements.text_page", "read"),
        newest(Answer),
    ),
    *routes("studies/<slug:slug>/scores/", "study-scores", on_request("answers.scores.page", "read")),
    *routes(
        "studies/<slug:slug>/features/",
        "study-features",
        on_request("answers.features.page", "read"),
        newest(Answer),
        newest(Score),
    ),
    path("studies/<slug:slug>/contestants/", contestants_page.to_board, name="study-contestants"),
    *routes("studies/<slug:slug>/contestants/<slug:contestant>/", "study-contestant", contestants_page.read),
    path("studies/<slug:slug>/compare/", head_to_head_page.choose, name="study-compare"),
    *routes(
        "studies/<slug:slug>/compare/<slug:first>/<slug:second>/",
        "study-head-to-head",
        head_to_head_page.read,
    ),
    *routes("studies/<slug:slug>/comparisons/", "study-comparisons", comparisons_page.read),
    *routes(
        "studies/<slug:slug>/comparisons/<int:pair>/",
        "study-comparison",
        comparisons_page.read_one,
    ),
    *routes(f"{WRONG}/", "study-wrong", on_request("trust.wrong_page", "read"), *TAGS_NOW),
    path(
        f"{WRONG}/pairs.<slug:form>",
        published(on_request("trust.wrong_page", "file"), *TAGS_NOW),
        name="study-wrong-file",
    ),
    *routes(f"{WRONG}/<int:pair>/", "study-instance", on_request("trust.instance_page", "read"), *TAGS_NOW),
    path(
        f"{WRONG}/<int:pair>/replies/<int:comparison>/",
        published(on_request("trust.instance_page", "reply")),
        name="study-instance-reply",
    ),
    *routes("studies/<slug:slug>/trust/two/", "study-two-judges", on_request("trust.two_page", "read")),
    *routes("studies/<slug:slug>/anchored/", "study-anchored", anchoring_page.read),
    *routes("studies/<slug:slug>/plan/", "study-plan", planning_page.read),
    *routes("studies/<slug:slug>/data/", "study-data", data_page.read),
    *routes("studies/<slug:slug>/results/", "study-results", results_page.read),
    path("studies/<slug:slug>/results/bundle.zip", results_page.bundle, name="study-bundle"),
    path("studies/<slug:slug>/results/<slug:what>.<slug:form>", results_page.votes, name="study-votes"),
    path(
        "studies/<slug:slug>/leaderboard.<slug:form>", results_page.leaderboard, name="study-leaderboard-file"
    ),
    path("studies/<slug:slug>/releases/", releases_page.listed, name="study-releases"),
    *routes(f"{RELEASE}/", "study-release", releases_page.read),
    path(f"{RELEASE}/bundle.zip", releases_page.bundle, name="study-release-bundle"),
    path(f"{RELEASE}/citation.<slug:form>", releases_page.citation, name="study-release-citation"),
    *routes(f"{RELEASE}/changes/<int:other>/", "study-release-changes", changes_page.read),
    path("studies/<slug:slug>/status/", status, name="study-status"),
    path("studies/<slug:slug>/export/", files_views.page, name="study-export"),
    path("studies/<slug:slug>/export/file/", files_views.download, name="study-export-file"),
    path("studies/<slug:slug>/standings.json", standings_page.standings_json, name="standings-json"),
    *(
        path(f"operate/<slug:slug>/{address}", on_request(module, view), name=name)
        for address, module, view, name in (
            ("judges/", "judges.operating", "judges", "operate-judges"),
            ("raters/", "quality.page", "table", "operate-raters"),
            ("raters/quality.<slug:form>", "quality.page", "file", "operate-raters-file"),
            ("raters/<int:rater>/", "quality.page", "one", "operate-rater"),
            ("raters/<int:rater>/decide/", "quality.page", "decide", "operate-rater-decide"),
            ("disagreements/", "quality.settling", "disagreements", "operate-disagreements"),
            ("disagreements/<int:pair>/", "quality.settling", "settle", "operate-dispute"),
            ("error-tags/", "trust.tagging", "names", "operate-tags"),
            ("error-tags/<int:pair>/", "trust.tagging", "tag", "operate-tag"),
            ("battles/watch/", "battles.page", "watch", "operate-battles-watch"),
            ("adversarial/", "adversarial.page", "adversarial", "operate-adversarial"),
            ("releases/", "releases.operating", "releases", "operate-releases"),
            ("releases/<int:number>/", "releases.operating", "correct", "operate-release"),
        )
    ),
    path("rate/<slug:slug>/report/", on_request("quality.report", "my_report"), name="rater-report"),
]
