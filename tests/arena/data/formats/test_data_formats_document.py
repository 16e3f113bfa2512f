"""The document names what the code reads."""

import json
import re
from pathlib import Path

import pytest

from arena.data.formats import ours
from arena.data.formats.catalogue import CATALOGUE
from arena.data.formats.reading import Fields, Kind
from arena.data.formats.records import FIELDS, NOWHERE, Problem
from tests.arena.data.formats.reading import read

DOCUMENT = (Path(__file__).parents[4] / "docs" / "data-formats.md").read_text()
EXAMPLES = re.findall(r"^`(\{.*\})`$", DOCUMENT, re.MULTILINE)


def test_every_format_is_described() -> None:
    assert all(f"`{name}`" in DOCUMENT for name in CATALOGUE)


def test_every_reason_is_described() -> None:
    assert all(f"`{reason}`" in DOCUMENT for reason in ours.REASONS)


SECTIONS = {
    "prompts": "Prompts",
    "contestants": "Contestants",
    "completions": "Completions",
    "pairs": "Gold labels",
    "raters": "Raters",
    "comparisons": "Comparisons",
}


def section(title: str) -> str:
    return DOCUMENT.partition(f"\n### {title}\n")[2].partition("\n#")[0]


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_is_described(name: str) -> None:
    text = section(SECTIONS[name])
    assert {entry.name for entry in FIELDS[name]} - {"extra"} <= set(re.findall(r"\w+", text))


@pytest.mark.parametrize("name", FIELDS)
def test_only_fields_are_described(name: str) -> None:
    first_cells = re.findall(r"^\| (`.*?) \|", section(SECTIONS[name]), re.MULTILINE)
    described = {field for cell in first_cells for field in re.findall(r"`(\w+)`", cell)}
    assert described <= {entry.name for entry in FIELDS[name]}


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_has_its_place_in_a_record(name: str) -> None:
    """What no builder reads would come back as a further field, or as an unknown one."""
    kind = Kind[name.upper()]
    fields = Fields({entry.name: None for entry in FIELDS[name]}, NOWHERE)
    record = ours.BUILDERS[kind](fields)
    assert not getattr(record, "extra", {})
    assert not [problem for problem in fields.problems if "unknown field" in problem.reason]


def test_there_is_an_example_of_every_kind() -> None:
    assert len({ours.recognise(json.loads(example).keys()) for example in EXAMPLES}) == len(ours.BUILDERS)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_read(tmp_path: Path, example: str) -> None:
    path = tmp_path / "example.jsonl"
    path.write_text(example + "\n")
    (record,) = read(path)
    assert not isinstance(record, Problem)
    assert not getattr(record, "extra", {})
