"""Replies that are used again, and requests that somebody else has in flight."""

import threading
from collections import Counter, deque
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from arena.models import Assignment, Comparison
from judging.models import JudgeCall, JudgeRun, RunAssignment
from judging.runs import claiming
from judging.runs.recovery import sweep
from tests.factories import make_judge, make_small_study
from tests.judging.elsewhere import planned
from tests.judging.endpoints.server import Answer, ChatServer
from tests.judging.protocols.scripted import scripted
from tests.judging.runs.releasing import releasing
from tests.judging.working import judge_assignment

pytestmark = pytest.mark.both_databases

Drain = Callable[[], None]


@pytest.fixture
def model() -> Any:
    with ChatServer(scripted()) as server:
        yield server


def assignments(run: JudgeRun) -> list[int]:
    return list(run.run_assignments.order_by("pk").values_list("assignment", flat=True))


judge_and_leave = releasing(judge_assignment)


def test_a_reference_is_asked_for_once_and_copies_cost_nothing(
    arena: Any, model: ChatServer, drain: Drain
) -> None:
    judge = make_judge(base_url=model.url, protocol="reference")
    run = planned(judge, make_small_study(prompts=2, contestants=3), both_orders=True)
    drain()
    assert len(assignments(run)) == 12
    assert Comparison.objects.filter(status="scored").count() == 12
    own, reused = (
        JudgeCall.objects.filter(key="reference", cached_from__isnull=is_own) for is_own in (True, False)
    )
    assert (own.count(), reused.count()) == (2, 10)
    assert len(model.requests) == 2 + 12
    assert max(model.answered().values()) == 1
    for copy in reused:
        assert copy.cached_from in own
        assert (copy.raw_reply, copy.messages) == (copy.cached_from.raw_reply, copy.cached_from.messages)
        assert (copy.state, copy.cost, copy.latency, copy.prompt_tokens) == ("replied", 0, None, None)


def test_scores_of_single_answers_are_shared_by_pairs(arena: Any, model: ChatServer, drain: Drain) -> None:
    judge = make_judge(base_url=model.url, protocol="rating", form="scores", points=3)
    planned(judge, make_small_study(prompts=1, contestants=4), both_orders=True)
    drain()
    assert Comparison.objects.count() == 12
    assert len(model.requests) == 4
    assert Comparison.objects.exclude(first_score=None).count() == 12


def test_judges_of_one_model_share_what_they_ask_alike(arena: Any, model: ChatServer, drain: Drain) -> None:
    study = make_small_study(prompts=2, contestants=2)
    planned(make_judge(base_url=model.url), study)
    drain()
    # Orders are drawn for each run: whatever order the second one draws, one of the two is in the cache.
    planned(make_judge(base_url=f"{model.url}/"), study, both_orders=True)
    drain()
    assert Comparison.objects.count() == 6
    assert len(model.requests) == 4
    assert [call.latency for call in JudgeCall.objects.exclude(cached_from=None)] == [None, None]
    assert Comparison.objects.filter(seconds=None).count() == 2


@pytest.mark.both_databases(False)
@pytest.mark.parametrize(
    "other", [{"model": "another"}, {"temperature": 0.5}, {"max_tokens": 7}, {"options": {"top_p": 0.5}}]
)
def test_judges_are_kept_apart(other: dict[str, Any], arena: Any, model: ChatServer, drain: Drain) -> None:
    study = make_small_study(prompts=1, contestants=2)
    planned(make_judge(base_url=model.url), study, both_orders=True)
    drain()
    planned(make_judge(base_url=model.url, **other), study, both_orders=True)
    drain()
    assert len(model.requests) == 4
    assert not JudgeCall.objects.exclude(cached_from=None).exists()


def test_a_deliberate_repeat_is_really_asked_again(arena: Any, model: ChatServer, drain: Drain) -> None:
    study = make_small_study(prompts=1, contestants=2, ratings_per_pair_judges=4)
    planned(make_judge(base_url=model.url, protocol="reference"), study)
    drain()
    assert Comparison.objects.count() == 4
    keys = JudgeCall.objects.filter(cached_from=None).values_list("key", flat=True)
    assert Counter(keys) == {"reference": 1, "compare": 4}


def test_an_unusable_reply_is_asked_for_anew_by_the_next(arena: Any, model: ChatServer, drain: Drain) -> None:
    answer, replies = scripted(), iter([Answer("")])
    model.script = lambda body: next(replies, None) or answer(body)
    planned(make_judge(base_url=model.url, protocol="reference"), make_small_study(prompts=1, contestants=3))
    drain()
    assert Counter(Comparison.objects.values_list("reason", flat=True)) == {"empty": 1, "": 2}
    assert JudgeCall.objects.filter(key="reference", cached_from=None).count() == 2


