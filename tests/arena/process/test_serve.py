"""`make run` and `manage.py serve`: failures end in one sentence, stopping leaves nothing behind."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from arena.process import bootstrap, serve
from arena.process import prepare as preparing
from tests.arena.process.processes import ROOT, Server, bare_project, free_port, make, manage
from tests.factories import make_study
from tests.migrated import migrate
from tests.waiting import eventually


def only_sentence(done) -> str:
    """The one line on stderr of a step that failed with exit code 1."""
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr.strip()


@pytest.fixture
def busy_port() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield str(server.getsockname()[1])


def fake_python(folder: Path, version: str) -> Path:
    """A directory whose python3 says of itself that it is of another version."""
    folder.mkdir()
    script = folder / "python3"
    script.write_text(
        f'#!/bin/sh\ncode="import sys; sys.version_info = {version}"\n'
        f'[ "$1" = -c ] && exec {sys.executable} -c "$code\n$2"\nexec {sys.executable} "$@"\n'
    )
    script.chmod(0o755)
    return folder


@pytest.mark.parametrize("version", ["(3, 8, 18)", "(3, 10, 13)"])
def test_an_old_python_is_refused(tmp_path: Path, version: str) -> None:
    project = bare_project(tmp_path / "project")
    path = fake_python(tmp_path / "bin", version)
    for name in ("make", "sh", "mktemp", "cat", "rm"):
        (path / name).symlink_to(next(p for d in os.get_exec_path() if (p := Path(d) / name).exists()))
    sentence = only_sentence(make(project, "run", PATH=str(path), PYTHON=""))
    assert "needs Python 3.11 or newer" in sentence
    assert "make run PYTHON=" in sentence


@pytest.mark.parametrize("broken", ["missing", "forbidden"])
def test_a_broken_venv_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    python = tmp_path / "python"
    if broken == "forbidden":
        python.write_text("#!/bin/sh\n")
        python.chmod(0o600)
    monkeypatch.setattr(bootstrap, "VENV_PYTHON", python)
    assert not bootstrap.venv_works()


def test_a_missing_venv_module_is_named(tmp_path: Path) -> None:
    project = bare_project(tmp_path / "project")
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "ensurepip.py").write_text("raise ImportError('split off by the distribution')")
    sentence = only_sentence(make(project, "install", PYTHONPATH=str(tmp_path / "hidden")))
    assert "venv module is missing" in sentence
    assert f"apt install python3.{sys.version_info.minor}-venv" in sentence


def test_no_network_is_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "VENV_PYTHON", Path(sys.executable))
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    # Installs nothing in any case, also not from a cache or from an index of the machine's own settings.
    nowhere = {"PIP_INDEX_URL": f"http://127.0.0.1:{free_port()}/simple", "PIP_CONFIG_FILE": os.devnull}
    for name, value in {**nowhere, "PIP_NO_CACHE_DIR": "1", "PIP_TARGET": str(tmp_path / "to")}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(
        bootstrap.BootstrapError, match=r"^Cannot reach the Python package index;.*PIP_INDEX_URL"
    ):
        bootstrap.pip_install(bootstrap.ROOT / "requirements-uv.txt")
    assert "Connection refused" in (tmp_path / "install.log").read_text()


def test_a_busy_port_is_named(tmp_path: Path, busy_port: str, settings: Any) -> None:
    sentence = only_sentence(make(bare_project(tmp_path / "project"), "run", PORT=busy_port))
    assert f"Cannot listen on 127.0.0.1:{busy_port}" in sentence
    assert "PORT=8001" in sentence
    settings.PORT = int(busy_port)
    with pytest.raises(CommandError, match=f"Cannot listen on 127.0.0.1:{busy_port}"):
        call_command("serve", skip_checks=True)


@pytest.mark.parametrize("port", ["abc", "0", "70000"])
def test_a_port_that_is_none(tmp_path: Path, port: str) -> None:
    sentence = only_sentence(make(bare_project(tmp_path / "project"), "run", PORT=port))
    assert f'PORT is "{port}"' in sentence


def test_an_unwritable_folder(tmp_path: Path) -> None:
    # Nobody can make a folder in /proc, not even root.
    folders = {"VAR_DIR": "/proc/arena", "PORT": str(free_port())}
    sentence = only_sentence(make(bare_project(tmp_path / "project"), "run", **folders))
    assert "Cannot write to /proc/arena" in sentence
    assert "VAR_DIR" in sentence
    with pytest.raises(bootstrap.BootstrapError, match=r"Cannot write to /proc \("):
        bootstrap.require_writable(Path("/proc"))


def test_nothing_is_installed_twice_and_a_venv_that_works_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "venv_works", lambda: True)
    done: list[str] = []
    monkeypatch.setattr(bootstrap, "make_venv", lambda: done.append("made"))
    monkeypatch.setattr(bootstrap, "uv_install", lambda path: done.append(path.read_text()) is None)
    for name in ("requirements.txt", "requirements-dev.txt"):  # which share it
        for text in ("one", "one", "two", "two"):
            (tmp_path / name).write_text(text)
            bootstrap.install(name)
    assert done == ["one", "two"] * 2


def test_pip_installs_where_uv_cannot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "venv_works", lambda: True)
    (tmp_path / "requirements.txt").write_text("one")
    installed: list[str] = []
    monkeypatch.setattr(bootstrap, "pip_install", lambda path: installed.append(path.name))
    monkeypatch.setattr(bootstrap, "UV", tmp_path / "uv")
    bootstrap.install()
    assert installed == ["requirements-uv.txt", "requirements.txt"]


def test_uv_checks_hashes_and_asks_the_same_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "UV", tmp_path / "uv")
    monkeypatch.setenv("PIP_INDEX_URL", "https://mirror.example/simple")
    bootstrap.UV.write_text(f'#!/bin/sh\necho "$UV_DEFAULT_INDEX $*" >{tmp_path}/asked\n')
    bootstrap.UV.chmod(0o755)
    assert bootstrap.uv_install(Path("requirements.txt"))
    python = bootstrap.VENV_PYTHON
    arguments = f"pip install --python {python} --require-hashes -r requirements.txt"
    assert (tmp_path / "asked").read_text() == f"https://mirror.example/simple {arguments}\n"
    bootstrap.UV.write_text("#!/bin/sh\nexit 1\n")
    assert not bootstrap.uv_install(Path("requirements.txt"))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of an arena that has a study and was prepared, and what its operator was told."""
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "prompts.jsonl").write_text('{"id": "rain", "instruction": "Write a line about rain."}\n')
    migrate(folder / "arena.sqlite3", partial(manage, VAR_DIR=str(folder)))
    both = "from django.core.management import call_command as call; call({!r}, {!r}, {!r}); call({!r})"
    command = both.format("import_data", "small", str(folder / "prompts.jsonl"), "prepare")
    done = manage("shell", "--no-imports", "-c", command, VAR_DIR=str(folder))
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_prepare_shows_the_password_once(prepared: tuple[Path, str]) -> None:
    folder, told = prepared
    password = told.split("with the password ")[1].split()[0]
    assert password not in manage("prepare", VAR_DIR=str(folder)).stdout


