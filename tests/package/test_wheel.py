"""The built package in an environment of its own, without a checkout."""

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.arena.process.processes import ROOT, free_port
from tests.waiting import eventually

pytestmark = pytest.mark.processes

PATIENCE = 300
"""Seconds that a step may take on a busy machine."""


def run(*command, **options):
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The program of the package, built and installed with the versions that are tested."""
    folder = tmp_path_factory.mktemp("package")
    run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder, cwd=ROOT)
    (wheel,) = folder.glob("*.whl")
    uv, python = Path(sys.executable).parent / "uv", folder / "venv" / "bin" / "python"
    mirror = {"UV_DEFAULT_INDEX": os.environ["PIP_INDEX_URL"]} if "PIP_INDEX_URL" in os.environ else {}
    run(uv, "venv", "--python", sys.executable, folder / "venv")
    constraints = ["--constraint", ROOT / "requirements.txt"]
    run(uv, "pip", "install", "--python", python, *constraints, wheel, env=mirror | os.environ)
    return folder / "venv" / "bin" / "likert-arena"


@contextmanager
def running(program, home):
    """The address of an arena that the program runs."""
    port = free_port()
    environment = {"PATH": "/usr/bin:/bin", "ARENA_HOME": str(home), "PORT": str(port)}
    with (home.parent / "log.txt").open("w") as log:
        arena = subprocess.Popen([program, "run"], cwd=home.parent, env=environment, stdout=log, stderr=log)
    try:
        yield arena, f"http://127.0.0.1:{port}"
    finally:
        arena.send_signal(signal.SIGTERM)
        arena.wait(PATIENCE)


def read(address):
    with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310 - our own
        return answer.read().decode()


def status(address):
    try:
        return read(address) and 200
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


PAGES = ("/", "/studies/demo/", "/methodology/", "/battle/demo/", "/api/v1/docs")


def test_an_arena_runs_without_a_checkout(installed, tmp_path):
    home = tmp_path / "home"
    with running(installed, home) as (arena, address):
        eventually(lambda: status(f"{address}/healthz") or arena.poll() is not None, PATIENCE, every=0.2)
        said = (tmp_path / "log.txt").read_text()
        assert arena.poll() is None, said
        assert said.splitlines()[0] == f"Data: {home}"
        assert "likert-arena operator makes a new one" in said
        assert {page: status(address + page) for page in PAGES} == dict.fromkeys(PAGES, 200)
        styles = re.findall(r'href="([^"]+[.]css)"', read(f"{address}/studies/demo/"))
        assert styles
        assert {status(address + style) for style in styles} == {200}
    assert {"arena.sqlite3", "secret_key", "static"} <= {path.name for path in home.iterdir()}


def test_real_votes_are_ranked_as_in_a_checkout(installed, reference_data, tmp_path):
    votes = reference_data / "llmfao" / "crowd-comparisons.csv"
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    found = run(installed, "rank", votes, "--format", "json", cwd=tmp_path, env=environment)
    assert found == run(sys.executable, "manage.py", "rank", votes, "--format", "json", cwd=ROOT)
    assert not list(tmp_path.iterdir())
