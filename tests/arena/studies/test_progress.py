"""How far a study is, how long it takes, flags, and rater data without personal details."""

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.models import Assignment, Comparison, Completion, Flag, Membership, Pair, Rater, Study
from arena.people.rater_data import pseudonym
from arena.studies import counts, forecast, progress
from tests import factories as make
from tests.arena.conftest import sent

pytestmark = pytest.mark.both_databases


def page(name: str, *more: object) -> str:
    return reverse(name, args=["rivers", *more])


def rate(study: Study, rater: Rater, number: int = 1, **overrides: Any) -> list[Comparison]:
    """Comparisons of as many pairs, made here just now."""
    rows = []
    for _ in range(number):
        prompt = make.make_prompt(study=study)
        first, second = (
            make.make_completion(prompt=prompt, contestant=each)
            for each in study.contestants.order_by("pk")[:2]
        )
        pair = make.make_pair(prompt=prompt, first=first, second=second)
        rows.append(make.make_comparison(pair=pair, rater=rater, **{"source": "web", **overrides}))
    return rows


@pytest.fixture
def ann(study: Study) -> Rater:
    return make.make_member(
        study, name="Ann Example", slug="ann", user=make.make_user(username="ann-account")
    )


def flagged(study: Study, rater: Rater, **columns: str) -> Flag:
    """A flag on a pair that the rater put aside."""
    pair = make.make_pair(prompt=study.prompts.first())
    assignment = make.make_assignment(rater=rater, pair=pair, state="skipped")
    return Flag.objects.create(assignment=assignment, **{"reason": "other", **columns})


def test_ratings_beyond_those_needed_are_said_to_count(study: Study, ann: Rater, operator: Client) -> None:
    (row,) = rate(study, ann)
    Pair.objects.filter(pk=row.pair_id).update(people_ratings=study.ratings_per_pair_people + 1)
    text = operator.get(page("operate-progress")).content.decode()
    assert "1 more rating than needed, counted on the leaderboard like all others." in text
    assert "Not counted" not in text


def test_the_shortest_window_with_enough_in_it_is_taken(study: Study, ann: Rater) -> None:
    rate(study, ann, source="import")
    rate(study, make.make_rater(kind="judge"))
    rate(study, ann, purpose="check")
    rate(study, ann, is_current=False)
    # Imports, judges, checks and revised answers have no pace.
    found = forecast.of(study, 3, [ann.pk])
    assert (found.comparisons, found.window, found.words, found.is_thin) == (0, "the last 7 days", "", True)
    now = timezone.now()
    rate(study, ann, forecast.ENOUGH - 1, created_at=now - timedelta(minutes=30))
    found = forecast.of(study, 38, [ann.pk], now)
    assert (found.window, found.per_hour, found.words) == ("the last 30 minutes", 38, "about 1 hour")
    rate(study, ann, 5, created_at=now - timedelta(hours=5))
    found = forecast.of(study, 48, [ann.pk], now)
    assert (found.window, found.comparisons, found.per_hour) == ("the last 5 hours", 24, 4.8)
    rate(study, ann, created_at=now - timedelta(days=3))
    rate(study, ann, 9, created_at=now - timedelta(days=9))
    # By hand: 19 in the last hour are too few; 24 in 24 hours are one an hour, and 48 are two days.
    found = forecast.of(study, 48, [ann.pk], now)
    assert (found.window, found.comparisons, found.per_hour) == ("the last 24 hours", 24, 1)
    assert found.words == "about 2 days"


def test_a_pace_is_that_of_ten_minutes_at_least(study: Study, ann: Rater) -> None:
    now = timezone.now()
    rate(study, ann, 10, created_at=now - timedelta(minutes=2))
    found = forecast.of(study, 10, [ann.pk], now)
    assert (found.window, found.per_hour, found.is_thin) == ("the last 10 minutes", pytest.approx(60), True)


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (0, "less than an hour"),
        (1, "about 1 hour"),
        (47, "about 47 hours"),
        (48, "about 2 days"),
        (9999, "more than two months"),
    ],
)
def test_time_left_in_words(left: int, words: str) -> None:
    assert forecast.Pace(10, 10, "a window", left).words == words


