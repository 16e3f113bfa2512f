"""Whoever types what the documents say arrives: commands, their options, and blocks in their order."""

import argparse
import os
import re
import shlex
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest
from django.core.management import get_commands, load_command_class

from tests.documents.blocks import ROOT, Block, blocks, spans
from tests.documents.quick_python import quick_python
from tests.judging.endpoints.server import Answer, ChatServer
from tests.processes import Arena

ALL: Final = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
FOLLOWED: Final = tuple(
    f"docs/{name}.md" if name.islower() else f"{name}.md"
    for name in (
        *("README", "walk", "operating", "judging", "data-formats", "other-formats", "leaderboard", "scores"),
        *("llmfao", "reproducing", "monitoring", "deploy"),
    )
)
"""Documents whose blocks run one after the other in one arena."""

ELSEWHERE: Final = {"docs/deploy.md": "sh", "docs/api.md": "console"}
"""Languages of blocks that ``tests.faults deploy`` and test_api_example.py run."""

NOT_RUN: Final = {
    "docs/data-formats.md": 2,
    "docs/other-formats.md": 11,
    "docs/scores.md": 1,
    "docs/llmfao.md": 1,
    "docs/deploy.md": 2,
}
"""How many blocks with no placeholder say why they cannot run here."""

SECONDS: Final = 900
JUDGE: Final = """
from decimal import Decimal
from judging.endpoints.costs import Prices
from judging.judges.services import create_judge, enter_price
from tests.factories import judge_with
judge = create_judge("my-judge", "My judge", judge_with(model="loopback-1", base_url="{url}"))
enter_price(judge.endpoint, Prices(Decimal("2.50"), Decimal("10")))
"""

SCORES: Final = """
SELECT 1 FROM leaderboard_snapshot JOIN arena_study ON arena_study.id = study_id
WHERE slug = 'demo' AND NOT is_opening
"""


def found(document: str) -> list[Block]:
    return [block for block in blocks(document) if ELSEWHERE.get(document) != block.language]


def test_commands_and_options_are_there() -> None:
    """Also those that blocks show with placeholders, or text within a line."""
    parsers = {}
    apps = {name: str(app) for name, app in get_commands().items()}
    wrong = []
    for document in ALL:
        lines = [line for block in blocks(document) for line in _joined(block.script)]
        lines += spans(document)
        for line in lines:
            for name, rest in re.findall(r"(?:^arena|manage\.py) ([a-z_]+)([^#;&]*)", _plain(line)):
                if name not in apps:
                    wrong.append((document, line, "no such command"))
                    continue
                if name not in parsers:
                    parsers[name] = load_command_class(apps[name], name).create_parser("manage.py", name)
                wrong += [(document, line, option) for option in _unknown(parsers[name], rest)]
    assert wrong == []
    assert len(parsers) > 20


def _plain(line: str) -> str:
    """A line without the alternatives that a synopsis separates by |."""
    return re.sub(r"\|", "/", line)


def _joined(script: str) -> list[str]:
    """The lines of a script; further lines of a synopsis are indented."""
    return re.sub(r"\n\s+", " ", script).split("\n")


def _unknown(parser: argparse.ArgumentParser, given: str) -> list[str]:
    known = {option for action in parser._actions for option in action.option_strings}
    return [option for option in re.findall(r"(?<!\S)\[?(--[a-z][\w-]*)", given) if option not in known]


def test_blocks_that_do_not_run_are_counted() -> None:
    skipped = [block for document in FOLLOWED for block in found(document) if block.reason]
    for block in skipped:
        print(f"{block.place} is not run: {block.reason}")
    assert Counter(block.document for block in skipped) == NOT_RUN


class Reader:
    """Somebody with a fresh arena, in a folder that looks like the project's."""

    def __init__(self, arena: Arena, folder: Path, python: Path) -> None:
        self._arena, self._folder = arena, folder
        (folder / ".venv" / "bin").mkdir(parents=True)
        (folder / ".venv" / "bin" / "python").symlink_to(python)
        for name in ("manage.py", "docs"):
            (folder / name).symlink_to(ROOT / name)
        path = os.pathsep.join([str(folder / ".venv" / "bin"), arena.environment["PATH"]])
        self._environment = {**arena.environment, "PATH": path}

    def type(self, script: str) -> "subprocess.CompletedProcess[str]":
        """Run a block, at the addresses of this arena and in its folders."""
        for place, own in (
            ("http://127.0.0.1:8000", self._arena.url),
            ("/var/backups/arena", str(self._folder / "backups")),
            ("/tmp/try", str(self._folder / "try")),  # noqa: S108 - as the document has it
        ):
            script = script.replace(place, own)
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    data, folder = (tmp_path_factory.mktemp(name) for name in ("arena", "project"))
    arena = Arena(data, SWEEP_SECONDS="1")
    with ExitStack() as stack:
        model = stack.enter_context(ChatServer(lambda _: Answer("6\nThe second is better.")))
        python = stack.enter_context(quick_python(data, arena.environment))
        stack.callback(arena.kill)
        own = Reader(arena, folder, python)
        (folder / "backups").mkdir()
        judge = shlex.quote(JUDGE.format(url=model.url))
        for given in (
            "load_demo --verbosity 0",
            f"shell --verbosity 0 --command {judge}",
            "backup /var/backups/arena/2026-11-24.zip",
        ):
            done = own.type(f"python manage.py {given}")
            assert not done.returncode, done.stderr
        arena.start_web()
        while not arena.query(SCORES):  # which a reader has seen before
            time.sleep(0.2)
        yield own


@pytest.mark.processes
def test_blocks_run_in_their_order(reader: Reader) -> None:
    failed = []
    for document in FOLLOWED:
        for block in found(document):
            if block.reason or block.shows_usage:
                continue
            done = reader.type(block.script)
            print(f"{block.place} ended with {done.returncode}", flush=True)
            if done.returncode:
                failed.append(f"{block.place}: {block.script}\n{done.stdout[-500:]}{done.stderr[-1000:]}")
    assert not failed, "\n\n".join(failed)
