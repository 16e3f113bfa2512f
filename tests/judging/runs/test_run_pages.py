"""The pages of runs: what they offer, show and refuse."""

from collections import deque
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from time import time
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags
from hypothesis import given
from hypothesis import strategies as st

from arena.models import Assignment, Rater, Study
from judging.models import Judge, JudgeCall, JudgeRun, Price, Purse, RateLimit
from judging.models.calls import Progress
from judging.runs import summary
from judging.runs.lifecycle import cancel_run, finish_if_done, pause_run, start_run
from tests import factories as make
from tests.factories import make_judge, make_small_study, make_user

pytestmark = pytest.mark.django_db


def make_call(run: JudgeRun, number: int = 0, **overrides: Any) -> JudgeCall:
    """A reply that was submitted as a rating, about an assignment of the run by its place in it."""
    now = run.created_at
    submitted = {"state": "replied", "status": "scored", "rating": 3, "finished_at": now, "submitted_at": now}
    return make.make_call(run, number, model="loop-1", **{**submitted, **overrides})


def end(run: JudgeRun, state: str = "submitted") -> None:
    """Every assignment of the run has its end, and so has the run."""
    Assignment.objects.filter(run_assignments__run=run).update(state=state)
    assert finish_if_done(run)


def text(client: Client, address: str, **asked: Any) -> str:
    return client.get(address, asked).content.decode()


def posted(client: Client, address: str, **given: Any) -> str:
    return client.post(address, given, follow=True).content.decode()


@pytest.mark.parametrize("door", ["pause", "resume", "budget", "cancel", "next"])
def test_what_changes_a_run_needs_post_and_staff(door: str, client: Client, run: JudgeRun) -> None:
    url = f"/judging/runs/{run.pk}/{door}/"
    ask, other = (client.get, client.post) if door == "next" else (client.post, client.get)
    assert ask(url).status_code == 302
    client.force_login(make_user())
    assert ask(url).status_code == 403
    client.force_login(make_user(is_staff=True))
    assert other(url).status_code == 405
    run.refresh_from_db()
    assert run.state == "running"


def test_pausing_and_resuming(staff: Client, run: JudgeRun) -> None:
    url = f"/judging/runs/{run.pk}/"
    assert ">Pause<" in text(staff, url)
    page = posted(staff, f"{url}pause/")
    assert "Run paused." in page
    assert ">Resume<" in page
    assert ">Pause<" not in page
    assert "already paused or has ended" in posted(staff, f"{url}pause/")
    assert "Run resumed." in posted(staff, f"{url}resume/")
    run.refresh_from_db()
    assert run.state == "running"
    Judge.objects.update(active=False)
    staff.post(f"{url}pause/")
    assert "is inactive" in posted(staff, f"{url}resume/")


def test_a_paused_run_offers_what_fits_its_reason(staff: Client, run: JudgeRun) -> None:
    for error, offered in (
        ("Try another protocol or answer scale.", "Try another protocol</a>"),
        ("No key.", "Change the judge</a>"),
    ):
        JudgeRun.objects.update(state="paused", error=error)
        page = text(staff, f"/judging/runs/{run.pk}/")
        assert [words for words in ("Try another protocol</a>", "Change the judge</a>") if words in page] == [
            offered
        ]


def test_after_the_end_it_says_how_many_of_the_judges_ratings_wait_to_count(
    staff: Client, run: JudgeRun
) -> None:
    def page() -> str:
        return text(staff, f"/judging/runs/{run.pk}/")

    said, now = "Waiting to count on the leaderboard: 2 by judges.", timezone.now()
    pair = run.run_assignments.all()[0].assignment.pair
    make.make_assignment(pair=pair, rater=make_judge().rater, state="submitted", finished_at=now)
    Assignment.objects.filter(run_assignments__run=run).update(finished_at=now)
    Study.objects.update(visibility="public")
    assert said not in page()
    end(run)
    assert said in page()
    Study.objects.update(visibility="private")
    assert said not in page()


