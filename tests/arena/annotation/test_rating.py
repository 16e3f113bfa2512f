"""The rating page: what it shows, what it takes, and what it says when it cannot."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.annotation.forms import believable_seconds
from arena.annotation.task import scale_points
from arena.models import Assignment, Comparison, Membership, Rater, Rendering, Study
from tests import factories as make

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def study() -> Study:
    return make.make_small_study(prompts=2, contestants=3)


@pytest.fixture
def rater(study: Study) -> Rater:
    rater = make.make_member(study)
    Membership.objects.update(guidelines_read_at=timezone.now())
    return rater


@pytest.fixture
def client(rater: Rater) -> Client:
    client = Client()
    client.force_login(rater.user)
    return client


def page(client: Client, study: Study, **headers: str) -> Any:
    return client.get(reverse("rate-study", args=[study.slug]), headers=headers)


def held(rater: Rater) -> Assignment:
    return Assignment.objects.get(rater=rater, state="claimed")


def submit(client: Client, study: Study, assignment: Assignment, rating: Any = 3, **data: Any) -> Any:
    headers = data.pop("headers", {})
    fields = {"assignment": assignment.public_id, "rating": rating, **data}
    return client.post(reverse("rate-study", args=[study.slug]), fields, headers=headers)


def test_shows_prompt_and_both_responses_in_the_stored_order(
    client: Client, study: Study, rater: Rater
) -> None:
    html = page(client, study).content.decode()
    assignment = held(rater)
    first, second = assignment.pair.shown(assignment.swapped)
    assert html.index(first.turns[0]) < html.index(second.turns[0])
    assert assignment.pair.prompt.turns[0] in html
    assert "coding" in html
    assert assignment.shown_at is not None


@pytest.mark.parametrize("points", [2, 3, 5, 8])
def test_offers_the_points_of_the_scale_with_none_chosen(
    client: Client, study: Study, rater: Rater, points: int
) -> None:
    Study.objects.update(points=points)
    html = page(client, study).content.decode()
    values = re.findall(r'type="radio" name="rating" value="(\d)" required(.*?)>', html)
    assert values == [(str(value), "") for value in range(1, points + 1)]


def test_the_middle_of_an_even_scale_has_a_gap_and_of_an_odd_one_a_tie() -> None:
    assert [point.rating for point in scale_points(8) if point.gap] == [5]
    assert [point.side for point in scale_points(8)] == ["a"] * 4 + ["b"] * 4
    assert [point.side for point in scale_points(3)] == ["a", "tie", "b"]
    assert not any(point.gap for point in scale_points(5))


def test_a_plain_form_stores_the_answer_and_redirects(client: Client, study: Study, rater: Rater) -> None:
    page(client, study)
    assignment = held(rater)
    answer = submit(client, study, assignment, 7, rationale="clearer", seconds="0.0")
    assert answer.status_code == 302
    comparison = Comparison.objects.get()
    assert (comparison.rating, comparison.points, comparison.rationale) == (7, 8, "clearer")
    assert comparison.swapped == assignment.swapped
    assert comparison.source == Comparison.Source.WEB


def test_htmx_gets_the_next_pair_alone(client: Client, study: Study, rater: Rater) -> None:
    page(client, study)
    answer = submit(client, study, held(rater), headers=HTMX)
    html = answer.content.decode()
    assert "<html" not in html
    assert held(rater).public_id in html
    assert "1 rated, 0 skipped" in html


def test_an_answer_without_rating_is_refused_with_what_was_written(
    client: Client, study: Study, rater: Rater
) -> None:
    page(client, study)
    answer = submit(client, study, held(rater), "", rationale="kept words")
    assert answer.status_code == 422
    html = answer.content.decode()
    assert "Choose a rating first." in html
    assert "kept words" in html
    assert not Comparison.objects.exists()


@pytest.mark.parametrize("rating", ["0", "9", "-1", "x", "3.5", "1e0"])
def test_a_rating_outside_the_scale_is_refused(
    client: Client, study: Study, rater: Rater, rating: str
) -> None:
    page(client, study)
    answer = submit(client, study, held(rater), rating)
    assert answer.status_code == 422
    assert "Choose one of the buttons." in answer.content.decode()


def test_a_comment_that_is_too_long_says_so(client: Client, study: Study, rater: Rater) -> None:
    page(client, study)
    answer = submit(client, study, held(rater), rationale="x" * 5001)
    assert answer.status_code == 422
    assert "under 5,000 characters" in answer.content.decode()


def test_criteria_are_asked_for_and_stored(client: Client, study: Study, rater: Rater) -> None:
    Study.objects.update(criteria=["helpfulness", "<truth>"])
    html = page(client, study).content.decode()
    assert "&lt;truth&gt;" in html
    missing = submit(client, study, held(rater), 2, **{"criterion-0": 4})
    assert "Choose a rating for &lt;truth&gt;." in missing.content.decode()
    submit(client, study, held(rater), 2, **{"criterion-0": 4, "criterion-1": 8})
    ratings = dict(Comparison.objects.get().criterion_ratings.values_list("criterion", "rating"))
    assert ratings == {"helpfulness": 4, "<truth>": 8}


def test_submitting_twice_stores_one_comparison(client: Client, study: Study, rater: Rater) -> None:
    page(client, study)
    assignment = held(rater)
    for _ in range(2):
        assert submit(client, study, assignment, 6).status_code == 302
    assert Comparison.objects.count() == 1


def test_another_answer_to_the_same_pair_is_refused_and_can_be_changed(
    client: Client, study: Study, rater: Rater
) -> None:
    page(client, study)
    assignment = held(rater)
    submit(client, study, assignment, 6)
    page(client, study)
    submit(client, study, held(rater), 1)
    refused = submit(client, study, assignment, 2)
    assert refused.status_code == 409
    html = refused.content.decode()
    assert "You answered it with <strong>6</strong>" in html
    client.post(reverse("undo", args=[study.slug]), {"reopen": assignment.public_id})
    assert held(rater) == assignment
    submit(client, study, assignment, 2)
    assert Comparison.objects.current().get(assignment=assignment).rating == 2
    assert Comparison.objects.filter(assignment=assignment).count() == 2


def test_undo_brings_the_last_pair_back_with_its_answer_named(
    client: Client, study: Study, rater: Rater
) -> None:
    page(client, study)
    assignment = held(rater)
    submit(client, study, assignment, 6, rationale="first thought")
    answer = client.post(reverse("undo", args=[study.slug]), headers=HTMX)
    html = answer.content.decode()
    assert assignment.public_id in html
    assert "You answered this pair with <strong>6</strong>" in html
    assert "first thought" in html
    assert "checked" not in html
    assert Comparison.objects.current().count() == 1


def test_undo_with_nothing_done_says_so(client: Client, study: Study) -> None:
    answer = client.post(reverse("undo", args=[study.slug]), headers=HTMX)
    assert "There is nothing to undo." in answer.content.decode()


def test_skip_puts_the_pair_aside(client: Client, study: Study, rater: Rater) -> None:
    page(client, study)
    assignment = held(rater)
    answer = client.post(
        reverse("skip", args=[study.slug]), {"assignment": assignment.public_id}, headers=HTMX
    )
    assert assignment.public_id not in answer.content.decode()
    assert "0 rated, 1 skipped" in answer.content.decode()
    assignment.refresh_from_db()
    assert assignment.state == "skipped"


def test_skip_of_a_strangers_assignment_changes_nothing(client: Client, study: Study) -> None:
    other = make.make_assignment(pair=make.make_pair(prompt=study.prompts.first()))
    answer = client.post(reverse("skip", args=[study.slug]), {"assignment": other.public_id}, headers=HTMX)
    assert "There is no such assignment" in answer.content.decode()
    other.refresh_from_db()
    assert other.state == "claimed"


def test_an_answer_to_a_strangers_assignment_is_refused(client: Client, study: Study) -> None:
    other = make.make_assignment(pair=make.make_pair(prompt=study.prompts.first()))
    answer = submit(client, study, other)
    assert answer.status_code == 409
    assert "There is no such assignment" in answer.content.decode()
    assert not Comparison.objects.exists()


def test_when_nothing_is_left_the_page_says_thanks(client: Client, study: Study, rater: Rater) -> None:
    for _ in range(6):
        page(client, study)
        submit(client, study, held(rater))
    html = page(client, study).content.decode()
    assert "nothing is left to rate" in html
    assert "You rated 6 pairs" in html


def test_a_closed_study_and_a_paused_rater_are_told(client: Client, study: Study, rater: Rater) -> None:
    page(client, study)
    assignment = held(rater)
    Rater.objects.update(paused_at=timezone.now())
    assert "Your account is paused" in page(client, study).content.decode()
    Rater.objects.update(paused_at=None)
    Study.objects.update(closed_at=timezone.now())
    answer = submit(client, study, assignment, headers=HTMX)
    assert answer.status_code == 409
    assert "closed before the answer arrived" in answer.content.decode()
    guidelines = client.get(f"/rate/{study.slug}/guidelines/").content.decode()
    assert "This study is closed" in guidelines
    assert "Start rating" not in guidelines
    assert not Comparison.objects.exists()


def test_an_empty_response_says_that_it_is_empty(client: Client, study: Study) -> None:
    from arena.models import Completion

    Completion.objects.update(turns=[" \n"], is_empty=True)
    assert page(client, study).content.decode().count("(This response is empty.)") == 2


def test_conversations_are_shown_turn_by_turn(client: Client, study: Study) -> None:
    from arena.models import Completion, Prompt

    Prompt.objects.update(turns=["Ask one", "Ask two"], input="Some material")
    Completion.objects.update(turns=["Reply one", "Reply two"])
    html = page(client, study).content.decode()
    parts = ["Ask one", "Some material", "Ask two", "Reply one", "Answer to turn 2", "Reply two"]
    places = [html.index(part) for part in parts]
    assert places == sorted(places)


def test_hostile_prompts_are_escaped(client: Client, study: Study) -> None:
    from arena.models import Prompt

    Prompt.objects.update(turns=["<script>alert(1)</script>"], category='"><b>', input="<img src=x>")
    html = page(client, study).content.decode()
    assert "<script>alert" not in html
    assert "<img" not in html
    assert '"><b>' not in html


def test_completions_are_rendered_once_and_kept(client: Client, study: Study, rater: Rater) -> None:
    page(client, study)
    stored = set(Rendering.objects.values_list("pk", "digest"))
    page(client, study)
    assert len(stored) == 2
    assert set(Rendering.objects.values_list("pk", "digest")) == stored


def test_the_guidelines_come_before_the_first_pair(client: Client, study: Study, rater: Rater) -> None:
    Membership.objects.update(guidelines_read_at=None)
    Study.objects.update(guidelines="Mind the **facts**.")
    address = reverse("guidelines", args=[study.slug])
    assert page(client, study).headers["Location"] == address
    assert "<strong>facts</strong>" in client.get(address).content.decode()
    assert not Assignment.objects.exists()
    client.post(address)
    assert page(client, study).status_code == 200


def test_strangers_do_not_learn_that_a_study_exists(study: Study) -> None:
    client = Client()
    client.force_login(make.make_user())
    for name in ("rate-study", "guidelines", "sign-up"):
        assert client.get(reverse(name, args=[study.slug])).status_code == 404
    for name in ("skip", "undo", "rate-study"):
        assert client.post(reverse(name, args=[study.slug])).status_code == 404


def test_a_lost_session_leads_through_sign_in_back_to_the_pair(study: Study, rater: Rater) -> None:
    client = Client()
    address = reverse("rate-study", args=[study.slug])
    plain = client.post(reverse("skip", args=[study.slug]))
    assert plain.headers["Location"] == f"{reverse('login')}?next={address}"
    by_htmx = client.post(address, headers=HTMX)
    assert by_htmx.headers["HX-Redirect"] == f"{reverse('login')}?next={address}"


def test_nothing_of_the_page_is_kept_by_caches(client: Client, study: Study) -> None:
    assert "no-store" in page(client, study).headers["Cache-Control"]


@pytest.mark.parametrize("name", ["skip", "undo"])
def test_reading_does_not_write(client: Client, study: Study, name: str) -> None:
    assert client.get(reverse(name, args=[study.slug])).status_code == 405


@pytest.mark.parametrize("sent", ["", "abc", "nan", "inf", "-1", "1e999"])
def test_a_time_that_cannot_be_is_unknown(sent: str) -> None:
    assert believable_seconds(sent, make.make_assignment(shown_at=timezone.now())) is None


def test_a_time_is_at_most_the_time_since_the_pair_was_shown() -> None:
    shown = make.make_assignment(shown_at=timezone.now() - timedelta(seconds=60))
    assert believable_seconds("12.3", shown) == 12.3
    bounded = believable_seconds("99999", shown)
    assert bounded is not None
    assert 60 <= bounded < 90
    assert believable_seconds("5", make.make_assignment(shown_at=None)) is None


def test_a_pair_costs_a_bounded_number_of_queries(
    client: Client, study: Study, rater: Rater, django_assert_max_num_queries: Any
) -> None:
    page(client, study)
    with django_assert_max_num_queries(22):
        page(client, study)
    with django_assert_max_num_queries(45):
        submit(client, study, held(rater), headers=HTMX)


def test_the_list_of_studies_costs_the_same_for_many(
    client: Client, study: Study, rater: Rater, django_assert_max_num_queries: Any
) -> None:
    for _ in range(5):
        Membership.objects.create(study=make.make_small_study(), rater=rater)
    open_study = make.make_study(sign_up_open=True, name="Come in")
    with django_assert_max_num_queries(10):
        html = client.get(reverse("rate")).content.decode()
    assert html.count("about 6 pairs still want a rating") == 6
    assert reverse("sign-up", args=[open_study.slug]) in html


@pytest.mark.parametrize("sent", ["\0", "x\0y", "x" * 10_000])
def test_an_id_that_no_database_stores_is_nobodys(
    client: Client, study: Study, rater: Rater, sent: str
) -> None:
    page(client, study)
    for door in ("skip", "undo"):
        form = {"assignment": sent, "reopen": sent}
        assert client.post(reverse(door, args=[study.slug]), form, headers=HTMX).status_code == 200
    assert held(rater).state == "claimed"
