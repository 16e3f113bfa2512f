from collections import Counter
from pathlib import Path

from arena.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    ContestantRecord,
    GoldRecord,
    PromptRecord,
)
from tests.arena.formats.reading import problems, read, write_lines

HEADER = "id,prompt,model_x,model_y,worker,winner,left,right"


def test_reference_data(reference_data: Path) -> None:
    items = read(reference_data / "llmfao")
    kinds = Counter(type(item) for item in items)
    assert kinds[PromptRecord] == 19
    assert kinds[ContestantRecord] == 70
    completions = [item for item in items if isinstance(item, CompletionRecord)]
    assert len(completions) == 1133
    assert sum(not item.turns[0].strip() for item in completions) == 69
    votes = Counter(
        (Path(item.place.file).name, item.rater_kind) for item in items if isinstance(item, ComparisonRecord)
    )
    assert votes == {
        ("crowd-comparisons.csv", "person"): 8931,
        ("gpt4-crowd-comparisons.csv", "judge"): 2139,
        ("gpt3-crowd-comparisons.csv", "judge"): 2139,
        ("gpt4-comparisons.csv", "judge"): 3236,
        ("gpt3-comparisons.csv", "judge"): 3236,
    }


def test_crowd_vote(tmp_path: Path) -> None:
    path = write_lines(tmp_path, "crowd-comparisons.csv", HEADER, "4,8,97,98,58,right,Heron,Rook")
    (record,) = read(path)
    assert isinstance(record, ComparisonRecord)
    assert (record.first, record.second, record.rating, record.points) == ("Heron", "Rook", 3, 3)
    assert (record.rater, record.rater_kind, record.id) == ("worker-58", "person", "4")


def test_the_judge_is_told_by_the_file(tmp_path: Path) -> None:
    header = HEADER.replace("worker,", "")
    path = write_lines(tmp_path, "gpt3-comparisons.csv", header, "4,8,97,98,tie,Heron,Rook")
    rater, vote = read(path)
    assert (rater.slug, rater.name, vote.rater, vote.rating) == ("gpt-3.5", "GPT-3.5", "gpt-3.5", 2)
    other = write_lines(tmp_path, "other.csv", header, "4,8,97,98,tie,Heron,Rook")
    assert problems(other) == [
        (1, "", "there is no column worker, and the file's name does not begin with gpt4 or gpt3")
    ]


def test_an_unknown_winner_is_named(tmp_path: Path) -> None:
    path = write_lines(tmp_path, "crowd-comparisons.csv", HEADER, "4,8,97,98,58,both,Heron,Rook")
    assert problems(path) == [(2, "winner", '"both" is not one of left, tie, right')]


def test_training_pairs_are_gold_labels(tmp_path: Path) -> None:
    models = write_lines(
        tmp_path,
        "models.jsonl",
        {"id": 84, "api_id": "a", "name": "Heron", "org": "Reed"},
        {"id": 22, "api_id": "b", "name": "Rook", "org": "Reed"},
    )
    pair = {"id": -1, "prompt": 13, "text": "Name it.", "model_x": 84, "result_x": "A", "model_y": 22}
    pair |= {"result_y": "B", "golden": "right", "reason": "B is complete."}
    training = write_lines(tmp_path, "pairs-crowd-training.jsonl", pair)
    (label,) = [item for item in read(models, training) if isinstance(item, GoldRecord)]
    assert (label.prompt, label.first, label.second, label.gold) == ("13", "Heron", "Rook", "second")
    assert label.source == "LLMFAO training: B is complete."
    assert problems(training) == [(0, "", "names models by number; import models.jsonl together with it")]
    broken = write_lines(tmp_path, "training.jsonl", {**pair, "model_y": 5, "golden": "both"})
    assert problems(models, broken) == [
        (1, "golden", '"both" is not one of left, tie, right'),
        (1, "model_y", "models.jsonl has no model 5"),
    ]