def test_everybody_is_listed_once_the_fewest_first(study: Study, ann: Rater) -> None:
    imported = make.make_rater(study=study, name="Imported")
    rate(study, ann, 2)
    rate(study, ann, purpose="repeat")
    rate(study, ann, is_late=True, purpose="study")
    rate(study, imported, source="import")
    rate(study, make.make_rater(kind="judge"))
    viewer = make.make_member(study)
    Membership.objects.filter(rater=viewer).update(role="viewer")
    idle = make.make_member(study, name="Idle")
    flagged(study, ann)
    lines = {line.rater: line for line in progress.by_rater(study)}
    assert next(iter(lines)) == idle
    assert viewer not in lines
    found = lines[ann]
    assert (found.rated, found.others, found.skipped, found.flagged, found.late) == (3, 1, 1, 1, 1)
    assert list(lines)[-2:] == [imported, ann]
    sums = progress.sums(study)
    names = ("study", "repeats", "flags", "checks", "in_hand")
    assert tuple(sums[name] for name in names) == (4, 1, 1, 0, 0)
    make.make_assignment(rater=ann, pair=make.make_pair(prompt=study.prompts.first()))
    assert progress.sums(study)["in_hand"] == 1
    Assignment.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert progress.sums(study)["in_hand"] == 0


def test_single_answers_are_counted_by_task_and_rater(study: Study, ann: Rater, operator: Client) -> None:
    Study.objects.update(tasks=["score", "check"], ratings_per_pair_people=2)
    study.refresh_from_db()
    prompt = study.prompts.first()
    assert prompt is not None
    one, two, _ = prompt.completions.order_by("pk")
    questions = [make.make_question(prompt=prompt) for _ in range(2)]
    bob, out = make.make_member(study, name="Bob"), make.make_member(study, name="Out")
    Membership.objects.filter(rater=out).update(left_out_at=timezone.now())
    for rater, completion, seconds in ((ann, one, 10), (ann, two, 30), (bob, one, 5), (out, two, 5)):
        make.make_score(rater=rater, completion=completion, seconds=seconds, source="web")
    make.make_score(rater=make.make_rater(kind="judge"), completion=one)
    held = make.make_assignment(rater=ann, kind="check", completion=one, state="submitted")
    for question in questions:
        make.make_answer(
            rater=ann, completion=one, question=question, seconds=10, source="web", assignment=held
        )
    # By hand: 9 answers want 18 scores, and 3 have requirements and want 6 checks; who is left out counts
    # nowhere, and a judge neither.
    found = counts.wanted_by_task(study)
    assert found == {
        "score": {"coding": counts.Wanted(9, 18, 3, 3, 1, 7)},
        "check": {"coding": counts.Wanted(3, 6, 1, 1, 0, 2)},
    }
    assert forecast.of(study, 20, [ann.pk, bob.pk]).comparisons == 4  # three scores, and one answer checked
    lines = {line.rater: line for line in progress.by_rater(study)}
    assert (lines[ann].scored, lines[ann].checked, lines[ann].per_text) == (2, 1, 20.0)
    assert (lines[bob].scored, lines[out].scored, lines[bob].per_text) == (1, 1, 5.0)
    make.make_score(rater=bob, completion=two, is_current=False)
    assert progress.by_rater(study)[0].done == 0
    completion_flag = make.make_assignment(rater=bob, kind="score", completion=two, state="skipped")
    Flag.objects.create(assignment=completion_flag, reason="display", comment="cut")
    assert str(two.contestant) in operator.get(page("operate-flags")).content.decode()
    text = operator.get(page("operate-progress")).content.decode()
    assert "3 of 18 (16%)" in text
    assert "1 of 6 (16%)" in text


