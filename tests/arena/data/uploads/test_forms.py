"""The choices for the files of one upload, however many they are."""

from typing import Any

import pytest

from arena.data.formats.files import About
from arena.data.formats.table import MOST_VALUES
from arena.data.importing.import_report import ImportReport
from arena.data.uploads.forms import FileForm, file_forms
from arena.data.uploads.jobs import choice_of
from arena.models import ImportFile

MAPPING = {
    "kind": "prompts",
    "columns": {"id": "a", "instruction": "b"},
    "constants": {},
    "values": {},
    "further": [],
}


def foreign(number: int, **values: Any) -> ImportFile:
    return ImportFile(**{"number": number, "name": f"{number}.csv", "columns": ["a", "b"], **values})


def sent(form: FileForm, **chosen: str) -> dict[str, Any]:
    """What a browser sends of the form as it is shown, but for what is chosen."""
    shown = {name: form[name].value() or "" for name in form.fields}
    return {form.add_prefix(name): value for name, value in {**shown, **chosen}.items()}


def test_a_form_of_many_foreign_files_can_be_sent(settings: Any) -> None:
    mapping = {"kind": "comparisons", "columns": {"winner": "a"}, "constants": {}}
    files = [foreign(number, format_name="table", mapping=mapping) for number in range(100)]
    values = {file.name: dict.fromkeys(map(str, range(MOST_VALUES)), 1) for file in files}
    forms = file_forms(files, ImportReport("study", True, values=values))
    assert sum(len(form.fields) for form in forms) < settings.DATA_UPLOAD_MAX_NUMBER_FIELDS - 10
    taken = [form.takes_mapping for form in forms]
    assert taken == sorted(taken, reverse=True)
    assert taken.count(True) > 5
    (alone,) = file_forms([foreign(0, columns=[f"c{number}" for number in range(200)])], None)
    assert alone.takes_mapping


def test_a_mapping_that_is_not_shown_is_kept_and_has_to_say_enough() -> None:
    form = FileForm(foreign(5, format_name="table", mapping=MAPPING), None, {"file5-format_name": "table"})
    assert form.is_valid(), form.errors
    assert form.chosen().mapping == MAPPING
    form = FileForm(foreign(5), None, {"file5-format_name": "table"})
    assert "give it a column" in form.errors["__all__"][0]


@pytest.mark.parametrize(
    ("columns", "errors"),
    [
        (["a", "b", "c"], {}),
        (
            ["a", "b", "c", "a+b"],
            {"__all__": ['You cannot join these columns: another one is called "a+b".']},
        ),
    ],
)
def test_two_columns_are_joined(columns: list[str], errors: dict[str, list[str]]) -> None:
    (form,) = file_forms([foreign(0, columns=columns)], None)
    chosen = {"kind": "prompts", "column-0": "id", "column-1": "id", "column-2": "instruction"}
    (form,) = file_forms([foreign(0, columns=columns)], None, sent(form, **chosen))
    assert form.errors == errors
    if not errors:
        assert form.chosen().mapping["columns"] == {"id": "a+b", "instruction": "c"}
        (shown,) = file_forms([form.row], None)
        assert [shown[f"column-{number}"].value() for number in range(3)] == ["id", "id", "instruction"]


@pytest.mark.parametrize("models", [("Alder",), ("Alder", "Birch")])
def test_columns_are_models(models: tuple[str, ...]) -> None:
    columns = ["Frage", *models]
    report = ImportReport(
        "study", True, looks={"0.csv": {"samples": {name: ["Wie geht es?"] for name in columns}}}
    )
    (form,) = file_forms([foreign(0, columns=columns)], report)
    shown = [form[f"column-{number}"].value() for number in range(len(columns))]
    assert shown == ["instruction", *["own"] * len(models)]
    chosen = {"column-0": "instruction"} | {f"column-{number + 1}": "own" for number in range(len(models))}
    (form,) = file_forms([foreign(0, columns=columns)], report, sent(form, **chosen))
    assert form.is_valid(), form.errors
    mapping = form.chosen().mapping
    assert mapping["columns"] == {"instruction": "Frage", "text": "Alder"}
    assert (mapping["further"], mapping["constants"]) == (
        (["Birch"], {}) if len(models) > 1 else ([], {"contestant": "Alder"})
    )