def test_what_others_are_asking_is_waited_for(arena: Any, model: ChatServer, messages: deque[Any]) -> None:
    judge = make_judge(base_url=model.url, protocol="reference")
    run = planned(judge, make_small_study(prompts=1, contestants=3))
    first, second, third = assignments(run)
    answer = scripted()
    seen: list[RunAssignment] = []

    def meanwhile(body: Any) -> Answer:
        if len(model.requests) == 1:
            asking = threading.Thread(target=judge_and_leave, args=(second,))
            asking.start()
            asking.join()
            seen.append(RunAssignment.objects.select_related("assignment").get(assignment=second))
        return answer(body)

    model.script = releasing(meanwhile)
    judge_assignment(first)
    [waiting] = seen
    call = JudgeCall.objects.get(assignment=first, key="reference")
    assert (waiting.waiting_for, waiting.assignment.state) == (call.request_hash, "open")
    assert waiting.due_at == call.deadline
    assert not JudgeCall.objects.filter(assignment=second).exists()
    waiting.refresh_from_db()
    assert waiting.waiting_for == ""
    assert waiting.due_at <= timezone.now()
    judge_assignment(second)
    judge_assignment(third)
    assert len(model.requests) == 1 + 3
    assert Comparison.objects.count() == 3


@pytest.mark.django_db
def test_a_claim_goes_on_to_what_lies_behind_those_that_wait(messages: deque[Any]) -> None:
    run = planned(make_judge(protocol="reference"), make_small_study(prompts=2, contestants=3))
    rows = RunAssignment.objects.order_by("assignment__pair__prompt", "assignment")
    now = timezone.now()
    for number, pk in enumerate(rows.values_list("assignment", flat=True)):  # one prompt after the other
        Assignment.objects.filter(pk=pk).update(created_at=now + timedelta(seconds=number))
    claimed = [claiming.claim("a worker", 1) for _ in range(3)]
    assert [len(each) for each in claimed] == [1, 1, 0]
    asked = {each.work.prompt for some in claimed for each in some}
    assert len(asked) == 2
    assert run.run_assignments.exclude(waiting_for="").count() == 4


@pytest.mark.parametrize("ending", ["failed", "abandoned"])
def test_those_who_wait_are_sent_for_however_the_call_ends(
    ending: str, arena: Any, model: ChatServer, messages: deque[Any], drain: Drain
) -> None:
    judge = make_judge(base_url=model.url, protocol="reference")
    run = planned(judge, make_small_study(prompts=1, contestants=3))
    first, second, _ = assignments(run)
    answer = scripted()

    def meanwhile(body: Any) -> Answer:
        if len(model.requests) > 1:
            return answer(body)
        asking = threading.Thread(target=judge_and_leave, args=(second,))
        asking.start()
        asking.join()
        if ending == "abandoned":
            sweep(timezone.now() + timedelta(hours=1))
            return answer(body)
        return Answer(status=500, raw=b"{}")

    model.script = releasing(meanwhile)
    judge_assignment(first)
    assert RunAssignment.objects.get(assignment=second).waiting_for == ""
    # A late reply counts where it is the first. On a slow machine it has been asked for again by then.
    ended = {"failed": "failed", "abandoned": "replied"}[ending]
    assert JudgeCall.objects.filter(assignment=first, key="reference", state=ended).exists()
    drain()
    assert Comparison.objects.count() == 3


def test_a_request_answered_while_it_was_claimed_is_not_asked_again(
    arena: Any, model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor == "sqlite":
        return  # where one process at a time claims
    study = make_small_study(prompts=1, contestants=2)
    run = planned(make_judge(base_url=model.url, protocol="reference"), study)
    other = planned(make_judge(base_url=model.url, protocol="reference", form="binary", points=2), study)
    lookup, late = claiming.Claim._looked_up, []

    def outrun(batch: Any, hashes: set[str]) -> Any:
        """Another process asks just after this one has looked for replies."""
        found = lookup(batch, hashes)
        if not late:
            late.append(True)
            asking = threading.Thread(target=judge_and_leave, args=(assignments(other)[0],))
            asking.start()
            asking.join()
        return found

    monkeypatch.setattr(claiming.Claim, "_looked_up", outrun)
    judge_assignment(assignments(run)[0])
    assert JudgeCall.objects.filter(key="reference", cached_from=None).count() == 1
    assert len(model.requests) == 3
    assert Comparison.objects.count() == 2


def test_many_at_once_ask_every_question_once(arena: Any, model: ChatServer, messages: deque[Any]) -> None:
    run = planned(
        make_judge(base_url=model.url, protocol="reference"),
        make_small_study(prompts=2, contestants=4),
        both_orders=True,
    )
    answer = scripted()

    def slow(body: Any) -> Answer:
        return Answer(answer(body).content, delay=0.02)

    model.script = slow
    for _ in range(30):
        due = RunAssignment.objects.filter(assignment__state="open").values_list("assignment", flat=True)
        threads = [threading.Thread(target=judge_and_leave, args=(pk,)) for pk in due]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if not Assignment.objects.exclude(state="submitted").exists():
            break
        RunAssignment.objects.update(due_at=timezone.now())
    assert len(assignments(run)) == 24
    assert Comparison.objects.count() == 24
    assert len(model.requests) == 2 + 24
    assert set(model.answered().values()) == {1}
    assert JudgeCall.objects.filter(cached_from=None).count() == len(model.requests)