@pytest.mark.both_databases(False)
def test_the_page_shows_it_and_htmx_gets_figures_alone(study: Study, ann: Rater, operator: Client) -> None:
    rate(study, ann, 2)
    whole = operator.get(page("operate-progress")).content.decode()
    assert "Ann Example" in whole
    part = operator.get(page("operate-progress"), headers={"HX-Request": "true"}).content.decode()
    assert "Not counted" not in part  # nothing is left out
    assert "<html" not in part
    assert "Ann Example" not in part
    Study.objects.update(ratings_per_pair_people=9)
    assert (
        "Each pair needs 9 people; for some pairs only"
        in operator.get(page("operate-progress")).content.decode()
    )


def test_what_is_in_no_number_is_told_with_its_reason(study: Study, ann: Rater, operator: Client) -> None:
    Study.objects.update(tasks=["compare", "score", "check"])
    rate(study, ann)
    rate(study, ann, purpose="repeat")
    completion = make.make_completion(prompt=study.prompts.first())
    question = make.make_question(prompt=completion.prompt)
    make.make_score(completion=completion, rater=ann)
    for each in (question, make.make_question(prompt=completion.prompt)):
        make.make_answer(completion=completion, question=each, rater=ann)
    said = "Not counted here: 1 hidden repeat"
    assert f"{said}." in operator.get(page("operate-progress")).content.decode()
    Membership.objects.filter(rater=ann).update(left_out_at=timezone.now())
    # By hand: 1 rating, 1 score and 1 answer checked against two requirements.
    assert f"{said}, 3 by people left out." in operator.get(page("operate-progress")).content.decode()
    Membership.objects.filter(rater=ann).update(left_out_at=None)
    Completion.objects.filter(pk=completion.pk).update(is_current=False)
    text = operator.get(page("operate-progress")).content.decode()
    assert f"{said}, 2 of what is no longer offered." in text


def test_what_names_cost_is_said(study: Study, operator: Client) -> None:
    prompt = make.make_prompt(study=study)
    for _ in range(4):
        make.make_completion(prompt=prompt)
    prompts = sum(each.completions.count() > 1 for each in study.prompts.all())
    pairs = Completion.objects.rateable_in(study).pairs_by("prompt").total()
    said = f"one pair of a prompt: {prompts} of {pairs} pairs. All ratings need at least 24 people."
    assert said not in operator.get(page("operate-progress")).content.decode()
    Study.objects.update(reveal_names=True, ratings_per_pair_people=4)
    assert said in operator.get(page("operate-progress")).content.decode()


def test_what_waits_to_count_is_said_while_others_see_the_numbers(
    study: Study, ann: Rater, operator: Client
) -> None:
    (pair,) = {each.pair for each in rate(study, ann)}
    assignment = make.make_assignment(pair=pair, rater=ann, state="submitted", finished_at=timezone.now())
    Study.objects.update(visibility="public")
    said, helps = (
        "Waiting to count on the leaderboard: 1 by 1 person.",
        "Nothing is left to rate. To count what waits",
    )
    text = operator.get(page("operate-progress")).content.decode()
    assert (said in text, helps in text) == (True, False)
    study.contestants.update(retired_at=timezone.now())
    text = operator.get(page("operate-progress")).content.decode()
    assert (said in text, helps in text) == (True, True)
    Assignment.objects.filter(pk=assignment.pk).update(published_in=1)
    assert said not in operator.get(page("operate-progress")).content.decode()


@pytest.mark.both_databases(False)
def test_the_number_of_queries_does_not_grow(
    study: Study, ann: Rater, operator: Client, django_assert_max_num_queries: Any
) -> None:
    for _ in range(20):
        rate(study, make.make_member(study))
    contents = ("study", "completions", "prompts", "requirements", "contestants", "pairs")
    most = dict.fromkeys(contents, 20) | dict.fromkeys(("progress", "progress-pairs", "people", "flags"), 30)
    for name, number in most.items():
        with django_assert_max_num_queries(number):
            assert operator.get(page(f"operate-{name}")).status_code == 200
    Study.objects.update(tasks=["score", "check"])
    with django_assert_max_num_queries(32):
        assert operator.get(page("operate-progress")).status_code == 200


