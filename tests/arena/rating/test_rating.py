"""The rating page: what it shows, what it takes, and what it says when it cannot."""

import random
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.models import Assignment, Comparison, Completion, Flag, Membership, Prompt, Rater, Rendering, Study
from arena.rating import assignments
from arena.rating.opinions import InvalidAnswerError
from arena.rating.recorders import PairRecorder
from arena.rating.screen import REASON_KEYS, believable_seconds, scale_points, tie_rating
from arena.texts.rendering_cache import rendered
from tests import factories as make

pytestmark = pytest.mark.django_db
JSON = {"Accept": "application/json"}
UNDO = re.compile(r'name="undo"[^>]*formnovalidate(?P<off> disabled)?')
HTMX = {"HX-Request": "true"}


@pytest.fixture
def study() -> Study:
    return make.make_small_study(prompts=2, contestants=3)


def page(browser: Client, study: Study, **headers: str) -> Any:
    return browser.get(reverse("rate-study", args=[study.slug]), headers=headers)


def held(rater: Rater) -> Assignment:
    return Assignment.objects.get(rater=rater, state="claimed")


def send(browser: Client, rater: Rater, name: str, study: Study, **data: Any) -> Any:
    """Post what the page's script posts."""
    fields = {"rater": rater.user_id, **data}
    return browser.post(reverse(name, args=[study.slug]), fields, headers=JSON)


def submit(browser: Client, study: Study, assignment: Assignment, rating: Any = 3, **data: Any) -> Any:
    headers = data.pop("headers", {})
    follow = data.pop("follow", False)
    fields = {"assignment": assignment.public_id, "rating": rating, **data}
    return browser.post(reverse("rate-study", args=[study.slug]), fields, headers=headers, follow=follow)


def test_shows_prompt_and_responses_in_the_stored_order(browser: Client, study: Study, rater: Rater) -> None:
    html = page(browser, study).content.decode()
    assignment = held(rater)
    first, second = assignment.pair.shown(assignment.swapped)
    assert html.index(first.turns[0]) < html.index(second.turns[0])
    assert assignment.pair.prompt.turns[0] in html
    assert "coding" in html
    assert assignment.shown_at is not None


@pytest.mark.parametrize("points", [2, 3, 5, 8])
def test_offers_the_points_with_none_chosen(browser: Client, study: Study, rater: Rater, points: int) -> None:
    Study.objects.update(points=points)
    html = page(browser, study).content.decode()
    values = re.findall(r'type="radio" name="rating" value="(\d)" required(.*?)>', html)
    assert values == [(str(value), "") for value in range(1, points + 1)]


def test_the_middle_of_an_even_scale_has_a_gap_and_of_an_odd_one_a_tie() -> None:
    assert [point.rating for point in scale_points(8) if point.gap] == [5]
    assert [point.side for point in scale_points(8)] == ["a"] * 4 + ["b"] * 4
    assert [point.side for point in scale_points(3)] == ["a", "tie", "b"]
    assert not any(point.gap for point in scale_points(5))


def test_the_letters_of_reasons_do_nothing_else() -> None:
    assert not set("123456789sutfcprygz?ab") & set(REASON_KEYS)
    assert len(set(REASON_KEYS)) == len(REASON_KEYS)


def test_a_plain_form_stores_an_answer_once_and_redirects(
    browser: Client, study: Study, rater: Rater
) -> None:
    page(browser, study)
    assignment = held(rater)
    for _ in range(2):
        answer = submit(browser, study, assignment, 7, rationale="clearer", seconds="0.0")
        assert answer.status_code == 302
    comparison = Comparison.objects.get()
    assert (comparison.rating, comparison.points, comparison.rationale) == (7, 8, "clearer")
    assert comparison.swapped == assignment.swapped
    assert comparison.source == Comparison.Source.WEB


def test_a_script_gets_the_pair_alone_and_a_token(browser: Client, study: Study, rater: Rater) -> None:
    answer = page(browser, study, **JSON).json()
    assert answer["assignment"] == held(rater).public_id
    assert answer["assignment"] in answer["html"]
    assert "<html" not in answer["html"]
    token = browser.get(reverse("token"), headers=JSON)
    assert token.json()["rater"] == str(rater.user_id)
    assert token.json()["token"]
    assert "no-store" in token.headers["Cache-Control"]


