from pathlib import Path

from arena.data.formats.verdicts import unknown
from arena.rating.subsets import TRAINING_SUBSET
from tests.arena.data.formats.reading import problems, read, write_lines

HEADER = "id,prompt,model_x,model_y,worker,winner,left,right"


def test_crowd_vote(tmp_path: Path) -> None:
    rows = ["4,8,97,98,58,right,Heron,Rook", "5,8,97,98,58,perhaps,Heron,Rook"]
    path = write_lines(tmp_path, "crowd-comparisons.csv", HEADER, *rows)
    record = read(path)[0]
    assert (record.first, record.second, record.rating, record.points) == ("Heron", "Rook", 3, 3)
    assert (record.rater, record.rater_kind, record.id) == ("worker-58", "person", "4")
    assert problems(path) == [(3, "winner", unknown("perhaps"))]


def test_the_judge_is_told_by_the_file(tmp_path: Path) -> None:
    header = HEADER.replace("worker,", "")
    path = write_lines(tmp_path, "gpt3-comparisons.csv", header, "4,8,97,98,tie,Heron,Rook")
    rater, vote = read(path)
    assert (rater.slug, rater.name, vote.rater, vote.rating) == ("gpt-3.5", "GPT-3.5", "gpt-3.5", 2)
    other = write_lines(tmp_path, "other.csv", header, "4,8,97,98,tie,Heron,Rook")
    assert problems(other) == [
        (1, "", "the file needs a column worker, or a name that begins with gpt4 or gpt3")
    ]


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
    assert (first.contestant, first.id, first.turns) == (None, "first", ("Reed & Co",))
    assert (second.contestant, second.id, second.turns) == (None, "second", ("",))
    assert (label.first_id, label.second_id, label.gold, label.use) == ("first", "second", "first", "train")
    assert (label.source, label.explanation) == ("LLMFAO training", "System B says nothing.")
    broken = write_lines(tmp_path, "training.jsonl", PAIR, {**PAIR, "result_y": None, "golden": "perhaps"})
    winner = (2, "golden", unknown("perhaps"))
    assert problems(broken) == [winner, (2, "result_y", "missing")]
