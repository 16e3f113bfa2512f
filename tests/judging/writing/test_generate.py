"""`manage.py generate`, with the arena's threads played by the command's own waiting."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from judging.management.commands import generate
from judging.models import WritingRun
from judging.runs import queue
from judging.writing import services
from tests import factories as make
from tests.judging.endpoints.server import Answer, ChatServer

Generate = Callable[..., str]


@pytest.fixture
def run_generate(db: None, model: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Generate:
    monkeypatch.setattr(queue, "nudge_writing", lambda waiting: None)
    monkeypatch.setattr(generate, "_check_running", lambda: None)
    monkeypatch.setattr(generate, "sleep", lambda seconds: services.work_off())
    study = make.make_small_study(prompts=3, contestants=1, slug="rivers")
    contestant = make.make_contestant(study=study, slug="loop", name="Loop")
    make.make_author(contestant=contestant, base_url=model.url, max_tokens=100)

    def run(*options: str) -> str:
        said = StringIO()
        try:
            call_command("generate", "rivers", "--contestant", "loop", *options, stdout=said)
        except SystemExit as ended:
            said.write(f"exit {ended.code}")
        return said.getvalue()

    return run


def test_it_estimates_starts_and_follows(run_generate: Generate, model: ChatServer) -> None:
    make.make_price()
    assert "at most" in run_generate("--dry-run")
    assert not WritingRun.objects.exists()
    said = run_generate("--limit", "2", "--budget", "0.1")
    assert "2/2 done: 2 written" in said
    assert "exit" not in said
    model.script = lambda body: Answer(status=403, raw=b"{}")
    said = run_generate()
    assert "1 failed" in said
    assert "does not allow the request" in said
    assert said.endswith("exit 1")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--limit", "0"), "at least 1"),
        (("--budget", "1"), "needs a price"),
        (("--budget", "x"), "not an amount"),
        (("--contestant", "other"), "no model"),
    ],
)
def test_what_cannot_start_is_told(run_generate: Any, options: tuple[str, ...], why: str) -> None:
    with pytest.raises(CommandError, match=why):
        run_generate(*options)
