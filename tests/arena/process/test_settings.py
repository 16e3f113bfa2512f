"""The environment: what production needs, what cannot work, and the checks at start."""

import os
import re
import stat
import threading
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from django.conf import settings as used
from django.core.checks import run_checks
from django.db import DatabaseError
from django.db.utils import ConnectionHandler
from django.utils.module_loading import import_string
from environs import EnvError

from arena.process import environment
from tests.arena.process.processes import manage

SETTINGS = used.BASE_DIR / "arena" / "settings.py"
PRODUCTION = {
    "ARENA_ENV": "production",
    "SECRET_KEY": "long-and-secret-0123456789-abcdefghijklmnopqrstuvwxyz",
    "ALLOWED_HOSTS": "arena.example.org",
    "DATABASE_URL": "sqlite:////tmp/none.sqlite3",
    "BROKER_URL": "redis://127.0.0.1:1/0",
}


READ = re.findall(r'\benv\.\w+\(\s*"(\w+)"', SETTINGS.read_text())
"""Every variable that the settings read."""


def settings_of(monkeypatch: pytest.MonkeyPatch, **variables: str) -> dict[str, Any]:
    """The settings that these variables make, without those of this process."""
    for name in READ:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return {name: value for name, value in run_path(str(SETTINGS)).items() if name.isupper()}


def test_production_names_everything_that_is_missing() -> None:
    done = manage("serve", ARENA_ENV="production")
    assert done.returncode == 3
    names = "SECRET_KEY, ALLOWED_HOSTS, DATABASE_URL, BROKER_URL"
    assert done.stderr == f"ARENA_ENV=production needs {names} in the environment.\n"


def test_production_starts_with_all_of_them_and_not_with_one_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = manage("check", "--fail-level", "ERROR", **PRODUCTION, VAR_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "arena.W001" in done.stderr  # SQLite with workers elsewhere: a mistake, and no reason to refuse
    for name in set(PRODUCTION) - {"ARENA_ENV"}:
        sentence = f"^ARENA_ENV=production needs {name} in the environment.$"
        with pytest.raises(environment.ImproperEnvironment, match=sentence):
            settings_of(monkeypatch, **{**PRODUCTION, name: ""})


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"ARENA_ENV": "staging"}, 'ARENA_ENV is "staging"; use local or production'),
        ({"DATABASE_URL": "nonsense"}, "DATABASE_URL must be sqlite:///path or postgresql://"),
        ({"DATABASE_URL": "oracle://u:hunter2@h/n"}, "DATABASE_URL must be sqlite:///path or postgresql://"),
        ({"DATABASE_URL": "postgresql://u:hunter2@h:99x/n"}, "DATABASE_URL must be"),
        ({"PORT": "eighty"}, '"PORT" invalid'),
        ({"PORT": "65536"}, '"PORT" invalid'),
        ({"DEBUG": "perhaps"}, '"DEBUG" invalid'),
        ({"WEB_THREADS": "0"}, '"WEB_THREADS" invalid'),
        ({"SWEEP_SECONDS": "0"}, '"SWEEP_SECONDS" invalid'),
        ({"LOG_LEVEL": "LOUD"}, '"LOG_LEVEL" invalid'),
    ],
)
def test_values_that_cannot_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], words: str
) -> None:
    with pytest.raises((environment.ImproperEnvironment, EnvError)) as error:
        settings_of(monkeypatch, **{"VAR_DIR": str(tmp_path), **variables})
    assert words in str(error.value)
    assert len(str(error.value).splitlines()) == 1
    assert "hunter2" not in str(error.value)


def test_an_unusable_database(tmp_path: Path) -> None:
    done = manage("prepare", VAR_DIR=str(tmp_path), DATABASE_URL=f"sqlite:///{tmp_path}/nowhere/a.sqlite3")
    assert done.returncode == 3
    assert done.stderr == unusable("unable to open database file")


def unusable(reason: str) -> str:
    return (
        f"The database cannot be used ({reason}). Look at DATABASE_URL; "
        "python manage.py migrate makes missing tables.\n"
    )