def test_raters_go_on_while_redis_is_away(
    browser: Client, study: Study, rater: Rater, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise ConnectionError("Redis is away")

    for name in ("get", "set", "get_or_set", "add"):
        monkeypatch.setattr(caches["progress"], name, fail)
    page(browser, study)
    sent = send(browser, rater, "rate-study", study, assignment=held(rater).public_id, rating=3)
    assert (sent.status_code, sent.json()["status"]) == (200, "stored")
    assert page(browser, study).status_code == 200


def test_a_script_is_told_what_became_of_its_answer(browser: Client, study: Study, rater: Rater) -> None:
    page(browser, study)
    sent = {"assignment": held(rater).public_id, "rating": 3, "rationale": "clear"}
    first = send(browser, rater, "rate-study", study, **sent)
    again = send(browser, rater, "rate-study", study, **sent)
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json()["progress"]["text"] == "1 done, at most 5 left"
    assert [first.json()["status"], again.json()["status"]] == ["stored", "same"]
    assert first.json()["reveal"] is None
    other = send(browser, rater, "rate-study", study, **sent | {"rating": 8})
    assert other.status_code == 409
    assert "already given this pair a 3" in other.json()["detail"]
    assert other.json()["reopen"]
    assert other.json()["progress"] == first.json()["progress"]
    missing = send(browser, rater, "rate-study", study, **sent | {"rating": ""})
    assert (missing.status_code, missing.json()["detail"]) == (422, "Choose a rating first.")
    assert Comparison.objects.get().rating == 3


def test_a_script_of_another_account_changes_nothing(browser: Client, study: Study, rater: Rater) -> None:
    page(browser, study)
    sent = {"assignment": held(rater).public_id, "rating": 3, "reason": "other"}
    somebody_else = make.make_member(study)
    for name in ("rate-study", "skip", "flag"):
        assert send(browser, somebody_else, name, study, **sent).status_code == 401
    assert held(rater).finished_at is None
    browser.logout()
    signed_out = send(browser, rater, "rate-study", study, **sent)
    assert (signed_out.status_code, signed_out.json()["status"]) == (401, "signed-out")
    assert browser.get(reverse("token"), headers=JSON).status_code == 401
    assert not Comparison.objects.exists()


def ahead(browser: Client, study: Study, after: str, **more: str) -> Any:
    return browser.get(reverse("ahead", args=[study.slug]), {"after": after, **more}, headers=JSON).json()


def test_the_next_pair_is_fetched_ahead_and_shown_later(browser: Client, study: Study, rater: Rater) -> None:
    current = page(browser, study, **JSON).json()["assignment"]
    found = ahead(browser, study, current)
    assert found["assignment"] not in ("", current)
    assert found == ahead(browser, study, current) | {"html": found["html"]}
    waiting = Assignment.objects.get(public_id=found["assignment"])
    assert waiting.shown_at is None
    # A reload shows the pair that was on screen.
    assert page(browser, study, **JSON).json()["assignment"] == current
    send(browser, rater, "rate-study", study, assignment=current, rating=5)
    # That it came to the screen is told with the question for the one after it.
    following = ahead(browser, study, found["assignment"])
    waiting.refresh_from_db()
    assert waiting.shown_at is not None
    assert page(browser, study, **JSON).json()["assignment"] == found["assignment"]
    assert ahead(browser, study, found["assignment"])["assignment"] == following["assignment"]


@pytest.mark.parametrize(
    ("seen", "ago"), [("", 0), ("3", 3), ("2.5", 2.5), ("1e300", 60), ("-5", 0), ("nan", 0), ("inf", 0)]
)
def test_how_long_a_pair_was_seen_is_at_most_its_age(
    browser: Client, study: Study, seen: str, ago: float
) -> None:
    page(browser, study)
    pair = Assignment.objects.get()
    Assignment.objects.update(shown_at=None, created_at=timezone.now() - timedelta(seconds=60))
    ahead(browser, study, pair.public_id, seen=seen)
    pair.refresh_from_db()
    assert (timezone.now() - pair.shown_at).total_seconds() == pytest.approx(ago, abs=1)
    ahead(browser, study, pair.public_id, seen="40")
    before, _ = pair.shown_at, pair.refresh_from_db()
    assert pair.shown_at == before


def test_a_pair_of_others_is_not_marked_as_shown(browser: Client, study: Study, rater: Rater) -> None:
    elsewhere = make.make_small_study()
    Membership.objects.create(study=elsewhere, rater=rater, guidelines_read_at=timezone.now())
    own = assignments.claim(elsewhere, rater)
    other = make.make_assignment(pair=make.make_pair(prompt=study.prompts.first()))
    for sent in (own.public_id, other.public_id, "", "\0", "x" * 1000):
        assert ahead(browser, study, sent, seen="1")["status"] == "shown"
    assert not Assignment.objects.filter(pk__in=[own.pk, other.pk], shown_at__isnull=False).exists()


def test_a_pair_fetched_ahead_does_not_tell_progress(browser: Client, study: Study) -> None:
    current = page(browser, study, **JSON).json()
    assert re.search(r"data-progress>\s*0 done", current["html"])
    assert "data-progress></span>" in ahead(browser, study, current["assignment"])["html"]


def test_when_nothing_is_left_the_page_says_thanks(browser: Client, study: Study, rater: Rater) -> None:
    for _ in range(5):
        page(browser, study)
        submit(browser, study, held(rater))
    last = page(browser, study, **JSON).json()["assignment"]
    assert ahead(browser, study, last) == {"status": "shown", "detail": "", "assignment": "", "html": ""}
    Study.objects.update(closed_at=timezone.now())
    assert ahead(browser, study, last)["assignment"] == ""
    Study.objects.update(closed_at=None)
    submit(browser, study, held(rater))
    html = page(browser, study).content.decode()
    assert "You rated 6 pairs" in html


@pytest.mark.parametrize(
    ("rating", "rationale", "words"),
    [
        ("", "kept words", "Choose a rating first."),
        *[
            (rating, "kept words", "Choose one of the buttons.")
            for rating in ("0", "9", "-1", "x", "3.5", "1e0")
        ],
        ("3", "kept words" * 501, "under 5,000 characters"),
    ],
)
def test_an_answer_that_cannot_be_is_refused_with_what_was_written(
    browser: Client, study: Study, rater: Rater, rating: str, rationale: str, words: str
) -> None:
    page(browser, study)
    answer = submit(browser, study, held(rater), rating, rationale=rationale)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert "kept words" in answer.content.decode()
    assert not Comparison.objects.exists()


@pytest.mark.parametrize("field", ["rating", "criteria.clear", "reasons", "rationale", "points"])
def test_what_the_service_refuses_is_said_beside_its_field_or_above(
    browser: Client, study: Study, rater: Rater, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise InvalidAnswerError(field, "This cannot be.")

    Study.objects.update(criteria=["clear"], reasons=["Safer"])
    page(browser, study)
    monkeypatch.setattr(PairRecorder, "refuse", refuse)
    html = submit(browser, study, held(rater), **{"criterion-0": 3}).content.decode()
    beside = '<p class="field-error" role="alert">This cannot be.</p>' in html
    assert (html.count("This cannot be."), beside) == (1, field != "points")


def test_criteria_are_asked_for_and_stored(browser: Client, study: Study, rater: Rater) -> None:
    Study.objects.update(criteria=["helpfulness", "<truth>"])
    html = page(browser, study).content.decode()
    assert "&lt;truth&gt;" in html
    missing = submit(browser, study, held(rater), 2, **{"criterion-0": 4})
    assert "Choose a rating for &lt;truth&gt;." in missing.content.decode()
    submit(browser, study, held(rater), 2, **{"criterion-0": 4, "criterion-1": 8})
    ratings = dict(Comparison.objects.get().criterion_ratings.values_list("criterion", "rating"))
    assert ratings == {"helpfulness": 4, "<truth>": 8}


@pytest.mark.parametrize("change", [{"points": 5}, {"criteria": ["helpfulness"]}])
def test_a_rating_on_the_scale_of_an_earlier_page_is_not_stored(
    browser: Client, study: Study, rater: Rater, change: dict[str, Any]
) -> None:
    sent = {"asked": re.search(r'name="asked" value="(\w+)"', page(browser, study).content.decode())[1]}
    Study.objects.update(**change)
    refused = submit(browser, study, held(rater), 3, headers=JSON, rater=rater.user_id, **sent)
    assert (refused.status_code, Comparison.objects.count()) == (422, 0)
    assert refused.json()["detail"].startswith("What is asked was changed while your page was open.")


@pytest.mark.parametrize("headers", [{}, JSON])
def test_the_page_of_another_study_takes_no_answer(
    browser: Client, study: Study, rater: Rater, headers: dict[str, str]
) -> None:
    Study.objects.update(criteria=["truthfulness"])
    other = make.make_small_study()
    Membership.objects.create(study=other, rater=rater, guidelines_read_at=timezone.now())
    page(browser, study)
    assignment, sent = held(rater), {"rater": rater.user_id, "headers": headers}
    assert submit(browser, other, assignment, **sent).status_code == 409
    assert not Comparison.objects.exists()
    assert submit(browser, study, assignment, **sent, **{"criterion-0": 4}).status_code in (200, 302)
    assert Comparison.objects.get().criterion_ratings.get().rating == 4


def test_another_answer_is_refused_and_can_be_changed(browser: Client, study: Study, rater: Rater) -> None:
    page(browser, study)
    assignment = held(rater)
    submit(browser, study, assignment, 6)
    page(browser, study)
    submit(browser, study, held(rater), 1)
    refused = submit(browser, study, assignment, 2)
    assert refused.status_code == 409
    assert "You have already given this pair a 6" in refused.content.decode()
    browser.post(reverse("undo", args=[study.slug]), {"reopen": assignment.public_id})
    assert held(rater) == assignment
    submit(browser, study, assignment, 2)
    assert Comparison.objects.current().get(assignment=assignment).rating == 2
    assert Comparison.objects.filter(assignment=assignment).count() == 2


def test_undo_brings_the_last_pair_back_with_its_answer(browser: Client, study: Study, rater: Rater) -> None:
    page(browser, study)
    assignment = held(rater)
    submit(browser, study, assignment, 6, rationale="first thought")
    html = send(browser, rater, "undo", study).json()["html"]
    assert assignment.public_id in html
    assert "You chose <strong>6</strong>" in html
    assert re.search(r'point-earlier">\s*<input [^>]*name="rating" value="6"', html)
    assert "first thought" in html
    assert "checked" not in html
    assert Comparison.objects.current().count() == 1


def test_an_answer_brought_back_is_counted_once(browser: Client, study: Study, rater: Rater) -> None:
    for _ in range(6):
        page(browser, study)
        submit(browser, study, held(rater))
    for _ in range(2):
        html = send(browser, rater, "undo", study).json()["html"]
        assert "6 done, none left" in html
        assert 'max="6" value="6"' in html
    assert "none left" in browser.get(reverse("rate")).content.decode()
    other = make.make_study()
    Membership.objects.create(study=other, rater=rater, guidelines_read_at=timezone.now())
    assert browser.get(reverse("rate")).content.decode().count("none left") == 2


def test_undo_with_nothing_done_says_so(browser: Client, study: Study, rater: Rater) -> None:
    answer = browser.post(reverse("undo", args=[study.slug]), follow=True)
    assert "You have nothing to undo." in answer.content.decode()
    by_script = send(browser, rater, "undo", study)
    assert (by_script.status_code, by_script.json()["detail"]) == (409, "You have nothing to undo.")
    assert browser.get(reverse("undo", args=[study.slug])).status_code == 405


def test_skip_puts_the_pair_aside(browser: Client, study: Study, rater: Rater) -> None:
    page(browser, study)
    assignment = held(rater)
    address = reverse("skip", args=[study.slug])
    assert browser.get(address).status_code == 405
    answer = browser.post(address, {"assignment": assignment.public_id}, follow=True)
    assert assignment.public_id not in answer.content.decode()
    assert ", 1 skipped" in answer.content.decode()
    assignment.refresh_from_db()
    assert assignment.state == "skipped"


def test_a_strangers_assignment_is_neither_skipped_nor_answered(browser: Client, study: Study) -> None:
    other = make.make_assignment(pair=make.make_pair(prompt=study.prompts.first()))
    skipped = browser.post(reverse("skip", args=[study.slug]), {"assignment": other.public_id}, follow=True)
    assert "This rater has no such assignment" in skipped.content.decode()
    answer = submit(browser, study, other)
    assert answer.status_code == 409
    assert "This rater has no such assignment" in answer.content.decode()
    other.refresh_from_db()
    assert other.state == "claimed"
    assert not Comparison.objects.exists()


def test_a_closed_study_and_a_paused_rater_are_told(browser: Client, study: Study, rater: Rater) -> None:
    page(browser, study)
    assignment = held(rater)
    Rater.objects.update(paused_at=timezone.now())
    assert "Your account is paused" in page(browser, study).content.decode()
    Rater.objects.update(paused_at=None)
    Study.objects.update(closed_at=timezone.now())
    answer = submit(browser, study, assignment)
    assert answer.status_code == 409
    assert "closed before your rating arrived" in answer.content.decode()
    guidelines = browser.get(f"/rate/{study.slug}/guidelines/").content.decode()
    assert "This study is closed" in guidelines
    assert "Start rating" not in guidelines
    assert not Comparison.objects.exists()


def test_conversations_are_shown_turn_by_turn(browser: Client, study: Study) -> None:
    Prompt.objects.update(turns=["Ask one", "Ask two"], input="Some material")
    Completion.objects.update(turns=["Reply one", "Reply two"])
    html = page(browser, study).content.decode()
    parts = ["Ask one", "Some material", "Reply one", "Ask two", "Answer to turn 2", "Reply two"]
    places = [html.index(part) for part in parts]
    assert places == sorted(places)


def test_prompts_are_escaped_and_shown_as_completions_are(browser: Client, study: Study) -> None:
    Prompt.objects.update(category='"><b>')
    assert '"><b>' not in page(browser, study).content.decode()
    Prompt.objects.update(turns=["Is **$x^2$** even?\nSay so."], input="```python\nx = 1\n```")
    html = page(browser, study).content.decode()
    preview, _, after = html.partition("prompt-preview")[2].partition("prompt-text")
    shown = after.partition("response-text")[0]
    assert "Is **$x^2$** even?\nSay so." in preview
    assert "<math" not in preview
    assert re.search(
        r'data-form="rendered"[^>]*><p dir="auto">Is <strong><math [^\n]*<br>\nSay so.</p>', shown
    )
    assert '<span class="mi">1</span>' in shown
    raw = re.findall(r'data-form="raw"[^>]*>(.*?)</pre>', shown, re.DOTALL)
    assert raw == ["Is **$x^2$** even?\nSay so.", "```python\nx = 1\n```"]


def test_an_empty_response_says_so_and_a_blank_prompt_does_not(browser: Client, study: Study) -> None:
    assert "prompt-fold" not in page(browser, study).content.decode(), "folding would hide nothing"
    Prompt.objects.update(turns=["\n"], input="word " * 200)
    html = page(browser, study).content.decode()
    assert '<details class="prompt-fold" open>' in html
    assert "Unfold all 200 words" in html
    assert "(This answer is empty.)" not in html
    Completion.objects.update(turns=[" \n"], is_empty=True)
    assert page(browser, study).content.decode().count("(This answer is empty.)") == 2


def test_texts_are_rendered_once_and_kept_by_no_cache(browser: Client, study: Study, rater: Rater) -> None:
    page(browser, study)
    stored = set(Rendering.objects.values_list("pk", "digest"))
    assert "no-store" in page(browser, study).headers["Cache-Control"]
    assert len(stored) == 3  # the prompt and two answers
    assert set(Rendering.objects.values_list("pk", "digest")) == stored


def test_the_guidelines_come_before_the_first_pair(browser: Client, study: Study, rater: Rater) -> None:
    Membership.objects.update(guidelines_read_at=None)
    Study.objects.update(guidelines="Mind the **facts**.")
    address = reverse("guidelines", args=[study.slug])
    assert page(browser, study).headers["Location"] == address
    assert "<strong>facts</strong>" in browser.get(address).content.decode()
    assert not Assignment.objects.exists()
    browser.post(address)
    assert page(browser, study).status_code == 200


def test_strangers_do_not_learn_that_a_study_exists(study: Study) -> None:
    browser = make.make_client(make.make_user())
    for name in ("rate-study", "guidelines", "sign-up"):
        assert browser.get(reverse(name, args=[study.slug])).status_code == 404
    for name in ("skip", "undo", "rate-study"):
        assert browser.post(reverse(name, args=[study.slug])).status_code == 404


def test_a_lost_session_leads_through_sign_in_back_to_the_pair(study: Study, rater: Rater) -> None:
    browser = Client()
    address = reverse("rate-study", args=[study.slug])
    plain = browser.post(reverse("skip", args=[study.slug]))
    assert plain.headers["Location"] == f"{reverse('account_login')}?next={address}"
    by_htmx = browser.post(address, headers=HTMX)
    assert by_htmx.headers["HX-Redirect"] == f"{reverse('account_login')}?next={address}"


def test_a_time_is_at_most_the_time_since_the_pair_was_shown_or_handed_out() -> None:
    shown = make.make_assignment(shown_at=timezone.now() - timedelta(seconds=60))
    unreported = make.make_assignment(shown_at=None)
    Assignment.objects.update(created_at=timezone.now() - timedelta(seconds=20))
    unreported.refresh_from_db()
    for assignment, longest in ((shown, 60), (unreported, 20)):
        assert believable_seconds("12.3", assignment) == 12.3
        assert believable_seconds("99999", assignment) == pytest.approx(longest, abs=30)
        assert believable_seconds("99999", assignment) >= longest
        for impossible in ("", "abc", "nan", "inf", "-1", "1e999"):
            assert believable_seconds(impossible, assignment) is None
    assert believable_seconds("5", None) is None
    assignment.shown_at = timezone.now() + timedelta(hours=1)
    assert believable_seconds("12.3", assignment) == 0, "the clock was set back since"


def test_reasons_are_offered_after_the_choice_and_stored(browser: Client, study: Study, rater: Rater) -> None:
    Study.objects.update(reasons=[])
    assert 'name="reasons"' not in page(browser, study).content.decode()
    Study.objects.update(reasons=["Clearer", "<b>Safer</b>"])
    html = page(browser, study).content.decode()
    assert "&lt;b&gt;Safer&lt;/b&gt;" in html
    assert "<b>Safer" not in html
    unknown = submit(browser, study, held(rater), reasons=["Clearer", "Nicer"])
    assert "does not offer the reason “Nicer”" in unknown.content.decode()
    assert re.search(r'value="Clearer" checked', unknown.content.decode())
    submit(browser, study, held(rater), reasons=["Clearer", "<b>Safer</b>"])
    assert Comparison.objects.get().reasons == ["Clearer", "<b>Safer</b>"]


@pytest.mark.parametrize(("points", "ties"), [(2, {None}), (3, {2}), (5, {3}), (8, {4, 5})])
def test_equal_texts_tie(
    browser: Client, study: Study, rater: Rater, points: int, ties: set[int | None]
) -> None:
    Study.objects.update(points=points)
    assert "Both answers are identical" not in page(browser, study).content.decode()
    Completion.objects.update(digest="0" * 64)
    html = page(browser, study).content.decode()
    assert "Both answers are identical" in html
    assert ("answer-tie" in html) == (ties != {None})
    seeds = [number << 20 for number in range(16)]
    assert {tie_rating(Assignment(study=Study(points=points), seed=seed)) for seed in seeds} == ties


def test_a_tie_on_eight_points_favours_no_side() -> None:
    rng = random.Random(20261122)
    study = Study(points=8)
    fours = sum(tie_rating(Assignment(study=study, seed=rng.getrandbits(62))) == 4 for _ in range(400))
    assert 160 <= fours <= 240  # four standard deviations of a fair coin


def test_names_are_told_after_the_answer_if_allowed(browser: Client, study: Study, rater: Rater) -> None:
    Study.objects.update(reveal_names=True)
    before = page(browser, study).content.decode()
    assignment = held(rater)
    names = [each.contestant.name for each in assignment.pair.shown(assignment.swapped)]
    assert not [name for name in names if name in before]
    skipped = send(browser, rater, "skip", study, assignment=assignment.public_id)
    assert skipped.json()["progress"]["can_undo"] is True
    assert not UNDO.search(page(browser, study).content.decode())["off"]
    assert send(browser, rater, "undo", study).json()["assignment"] == assignment.public_id
    answer = send(browser, rater, "rate-study", study, assignment=assignment.public_id, rating=7)
    told = f"you chose B over A. {names[0]} wrote A, {names[1]} wrote B."
    assert told in answer.json()["reveal"]
    assert answer.json()["progress"]["can_undo"] is False
    # A revision by somebody who knows the names would not be blind.
    undone = send(browser, rater, "undo", study)
    assert (undone.status_code, Assignment.objects.get(pk=assignment.pk).state) == (409, "submitted")
    assert UNDO.search(page(browser, study).content.decode())["off"]
    plain = submit(browser, study, held(rater), 4, follow=True)
    assert "you called it a tie" in plain.content.decode()
    assert "You are done" in plain.content.decode()
    assert "undo-last" not in plain.content.decode()


def test_a_flag_as_a_plain_form_and_refused_ones(browser: Client, study: Study, rater: Rater) -> None:
    page(browser, study)
    address, public_id = reverse("flag", args=[study.slug]), held(rater).public_id
    form = browser.get(address, {"assignment": public_id}).content.decode()
    assert f'value="{public_id}"' in form
    assert form.count('name="reason"') == 5
    without = browser.post(address, {"assignment": public_id, "comment": "kept words"})
    assert without.status_code == 422
    assert "Choose what is wrong" in without.content.decode()
    assert "kept words" in without.content.decode()
    other = make.make_assignment(pair=make.make_pair(prompt=study.prompts.first()))
    refused = send(browser, rater, "flag", study, assignment=other.public_id, reason="harm")
    assert (refused.status_code, "no such assignment" in refused.json()["detail"]) == (409, True)
    wrong = send(browser, rater, "flag", study, assignment=public_id, reason="boring")
    assert (wrong.status_code, wrong.json()["detail"]) == (422, "Choose one of the reasons.")
    assert not Flag.objects.exists()
    sent = {"assignment": public_id, "reason": "harm", "comment": "It says who it is."}
    assert browser.post(address, sent).status_code == 302
    assert Flag.objects.values_list("reason", "comment").get() == ("harm", sent["comment"])
    assert send(browser, rater, "flag", study, **sent).json()["status"] == "stored"


def test_both_forms_of_a_text_are_sent_and_masked_alike(browser: Client, study: Study) -> None:
    Completion.objects.update(turns=["I am **Quibble**, hello."], telling=["Quibble"])
    Study.objects.update(naming="mask")
    html = page(browser, study).content.decode()
    assert "Quibble" not in html
    assert html.count("[name hidden]") == 4


def test_a_pair_costs_a_bounded_number_of_queries(
    browser: Client, study: Study, rater: Rater, django_assert_max_num_queries: Any
) -> None:
    rendered(text for one in [*Prompt.objects.all(), *Completion.objects.all()] for text in one.turns)
    page(browser, study)
    with django_assert_max_num_queries(16):
        page(browser, study)
    with django_assert_max_num_queries(38):
        submit(browser, study, held(rater), follow=True)
    current = held(rater).public_id
    with django_assert_max_num_queries(23):
        ahead(browser, study, current)
    with django_assert_max_num_queries(18):
        send(browser, rater, "rate-study", study, assignment=current, rating=2)


@pytest.mark.parametrize(
    ("columns", "left", "words"),
    [
        ({}, 1, "at most 1 left"),
        ({}, 2, "at most 2 left"),
        ({"gold_share": 0.1}, 2, "at most 10 left"),
        ({"repeat_share": 0.1}, 11, "20 left"),
        ({}, 11, "11 left"),
        ({}, 0, "none left"),
    ],
)
def test_few_pairs_left_are_never_told_to_be_more(
    browser: Client, rater: Rater, columns: dict[str, Any], left: int, words: str
) -> None:
    study = make.make_study(**columns)
    for _ in range(left):
        prompt = make.make_prompt(study=study)
        for _ in "AB":
            make.make_completion(prompt=prompt)
    Membership.objects.create(study=study, rater=rater, guidelines_read_at=timezone.now())
    assert words in browser.get(reverse("rate")).content.decode()


def test_the_list_of_studies_costs_the_same_for_many(
    browser: Client, study: Study, rater: Rater, django_assert_max_num_queries: Any
) -> None:
    for _ in range(5):
        Membership.objects.create(study=make.make_small_study(), rater=rater)
    open_study = make.make_study(sign_up_open=True, name="Come in")
    browser.get(reverse("rate"))  # which makes the queues
    with django_assert_max_num_queries(11):
        html = browser.get(reverse("rate")).content.decode()
    assert html.count("at most 6 left") == 6
    assert reverse("sign-up", args=[open_study.slug]) in html


@pytest.mark.parametrize("sent", ["\0", "x\0y", "x" * 10_000])
def test_an_id_that_cannot_be_is_nobodys(browser: Client, study: Study, rater: Rater, sent: str) -> None:
    page(browser, study)
    for door in ("skip", "undo"):
        form = {"assignment": sent, "reopen": sent}
        answer = browser.post(reverse(door, args=[study.slug]), form, follow=True)
        assert answer.status_code == 200
        assert send(browser, rater, door, study, **form).status_code == 409
    assert held(rater).state == "claimed"
