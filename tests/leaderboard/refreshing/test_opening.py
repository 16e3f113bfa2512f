"""A large study publishes first what its leaderboard opens with."""

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.models import Refresh, Snapshot, SnapshotSlice
from leaderboard.raters.agreement.verdict import Verdict
from leaderboard.refreshing import services, tables
from leaderboard.snapshots import on_demand
from leaderboard.snapshots.settings import Scope, Setting
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

PLACE = ("kind", "raters", "ties", "category", "method", "payload")


class Killed(BaseException):
    """No Exception: nothing that runs in the process handles the end of it."""


@pytest.fixture
def made(monkeypatch):
    monkeypatch.setattr(services, "PARTS_AT_ONCE", 0)
    made = HandMade("alpha", "beta")
    made.rate("alpha", "beta", 2)
    made.rate("alpha", "beta", 7)
    return made


@pytest.fixture
def cut(monkeypatch, made):
    """Refreshes of the study that end once the opening is published."""

    def refresh():
        def killed(*_, **__):
            raise Killed

        with monkeypatch.context() as patched:
            patched.setattr(tables.Making, "tables", killed)
            with pytest.raises(Killed):
                services.refresh(made.study)
        return Snapshot.objects.opened(made.study)

    return refresh


def rows(snapshot):
    return set(snapshot.slices.values_list(*PLACE))


def get(study, name="study", query=""):
    return Client().get(reverse(name, args=[study.slug]) + query)


def test_the_leaderboard_opens_before_the_rest_and_with_the_same_numbers(made, cut):
    opening = cut()
    assert opening.is_opening
    assert Snapshot.objects.newest(made.study) is None
    page = get(made.study)
    assert page.context["page"].snapshot == opening
    first, shown = rows(opening), page.context["page"].standings()["standings"]
    whole = services.refresh(made.study).snapshot
    assert len(shown) == 2
    assert first < rows(whole)
    assert get(made.study).context["page"].standings()["standings"] == shown
    assert list(Snapshot.objects.all()) == [whole]


def test_after_a_kill_what_was_opened_is_not_computed_again(made, cut, monkeypatch):
    opening = cut()
    known = SnapshotSlice.objects.known(made.study)
    assert set(known) == set(opening.slices.exclude(inputs="").values_list("inputs", flat=True)) != set()
    assert cut() == opening  # nor published again
    whole = services.refresh(made.study, anew=True).snapshot
    assert known.items() <= SnapshotSlice.objects.known(made.study).items()
    assert whole.pk > opening.pk


def test_other_pages_and_settings_show_the_last_whole_snapshot(made, cut):
    whole = services.refresh(made.study).snapshot
    made.rate("beta", "alpha", 1, rater=made.judge("strict"))
    opening = cut()
    assert opening.pk > whole.pk
    assert get(made.study).context["page"].snapshot == opening
    assert get(made.study).context["page"].on_judges == Verdict()
    assert get(made.study, query="?raters=people&level=90").context["page"].snapshot == opening
    for page in (get(made.study, query="?method=davidson"), get(made.study, "study-raters")):
        assert page.context["page"].snapshot == page.context["snapshot"] == whole
        assert page.context["page"].pending is None


def test_before_the_first_whole_snapshot_they_say_that_they_are_computed(made, cut):
    cut()
    waiting = get(made.study, query="?method=davidson")
    assert waiting.context["page"].pending.state == "running"
    assert "These numbers are being computed now." in waiting.text
    assert "ETag" not in waiting.headers
    other = get(made.study, "study-raters")
    assert "This page is being computed" in other.text
    for query, header in (("?complete", None), ("", "true")):
        address = reverse("study-status", args=[made.study.slug]) + query
        assert Client().get(address, headers={"HX-Request": "true"}).headers.get("HX-Refresh") == header
    made_now = services.refresh(made.study).snapshot
    assert get(made.study, query="?method=davidson").context["page"].content["method"] == "davidson"
    for after, header in ((made_now.pk, None), (made_now.pk - 1, "true")):
        address = reverse("study-status", args=[made.study.slug]) + f"?after={after}"
        assert Client().get(address, headers={"HX-Request": "true"}).headers.get("HX-Refresh") == header


def test_an_opening_leaves_what_was_asked_of_the_whole_snapshot(made, cut):
    whole = services.refresh(made.study).snapshot
    on_demand.contents(whole, Setting("people", resample="games"), Scope.BOARD)
    made.rate("beta", "alpha", 1)
    cut()
    assert on_demand.claim(made.study.pk).snapshot == whole


def test_an_opening_replaces_one_of_older_data(made, cut):
    cut()
    made.rate("beta", "alpha", 1)
    newer = cut()
    assert list(Snapshot.objects.all()) == [newer]


def test_a_whole_snapshot_of_older_data_does_not_replace_it(made, cut):
    Refresh.of(made.study.pk)
    older = services._compute(made.study, anew=True)
    made.rate("beta", "alpha", 1)
    newer = cut()
    assert services._publish(*older) == services.Outcome(newer, made=False)


def test_a_small_study_is_published_at_once(made, monkeypatch):
    monkeypatch.setattr(services, "PARTS_AT_ONCE", 16)
    published, publish = [], services._publish
    monkeypatch.setattr(services, "_publish", lambda *given: published.append(given[0]) or publish(*given))
    whole = services.refresh(made.study).snapshot
    assert published == [whole]
