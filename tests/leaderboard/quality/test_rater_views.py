import json
from copy import deepcopy

import pytest
from django.urls import reverse

from arena.models import Membership, Pair, Role, StudyEvent
from arena.people.rater_data import pseudonym
from tests import factories as make
from tests.leaderboard.quality.rated import rate, rated_study

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def shared(shared_rows):
    return rated_study(prompts=8)


@pytest.fixture
def study(shared):
    return deepcopy(shared)


@pytest.fixture
def careless(study):
    return study.memberships.filter(role=Role.RATER).order_by("pk").last().rater


def url(name, study, *more):
    return reverse(f"operate-{name}", args=[study.slug, *more])


def pages(study, rater):
    return [
        url("raters", study),
        url("raters-file", study, "csv"),
        url("raters-file", study, "json"),
        url("rater", study, rater.pk),
    ]


def member(study, role):
    rater = make.make_member(study)
    Membership.objects.filter(rater=rater).update(role=role)
    return rater.user


@pytest.mark.parametrize("role", [None, Role.VIEWER, Role.RATER])
def test_nobody_but_operators_sees_raters(client, study, careless, role):
    for address in pages(study, careless):
        assert client.get(address).status_code == 302
    client.force_login(member(study, role) if role else make.make_user())
    for address in pages(study, careless):
        assert client.get(address).status_code == 404
    assert client.post(url("rater-decide", study, careless.pk), {"decision": "pause"}).status_code == 404
    assert not StudyEvent.objects.exists()


@pytest.fixture
def signed_in(client, study):
    client.force_login(member(study, Role.OPERATOR))
    return client


def test_the_table_and_files_have_everybody_with_figures(signed_in, study, careless):
    page = signed_in.get(url("raters", study)).content.decode()
    assert page.count('data-label="Known pairs"') == 5  # of four raters and of all, for phones
    for membership in study.memberships.exclude(role="operator"):
        assert membership.rater.name in page
    page = signed_in.get(url("raters", study), {"sort": "agreement", "order": "asc"})
    shares = [line.figures.agreement.share.value for line in page.context["page"]]
    assert shares == sorted(shares)
    assert len(shares) == 4
    csv = signed_in.get(url("raters-file", study, "csv")).content.decode()
    rows = json.loads(signed_in.get(url("raters-file", study, "json")).content)["raters"]
    assert pseudonym(study, careless.pk) in csv
    assert careless.name not in csv
    found = {row["rater"]: row for row in rows}[pseudonym(study, careless.pk)]
    assert found["comparisons"] == 24
    assert "votes" in found["remarks"]
    assert signed_in.get(url("raters-file", study, "xml")).status_code == 404


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize(
    "sort", ["name", "comparisons", "agreement", "repeats", "first", "remarks", "nonsense"]
)
def test_every_column_orders_the_table(signed_in, study, sort, order):
    page = signed_in.get(url("raters", study), {"sort": sort, "order": order})
    assert page.status_code == 200
    assert page.content.decode().count("aria-sort=") == 1


def test_leaving_out_and_taking_back(signed_in, study, careless):
    decide = url("rater-decide", study, careless.pk)
    refused = signed_in.post(decide, {"decision": "leave-out", "note": " "})
    assert refused.status_code == 422
    assert "give a reason" in refused.content.decode()
    for _ in range(2):
        signed_in.post(decide, {"decision": "leave-out", "note": "<b>Random</b>"})
    page = signed_in.get(url("rater", study, careless.pk)).content.decode()
    assert "not counted since" in page
    assert "&lt;b&gt;Random&lt;/b&gt;" in page
    assert StudyEvent.objects.filter(kind="left_out", rater=careless).count() == 1
    signed_in.post(decide, {"decision": "take-back"})
    assert not Membership.objects.filter(left_out_at__isnull=False).exists()


def test_pausing_and_resuming(signed_in, study, careless):
    decide = url("rater-decide", study, careless.pk)
    signed_in.post(decide, {"decision": "pause", "note": "Too fast"})
    assert Membership.objects.get(rater=careless).paused_at
    signed_in.post(decide, {"decision": "resume"})
    assert Membership.objects.get(rater=careless).paused_at is None
    assert [event.kind for event in StudyEvent.objects.order_by("pk")] == ["rater_paused", "rater_resumed"]
    assert signed_in.post(decide, {"decision": "delete"}).status_code == 404
    assert signed_in.get(decide).status_code == 405


def test_a_stranger_to_the_study_has_no_page_in_it(signed_in, study):
    assert signed_in.get(url("rater", study, make.make_rater().pk)).status_code == 404
    newcomer = make.make_member(study)
    assert (
        "has not rated in this study yet" in signed_in.get(url("rater", study, newcomer.pk)).content.decode()
    )


def test_visitors_without_an_account_have_one_line_and_those_with_warnings_their_own(signed_in, study):
    pairs = list(Pair.objects.filter(prompt__study=study))
    quiet, fast = (make.make_visitor(name=name) for name in ("Visitor 1", "Visitor 2"))
    for number, pair in enumerate(pairs):
        rate(pair, quiet, straight=2, swapped=number % 2 == 0)
        rate(pair, fast, straight=2, seconds=0.5)
    reply = signed_in.get(url("raters", study))
    page = reply.content.decode()
    assert "2 visitors without an account" in page
    assert "1 with warnings" in page
    assert ("Visitor 1" in page, "Visitor 2" in page) == (False, True)
    assert reply.context["table"].compared.visitors.comparisons == 2 * len(pairs)
    rows = json.loads(signed_in.get(url("raters-file", study, "json")).content)["raters"]
    assert len(rows) == 6
    assert [row["rater"] for row in rows if "visitor" in row["rater"]] == ["2 visitors without an account"]
    assert rows[-1]["comparisons"] == 2 * len(pairs)