def test_changing_the_budget(staff: Client, run: JudgeRun) -> None:
    url = f"/judging/runs/{run.pk}/budget/"
    assert "A budget needs a price for loopback" in posted(staff, url, budget="5")
    Price.objects.create(model="loopback", prompt=1, completion=2, currency="EUR")
    assert "Budget changed." in posted(staff, url, budget="5")
    run.refresh_from_db()
    assert (run.purse.budget, run.purse.currency) == (Decimal(5), "EUR")
    assert 'name="budget" value="5"' in text(staff, f"/judging/runs/{run.pk}/")
    assert "Cost, budget 5.00 EUR" in text(staff, f"/judging/runs/{run.pk}/")
    assert 'id="id_budget_error">Enter a number.' in posted(staff, url, budget="much")


def test_the_preview_says_what_it_costs_and_when_a_budget_cannot_be_kept(staff: Client) -> None:
    study, judge = make_small_study(prompts=2, contestants=3, name="Small"), make_judge(name="Loop")
    asked = {"study": study.slug, "judge": judge.pk, "budget": "1"}
    assert "A budget needs a price" in text(staff, "/judging/runs/preview/", **asked)
    Price.objects.create(model="loopback", prompt=1, completion=2)
    page = text(staff, "/judging/runs/preview/", **asked)
    assert "<dt>Budget 1.00 USD</dt><dd>probably enough for all</dd>" in page
    assert "<dt>Cost</dt>" in page
    nothing = text(staff, "/judging/runs/preview/", study=study.slug, judge=judge.pk, kind="failures")
    assert "No pair of Small failed with Loop." in nothing


def test_the_form_starts_runs_of_every_kind_with_a_budget(staff: Client, messages: deque[Any]) -> None:
    study, judge = make_small_study(), make_judge(both_orders=True)
    Price.objects.create(model="loopback", prompt=1, completion=2)
    chosen = {"study": study.slug, "judge": judge.pk, "kind": "extend", "budget": "2.5", "controls": "on"}
    staff.post("/judging/runs/new/", chosen)
    run = JudgeRun.objects.get()
    assert (run.kind, run.purse.budget, run.controls, run.both_orders) == (
        "extend",
        Decimal("2.5"),
        True,
        True,
    )
    cancel_run(run)
    staff.post("/judging/runs/new/", {**chosen, "both_orders": "off"})
    assert not JudgeRun.objects.latest("pk").both_orders


def test_after_the_end_what_is_left_is_counted_and_offered(staff: Client, run: JudgeRun) -> None:
    address = f"/judging/runs/{run.pk}/next/"
    assert address not in text(staff, f"/judging/runs/{run.pk}/")
    end(run, "failed")
    assert f'hx-get="{address}"' in text(staff, f"/judging/runs/{run.pk}/")
    part = text(staff, address)
    assert "2 questions about 2 pairs" in part
    assert f"study={run.study.slug}&amp;judge={run.judge_id}&amp;kind=failures" in part
    assert part.count("button") == 1, "what cannot be done is not offered"
    start_run(run.study, run.judge)
    assert "You can start another when it has ended" in text(staff, address)


def test_the_page_says_when_a_run_began_and_ended(staff: Client, run: JudgeRun) -> None:
    began = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
    JudgeRun.objects.filter(pk=run.pk).update(started_at=began, finished_at=None)
    page = strip_tags(text(staff, f"/judging/runs/{run.pk}/"))
    assert "1 Mar 2026, 09:30 UTC" in page
    assert "took" not in page
    JudgeRun.objects.filter(pk=run.pk).update(finished_at=began + timedelta(hours=1))
    page = strip_tags(text(staff, f"/judging/runs/{run.pk}/"))
    assert "took 60 min" in page


