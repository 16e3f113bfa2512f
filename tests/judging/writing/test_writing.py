"""Answers that models write, with a loopback model: turns, failures, budgets, dead processes."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.models import Completion, Contestant, Prompt, Study, StudyEvent
from judging.endpoints.client import NoReplyError, Reply
from judging.judges.services import JudgeError
from judging.models import Author, Purse, RateLimit, WritingCall, WritingRun
from judging.models.writing import UNKNOWN_END, errors_of
from judging.protocols.replies import ReplyText
from judging.spending.budgets import set_budget
from judging.writing import services
from judging.writing.api import WritingRunOut
from judging.writing.wanted import Wanted
from tests import factories as make
from tests.judging.endpoints.server import Answer, ChatServer, text_of
from tests.judging.working import work_off

pytestmark = pytest.mark.both_databases

COST = Decimal("0.00028")
"""Of a reply of the loopback model, by hand: 100 tokens at 2 and 10 at 8 a million."""


@pytest.fixture
def author(db: None, model: ChatServer) -> Any:
    """One that lacks its answers to three prompts, the last of two turns; another contestant has them all."""
    model.script = lambda body: Answer(f"Answer to {text_of(body)}")
    make.make_price()
    study = make.make_small_study(prompts=2, contestants=1, slug="rivers")
    prompt = make.make_prompt(study=study, turns=["Name a river.", "Another one."], input="Europe")
    make.make_completion(prompt=prompt, contestant=study.contestants.get())
    contestant = make.make_contestant(study=study, name="Loop", organisation="Loopcorp", slug="loop")
    return make.make_author(contestant=contestant, base_url=model.url, max_tokens=100, temperature=0.5)


def faked(answer: Callable[[], Answer]) -> Callable[..., Reply]:
    """Asks nobody, for what happens meanwhile."""

    def ask(*_: Any) -> Reply:
        said = answer()
        if said.status != 200:
            raise NoReplyError(f"http_{said.status}", "no")
        return Reply(said.content or "", said.finish_reason, "loopback-1", "", *said.tokens)

    return ask


def written(author: Author) -> list[list[str]]:
    rows = Completion.objects.filter(contestant=author.contestant, is_current=True)
    return list(rows.order_by("prompt").values_list("turns", flat=True))


def due_now() -> None:
    """Let all pauses pass, also those of a busy machine that has met five failures by now."""
    WritingCall.objects.filter(state="waiting").update(due_at=timezone.now())
    RateLimit.objects.update(failures=0, open_since=0.0, probe_at=0.0, pause=0.0, closed_until=0.0)


def test_holes_are_filled_turn_by_turn(author: Author, model: ChatServer) -> None:
    run = Wanted().start(author)
    assert work_off(services.door) == 4
    assert len(written(author)) == 3
    assert written(author)[-1] == ["Answer to Name a river.\n\nEurope", "Answer to Another one."]
    assert [message["content"] for message in model.requests[-1]["messages"]] == [
        "Name a river.\n\nEurope",
        "Answer to Name a river.\n\nEurope",
        "Another one.",
    ]
    assert model.requests[0]["temperature"] == 0.5
    told = run.progress
    assert (told.wanted, told.written, told.left, told.replies, told.cost) == (3, 3, 0, 4, 4 * COST)
    stored = Completion.objects.filter(contestant=author.contestant).first()
    assert stored is not None
    assert stored.extra["written"] == {
        "model": "loopback",
        "temperature": 0.5,
        "max_tokens": 100,
        "options": {},
        "cut": [],
    }
    assert not services.holes(author).exists()
    with pytest.raises(JudgeError, match="an answer to every prompt"):
        Wanted().start(author)
    assert StudyEvent.objects.filter(kind="run", note__startswith="Loop writes 3 answers").count() == 1


def test_an_answer_is_stored_as_an_import_stores_it(author: Author, model: ChatServer) -> None:
    model.script = lambda body: Answer("I am Loop, made by Loopcorp.", finish_reason="length")
    empty = make.make_completion(
        prompt=services.holes(author)[0], contestant=author.contestant, turns=[], extra={"kept": 1}
    )
    revision = Study.objects.get().revision
    run = Wanted(limit=1).start(author)
    work_off(services.door)
    empty.refresh_from_db()
    assert (empty.turns, empty.extra["kept"]) == (["I am Loop, made by Loopcorp."], 1)
    assert "Loopcorp" in empty.telling
    assert empty.extra["written"]["cut"] == [1]
    assert (run.progress.cut, Study.objects.get().revision) == (1, revision + 1)


def test_an_answer_with_an_unknown_end_is_kept_and_told(author: Author, model: ChatServer) -> None:
    model.script = lambda body: Answer("The Rhine", finish_reason="banana")
    run = Wanted(limit=2).start(author)
    work_off(services.door)
    assert (run.progress.written, run.progress.left_out) == (2, 0)
    assert errors_of(run) == [(UNKNOWN_END.format("banana"), 2)]


@pytest.mark.both_databases(False)
@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Answer(" \n"), "empty"),
        (Answer("\u200b\ufeff"), "empty"),
        (Answer(None, finish_reason="length"), "truncated"),
        (Answer("<think>The Rhine, or", finish_reason="length"), "truncated"),
        (Answer(None, refusal="I cannot help with that."), "refused"),
        (Answer("The Rh", finish_reason="content_filter"), "filtered"),
        (Answer("The Rh", finish_reason="RECITATION"), "filtered"),
    ],
)
def test_a_reply_that_is_no_answer_is_paid_once_and_becomes_none(
    author: Author, model: ChatServer, reply: Answer, kind: str
) -> None:
    good = model.script
    model.script = lambda body: reply
    run = Wanted(limit=2).start(author)
    assert work_off(services.door) == 2
    assert written(author) == []
    told = run.progress
    assert (told.unanswered, told.written, told.failed, told.left_out, told.dropped) == (2, 0, 0, 0, 0)
    assert (told.replies, told.cost) == (2, 2 * COST)
    row = WritingCall.objects.filter(run=run)[0]
    assert (row.error_kind, row.error, row.raw_reply) == (
        kind,
        services.NO_ANSWER[kind],
        (reply.content or reply.refusal or ""),
    )
    # Another run asks about the rest alone, and about these only if it is told to.
    model.script = good
    assert (services.holes(author).count(), services.unanswered(author)) == (3, 2)
    Wanted().start(author)
    work_off(services.door)
    assert len(written(author)) == 1
    with pytest.raises(JudgeError, match="2 replies were no answers: ask again"):
        Wanted().start(author)
    Wanted(again=True).start(author)
    work_off(services.door)
    assert (len(written(author)), services.unanswered(author)) == (3, 0)


def test_other_settings_are_another_question(author: Author, model: ChatServer) -> None:
    model.script = lambda body: Answer("")
    Wanted().start(author)
    work_off(services.door)
    Author.objects.update(temperature=1.0)
    changed = Author.objects.get()
    assert (services.unanswered(changed), services.to_write(changed).count()) == (0, 3)


def test_a_refused_turn_is_asked_again_after_those_before(author: Author, model: ChatServer) -> None:
    Prompt.objects.exclude(pk=Prompt.objects.latest("pk").pk).delete()
    good = model.script
    model.script = lambda body: good(body) if len(body["messages"]) == 1 else Answer(None, refusal="No.")
    run = Wanted().start(author)
    assert work_off(services.door) == 2
    assert (run.progress.unanswered, written(author)) == (1, [])
    model.script = good
    Wanted(again=True).start(author)
    assert work_off(services.door) == 1
    assert written(author) == [["Answer to Name a river.\n\nEurope", "Answer to Another one."]]


def test_an_answer_about_thinking_is_one() -> None:
    said = "Write:\n<think>\nthen stop."
    assert services.why_no_answer(ReplyText(said, "stop")) == ""


def test_an_answer_that_came_meanwhile_stays(author: Author) -> None:
    run = Wanted(limit=1).start(author)
    row = WritingCall.objects.get()
    other = make.make_completion(prompt=row.prompt, contestant=author.contestant)
    work_off(services.door)
    assert written(author) == [other.turns]
    assert (run.progress.left_out, run.progress.written) == (1, 0)


def test_a_failure_is_retried_and_one_that_all_meet_ends_the_run(author: Author, model: ChatServer) -> None:
    good = model.script
    model.script = lambda body: Answer(status=500, raw=b"{}")
    run = Wanted().start(author)
    work_off(services.door)
    assert run.progress.left == 3
    model.script = good
    due_now()
    work_off(services.door)
    assert run.progress.written == 3
    Completion.objects.filter(contestant=author.contestant).delete()
    model.script = lambda body: Answer(status=401, raw=b"{}")
    asked, again = len(model.requests), Wanted().start(author)
    work_off(services.door)
    assert (again.progress.failed, len(model.requests) - asked) == (3, 1)
    assert "needs a valid key" in WritingCall.objects.filter(run=again)[0].error


def test_a_reply_that_cannot_be_kept_fails_alone_and_holds_up_no_other(
    author: Author, model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, bad = Wanted().start(author), Prompt.objects.earliest("pk").pk
    keep = services.door.keep

    def failing(row: WritingCall, reply: Reply) -> None:
        if row.prompt_id == bad:
            raise ValueError("it cannot be kept")
        keep(row, reply)

    monkeypatch.setattr(services.door, "keep", failing)
    work_off(services.door, slots=4)
    assert (run.progress.written, run.progress.failed, run.progress.left) == (2, 1, 0)
    failed = WritingCall.objects.get(state="failed")
    assert (failed.prompt_id, failed.error_kind) == (bad, "internal")
    assert failed.cost
    assert (failed.reserved, len(model.requests)) == (0, 4)
    purse = Purse.objects.get()
    assert (purse.spent, purse.reserved) == (sum(row.cost for row in WritingCall.objects.all()), 0)


def test_cancelling_between_turns_keeps_what_is_paid_for(
    author: Author, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = Prompt.objects.latest("pk")
    Prompt.objects.exclude(pk=long.pk).delete()
    run = Wanted().start(author)

    def cancelling() -> Answer:
        services.cancel(run)
        return Answer("Rhine")

    row = WritingCall.objects.get()
    with monkeypatch.context() as patched:
        patched.setattr(services.door, "ask", faked(cancelling))
        work_off(services.door)
    assert written(author) == []
    assert (run.progress.dropped, run.progress.left) == (1, 0)
    row.refresh_from_db()
    assert (row.state, row.raw_reply) == ("replied", "Rhine")
    again = Wanted().start(author)
    assert work_off(services.door) == 1
    assert written(author) == [["Rhine", "Answer to Another one."]]
    assert again.progress.written == 1


def test_no_answer_mixes_models(author: Author, monkeypatch: pytest.MonkeyPatch) -> None:
    Prompt.objects.exclude(pk=Prompt.objects.latest("pk").pk).delete()
    run = Wanted().start(author)

    def changing() -> Answer:
        Author.objects.update(temperature=1.0)
        return Answer("Rhine")

    with monkeypatch.context() as patched:
        patched.setattr(services.door, "ask", faked(changing))
        work_off(services.door)
    assert (written(author), run.progress.failed) == ([], 1)
    assert "changed after the turn before" in WritingCall.objects.latest("pk").error
    Wanted().start(Author.objects.get())
    assert work_off(services.door) == 2
    assert written(author)[0][0] != "Rhine"


def test_a_dead_process_repeats_no_committed_reply(author: Author, model: ChatServer) -> None:
    run = Wanted().start(author)
    past = timezone.now() - timedelta(seconds=1)
    first = WritingCall.objects.earliest("pk")
    WritingCall.objects.filter(pk=first.pk).update(state="in_flight", attempt=1, deadline=past)
    assert services.door.sweep() == 1
    work_off(services.door)
    assert len(model.requests) == 4
    assert run.progress.abandoned == 1
    assert services.door.abandon_orphans() == work_off(services.door) == 0
    assert max(model.answered().values()) == 1


def test_a_retired_model_writes_nothing_new(author: Author, model: ChatServer) -> None:
    run = Wanted().start(author)
    Contestant.objects.filter(pk=author.contestant_id).update(retired_at=timezone.now())
    work_off(services.door)
    assert (run.progress.failed, len(model.requests)) == (3, 0)
    author.refresh_from_db()
    with pytest.raises(JudgeError, match="is retired"):
        Wanted().start(author)


def test_the_run_ends_where_a_budget_does(author: Author, model: ChatServer) -> None:
    set_budget(author.contestant.study, Decimal("0.003"), "USD")
    run = Wanted(budget=Decimal("0.0015")).start(author)
    work_off(services.door)
    told = run.progress
    assert told.cost is not None
    assert 0 < told.cost <= Decimal("0.0015")
    assert told.failed
    assert "Ask again with another budget." in WritingCall.objects.filter(state="failed")[0].error
    outer = Purse.objects.get(scope="study")
    assert (outer.spent, outer.reserved) == (told.cost, 0)
    Author.objects.update(max_tokens=None)
    unlimited = Author.objects.get()
    with pytest.raises(JudgeError, match="needs the longest reply"):
        Wanted().start(unlimited)


def test_a_run_in_which_nothing_works_stops(author: Author, model: ChatServer) -> None:
    for _ in range(30):
        make.make_prompt(study=author.contestant.study)
    model.script = lambda body: Answer(status=400, raw=b'{"error": {"message": "Invalid model name"}}')
    run = Wanted().start(author)
    work_off(services.door)
    assert len(model.requests) == 10
    told = dict(errors_of(run))
    assert told["HTTP 400: Invalid model name"] == 10
    [(why, count)] = [(why, count) for why, count in told.items() if why.startswith("Not asked. 10 calls")]
    assert "Invalid model name" in why
    assert count == run.progress.failed - 10 == 23
    assert WritingRunOut.of(run).state == "failed"


endings = st.lists(st.sampled_from(["reply", "long", "fail", "die", "study", "day"]), max_size=12)


@pytest.mark.both_databases(False)
@pytest.mark.django_db
@settings(max_examples=15)
@given(happens=endings, budget=st.integers(1, 40))
def test_whatever_happens_no_budget_is_passed(happens: list[str], budget: int) -> None:
    """Deaths cost the most a call can, and answers never more than that."""
    Purse.objects.all().delete()
    if not Author.objects.exists():
        make.make_price()
        study = make.make_small_study(prompts=8, contestants=1)
        make.make_author(contestant=make.make_contestant(study=study), max_tokens=100)
    author = Author.objects.get()
    Completion.objects.filter(contestant=author.contestant).delete()
    WritingRun.objects.all().delete()
    run = Wanted(budget=Decimal(budget) / 10_000).start(author)
    coming = list(happens)

    def answer() -> Answer:
        what = coming.pop(0) if coming else "reply"
        if what in ("study", "day"):
            with suppress(JudgeError):  # more is spent already
                set_budget(author.contestant.study if what == "study" else None, Decimal("0.002"), "USD")
        if what == "die":
            raise KeyboardInterrupt
        return Answer("x", status=500 if what == "fail" else 200, tokens=(10, 100 if what == "long" else 1))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(services.door, "ask", faked(answer))
        for _ in range(len(happens) + 1):
            try:
                due_now()
                work_off(services.door)
            except KeyboardInterrupt:
                services.door.abandon_orphans()
            for purse in Purse.objects.all():
                assert purse.reserved == 0
                assert purse.budget is None or purse.spent <= purse.budget
    own = Purse.objects.get(writing=run)
    assert own.spent == sum(row.cost or 0 for row in WritingCall.objects.all())
