"""The report of an import: its counts, what is missing, who names themselves, and its way through JSON."""

import json

import pytest

from arena.data.formats.records import ContestantRecord, Item, Note, Place, Problem, PromptRecord
from arena.data.importing.import_report import (
    KEPT_GROUPS,
    MATRIX_CONTESTANTS,
    MATRIX_PROMPTS,
    ImportReport,
)
from arena.data.importing.imports import import_records
from arena.models import Study
from tests.arena.data.importing.records import completion, stock, vote

pytestmark = pytest.mark.django_db


def through_json(report: ImportReport) -> ImportReport:
    return ImportReport.from_dict(json.loads(json.dumps(report.to_dict())))


class TestJson:
    def test_nothing_is_lost(self) -> None:
        records: list[Item] = [
            PromptRecord("p2", ("Another.",), subset="hard"),
            ContestantRecord("A"),
            ContestantRecord("B"),
            *stock(A="I am ChatGPT.", B=""),
            vote(3),
            vote(3, 4, first="Z"),
            vote(3, 5, first="Z"),
            Note(Place("f", 1), "Something to know."),
            Problem(Place("f"), "", "cannot be read"),
        ]
        report = import_records("s", records)
        assert report.error_count == 3
        assert report.missing.count == 2
        assert through_json(report) == report

    def test_what_no_database_stores_is_replaced(self) -> None:
        report = ImportReport("s", dry_run=True)
        report.refuse(Place("a\0.csv", 1), "name", "bad")
        (problem,) = through_json(report).errors
        assert problem == Problem(Place("a\ufffd.csv", 1), "name", "bad")


def test_the_same_error_is_grouped_with_its_first_places() -> None:
    report = ImportReport("s", dry_run=True)
    for place in (Place("a", 1), Place("a", 2), Place("b", 1), Place("b"), Place("b", 9)):
        report.refuse(place, "rating", "missing")
    for line in range(KEPT_GROUPS):
        report.refuse(Place("a"), f"field {line}", "missing")
    same, *others = report.groups.values()
    assert str(same) == "a, line 1: rating: missing (5 times, also in line 2; b, line 1; b; b, line 9)"
    assert str(others[0]) == "a: field 0: missing"
    assert (len(others), report.ungrouped, len(report.errors)) == (KEPT_GROUPS - 1, 1, KEPT_GROUPS + 5)


class TestMissing:
    def test_the_matrix_says_who_has_not_answered_what(self) -> None:
        records: list[Item] = [
            PromptRecord("p1", ("One.",)),
            PromptRecord("p2", ("Two.",), subset="hard"),
            PromptRecord("p3", ("Three.",)),
            PromptRecord("p4", (), implied=True),
            *(ContestantRecord(name) for name in "ABC"),
            *(completion("A", prompt=name) for name in ("p1", "p3")),
            completion("B", prompt="p1"),
            *(completion("C", prompt=name, subset=subset) for name, subset in (("p1", ""), ("p2", "hard"))),
            completion("C", prompt="p3"),
        ]
        matrix = import_records("s", records).missing.matrix
        assert matrix.rows == [("B", 2, [True, True]), ("A", 1, [True, False])]
        assert matrix.prompts == [("hard/p2", 2), ("p3", 1)]
        assert (matrix.all_contestants, matrix.all_prompts, matrix.is_cut) == (2, 2, False)

    def test_of_a_large_study_the_worst_is_shown(self) -> None:
        contestants = [ContestantRecord(f"c{number}") for number in range(MATRIX_CONTESTANTS + 5)]
        prompts = [PromptRecord(f"p{number}", ("x",)) for number in range(MATRIX_PROMPTS + 5)]
        answers = [completion(record.name, prompt="p0") for record in contestants[1:]]
        matrix = import_records("s", [*contestants, *prompts, *answers]).missing.matrix
        assert matrix.rows[0][:2] == ("c0", MATRIX_PROMPTS + 5)
        assert (len(matrix.contestants), len(matrix.prompts)) == (MATRIX_CONTESTANTS, MATRIX_PROMPTS)
        assert (matrix.all_contestants, matrix.all_prompts) == (MATRIX_CONTESTANTS + 5, MATRIX_PROMPTS + 5)
        assert ("p0", 1) not in matrix.prompts
        assert matrix.is_cut

    def test_retired_contestants_and_older_versions_lack_nothing(self) -> None:
        import_records("s", [*stock(), vote(3)])
        report = import_records("s", [completion("A", "A new text.")])
        assert report.missing.count == 0
        study = Study.objects.get()
        study.contestants.filter(name="A").update(retired_at="2026-01-01T00:00Z")
        report = import_records("s", [PromptRecord("p2", ("Two.",))])
        assert report.missing.matrix.contestants == [("B", 1)]


class TestSelfNaming:
    def test_counts_own_names_and_those_of_others(self) -> None:
        report = import_records(
            "s",
            [
                PromptRecord("p1", ("Who are you?",)),
                ContestantRecord("Rook 7B", organisation="OpenAI"),
                ContestantRecord("Lark"),
                ContestantRecord("Wren"),
                completion("Rook 7B", "OpenAI made me."),
                completion("Lark", "I am ChatGPT."),
                completion("Wren", "I am a bird."),
            ],
        )
        found = report.self_naming
        assert (found.own, found.others) == (1, 1)

    def test_looks_at_every_turn_and_not_at_people(self) -> None:
        report = import_records(
            "s",
            [
                PromptRecord("p1", ("Who are you?",)),
                ContestantRecord("Vicuna"),
                ContestantRecord("People", kind="people", organisation="OpenAI"),
                completion("Vicuna", turns=("Hello.", "I am Vicuna."), place=Place("c.jsonl", 7)),
                completion("People", "I work at OpenAI."),
            ],
        )
        (example,) = report.self_naming.examples
        assert (example.contestant, example.prompt, example.phrase) == ("Vicuna", "p1", "Vicuna")
        assert (example.place, example.own) == ("c.jsonl, line 7", True)
