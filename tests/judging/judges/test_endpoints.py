"""Endpoints that judges share."""

import pytest
from django.test import Client

from judging.judges.services import configure_judge
from judging.models import Author, Endpoint, Judge
from judging.runs.limiting import room
from tests.factories import judge_with, make_contestant, make_judge
from tests.judging.judges.test_pages import FORM

pytestmark = pytest.mark.django_db


def test_judges_of_one_model_share_its_endpoint() -> None:
    one, other = make_judge(concurrency=3), make_judge(base_url="http://127.0.0.1:9/v1/", concurrency=4)
    assert Endpoint.objects.get() == one.endpoint == other.endpoint
    one.refresh_from_db()
    assert one.asks.concurrency == 4
    assert room(one) == room(other) == (0.0, 4)
    for elsewhere in ({"model": "x"}, {"base_url": "http://127.0.0.1:8/v1"}, {"api_key_env": "X_API_KEY"}):
        assert make_judge(**elsewhere).endpoint != one.endpoint


def test_another_address_of_a_judge_is_another_endpoint_and_leaves_the_others() -> None:
    one, other = make_judge(), make_judge()
    configure_judge(one, one.name, judge_with(base_url="http://127.0.0.1:8/v1"))
    other.refresh_from_db()
    assert (one.base_url, other.base_url) == ("http://127.0.0.1:8/v1", "http://127.0.0.1:9/v1")
    Author.objects.create(contestant=make_contestant(), endpoint=one.asks)
    configure_judge(one, one.name, judge_with(provider="simulated", simulation={"strengths": {}}))
    configure_judge(other, other.name, judge_with(base_url="http://127.0.0.1:7/v1"))
    # What nobody asks any more is gone; the first has an author.
    places = Endpoint.objects.order_by("base_url").values_list("base_url", flat=True)
    assert list(places) == ["http://127.0.0.1:7/v1", "http://127.0.0.1:8/v1"]
    assert (one.endpoint, one.model) == (None, "simulated")


def test_a_form_changes_only_the_limits_that_were_changed_in_it(staff: Client) -> None:
    known = make_judge(
        name="Known", model=FORM["model"], api_key_env=FORM["api_key_env"], timeout=7.0, requests_per_minute=9
    )
    assert (
        staff.post("/judging/judges/new/", {**FORM, "timeout": "120", "concurrency": "2"}).status_code == 302
    )
    made = Judge.objects.exclude(pk=known.pk).get()
    assert made.endpoint == known.endpoint
    limits = made.asks.timeout, made.asks.concurrency, made.asks.requests_per_minute
    assert limits == (7.0, 2, 9)
    page = staff.get(f"/judging/judges/{made.slug}/edit/").content.decode()
    assert "hold for all judges that ask this model with this key: Known." in page
    Endpoint.objects.update(vocabulary=7)  # which has no field here
    assert staff.post(f"/judging/judges/{made.slug}/edit/", {**FORM, "concurrency": "3"}).status_code == 302
    made.refresh_from_db()
    assert (made.asks.vocabulary, made.asks.concurrency) == (7, 3)