def test_a_python_without_the_requirements_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-S", "manage.py", "check"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert only_sentence(done) == (
        f"{sys.executable} has no Django. Use .venv/bin/python manage.py; make install sets it up."
    )


@pytest.mark.django_db
def test_an_empty_arena_gets_the_demo(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    called: list[str] = []
    monkeypatch.setattr(preparing, "call_command", lambda name, **_: called.append(name))
    told: list[str] = []
    preparing.prepare(told.append)
    make_study()
    preparing.prepare(told.append)
    assert called == ["migrate", "collectstatic", "load_demo", "migrate"]
    assert told == ["Loading the demo studies."]


@pytest.mark.django_db
def test_operator_makes_a_new_password(capsys: pytest.CaptureFixture[str]) -> None:
    passwords = set()
    for _ in range(2):
        call_command("operator")
        told = capsys.readouterr().out
        assert told.startswith("Sign in as operator with the password ")
        passwords.add(told.split("with the password ")[1].split()[0])
    assert len(passwords) == 2


@pytest.fixture
def server(prepared: tuple[Path, str]) -> Iterator[Server]:
    """A server of the arena that works."""
    server = Server(VAR_DIR=str(prepared[0]))
    health = json.loads(server.get("/healthz"))
    assert (health["database"], health["worker"]) == ("ok", "embedded")
    yield server
    if server.left_behind():
        server.end(signal.SIGKILL)


def check_it_leaves_nothing(server: Server, number: signal.Signals) -> None:
    printed = server.end(number)
    assert printed == f"Likert Arena runs on http://127.0.0.1:{server.port}/ (Ctrl-C stops it)\n"
    assert server.process.returncode == 0
    assert not server.left_behind()


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_serve_works_and_leaves_nothing(server: Server, number: signal.Signals) -> None:
    check_it_leaves_nothing(server, number)


def test_serve_stops_while_a_request_hangs(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as half_a_request:
        half_a_request.sendall(b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n12")
        check_it_leaves_nothing(server, signal.SIGTERM)


def test_a_web_process_that_dies_is_replaced_and_none_outlives_its_parent(server: Server) -> None:
    def web_process() -> str:
        return subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(server.process.pid)], capture_output=True, text=True
        ).stdout.strip()

    first = web_process()
    os.kill(int(first), signal.SIGKILL)
    eventually(lambda: web_process() not in ("", first))
    assert json.loads(server.get("/healthz"))["database"] == "ok"
    server.process.kill()
    server.process.wait()
    eventually(lambda: not server.left_behind())


def test_one_database_has_one_server_however_it_is_named(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR, settings.PORT = tmp_path, free_port()
    with serve.only_server():
        settings.VAR_DIR = tmp_path / "another"
        for command, named in (("serve", []), ("restore", ["backup.zip"])):
            with pytest.raises(CommandError, match="Another arena is already serving this"):
                call_command(command, *named, skip_checks=True)