def test_an_argument_that_is_no_text_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    environment.require_utf8(["manage.py", "rank", "Größe"])
    with pytest.raises(SystemExit) as ended:
        environment.require_utf8(["manage.py", "rank", os.fsdecode(b"gr\xf6sse.csv")])
    assert ended.value.code == 2
    assert "Argument 2 is not UTF-8" in capsys.readouterr().err


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x89PNG" + bytes(range(256)) * 20, "file is not a database"),
        (b"", "no such table: arena_study"),
    ],
)
def test_a_file_that_is_no_arena(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, reason: str
) -> None:
    (tmp_path / "file").write_bytes(content)
    databases = ConnectionHandler({"default": environment.parse_database_url(f"sqlite:///{tmp_path}/file")})

    def ask(*arguments: str) -> None:
        with environment.database_trouble(arguments), databases["default"].cursor() as cursor:
            cursor.execute("SELECT 1 FROM arena_study")

    with pytest.raises(SystemExit) as ended:
        ask("standings", "demo")
    assert ended.value.code == 3
    assert capsys.readouterr().err == unusable(reason)
    with pytest.raises(DatabaseError, match=reason):
        ask("standings", "demo", "--traceback")
    databases.close_all()


def test_empty_variables_are_unset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["ARENA_ENV", "HOST", "ALLOWED_HOSTS", "DATABASE_URL", "ARENA_URL", "BROKER_URL"]
    plain, empty = (
        settings_of(monkeypatch, VAR_DIR=str(tmp_path), **given) for given in ({}, dict.fromkeys(names, ""))
    )
    assert repr(empty) == repr(plain)


def test_local_hosts() -> None:
    loopback = ["localhost", "127.0.0.1", "[::1]"]
    assert environment.local_hosts("127.0.0.1")[:3] == loopback
    assert environment.local_hosts("192.0.2.7") == [*loopback, "192.0.2.7"]
    assert environment.local_hosts("2001:db8::1") == [*loopback, "[2001:db8::1]"]
    assert "*" not in environment.local_hosts("0.0.0.0")
    assert set(loopback) < set(environment.local_hosts("0.0.0.0"))


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("0.0.0.0", "http://127.0.0.1:8000"),
        ("192.0.2.7", "http://192.0.2.7:8000"),
        ("::1", "http://[::1]:8000"),
    ],
)
def test_local_url(host: str, url: str) -> None:
    assert environment.local_url(host, 8000) == url


def test_the_local_secret_key_is_made_once(tmp_path: Path) -> None:
    """Also when many processes start at the same time: nobody reads a key that is not written yet."""
    keys: list[str] = []
    folder = tmp_path / "var"
    threads = [
        threading.Thread(target=lambda: keys.append(environment.local_secret_key(folder))) for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 16
    assert set(keys) == {(folder / "secret_key").read_text()}
    assert len(keys[0]) > 60
    assert stat.S_IMODE((folder / "secret_key").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert os.listdir(folder) == ["secret_key"]


def test_what_the_settings_name_is_there(settings: Any) -> None:
    """No check imports it: that would load SciPy for each command."""
    for path in [*settings.SWEEPS, *settings.EMBEDDED_START, *settings.WORKER_START, *settings.METRICS]:
        assert callable(import_string(path))


def ids(settings: Any, **overrides: Any) -> set[str]:
    """The ids of the arena's own checks that fire with these settings."""
    for name, value in overrides.items():
        setattr(settings, name, value)
    return {message.id for message in run_checks() if message.id and message.id.startswith("arena.")}


def test_no_check_fires_by_default_or_for_a_broker_that_celery_knows(settings: Any) -> None:
    assert ids(settings, EMBEDDED_WORKER=True) == set()
    for url in ("memory://", "redis://h:6379/0", "rediss://h", "redis+socket:///run/redis.sock"):
        assert "arena.E005" not in ids(settings, CELERY_BROKER_URL=url)


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ({"ARENA_URL": "ftp://arena"}, "arena.E001"),
        ({"ARENA_URL": "arena:8000"}, "arena.E001"),
        ({"WEB_WORKERS": 2, "EMBEDDED_WORKER": True}, "arena.E002"),
        ({"PRODUCTION": True, "SECRET_KEY": "guess me"}, "arena.E004"),
        ({"CELERY_BROKER_URL": "radish://:hunter2@h"}, "arena.E005"),
        ({"CELERY_BROKER_URL": "nonsense"}, "arena.E005"),
        ({"PRODUCTION": True, "DEBUG": True}, "arena.W002"),
        ({"PRODUCTION": True, "ALLOWED_HOSTS": ["*"]}, "arena.W003"),
        ({"PRODUCTION": True, "EMBEDDED_WORKER": True}, "arena.W004"),
        ({"PRODUCTION": True, "SECURE_SSL_REDIRECT": True, "ARENA_URL": "http://arena"}, "arena.W005"),
    ],
)
def test_operator_mistakes_have_ids(settings: Any, overrides: dict[str, Any], expected: str) -> None:
    assert expected in ids(settings, **overrides)