def test_a_finished_run_leads_to_its_leaderboard_and_one_without_ratings_to_another_protocol(
    staff: Client, run: JudgeRun
) -> None:
    call = make_call(run, status="unscored", reason="unparsable", rating=None, raw_reply="<b>Lovely!</b>")
    end(run)
    page = text(staff, f"/judging/runs/{run.pk}/")
    assert "badge-good" not in page
    assert "The first one: &quot;&lt;b&gt;Lovely!&lt;/b&gt;&quot;" in page
    assert f"/judging/judges/new/?like={run.judge.slug}" in page
    JudgeCall.objects.filter(pk=call.pk).update(status="scored", rating=3)
    JudgeRun.objects.update(state="running")
    end(run)
    page = text(staff, f"/judging/runs/{run.pk}/")
    leaderboard = f"/studies/{run.study.slug}/?raters=judge:{run.judge.slug}"
    assert "badge-good" in page
    assert "A better 1" in page
    assert leaderboard not in page, "nothing counts yet"
    make.make_comparison(assignment=call.assignment, pair=call.assignment.pair, rater=run.judge.rater)
    page = text(staff, f"/judging/runs/{run.pk}/")
    assert leaderboard in page
    assert f"/studies/{run.study.slug}/agreement/" in page
    Study.objects.update(visibility="public")
    Assignment.objects.update(finished_at=timezone.now())
    page = text(staff, f"/judging/runs/{run.pk}/")
    assert leaderboard not in page, "it waits for others"
    assert "Waiting to count on the leaderboard" in page
    Assignment.objects.update(published_in=1)
    assert leaderboard in text(staff, f"/judging/runs/{run.pk}/")


def test_replies_without_the_log_probabilities_asked_for_are_counted(staff: Client, run: JudgeRun) -> None:
    address = f"/judging/runs/{run.pk}/progress/"
    make_call(run, 0)
    assert "Log-probabilities" not in text(staff, address)
    make_call(run, 1, lacks_logprobs=True)
    assert "missing from 1 reply: the endpoint did not send" in text(staff, address)
    assert JudgeCall.objects.progress(run).lacks_logprobs == 1


def test_the_last_calls_show_what_was_asked_of_whom_and_what_it_cost(staff: Client, run: JudgeRun) -> None:
    Purse.objects.update(currency="USD")
    asked = make_call(run, 0, cost=Decimal("0.0125"), expected=3.25)
    make_call(run, 1, key="analyse.first", cached_from=asked)
    page = text(staff, f"/judging/runs/{run.pk}/")
    shown = ("analyse.first", "loop-1", "Cost, USD", "0.012500", "expected 3.25")
    prompt = f'<td class="nowrap">{asked.assignment.pair.prompt.external_id}</td>'
    for each in (*shown, f"The reply of call {asked.pk}", prompt):
        assert each in page
    assert asked.assignment.public_id not in page


def test_the_list_of_runs_shows_how_far_they_are_and_what_they_cost(staff: Client, run: JudgeRun) -> None:
    make_call(run, 0)
    Purse.objects.update(currency="EUR", spent=Decimal("1.25"))
    page = text(staff, "/judging/")
    assert "1 of 2" in page
    assert "1.25 EUR" in page


def test_an_endpoint_that_does_not_answer_is_named_and_why_a_run_is_paused(
    staff: Client, run: JudgeRun
) -> None:
    now = time()
    row = RateLimit.objects.create(
        base_url=run.judge.base_url,
        model=run.judge.model,
        open_since=now - 600,
        probe_at=now + 45,
        pause=80,
        said="503: overloaded.",
    )
    page = text(staff, f"/judging/runs/{run.pk}/progress/")
    assert "No reply has come from the endpoint for 10 min. Its last words: 503: overloaded. " in page
    assert "The next try is in 4" in page
    assert "no rating in the last minutes" not in page
    RateLimit.objects.update(open_since=0, closed_at=now, closed_until=now + 20.5, said="Slow down")
    page = text(staff, f"/judging/runs/{run.pk}/progress/")
    assert "The endpoint asks to wait (429). Its last words: Slow down. The next try is in 20 s." in page
    row.replied()
    row.save()
    assert "Slow down" not in text(staff, f"/judging/runs/{run.pk}/progress/")
    RateLimit.objects.update(open_since=now - 600, probe_at=now + 45)
    pause_run(run, "The budget is used up.")
    assert "No reply has come" not in text(staff, f"/judging/runs/{run.pk}/progress/")
    assert "The budget is used up." in text(staff, f"/judging/runs/{run.pk}/")


