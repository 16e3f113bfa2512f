"""The program's help, and where it keeps data."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import get_commands

from likert_arena.commands import GROUPS, overview
from likert_arena.home import arena_home

APPS = {"arena", "judging", "leaderboard"}


def program(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "likert_arena", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", **environment},
    )


def test_help_has_every_command_once():
    listed = [name for names in GROUPS.values() for name in names]
    own = {name for name, app in get_commands().items() if app in APPS}
    assert sorted(listed) == sorted({*own, "run"})


def test_help_needs_no_folder(tmp_path):
    said = program("--help", ARENA_HOME=str(tmp_path / "home"))
    assert said.returncode == 0, said.stderr
    assert said.stdout.rstrip("\n") == overview().replace(str(arena_home()), str(tmp_path / "home"))
    assert not list(tmp_path.iterdir())


def test_a_file_is_ranked_where_nothing_can_be_written(tmp_path):
    file = tmp_path / "votes.csv"
    file.write_text("model_a,model_b,winner\nHeron,Stork,model_a\nStork,Heron,tie\n")
    said = program("rank", str(file), HOME="/nonexistent", ARENA_HOME="/nonexistent/home")
    assert said.returncode == 0, said.stderr
    assert "Heron" in said.stdout
    assert not Path("/nonexistent").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["run", "--port", "x"], 'PORT is "x"'), (["runn"], "Unknown command"), (["rank", "no.csv"], "no.csv")],
)
def test_what_is_wrong_is_one_sentence(tmp_path, arguments, said):
    found = program(*arguments, ARENA_HOME=str(tmp_path))
    assert found.returncode != 0
    assert said in found.stderr
    assert "Traceback" not in found.stderr


def test_sentences_name_the_program(tmp_path):
    found = program("standings", "x", ARENA_HOME=str(tmp_path))
    assert "likert-arena migrate makes missing tables" in found.stderr
