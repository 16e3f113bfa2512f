"""The choices for the files of one upload, however many they are."""

from typing import Any

import pytest

from arena.data.formats.table import MOST_VALUES
from arena.data.uploads.forms import MAPPED, FileForm
from arena.models import ImportFile

MAPPING = {
    "kind": "prompts",
    "columns": {"id": "a", "instruction": "b"},
    "constants": {},
    "values": {},
    "further": [],
}


def foreign(number: int, **values: Any) -> ImportFile:
    return ImportFile(number=number, name=f"{number}.csv", columns=["a", "b"], **values)


def test_a_form_of_many_foreign_files_can_be_sent(settings: Any) -> None:
    mapping = {"kind": "comparisons", "columns": {"winner": "a"}, "constants": {}}
    values = dict.fromkeys(map(str, range(MOST_VALUES)), 1)
    files = [foreign(number, format_name="table", mapping=mapping) for number in range(100)]
    forms = [FileForm(file, values=values) for file in files]
    inputs = sum(len(form.fields) for form in forms)
    assert inputs < settings.DATA_UPLOAD_MAX_NUMBER_FIELDS - 10
    assert [form.takes_mapping for form in forms].count(True) == MAPPED
    assert [form.is_beyond_mapping for form in forms].count(True) == 100 - MAPPED


def test_a_mapping_that_is_not_shown_is_kept_and_has_to_say_enough() -> None:
    form = FileForm(foreign(MAPPED, format_name="table", mapping=MAPPING), {"file5-format_name": "table"})
    assert form.is_valid(), form.errors
    assert form.chosen().mapping == MAPPING
    form = FileForm(foreign(MAPPED), {"file5-format_name": "table"})
    assert form.errors == {"__all__": ["Say what the file's columns mean."]}


@pytest.mark.parametrize(
    ("columns", "errors"),
    [
        (["a", "b"], {}),
        (
            ["a", "b", "a+b"],
            {"__all__": ['These columns cannot be joined, because another is called "a+b".']},
        ),
    ],
)
def test_two_columns_are_joined(columns: list[str], errors: dict[str, list[str]]) -> None:
    row = ImportFile(number=0, name="p.csv", columns=columns)
    chosen = {"format_name": "table", "kind": "prompts", "column-prompts-id": "a", "second-prompts-id": "b"}
    chosen["column-prompts-instruction"] = "b"
    form = FileForm(row, {f"file0-{name}": value for name, value in chosen.items()})
    assert form.errors == errors
    if not errors:
        assert form.chosen().mapping["columns"] == {"id": "a+b", "instruction": "b"}
        shown = FileForm(row)
        assert [shown[name].value() for name in ("column-prompts-id", "second-prompts-id")] == ["a", "b"]
