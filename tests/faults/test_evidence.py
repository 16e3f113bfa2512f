"""The two witnesses of a drill: what counts as broken."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.faults.evidence import Line, compare
from tests.faults.report import markdown, plain

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def record(state: str, text: str, minute: int = 0, *, is_of_no_use: bool = False) -> tuple[Any, ...]:
    messages = json.dumps([{"role": "user", "content": text}])
    return state, NOON.replace(minute=minute), messages, is_of_no_use


def asked(text: str, minute: int = 0) -> tuple[float, str]:
    return NOON.replace(minute=minute).timestamp() - 1, text


def test_requests_and_records_that_agree() -> None:
    rows = [
        record("failed", "a"),
        record("replied", "a", 1),
        record("abandoned", "b"),
        record("replied", "b", 2),
    ]
    found = compare(rows, [asked("a"), asked("a", 1), asked("b"), asked("b", 2)])
    expected = (4, 2, 0, 0, 0)
    assert (found.requests, found.replied, found.unrecorded, found.unsent, found.asked_again) == expected
    assert found.states == {"failed": 1, "replied": 2, "abandoned": 1}


@pytest.mark.parametrize(
    ("rows", "log", "seen"),
    [
        ([record("replied", "a", 1)], [asked("a"), asked("b")], {"unrecorded": 1, "unsent": 0}),
        ([record("abandoned", "a"), record("replied", "a", 1)], [asked("a", 1)], {"unsent": 1}),
        # A committed reply that was asked for again, and two replies about one assignment.
        (
            [record("replied", "a", 1), record("failed", "a", 3)],
            [asked("a", 1), asked("a", 3)],
            {"asked_again": 1},
        ),
        ([record("replied", "a", 1)] * 2, [asked("a", 1)], {"asked_again": 1}),
    ],
)
def test_disagreement(
    rows: list[tuple[Any, ...]], log: list[tuple[float, str]], seen: dict[str, int]
) -> None:
    found = compare(rows, log)
    assert {name: getattr(found, name) for name in seen} == seen


def test_what_is_of_no_use_to_others_may_be_asked_for_again() -> None:
    rows = [record("replied", "a", 1, is_of_no_use=True), record("replied", "a", 3)]
    found = compare(rows, [asked("a", 1), asked("a", 3)])
    assert (found.replied, found.asked_again) == (2, 0)


def test_times_as_sqlite_gives_them() -> None:
    row = ("replied", "2030-01-01 12:01:00.5", json.dumps([{"content": "a"}]), 0)
    assert compare([row], [asked("a", 1)]).asked_again == 0
    assert compare([row], [asked("a", 2)]).asked_again == 1


REPORTS = {
    "embedded": [Line("assigned", "20", True), Line("failed", "1")],
    "production": [Line("assigned", "19", False), Line("Redis flushed", "3")],
}


def test_the_table_for_a_terminal_and_for_a_document() -> None:
    assert plain(REPORTS).splitlines() == [
        "               embedded  production",
        "assigned       20 ok     19 BROKEN",
        "failed         1",
        "Redis flushed            3",
    ]
    head = ["|  | embedded | production |", "| --- | --- | --- |", "| assigned | 20 ok | 19 BROKEN |"]
    assert markdown(REPORTS).splitlines()[:3] == head
