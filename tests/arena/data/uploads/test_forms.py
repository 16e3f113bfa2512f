"""The choices for the files of one upload, however many they are."""

from typing import Any

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
    forms = [FileForm(foreign(number)) for number in range(100)]
    inputs = sum(len(form.fields) for form in forms)
    assert inputs < settings.DATA_UPLOAD_MAX_NUMBER_FIELDS - 10
    assert [form.takes_mapping for form in forms].count(True) == MAPPED
    assert [form.is_beyond_mapping for form in forms].count(True) == 100 - MAPPED


def test_a_mapping_that_is_not_shown_is_kept_and_has_to_say_enough() -> None:
    form = FileForm(foreign(MAPPED, format_name="table", mapping=MAPPING), {"file6-format_name": "table"})
    assert form.is_valid(), form.errors
    assert form.chosen().mapping == MAPPING
    form = FileForm(foreign(MAPPED), {"file6-format_name": "table"})
    assert form.errors == {"__all__": ["Say what the file's columns mean."]}
