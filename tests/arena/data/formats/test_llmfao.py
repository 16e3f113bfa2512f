from collections import Counter
from pathlib import Path

from arena.data.formats.records import ComparisonRecord, CompletionRecord, ContestantRecord, PromptRecord
from arena.rating.subsets import TRAINING_SUBSET
from tests.arena.data.formats.reading import problems, read, write_lines

HEADER = "id,prompt,model_x,model_y,worker,winner,left,right"


def test_reference_data(reference_data: Path) -> None:
    items = read(reference_data / "llmfao")
    kinds = Counter(type(item) for item in items)
    training = 7
    assert kinds[PromptRecord] == 19 + training
    assert kinds[ContestantRecord] == 70
    completions = [item for item in items if isinstance(item, CompletionRecord)]
    assert len(completions) == 1133 + 2 * training
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


PAIR = {
    "id": -1,
    "prompt": 13,
    "text": "Name the vendor.",
    "model_x": 84,
    "result_x": "Reed & Co",
    "model_y": 22,
    "result_y": "",
    "golden": "left",
    "reason": "System B says nothing.",
}


def test_a_training_pair_brings_its_texts_and_no_authors(tmp_path: Path) -> None:
    prompt, first, second, label = read(write_lines(tmp_path, "pairs-crowd-training.jsonl", PAIR))
    assert (prompt.id, prompt.turns, prompt.subset) == ("-1", ("Name the vendor.",), TRAINING_SUBSET)
    assert [(text.contestant, text.id, text.turns) for text in (first, second)] == [
        (None, "first", ("Reed & Co",)),
        (None, "second", ("",)),
    ]
    assert (label.first_id, label.second_id, label.gold, label.use) == ("first", "second", "first", "train")
    assert (label.source, label.explanation) == ("LLMFAO training", "System B says nothing.")


def test_what_a_training_pair_lacks_is_named(tmp_path: Path) -> None:
    broken = write_lines(tmp_path, "training.jsonl", PAIR, {**PAIR, "result_y": None, "golden": "both"})
    assert problems(broken) == [
        (2, "golden", '"both" is not one of left, tie, right'),
        (2, "result_y", "missing"),
    ]
