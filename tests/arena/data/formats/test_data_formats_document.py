"""The document names what the code reads."""

import json
import re
from pathlib import Path

import pytest

from arena.data.formats import ours
from arena.data.formats.catalogue import CATALOGUE
from arena.data.formats.records import Problem
from tests.arena.data.formats.reading import read

DOCUMENT = (Path(__file__).parents[4] / "docs" / "data-formats.md").read_text()
EXAMPLES = re.findall(r"^`(\{.*\})`$", DOCUMENT, re.MULTILINE)


def test_every_format_is_described() -> None:
    assert all(f"`{name}`" in DOCUMENT for name in CATALOGUE)


def test_every_reason_is_described() -> None:
    assert all(f"`{reason}`" in DOCUMENT for reason in ours.REASONS)


def test_there_is_an_example_of_every_kind() -> None:
    assert len({ours.recognise(json.loads(example).keys()) for example in EXAMPLES}) == len(ours.BUILDERS)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_read(tmp_path: Path, example: str) -> None:
    path = tmp_path / "example.jsonl"
    path.write_text(example + "\n")
    (record,) = read(path)
    assert not isinstance(record, Problem)
    assert not getattr(record, "extra", {})