def test_a_flag_is_settled_and_opened_again(study: Study, ann: Rater, operator: Client) -> None:
    flag = flagged(study, ann, reason="display", comment="<b>cut off</b>")
    text = operator.get(page("operate-flags")).content.decode()
    assert "&lt;b&gt;cut off&lt;/b&gt;" in text
    for _ in range(2):
        operator.post(page("operate-settle", flag.pk))
        assert Flag.objects.get().settled_at is not None
    assert "No open flags" in operator.get(page("operate-flags")).content.decode()
    assert "cut off" in operator.get(page("operate-flags") + "?show=settled").content.decode()
    operator.post(page("operate-settle", flag.pk), {"reopen": ""})
    assert Flag.objects.get().settled_at is None


@pytest.fixture
def said(study: Study, ann: Rater) -> Comparison:
    """A comparison with everything that may be said, and personal details wherever they can be."""
    (row,) = rate(study, ann, rating=2, swapped=True, rationale="I am Ann Example", seconds=3.5)
    assignment = make.make_assignment(
        rater=ann, pair=row.pair, swapped=True, state="submitted", is_random=True
    )
    Comparison.objects.filter(pk=row.pk).update(
        assignment=assignment, reasons=["Clearer"], external_id="ann-account-1", extra={"worker": "ann"}
    )
    row.criterion_ratings.create(criterion="helpfulness", points=8, rating=3)
    rate(study, make.make_rater(kind="judge"))
    return row


def body(client: Client, form: str, query: str = "") -> str:
    return sent(client.get(page("operate-rater-file", form) + query))


def test_rater_data_under_a_pseudonym(study: Study, ann: Rater, said: Comparison, operator: Client) -> None:
    (row,) = [json.loads(line) for line in body(operator, "jsonl").splitlines()]
    first, second = said.pair.shown(swapped=True)
    assert row["rater"] == pseudonym(study, ann.pk) != pseudonym(make.make_study(), ann.pk)
    assert (row["first"], row["second"]) == (str(first.contestant), str(second.contestant))
    assert (row["rating"], row["points"], row["seconds"], row["purpose"]) == (2, 8, 3.5, "study")
    assert (row["reasons"], row["criteria"], row["random"]) == (["Clearer"], {"helpfulness": 3}, True)
    assert row["day"] == said.created_at.date().isoformat()
    (line,) = csv.DictReader(io.StringIO(body(operator, "csv")))
    assert (line["rater"], line["rating"], line["day"]) == (row["rater"], "2", row["day"])
    assert list(line) == list(row)
    assert operator.get(page("operate-rater-file", "xlsx")).status_code == 404


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_no_file_holds_personal_details(said: Comparison, operator: Client, form: str) -> None:
    text = body(operator, form).lower()
    assert "ann" not in text
    assert "worker" not in text
    assert said.created_at.strftime("%H:%M") not in text
    assert "i am ann example" in body(operator, form, "?comments=1").lower()


def test_scores_and_checks_under_the_same_pseudonym(study: Study, ann: Rater, operator: Client) -> None:
    completion = make.make_completion(prompt=study.prompts.first())
    make.make_score(completion=completion, rater=ann, value=4, rationale="I am Ann Example", seconds=9)
    make.make_answer(completion=completion, rater=ann, value="no")
    make.make_score(completion=completion, rater=make.make_rater(kind="judge"))
    assert "1 score and 1 check of single answers" in operator.get(page("operate-export")).content.decode()
    score, check = csv.DictReader(io.StringIO(sent(operator.get(page("operate-text-file", "csv")))))
    assert (score["rater"], score["task"], score["score"]) == (pseudonym(study, ann.pk), "score", "4.0")
    assert (check["rater"], check["met"], check["position"]) == (score["rater"], "no", "1")
    for form in ("csv", "jsonl"):
        text = sent(operator.get(page("operate-text-file", form)))
        assert not [word for word in ("Ann", "ann-account") if word in text]
    assert "I am Ann" in sent(operator.get(page("operate-text-file", "jsonl") + "?comments=1"))
