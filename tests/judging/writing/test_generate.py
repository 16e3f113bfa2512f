"""`manage.py generate` and `traces`, with the arena's threads played by the command's own waiting."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from judging.management import following
from judging.models import WritingRun
from judging.writing import services
from tests import factories as make
from tests.judging.endpoints.server import Answer, ChatServer
from tests.judging.endpoints.worded import WordModel
from tests.judging.working import work_off

Command = Callable[..., str]


@pytest.fixture
def run_command(db: None, model: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setattr(following, "check_running", lambda: None)
    monkeypatch.setattr(following, "sleep", lambda seconds: work_off(services.door))
    study = make.make_small_study(prompts=3, contestants=1, slug="rivers")
    contestant = make.make_contestant(study=study, slug="loop", name="Loop")
    make.make_author(contestant=contestant, base_url=model.url, max_tokens=100)

    def run(*options: str, name: str = "generate") -> str:
        said = StringIO()
        try:
            call_command(name, "rivers", "--contestant", "loop", *options, stdout=said)
        except SystemExit as ended:
            said.write(f"exit {ended.code}")
        return said.getvalue()

    return run


def test_it_estimates_starts_and_follows(run_command: Command, model: ChatServer) -> None:
    make.make_price()
    assert "at most" in run_command("--dry-run")
    assert not WritingRun.objects.exists()
    said = run_command("--limit", "2", "--budget", "0.1")
    assert "2/2 done: 2 written" in said
    assert "exit" not in said
    model.script = lambda body: Answer(status=403, raw=b"{}")
    said = run_command()
    assert "1 failed" in said
    assert "does not allow the request" in said
    assert said.endswith("exit 1")


def test_replies_that_are_no_answers_are_counted_and_asked_again_on_request(
    run_command: Command, model: ChatServer
) -> None:
    good, model.script = model.script, lambda body: Answer(None, refusal="No.")
    said = run_command()
    assert "3/3 done: 0 written; 3 refused, filtered or empty" in said
    assert "3 × The endpoint refused to answer." in said
    assert said.endswith("exit 1")
    model.script = good
    assert "Answers        0" in run_command("--dry-run")
    assert "3/3 done: 3 written" in run_command("--again")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--limit", "0"), "at least 1"),
        (("--budget", "1"), "needs a price"),
        (("--budget", "x"), "not an amount"),
        (("--contestant", "other"), "no model"),
    ],
)
def test_what_cannot_start_is_told(run_command: Any, options: tuple[str, ...], why: str) -> None:
    with pytest.raises(CommandError, match=why):
        run_command(*options)


@pytest.mark.django_db
@pytest.mark.parametrize("options", [("generate",), ("generate", "--probe"), ("traces",)])
def test_an_unknown_study_is_told(options: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match='No study has the short name "nowhere"'):
        call_command(*options, "nowhere", "--contestant", "loop")


def test_a_probe_tells_what_texts_can_be_read_for(run_command: Command, model: ChatServer) -> None:
    words = WordModel(seed=1, vocabulary=40)
    model.script = lambda body: Answer(raw=words.reply(body))
    run_command()
    with pytest.raises(CommandError, match="Probe it first"):
        run_command(name="traces")
    assert "Entropy: a lower bound, while it writes and by reading" in run_command("--probe")
    assert "Texts          3" in run_command("--dry-run", name="traces")
    assert "2/2 done: 2 read" in run_command("--limit", "2", name="traces")