def test_a_guess_needs_a_yes_or_what_the_columns_are() -> None:
    samples = {"question": ["Name a river."], "Alder": ["The Rhine."]}
    report = ImportReport("study", True, looks={"0.csv": {"samples": samples}})
    row = foreign(0, columns=list(samples))
    (form,) = file_forms([row], report)
    assert form["asked"].label == "Is Alder a model, and are its cells the answers?"
    (same,) = file_forms([row], report, sent(form, asked="no"))
    assert same.errors == {"__all__": ["Say below what the columns are."]}
    (other,) = file_forms([row], report, sent(form, **{"asked": "no", "column-1": "category"}))
    assert "Say below" not in str(other.errors)
    (silent,) = file_forms([row], report, sent(form))
    assert silent.errors == {"__all__": ["Answer the question with yes or no."]}
    (agreed,) = file_forms([row], report, sent(form, asked="yes"))
    assert agreed.is_valid(), agreed.errors


@pytest.mark.parametrize(
    ("chosen", "error"),
    [
        (
            {"column-0": "text", "column-1": "own"},
            "Answers are in one column, or in one column for each model",
        ),
        (
            {"column-0": "category", "column-1": "category"},
            "Choose one column for the prompt's category: a or b.",
        ),
        ({"column-0": "instruction"}, "Answers need the answer or the answer's turns (JSON list); give it"),
    ],
)
def test_what_cannot_be_is_refused_in_words_of_the_page(chosen: dict[str, str], error: str) -> None:
    (form,) = file_forms([foreign(0)], None)
    (form,) = file_forms([foreign(0)], None, sent(form, kind="completions", **chosen))
    assert any(said.startswith(error) for said in form.errors["__all__"]), form.errors


def test_another_sheet_is_read_afresh() -> None:
    report = ImportReport("study", True, looks={"0.csv": {"sheets": ["One", "Two"]}})
    (form,) = file_forms([foreign(0, format_name="table", mapping=MAPPING)], report)
    (other,) = file_forms([form.row], report, sent(form, sheet="Two"))
    assert other.is_valid(), other.errors
    assert (other.chosen().format_name, other.row.mapping) == ("", {"sheet": "Two"})
    (again,) = file_forms([other.row], report, sent(file_forms([other.row], report)[0], format_name="table"))
    assert again["sheet"].initial == "Two"


def test_what_no_file_says_of_itself_can_be_told() -> None:
    replies = {"columns": [], "found_format": "llmbar-replies", "found_kind": "comparisons"}
    form = FileForm(foreign(5, **replies), None)
    told = {"subset": "Natural", "judge": "jay", "model": "jay-1", "protocol": ""}
    form = FileForm(foreign(5, **replies), None, sent(form, **told))
    assert form.is_valid(), form.errors
    row = form.chosen()
    assert choice_of(row).about == About("Natural", "jay", {"model": "jay-1"})
    assert [field.value() for field in FileForm(row, None).told_rows()] == list(told.values())
    pairs = foreign(5, **replies | {"found_format": "llmbar", "found_kind": "pairs"})
    assert FileForm(pairs, None).told == ("subset",)
    assert FileForm(foreign(5, found_format="csv", found_kind="prompts"), None).told == ()
    checks = FileForm(foreign(5, columns=[], found_format="infobench", found_kind="answers"), None)
    assert checks.told == ("contestant", "judge", "model", "protocol")
    assert checks["contestant"].label == "Model that wrote the answers"
    form = FileForm(checks.row, None, sent(checks, contestant="Alder", judge="jay"))
    assert form.is_valid(), form.errors
    assert choice_of(form.chosen()).about == About(judge="jay", contestant="Alder")
