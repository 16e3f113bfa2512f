from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena.formats.records import ComparisonRecord, CompletionRecord, ContestantRecord, PromptRecord
from tests.arena.formats.reading import problems, read, write_lines


def test_each_thing_is_named_once(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path,
        "battles.csv",
        "question_id,model_a,model_b,winner,judge,turn,language,tstamp",
        "q1,A,B,model_a,user_1,1,English,1700000000.5",
        "q1,B,A,tie (bothbad),user_2,1,English,1700000001",
    )
    items = read(path)
    assert [type(item) for item in items] == [
        PromptRecord,
        ContestantRecord,
        CompletionRecord,
        ContestantRecord,
        CompletionRecord,
        ComparisonRecord,
        ComparisonRecord,
    ]
    assert all(item.implied and item.turns == () for item in items if isinstance(item, CompletionRecord))
    first, second = items[-2:]
    assert isinstance(first, ComparisonRecord)
    assert isinstance(second, ComparisonRecord)
    assert (first.first, first.second, first.rating, first.points) == ("A", "B", 1, 3)
    assert (first.prompt, first.rater, first.rater_kind) == ("q1", "user_1", "person")
    assert first.created_at == datetime(2023, 11, 14, 22, 13, 20, 500000, tzinfo=UTC)
    assert first.extra == {"turn": "1", "language": "English"}
    assert (second.rating, second.extra["winner"]) == (2, "tie (bothbad)")


@pytest.mark.parametrize(("winner", "rating"), [("model_a", 1), ("tie", 2), ("model_b", 3)])
def test_winners_without_question_or_judge(tmp_path: Path, winner: str, rating: int) -> None:
    row = {"model_a": "A", "model_b": "B", "winner": winner}
    record = read(write_lines(tmp_path, "battles.jsonl", row))[-1]
    assert isinstance(record, ComparisonRecord)
    assert (record.prompt, record.rater, record.rating) == ("battles", "anonymous", rating)


def test_an_unknown_winner_is_never_a_tie(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path, "battles.csv", "model_a,model_b,winner", "A,B,model_a", "A,B,Model A", "A,A,tie"
    )
    assert problems(path) == [
        (3, "winner", '"Model A" is not one of model_a, tie, tie (bothbad), both_bad, model_b'),
        (4, "model_b", 'the same model as model_a ("A")'),
    ]
