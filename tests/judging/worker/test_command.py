"""``manage.py judge_worker``: its options, what it says at the start, and that it needs no database."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from arena.api.auth import issue_token
from arena.models import Comparison
from judging.management.commands import judge_worker
from judging.models import Judge
from tests.factories import make_judge, make_small_study
from tests.judging.elsewhere import planned
from tests.judging.endpoints.server import Answer, ChatServer
from tests.waiting import eventually

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    """The command sets a handler for SIGTERM; give it back."""
    handler = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, handler)


def run(*options: str, judge: str = "far", url: str = "http://127.0.0.1:9") -> str:
    output = StringIO()
    call_command("judge_worker", "--judge", judge, "--arena-url", url, *options, stdout=output)
    return output.getvalue()


@pytest.mark.parametrize(
    ("arguments", "options", "token", "sentence"),
    [
        ((), {"judge": "../far"}, "x", '"../far" is not the slug of a judge.'),
        (
            (),
            {"url": "arena.org"},
            "x",
            '"arena.org" is not the address of an arena. Use one like https://arena.org.',
        ),
        *[
            ((), {"url": url}, "x", f'"{url}" is not the address')
            for url in (
                "ftp://arena.org",
                "http://arena.org:99999",
                "http://arena.org/ü",
                "http://arena.org/a b",
            )
        ],
        *[
            ((f"--concurrency={number}",), {}, "x", "The concurrency must be from 1 to 256")
            for number in (0, -1, 257)
        ],
        ((), {}, "", "ARENA_TOKEN, the judge's token, is not set"),
    ],
)
def test_options_that_cannot_work(
    arguments: tuple[str, ...], options: dict[str, str], token: str, sentence: str, settings: Any
) -> None:
    settings.ARENA_TOKEN = token
    with pytest.raises(CommandError, match=re.escape(sentence)):
        run(*arguments, **options)


@pytest.mark.parametrize("end", ["\n", "\r", " x", "€"])
def test_a_token_that_cannot_be_sent_is_not_shown(end: str, settings: Any) -> None:
    settings.ARENA_TOKEN = f"arena_x{end}"
    with pytest.raises(CommandError, match="The value of ARENA_TOKEN cannot be sent") as refused:
        run()
    assert "arena_x" not in str(refused.value)


@pytest.fixture
def judge(arena: Any, model: ChatServer, settings: Any, tmp_path: Path) -> Judge:
    judge = make_judge(slug="far", name="Far", model="far-1", base_url=model.url, api_key_env="FAR_API_KEY")
    planned(judge, make_small_study(prompts=1), remote=True)
    settings.ARENA_TOKEN = issue_token(judge.rater)
    settings.VAR_DIR = tmp_path
    return judge


def test_it_says_what_it_asks_and_what_came_of_it(
    arena: Any, judge: Judge, model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-mine")
    said = run("--drain", "--key-variable", "MY_API_KEY", url=f"{arena.url}/")
    assert said.splitlines()[0] == (
        f"Far asks far-1 at {model.url} with the key in MY_API_KEY, 4 at a time, for {arena.url}/."
    )
    assert said.splitlines()[-1] == "Done: 3 scored."
    assert "sk-mine" not in said
    headers = {name.lower(): value for name, value in model.headers[0].items()}
    assert headers["authorization"] == "Bearer sk-mine"
    assert Comparison.objects.count() == 3


@pytest.mark.parametrize(("options", "at_once"), [(["--drain"], 1), ([], 3)])
def test_it_repeats_once_what_an_endpoint_that_refuses_it_says_and_ends_with_an_error(
    arena: Any,
    judge: Judge,
    model: ChatServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
    options: list[str],
    at_once: int,
) -> None:
    monkeypatch.setenv("FAR_API_KEY", "sk-wrong-key")
    model.script = lambda body: Answer(status=401, raw=b'{"error": {"message": "No key sk-wrong-key"}}')
    monkeypatch.setattr(judge_worker.Command, "_tell", lambda self, line: print(line))
    with pytest.raises(SystemExit, match="1"):
        run(*options, "--concurrency", str(at_once), url=arena.url)
    assert capsys.readouterr().out.count("The endpoint needs a valid key (401: No key [key]).") == 1
    stopped = judge.runs.get()
    assert (stopped.state, len(model.requests) <= at_once) == ("paused", True)
    assert stopped.error == "The endpoint needs a valid key (401: No key [key]). Nothing was lost."


def test_it_refuses_before_it_asks(arena: Any, judge: Judge, model: ChatServer, settings: Any) -> None:
    with pytest.raises(
        CommandError, match="FAR_API_KEY, which holds the key of Far, is not set on this machine"
    ):
        run("--drain", url=arena.url)
    with pytest.raises(CommandError, match='This token belongs to no judge "near"'):
        run("--drain", judge="near", url=arena.url)
    settings.ARENA_TOKEN = "arena_unknown"
    with pytest.raises(CommandError, match="The arena does not accept the token in ARENA_TOKEN"):
        run("--drain", url=arena.url)
    assert model.requests == []


def test_it_waits_for_an_arena(
    arena: Any, judge: Judge, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:

    def end(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(judge_worker.time, "sleep", end)
    said = run()
    assert said.startswith("No arena answers at http://127.0.0.1:9 (ConnectionRefusedError")
    assert said.splitlines()[0].endswith("; trying again.")
    assert said.splitlines()[1] == "Stopped. The arena asks again what was in flight."


def test_it_needs_no_database_and_ends_at_sigterm(
    arena: Any, judge: Judge, model: ChatServer, settings: Any, tmp_path: Path
) -> None:
    model.script = lambda body: Answer("6\nB.")
    environment = {
        "PATH": os.environ["PATH"],
        "VAR_DIR": str(tmp_path / "elsewhere"),
        "DATABASE_URL": "postgresql://nobody:nothing@127.0.0.1:9/nowhere",
        "ARENA_TOKEN": settings.ARENA_TOKEN,
        "FAR_API_KEY": "sk-far",
    }
    command = [sys.executable, "manage.py", "judge_worker", "--judge", "far", "--arena-url", arena.url]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert process.stdout.readline().startswith("Far asks far-1")
        eventually(lambda: Comparison.objects.count() == 3 or process.poll() is not None)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert Comparison.objects.count() == 3
    assert said.splitlines()[-1] == "Done: 3 scored."
    assert process.returncode == 0
    assert settings.ARENA_TOKEN not in said
