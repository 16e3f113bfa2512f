"""What a study takes from one person, in all and a day: what counts, who is offered no more, what is said."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from arena.models import Assignment, Comparison, Completion, Prompt, Rater, Study
from arena.rating import assignments, limits
from arena.rating.opinions import NotAllowedError
from arena.rating.progress import progress
from arena.studies import progress as of_study
from arena.texts.rendering_cache import rendered
from tests import factories as make
from tests.arena.rating.answering import answer, claimed

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

NOON = datetime(2026, 11, 24, 12, tzinfo=UTC)
TODAY = (
    "You have rated 2 pairs today. This study takes at most 2 a day from each person. "
    "Come back after 00:00 UTC."
)


@pytest.fixture
def study() -> Study:
    return make.make_small_study(prompts=4, contestants=3)


def limit(study: Study, **columns: int | None) -> None:
    Study.objects.filter(pk=study.pk).update(**columns)
    study.refresh_from_db()


def given(study: Study, rater: Rater) -> tuple[int, int]:
    found = limits.allowance(study, rater)
    assert found is not None
    return found.given, found.given_today


def test_a_day_ends_at_midnight_and_all_is_all(study: Study, rater: Rater) -> None:
    limit(study, daily_limit=2, rater_limit=3)
    with time_machine.travel(NOON, tick=False):
        for _ in range(2):
            answer(rater, claimed(study, rater))
        with pytest.raises(NotAllowedError) as refused:
            assignments.claim(study, rater)
        assert str(refused.value) == TODAY
    with time_machine.travel(NOON.replace(hour=23, minute=59), tick=False), pytest.raises(NotAllowedError):
        assignments.claim(study, rater)
    with time_machine.travel(NOON.replace(day=25, hour=0), tick=False):
        answer(rater, claimed(study, rater))
        with pytest.raises(NotAllowedError) as refused:
            assignments.claim(study, rater)
        assert str(refused.value) == "You have rated 3 pairs. This study takes at most 3 from each person."
        assert claimed(study, make.make_member(study))
        limit(study, rater_limit=None)
        assert claimed(study, rater)


def test_what_is_held_counts_where_one_more_is_fetched(study: Study, rater: Rater) -> None:
    limit(study, rater_limit=2)
    first = claimed(study, rater)
    second = claimed(study, rater, first.public_id)
    assert second != first
    answer(rater, first)
    assert assignments.claim(study, rater, second.public_id) is None
    Assignment.objects.update(leased_until=timezone.now() - timedelta(minutes=1))
    assert assignments.claim(study, rater, second.public_id) is None  # still on screen, its answer is taken
    answer(rater, second)
    with pytest.raises(NotAllowedError):
        assignments.claim(study, rater, second.public_id)


def test_what_is_held_can_be_answered_above_the_limit(study: Study, rater: Rater) -> None:
    limit(study, daily_limit=5)
    first = claimed(study, rater)
    second = claimed(study, rater, first.public_id)
    limit(study, daily_limit=1)
    answer(rater, first)
    assert claimed(study, rater) == second
    answer(rater, second)
    assert given(study, rater) == (2, 2)
    # One that is brought back counts as before, and brings no other.
    again = assignments.undo(study, rater)
    assert again
    assert given(study, rater) == (2, 2)
    assert claimed(study, rater) == again
    with pytest.raises(NotAllowedError):
        assignments.claim(study, rater, again.public_id)


def test_skips_and_settling_do_not_count_but_hidden_pairs_do(study: Study, rater: Rater) -> None:
    limit(study, rater_limit=9)
    done = {"study": study, "rater": rater, "state": "submitted", "finished_at": timezone.now()}
    for purpose in ("study", "repeat", "check", "adjudication"):
        make.make_assignment(**done, purpose=purpose)
    make.make_assignment(**done | {"state": "skipped"})
    make.make_assignment(**done | {"state": "claimed", "finished_at": None})
    make.make_assignment(**done | {"finished_at": timezone.now() - timedelta(days=1)})
    make.make_assignment(**done | {"study": make.make_study()})
    make.make_assignment(**done | {"rater": make.make_rater()})
    assert given(study, rater) == (4, 3)


def test_scores_and_checks_count_as_pairs_do(study: Study, rater: Rater) -> None:
    limit(study, rater_limit=3)
    done = {"rater": rater, "state": "submitted", "finished_at": timezone.now()}
    text = make.make_completion(prompt=study.prompts.first())
    for kind in ("score", "check"):
        make.make_assignment(**done, kind=kind, completion=text)
    answer(rater, claimed(study, rater))
    for tasks, said in (
        (["compare"], "rated 3 pairs"),
        (["score"], "scored 3 answers"),
        (["check"], "checked 3 answers"),
        (["score", "check"], "done 3 tasks"),
    ):
        Study.objects.update(tasks=tasks)
        with pytest.raises(NotAllowedError, match=f"You have {said}. This study takes at most 3 from"):
            assignments.claim(study, rater)


def send(browser: Client, rater: Rater, study: Study, **data: Any) -> Any:
    """Post an answer as the page's script does."""
    form = {"rater": rater.user_id, "rating": 2, "seen": "0", **data}
    address = reverse("rate-study", args=[study.slug])
    return browser.post(address, form, headers={"Accept": "application/json"}).json()


