"""Prompts and completions that other records name in passing together with their texts."""

from dataclasses import replace

import pytest

from arena.data.formats.records import (
    CompletionRecord,
    ContestantRecord,
    Item,
    Place,
    PromptRecord,
    ReferenceRecord,
)
from arena.data.importing.imports import import_records
from arena.models import Completion, Prompt, Reference
from tests.arena.data.importing.records import reasons

pytestmark = pytest.mark.django_db

CONTESTANT = ContestantRecord("A", implied=True)


def asked(*turns: str, file: str = "votes") -> PromptRecord:
    return PromptRecord("p1", turns, implied=True, place=Place(file, 7))


def said(*turns: str, file: str = "votes") -> CompletionRecord:
    return CompletionRecord("p1", turns, contestant="A", implied=True, place=Place(file, 7))


def passing(question: str, answer: str, file: str = "votes") -> list[Item]:
    return [asked(question, file=file), CONTESTANT, said(answer, file=file)]


UNKNOWN: list[Item] = [asked(), CONTESTANT, said()]


@pytest.mark.parametrize("file", ["votes", "more"])
def test_what_is_missing_is_made_and_the_same_again_changes_nothing(file: str) -> None:
    again = passing("Why?", "Because.", file)
    report = import_records("s", [*passing("Why?", "Because."), *again])
    assert (report.ok, report.counts["prompts"].written, report.counts["completions"].written) == (True, 1, 1)
    # No text says nothing against a known one.
    for known in (again, UNKNOWN):
        report = import_records("s", known)
        assert (report.ok, report.written) == (True, 0)
    assert Prompt.objects.get().turns == ["Why?"]
    assert Completion.objects.get().turns == ["Because."]


@pytest.mark.parametrize("file", ["votes", "more"])
def test_another_text_is_an_error(file: str) -> None:
    report = import_records("s", [*passing("Why?", "Because."), *passing("Why?", "No idea.", file)])
    assert reasons(report) == [
        f'{file}, line 7: contestant: the study or these files have another text of "A" to prompt "p1"'
    ]
    report = import_records("s", [*passing("Why?", "Because."), asked("How?", file=file)])
    assert reasons(report) == [
        f'{file}, line 7: turns: the study or these files have another text of prompt "p1"; use a new id'
    ]


def test_another_text_than_the_stored_one_is_an_error() -> None:
    import_records("s", passing("Why?", "Because."))
    report = import_records("s", passing("How?", "So."))
    assert reasons(report) == [
        'votes, line 7: turns: the study or these files have another text of prompt "p1"; use a new id',
        'votes, line 7: contestant: the study or these files have another text of "A" to prompt "p1"',
    ]


@pytest.mark.parametrize("at_once", [True, False])
def test_unknown_texts_are_filled_in(at_once: bool) -> None:
    if at_once:
        import_records("s", [*UNKNOWN, *passing("Why?", "Because.")])
    else:
        import_records("s", UNKNOWN)
        assert Prompt.objects.get().turns == []
        import_records("s", passing("Why?", "Because."))
    assert Prompt.objects.get().turns == ["Why?"]
    assert Completion.objects.get().turns == ["Because."]
    assert Completion.objects.get().version == 1


@pytest.mark.parametrize("at_once", [True, False])
def test_references_are_added_to_a_known_prompt(at_once: bool) -> None:
    named = [replace(asked(), references=(ReferenceRecord(author, ("So.",)),)) for author in ("ann", "bo")]
    for items in [[asked("Why?"), *named]] if at_once else [[asked("Why?")], [named[0]], [named[1]]]:
        report = import_records("s", items)
        assert reasons(report) == []
        assert report.written
    assert import_records("s", named).written == 0
    assert Prompt.objects.get().turns == ["Why?"]
    assert set(Reference.objects.values_list("author", flat=True)) == {"ann", "bo"}


@pytest.mark.parametrize(
    ("other", "near"),
    [
        ("It’s “fine” – really.", True),
        ('It\'s "fine" - really.\n', True),
        ('It\'s  "fine"\n- really.', True),
        ('It\'s "fine" + really.', False),
        ('It\'s "Fine" - really.', False),
        ("It's fine.", False),
    ],
)
def test_copies_of_an_answer_that_differ_in_blanks_and_typography_are_one_and_counted(
    other: str, near: bool
) -> None:
    """The answers of a baseline stand in many files of a benchmark, not always letter by letter."""
    known = 'It\'s "fine" - really.'
    both = import_records("s", [*passing("Why?", known), *passing("Why?", other)])
    assert import_records("t", passing("Why?", known)).applied
    later = import_records("t", passing("Why?", other, "more"))
    for report in (both, later):
        assert (report.applied, report.counts["completions"].near_equal) == (near, near)
    assert {tuple(each.turns) for each in Completion.objects.all()} == {(known,)}
