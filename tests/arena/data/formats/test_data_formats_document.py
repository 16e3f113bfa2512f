"""The document names what the code reads."""

import json
import re
from pathlib import Path

import pytest

from arena.data.formats import ours
from arena.data.formats.catalogue import CATALOGUE
from arena.data.formats.reading import Fields, Kind
from arena.data.formats.records import FIELDS, NOWHERE, Problem
from arena.rules.verdicts import REASONS
from tests.arena.data.formats.reading import read, write_lines

DOCS = Path(__file__).parents[4] / "docs"
DOCUMENT = (DOCS / "data-formats.md").read_text()
EXAMPLES = re.findall(r"^`(\{.*\})`$", DOCUMENT, re.MULTILINE)


def test_every_format_and_reason_is_described() -> None:
    both = DOCUMENT + (DOCS / "other-formats.md").read_text()
    assert all(f"`{name}`" in both for name in [*CATALOGUE, *REASONS])


SECTIONS = {
    "prompts": "Prompts",
    "contestants": "Models",
    "completions": "Answers",
    "pairs": "Gold labels",
    "raters": "Raters",
    "comparisons": "Ratings",
    "questions": "Requirements",
    "scores": "Text scores",
    "answers": "Checks",
    "features": "Features",
}


def section(title: str) -> str:
    return DOCUMENT.partition(f"\n### {title}\n")[2].partition("\n#")[0]


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_and_no_other_is_described(name: str) -> None:
    text = section(SECTIONS[name])
    fields = {entry.name for entry in FIELDS[name]}
    assert fields - {"extra"} <= set(re.findall(r"\w+", text))
    described = re.findall(r"^- (`.*?):", text, re.MULTILINE)
    assert described
    assert {field for names in described for field in re.findall(r"`(\w+)`", names)} <= fields


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_has_its_place_in_a_record(name: str) -> None:
    """What no builder reads would come back as a further field, or as an unknown one."""
    kind = Kind[name.upper()]
    fields = Fields({entry.name: None for entry in FIELDS[name]}, NOWHERE)
    record = ours.record_of(kind, fields)
    assert not getattr(record, "extra", {})
    assert not [problem for problem in fields.problems if "unknown field" in problem.reason]


def test_every_kind_has_an_example_and_every_example_is_read(tmp_path: Path) -> None:
    assert len({ours.recognise(json.loads(example).keys()) for example in EXAMPLES}) == len(FIELDS)
    for number, example in enumerate(EXAMPLES):
        *_, record = read(write_lines(tmp_path, f"{number}.jsonl", example))
        assert not isinstance(record, Problem), example
        assert not getattr(record, "extra", {}), example