def test_the_rater_sees_what_is_left_and_why_there_is_no_more(
    browser: Client, study: Study, rater: Rater
) -> None:
    limit(study, daily_limit=2, rater_limit=10)
    address = reverse("rate-study", args=[study.slug])
    assert "0 done, at most 10 left (2 more today)" in browser.get(address).content.decode()
    first = Assignment.objects.get()
    after = claimed(study, rater, first.public_id)
    reply = send(browser, rater, study, assignment=first.public_id)
    assert reply["status"] == "stored"
    assert browser.get(reverse("ahead", args=[study.slug]), {"after": after.public_id}).json()["html"] == ""
    assert reply["progress"]["text"] == "1 done, at most 9 left (1 more today)"
    assert send(browser, rater, study, assignment=after.public_id)["status"] == "stored"
    page = browser.get(address)
    assert page.status_code == 200
    assert "You are done for today, thank you" in page.content.decode()
    assert TODAY in page.content.decode()
    listed = browser.get(reverse("rate")).content.decode()
    assert "2 done, at most 8 left (no more today)" in listed
    assert "Continue after 00:00 UTC" in listed
    assert f'href="{address}"' not in listed
    limit(study, rater_limit=2, daily_limit=None)
    page = browser.get(address).content.decode()
    assert "You are done, thank you" in page
    assert "This study takes at most 2 from each person." in page


def test_where_nothing_is_left_no_limit_is_to_blame(browser: Client, study: Study, rater: Rater) -> None:
    while assignment := assignments.claim(study, rater):
        answer(rater, assignment)
    limit(study, daily_limit=1)
    page = browser.get(reverse("rate-study", args=[study.slug])).content.decode()
    assert "You rated 12 pairs of" in page
    assert "at most" not in page


def test_a_limit_costs_one_query_and_none_none(
    browser: Client, study: Study, rater: Rater, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A text that is shown for the first time costs two: to look for it and to store it.
    rendered(text for one in [*Prompt.objects.all(), *Completion.objects.all()] for text in one.turns)

    def queries(**columns: int | None) -> list[int]:
        """Of an answer, and of the page."""
        limit(study, **columns)
        counts = []
        current = claimed(study, rater)
        with CaptureQueriesContext(connection) as asked:
            assert send(browser, rater, study, assignment=current.public_id)["status"] == "stored"
        counts.append(len(asked))
        with CaptureQueriesContext(connection) as asked:
            browser.get(reverse("rate-study", args=[study.slug]))
        counts.append(len(asked))
        return counts

    queries()
    free = queries(rater_limit=None, daily_limit=None)
    assert queries(rater_limit=50, daily_limit=50) == [each + 1 for each in free]
    assert all(now <= then + 1 for now, then in zip(queries(rater_limit=5), free, strict=True))
    assert Comparison.objects.count() == 4
    assert given(study, rater) == (4, 4)


def test_the_list_asks_once_for_all_studies(rater: Rater) -> None:
    studies = [make.make_small_study() for _ in range(3)]
    progress(rater, studies)
    with CaptureQueriesContext(connection) as free:
        progress(rater, studies)
    for each in studies:
        limit(each, daily_limit=4)
    progress(rater, studies)  # what is kept for a while is of a study as it was
    with CaptureQueriesContext(connection) as asked:
        done = progress(rater, studies)
    assert [done[each.pk].left for each in studies] == [6, 6, 6]
    assert [done[each.pk].today for each in studies] == [4, 4, 4]
    assert len(asked) == len(free) + 1


def test_operators_see_who_reached_which_limit(study: Study, rater: Rater) -> None:
    other = make.make_member(study)
    for each, number in ((rater, 3), (other, 2)):
        for _ in range(number):
            answer(each, claimed(study, each))
    assert {line.limit for line in of_study.by_rater(study)} == {""}
    limit(study, rater_limit=3, daily_limit=2)
    lines = {line.rater: line.limit for line in of_study.by_rater(study)}
    assert lines == {rater: "limit reached", other: "daily limit reached"}
    browser = make.make_client(make.make_user(is_staff=True))
    page = browser.get(reverse("operate-progress", args=[study.slug])).content.decode()
    assert 'badge-info">daily limit reached' in page


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({}, ""),
        ({"rater_limit": 1200}, "You get at most 1,200 pairs."),
        ({"rater_limit": 20, "daily_limit": 1}, "You get at most 20 pairs, and 1 pair a day."),
        ({"daily_limit": 5, "tasks": ["score", "check"]}, "You get at most 5 tasks a day."),
    ],
)
def test_limits_are_told_before_joining(columns: dict[str, Any], words: str) -> None:
    study = make.make_study(sign_up_open=True, **columns)
    page = Client().get(reverse("sign-up", args=[study.slug])).content.decode()
    assert words in page
    assert ("You get at most" in page) == bool(words)


def test_a_limit_holds_for_skipped_pairs_that_are_brought_back(study: Study, rater: Rater) -> None:
    limit(study, rater_limit=2)
    for _ in range(3):
        assignments.skip(rater, claimed(study, rater).public_id)
    skipped = list(Assignment.objects.filter(state="skipped"))
    answer(rater, claimed(study, rater))
    again = assignments.undo(study, rater, skipped[0].public_id)
    assert again
    with pytest.raises(NotAllowedError, match="at most 2"):
        assignments.undo(study, rater, skipped[1].public_id)
    with pytest.raises(NotAllowedError, match="You have skipped this"):
        answer(rater, skipped[1])
    answer(rater, again)
    with pytest.raises(NotAllowedError, match="at most 2"):
        assignments.undo(study, rater, skipped[1].public_id)
    assert given(study, rater) == (2, 2)
    assert assignments.undo(study, rater) == again  # what was answered can still be changed