UNREAD = {"status": "unscored", "rating": None}
FAILED = {
    "state": "failed",
    "submitted_at": None,
    "status": "",
    "rating": None,
    "error": "boom",
    "error_kind": "http_500",
    "given_up": True,
}


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        ([{}, FAILED], ""),
        (
            [{**UNREAD, "reason": "empty"}],
            "No reply could be read. The first one: an empty reply. Try another protocol or answer scale.",
        ),
        ([FAILED], "Every question failed. The first one: boom"),
        (
            [{**UNREAD, "reason": "empty"}, FAILED],
            "Nothing was rated: 1 could not be read, 1 failed. Try another protocol or answer scale.",
        ),
        ([{**UNREAD, "reason": "undecided"}], "Nothing was rated: 1 left the judge undecided."),
        ([], ""),
    ],
)
def test_a_run_that_brought_nothing_says_what_became_of_its_questions(
    run: JudgeRun, calls: list[dict[str, Any]], said: str
) -> None:
    for number, outcome in enumerate(calls):
        make_call(run, number, **outcome)
    end(run)
    run.refresh_from_db()
    assert run.error == said


@pytest.mark.parametrize(
    ("started", "same", "said"),
    [
        (False, False, "with identical answers as a test, if there are any."),
        (True, False, "It was to ask about identical answers as a test, and there were none to ask about."),
        (True, True, "and asks 1 question about identical answers as a test."),
    ],
)
def test_the_heading_says_how_many_identical_answers_a_run_asks_about(
    staff: Client, run: JudgeRun, started: bool, same: bool, said: str
) -> None:
    JudgeRun.objects.filter(pk=run.pk).update(controls=True, started_at=timezone.now() if started else None)
    if same:
        pair = run.run_assignments.order_by("pk")[0].assignment.pair
        assert pair
        type(pair.first).objects.filter(pk=pair.second_id).update(digest=pair.first.digest)
    assert said in " ".join(strip_tags(text(staff, f"/judging/runs/{run.pk}/")).split())


@pytest.mark.parametrize(
    ("asked", "priced", "said"),
    [
        (False, False, None),
        (False, True, None),
        (
            True,
            False,
            "unknown: no price was set when the calls were made. Enter the model's price for later calls.",
        ),
        (True, True, "unknown: no price was set when the calls were made."),
    ],
)
def test_a_cost_is_unknown_only_of_calls_that_were_made_and_the_price_is_asked_for_only_if_there_is_none(
    staff: Client, run: JudgeRun, asked: bool, priced: bool, said: str | None
) -> None:
    if asked:
        make_call(run)
    if priced:
        make.make_price()
    page = " ".join(strip_tags(text(staff, f"/judging/runs/{run.pk}/")).split())
    assert ("unknown" in page) is bool(said)
    assert said is None or said in page
    assert ("Enter the model's price" in page) is (asked and not priced)


COUNTS = st.tuples(*[st.integers(0, 3)] * 6)


@given(COUNTS)
def test_what_became_of_the_questions_adds_up_on_the_page_and_in_the_terminal(
    counts: tuple[int, ...],
) -> None:
    scored, empty, identical, failed, put_aside, left = counts
    progress = Progress(
        assigned=sum(counts),
        scored=scored,
        unscored={"empty": empty} if empty else {},
        identical=identical,
        failed=failed,
        put_aside=put_aside,
    )
    assert (progress.done, progress.waiting) == (scored + empty + identical, left)
    run = JudgeRun(state="running", judge=Judge(rater=Rater(slug="loop")), pk=1)
    page = render_to_string("judging/_progress.html", {"run": run, "progress": progress})
    heading = " ".join(strip_tags(page).split()).partition(" done")[2].partition(" no rating")[0]
    named = {"failed": failed, "put aside": put_aside, "left": left}
    assert heading == "".join(f", {number} {word}" for word, number in named.items() if number)
    told = {field.name: getattr(progress, field.name) for field in fields(progress)}
    told |= {"waiting": progress.waiting, "seconds_left": None, "trouble": ""}
    said = summary.progress(told)
    assert said.startswith(f"{progress.done}/{progress.assigned} done: {scored} rated")
