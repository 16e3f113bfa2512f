"""Configuring judges, and the simulated one."""

from collections.abc import Callable
from typing import Any

import pytest

from arena.models import Comparison, Rater
from judging.judges import services
from judging.judges.services import OF_ENDPOINT, SETTINGS, JudgeError, configure_judge
from judging.models import Endpoint, Judge, JudgeCall, JudgeRun
from judging.runs.lifecycle import start_run
from tests.factories import judge_with, make_judge, make_small_study
from tests.judging.endpoints.server import ChatServer


def config_of(judge: Judge, **overrides: Any) -> Judge:
    fields = {name: getattr(judge, name) for name in SETTINGS}
    fields |= {name: getattr(judge.asks, name) for name in OF_ENDPOINT}
    wanted: Judge = judge_with(**{**fields, **overrides})
    return wanted


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        ({"protocol": "magic"}, 'Unknown protocol "magic"; choose one of likert.'),
        ({"points": 7}, "The answer scale likert has no 7 points. Choose one of 2, 3, 5, 8"),
        ({"base_url": "ftp://x/v1"}, "Enter an address like"),
        ({"base_url": "not a url"}, "Enter an address like"),
        ({"base_url": "http://x\n.example/v1"}, "Enter an address like"),
        ({"max_tokens": 0}, "Max tokens must be from 1"),
        ({"concurrency": 10**9}, "Concurrency must be from 1 to 10,000"),
        ({"options": {"best_of": 5}}, "must not set best_of"),
        ({"base_url": "http://u:p@x/v1"}, "Leave the user name and password out"),
        ({"options": {"messages": []}}, "must not set messages"),
        ({"timeout": -1}, "timeout"),
        ({"api_key_env": "SECRET_KEY"}, "SECRET_KEY holds a secret of the arena itself"),
        ({"api_key_env": "Database_Url"}, "Database_Url holds a secret of the arena itself"),
        ({"api_key_env": "ARENA_ENV"}, "ARENA_ENV holds a secret of the arena itself"),
        (
            {"api_key_env": "AWS_SECRET_ACCESS_KEY"},
            r"like \*_API_KEY, not in AWS_SECRET_ACCESS_KEY. The setting",
        ),
        (
            {"base_url": "http://169.254.169.254/v1"},
            "169.254.169.254 is an address of the machine's own network",
        ),
        ({"base_url": "http://x.example/v1/%2e%2e/admin"}, "Leave . and .. out of the address"),
        ({"slug": "Not A Slug"}, "hyphens"),
        ({"provider": "simulated", "simulation": {"strengths": {"a": "x"}}}, "a must be a number"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(overrides: dict[str, Any], sentence: str) -> None:
    with pytest.raises(JudgeError, match=sentence):
        make_judge(**overrides)
    assert not Rater.objects.exists()


@pytest.mark.django_db
def test_of_two_who_save_the_same_at_once_one_reads_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    make_judge(slug="gpt")
    monkeypatch.setattr(services, "known_endpoint", lambda wanted: None)  # not committed yet
    monkeypatch.setattr(Endpoint, "full_clean", lambda endpoint: None)
    with pytest.raises(JudgeError, match="saved the same"):
        make_judge(slug="gpt-2")
    assert Judge.objects.count() == Endpoint.objects.count() == 1


def test_judges_that_replied_stay_the_same(arena: Any, model: ChatServer, drain: Callable[[], None]) -> None:
    judge = make_judge(base_url=model.url)
    configure_judge(judge, "Renamed", config_of(judge, temperature=0.5))
    start_run(make_small_study(prompts=1, contestants=2), judge)
    drain()
    with pytest.raises(JudgeError, match="you cannot change its model, temperature"):
        configure_judge(judge, "Renamed", config_of(judge, model="other", temperature=1.0))
    configure_judge(judge, "Renamed again", config_of(judge, timeout=9.0, active=False))
    assert Judge.objects.get().timeout == 9.0


def test_simulated_judges_go_the_same_way(arena: Any, model: ChatServer, drain: Callable[[], None]) -> None:
    study = make_small_study(prompts=3, contestants=2, simulated=True)
    strengths = dict(zip(study.contestants.values_list("slug", flat=True), (800, 1200), strict=True))
    judge = make_judge(provider="simulated", base_url="", simulation={"noise": 0, "strengths": strengths})
    start_run(study, judge)
    drain()
    assert judge.rater.simulated
    assert model.requests == []
    for comparison in Comparison.objects.select_related("pair__first__contestant"):
        shown_first = comparison.pair.shown(comparison.swapped)[0].contestant.slug
        assert comparison.rating == (1 if strengths[shown_first] == 1200 else 8)
        assert comparison.rationale.startswith("Simulated reply")


@pytest.mark.parametrize("name", ["SECRET_KEY", "DATABASE_URL", "BROKER_URL", "REDIS_URL"])
def test_no_secret_of_the_arena_is_sent_to_an_endpoint(
    arena: Any, model: ChatServer, drain: Callable[[], None], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "the-arena-s-own")
    judge = make_judge(base_url=model.url)
    run = start_run(make_small_study(prompts=1, contestants=2), judge)
    Endpoint.objects.update(api_key_env=name)  # as no door allows
    drain()
    assert model.requests == []
    call = JudgeCall.objects.get(run=run)
    assert (call.state, JudgeRun.objects.get().state) == ("failed", "paused")
    assert name in call.error
    assert "the-arena-s-own" not in call.error
    with pytest.raises(JudgeError, match="a secret of the arena"):
        start_run(make_small_study(prompts=1, contestants=2), Judge.objects.get())


@pytest.mark.parametrize("key", ["sk-far\n", "sk-far\r", "sk far", "sk-fär"])
def test_a_key_that_cannot_be_sent_is_stored_nowhere(
    arena: Any, model: ChatServer, drain: Callable[[], None], monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    """The client would quote the header it cannot send, with the key."""
    judge = make_judge(base_url=model.url, api_key_env="FAR_API_KEY")
    monkeypatch.setenv("FAR_API_KEY", "sk-far")
    run = start_run(make_small_study(prompts=1, contestants=2), judge)
    monkeypatch.setenv("FAR_API_KEY", key)
    with pytest.raises(JudgeError, match="The value of FAR_API_KEY cannot be sent") as refused:
        start_run(make_small_study(), judge)
    assert key not in str(refused.value)
    drain()
    call = JudgeCall.objects.get(run=run)
    assert (call.error_kind, JudgeRun.objects.get().state, model.requests) == ("configuration", "paused", [])
    assert call.error.startswith("The value of FAR_API_KEY cannot be sent")
    assert key not in call.error
