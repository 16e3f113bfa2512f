"""Features of answers, imported and kept."""

from pathlib import Path
from typing import Any

import pytest

from arena.data.importing.imports import import_files, import_records
from arena.features.recording import FeatureNameError, NewFeature, record_features
from arena.models import CompletionFeature, Study
from tests import factories as make
from tests.arena.data.formats.reading import write_lines
from tests.arena.data.importing.records import added, completion, feature, reasons, stock

pytestmark = pytest.mark.django_db

GOOD: dict[str, Any] = {
    "prompt": "p1",
    "contestant": "A",
    "name": "entropy",
    "variant": "paper",
    "value": 0.5,
}


def stored() -> list[tuple[Any, ...]]:
    found = CompletionFeature.objects.order_by("pk")
    return list(
        found.values_list("completion__contestant__name", "turn", "name", "variant", "value", "source")
    )


def test_the_same_again_adds_nothing_and_another_value_is_an_error() -> None:
    rows = [feature(), feature(0.25, source="x"), feature(0.25, turn=1), feature(0.25, variant="released")]
    assert added(import_records("s", [*stock(), *rows]))["features"] == 4
    before, revision = stored(), Study.objects.get().revision
    report = import_records("s", rows)
    assert (report.counts["features"].unchanged, report.written) == (4, 0)
    report = import_records("s", [feature(1.0, 7, name="mean_logprob"), feature(0.75, 8, source="x")])
    assert reasons(report) == [
        "features, line 8: value: 0.75 contradicts 0.25, the entropy (paper) of this answer "
        'from "x"; correct it, or give another source'
    ]
    assert (stored(), Study.objects.get().revision) == (before, revision)


def test_two_values_in_one_file_contradict() -> None:
    report = import_records("s", [*stock(), feature(0.5, 1), feature(0.5, 2), feature(0.6, 3)])
    assert [problem.place.line for problem in report.errors] == [3]


def test_the_answer_must_be_there() -> None:
    rows = [feature(line=1, prompt="p9"), feature(line=2, contestant="C"), feature(line=3, source="x" * 201)]
    assert reasons(import_records("s", [*stock(), *rows])) == [
        'features, line 1: prompt: unknown prompt "p9"; add it or correct its id',
        'features, line 2: contestant: unknown model "C"; add it or correct its name',
        "features, line 3: source: 201 characters long; at most 200 fit",
    ]


def test_a_changed_text_has_no_features() -> None:
    import_records("s", [*stock(), feature()])
    assert import_records("s", [completion("A", "Another text.")]).counts["completions"].versions == 1
    assert list(CompletionFeature.objects.values_list("completion__is_current", flat=True)) == [False]
    assert added(import_records("s", [feature(0.7)]))["features"] == 1


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"variant": "ours"}, 'variant: "ours" is not one of paper, released, bounds'),
        ({"name": "entropy_low"}, 'name: "entropy_low" is a bound by its name; give the variant bounds'),
        ({"value": None}, "value: missing; leave out the row of a feature that has no value"),
        ({"value": 1e12}, "value: 1000000000000.0 is not between -1e+12 and 1e+12"),
        ({"value": -0.5}, "value: -0.5 is below 0, which entropy never is; check its sign"),
        (
            {"name": "dropout_mean.full", "value": 3},
            "value: 3.0 is above 0, which a log-probability never is; check its sign",
        ),
        ({"value": "0.5"}, "value: expected a number, found a text"),
        ({"extra": {"a": 1}}, "a: unknown field; a feature has prompt"),
        ({"contestant": None}, "contestant: missing; give the model"),
        ({"turn": -1}, "turn: -1 is not between 0 and"),
    ],
)
def test_bad_rows(tmp_path: Path, row: dict[str, Any], reason: str) -> None:
    import_records("s", stock())
    report = import_files("s", [write_lines(tmp_path, "f.jsonl", {**GOOD, **row})], format_name="features")
    assert reason in str(report.errors[0])
    assert not stored()


def test_a_file_of_something_else_gets_no_advice_about_tables(tmp_path: Path) -> None:
    import_records("s", stock())
    row = {key: GOOD[key] for key in ("prompt", "contestant", "name", "value")}
    report = import_files("s", [write_lines(tmp_path, "f.jsonl", row)], format_name="features")
    assert str(report.errors[0]).endswith(
        "not the columns of features: contestant, name, prompt, value. "
        "Needed: prompt, contestant or completion, name, variant and value"
    )


def test_a_table_and_objects_say_the_same(tmp_path: Path) -> None:
    import_records("s", stock())
    table = write_lines(
        tmp_path, "f.csv", "prompt,contestant,name,variant,value,source", "p1,A,own.x,paper,-1e-9,"
    )
    assert import_files("s", [table], format_name="features").applied
    assert stored() == [("A", 0, "own.x", "paper", -1e-9, "")]
    again = {**GOOD, "name": "own.x", "value": -1e-9}
    assert import_files("s", [write_lines(tmp_path, "f.jsonl", again)]).counts["features"].unchanged == 1


def test_what_records_features_refuses_names() -> None:
    answer = make.make_completion()
    with pytest.raises(FeatureNameError, match="give entropy_low and entropy_high"):
        record_features([NewFeature(answer.pk, 0, "entropy", "bounds", "", 0.5)])
