"""Whether raters are people or judges, where a file does not say it."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from arena.data.formats.files import About
from arena.data.importing.import_report import ImportReport
from arena.data.importing.imports import import_files, import_records
from arena.models import Rater
from arena.texts.model_names import looks_like_model
from tests import factories
from tests.arena.data.formats.reading import write_lines
from tests.arena.data.importing.records import reasons, stock, vote

pytestmark = pytest.mark.django_db

TEXTS = [{"prompt": "p1", "contestant": name, "text": f"{name}!"} for name in "AB"]
VOTES = "prompt,first,second,rater,rating,points"


def imported(folder: Path, *votes: str, said: dict[str, str] | None = None, **files: Any) -> ImportReport:
    """An import of these ratings, beside the other ``files`` and what is ``said`` of raters."""
    write_lines(folder, "prompts.jsonl", {"id": "p1", "instruction": "Say hello."})
    write_lines(folder, "answers.jsonl", *TEXTS)
    if votes:
        write_lines(folder, "votes.csv", VOTES, *votes)
    for name, rows in files.items():
        write_lines(folder, f"{name}.csv", *rows)
    return import_files("s", [folder], about=About(raters=said or {}))


def kinds() -> list[tuple[str, str]]:
    return sorted(Rater.objects.filter(study__slug="s").values_list("slug", "kind"))


@pytest.mark.parametrize(
    "files",
    [
        {"raters": ["rater,rater_kind", "anti,judge"]},
        {"zz_more": [f"{VOTES},rater_kind", "p1,B,A,anti,7,8,judge"]},
        {"scores": ["prompt,contestant,rater,rater_kind,score", "p1,A,anti,judge,4"]},
    ],
)
def test_a_name_has_the_kind_that_any_file_tells(tmp_path: Path, files: dict[str, list[str]]) -> None:
    report = imported(tmp_path, "p1,A,B,anti,2,8", "p1,A,B,ann,2,8", **files)
    assert report.ok, reasons(report)
    assert kinds() == [("ann", "person"), ("anti", "judge")]
    assert [note.text for note in report.notes] == [
        'nothing says whether "ann" is a person or a judge: it counts as a person'
    ]


def test_a_name_has_the_kind_that_the_study_knows(tmp_path: Path) -> None:
    import_records("s", [*stock(), vote(2, rater="anti", rater_kind="judge")])
    report = imported(tmp_path, "p1,A,B,anti,2,8")
    assert (report.ok, kinds()) == (True, [("anti", "judge")])
    assert not report.notes


def test_the_kind_of_a_name_that_is_both_is_asked_once(tmp_path: Path) -> None:
    import_records("s", [*stock(), *(vote(2, rater="anti", rater_kind=kind) for kind in ("judge", "person"))])
    report = imported(tmp_path, "p1,A,B,anti,2,8", "p1,B,A,anti,7,8")
    assert not report.applied
    (reason,) = reasons(report)
    assert 'there are a person and a judge "anti"; whose ratings are these?' in reason
    assert report.rater_kinds == {str(tmp_path / "votes.csv"): {"anti": ""}}
    assert imported(tmp_path, "p1,A,B,anti,2,8", "p1,B,A,anti,7,8", said={"anti": "judge"}).ok


@pytest.mark.parametrize("name", ["gpt-4", "AntiJudge", "Llama-3-8B-Instruct", "claude-3-opus", "B", "own"])
@pytest.mark.parametrize("said", ["judge", "person"])
def test_a_name_that_may_be_a_models_is_asked(tmp_path: Path, name: str, said: str) -> None:
    factories.make_rater(kind=Rater.Kind.JUDGE, slug="own", name="Our own")
    report = imported(tmp_path, f"p1,A,B,{name},2,8")
    (reason,) = reasons(report)
    assert (report.applied, f'is "{name}" a person or a judge?' in reason) == (False, True)
    assert not report.may_leave_out, "this is a question about all ratings of a rater"
    assert not Rater.objects.filter(study__slug="s").exists()
    report = imported(tmp_path, f"p1,A,B,{name},2,8", said={name: said})
    assert report.ok, reasons(report)
    assert (kinds(), report.note_count) == ([(name, said)], 0)


def test_a_kind_that_a_later_row_contradicts_is_asked() -> None:
    report = import_records(
        "s", [*stock(), vote(2, 1, rater_kind=""), vote(2, 1, "more", rater_kind="judge")]
    )
    (reason,) = reasons(report)
    assert '"ann" is a judge in more, line 1. Is it one here?' in reason
    report = import_records("s", [*stock(), vote(2, 1, rater_kind=""), vote(7, 2, rater_kind="judge")])
    assert (report.ok, kinds()) == (True, [("ann", "judge")])


def test_the_report_names_the_first_of_those_who_count_as_people() -> None:
    said = [vote(2, line, rater=f"r{line}", rater_kind="") for line in range(1, 8)]
    report = import_records("s", [*stock(), *said])
    assert [note.text for note in report.notes] == [
        'nothing says whether "r1", "r2", "r3", "r4", "r5" and 2 more are people or judges: they count as '
        "people"
    ]
    again = import_records("s", [*stock(), *said])
    assert (again.ok, again.notes) == (True, [])


def test_the_command_takes_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    imported(tmp_path, "p1,A,B,gpt-4,2,8")
    call_command("import_data", "s", str(tmp_path), "--rater", "gpt-4=judge")
    assert kinds() == [("gpt-4", "judge")]


def test_names_that_look_like_models() -> None:
    models = ["GPT4", "o3-mini", "qwen2.5-72b", "llm_judge", "Gemini-Pro", "autorater-1"]
    people = ["ann", "worker-58", "user_17", "crowd", "annotator_1", "Mai", "R2D2", "x", "anonymous"]
    people += ["expert", "Jane Doe", "5f2a9c", "bob@example.org", "Yiannis"]
    assert list(filter(looks_like_model, models + people)) == models


@pytest.mark.parametrize(
    ("expected", "repeat", "reason"),
    [
        ("٣", "", 'expected: "٣" is not a number'),  # digits of other scripts are none in any column
        ("7", "٣", 'repeat: "٣" is not a whole number'),
        ("8.0000001", "", "expected: 8.0000001 is not from 1 to 8 beside a rating"),
    ],
)
def test_a_number_that_cannot_be_is_named_as_it_stands(
    tmp_path: Path, expected: str, repeat: str, reason: str
) -> None:
    rows = [f"{VOTES},rater_kind,expected,repeat", f"p1,B,A,anti,7,8,judge,{expected},{repeat}"]
    [said] = reasons(imported(tmp_path, zz=rows))
    assert said.endswith(f"zz.csv, row 2: {reason}")
