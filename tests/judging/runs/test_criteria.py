"""A judge rates the criteria of a study: a call for each, stored beside the overall rating."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from arena.models import Comparison
from arena.rating import plans
from judging.models import JudgeCall, JudgeRun
from judging.runs.estimating import estimate
from tests.factories import make_judge, make_price, make_small_study
from tests.judging.elsewhere import planned
from tests.judging.endpoints.server import Answer, ChatServer, text_of
from tests.judging.working import judge_assignment

Drain = Callable[[], None]

CRITERIA = ["Accuracy", "Tone", "Wit"]
REPLIES = {"Accuracy": "2\nIt is wrong.", "Tone": "Both are kind.", "Wit": "9\nVery."}


def script(body: dict[str, Any]) -> Answer:
    text = text_of(body)
    named = [name for name in CRITERIA if f"criterion alone: {name}." in text]
    return Answer(REPLIES[named[0]] if named else "7\nB is better.", tokens=(10, 5))


def started(model: ChatServer, **config: Any) -> JudgeRun:
    make_price()
    judge = make_judge(base_url=model.url, max_tokens=50, **{"rates_criteria": True, **config})
    study = make_small_study(prompts=2, contestants=2, criteria=CRITERIA)
    return planned(judge, study, budget=Decimal(1))


def said(comparison: Comparison) -> dict[str, object]:
    return {each.criterion: each.said for each in comparison.criterion_ratings.all()}


def test_ratings_and_reasons_are_stored_once_and_paid_for(
    arena: Any, model: ChatServer, drain: Drain
) -> None:
    failed: list[str] = []

    def first_fails(body: dict[str, Any]) -> Answer:
        if "alone: Tone." in text_of(body) and not failed:
            failed.append(text_of(body))
            return Answer(status=500, raw=b"{}")
        return script(body)

    model.script = first_fails
    run = started(model)
    drain()
    drain()
    run.refresh_from_db()
    found = list(Comparison.objects.all())
    assert [(row.rating, row.raw_reply) for row in found] == [(7, "7\nB is better.")] * 2
    assert [said(row) for row in found] == [{"Accuracy": 2, "Tone": "unparsable", "Wit": "out_of_range"}] * 2
    assert [row.points for row in found[0].criterion_ratings.all()] == [8, 8, 8]
    replied = JudgeCall.objects.filter(state="replied")
    assert sorted(replied.values_list("key", flat=True)) == sorted(
        2 * ["rate", "Accuracy: rate", "Tone: rate", "Wit: rate"]
    )
    assert JudgeCall.objects.filter(state="failed").get().key == "Tone: rate"
    assert run.purse.spent == 8 * Decimal(10 * 2 + 5 * 8) / 1_000_000
    assert run.state == "finished"


def test_the_expected_rating_and_the_raw_reply_are_the_overall_ones(arena: Any, model: ChatServer) -> None:
    model.script = script
    run = started(model)
    assignment = run.run_assignments.order_by("pk").first().assignment
    shared = {"run": run, "assignment": assignment, "attempt": 1, "worker": "w", "messages": []}
    for number, key in enumerate(["Accuracy: rate", "Tone: rate", "rate", "Wit: rate"]):
        JudgeCall.objects.create(
            **shared,
            key=key,
            state="replied",
            raw_reply=f"{number + 1}",
            expected=number + 1,
            latency=1.0,
            deadline=run.created_at,
            finished_at=run.created_at,
        )
    judge_assignment(assignment.pk)
    comparison = Comparison.objects.get()
    assert (comparison.rating, comparison.expected, comparison.raw_reply, comparison.seconds) == (
        3,
        3,
        "3",
        4,
    )
    assert said(comparison) == {"Accuracy": 1, "Tone": 2, "Wit": 4}
    assert model.requests == []


def test_an_estimate_counts_every_call_and_other_judges_are_asked_overall_alone(
    db: None, model: ChatServer
) -> None:
    study = make_small_study(prompts=2, contestants=2, criteria=CRITERIA)
    calls = {
        rates: estimate(study, make_judge(rates_criteria=rates), plans.Wanted()).calls.low
        for rates in (True, False)
    }
    assert calls == {True: 8, False: 2}
