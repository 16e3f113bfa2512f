from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from arena.data.formats.records import ComparisonRecord, Item, RaterRecord
from tests.arena.data.formats.reading import problems, read, write_lines

PAIR = {"instruction": "Name a wader.", "output_1": "Dunlin", "output_2": "Duck"}


def ratings(items: list[Item]) -> list[ComparisonRecord]:
    return [item for item in items if isinstance(item, ComparisonRecord)]


def judges(items: list[Item]) -> list[tuple[str, Any]]:
    return [(item.slug, dict(item.facts)) for item in items if isinstance(item, RaterRecord)]


def test_answers_of_one_prompt_make_pairs_by_their_scores(tmp_path: Path) -> None:
    scores = [("a", 1.5), ("b", -2), ("c", "1.5"), ("d", None), ("e", "good")]
    rows = [{"prompt": "p", "model": model, "judge": "jay", "score": score} for model, score in scores]
    items = read(write_lines(tmp_path, "s.jsonl", *rows, {**rows[0], "prompt": "q"}))
    assert judges(items) == [("jay", {"model": "jay", "order_free": True})]
    found = {(said.first, said.second): (said.rating, said.reason) for said in ratings(items)}
    assert found["a", "b"] == (1, "")
    assert found["a", "c"] == (2, "")
    assert found["b", "c"] == (3, "")
    assert found["c", "d"] == found["d", "e"] == (None, "unparsable")
    assert len(found) == 10
    assert ratings(items)[0].scores == (Decimal("1.5"), Decimal(-2))


def test_answers_may_be_known_by_their_ids(tmp_path: Path) -> None:
    rows = [{"prompt": "p", "subset": "hard", "completion": own_id, "score": own_id} for own_id in (1, 2)]
    items = read(write_lines(tmp_path, "Reward-7B.jsonl", *rows))
    assert judges(items)[0][0] == "Reward-7B"
    (said,) = ratings(items)
    assert (said.subset, said.first_id, said.second_id, said.rating) == ("hard", "1", "2", 3)


@pytest.mark.parametrize(
    ("score", "rating"),
    [
        ({"score_1": 2, "score_2": 1}, 1),
        ({"score_1": "0.5", "score_2": 0.5}, 2),
        ({"score_1": 2, "score_2": None}, None),
        ({"score": 0.2}, 1),
        ({"score": 0}, 2),
        ({"score": -3.5}, 3),
        ({"score": "none"}, None),
    ],
)
def test_scores_of_a_pair_decide(tmp_path: Path, score: dict[str, Any], rating: int | None) -> None:
    items = read(write_lines(tmp_path, "reward.jsonl", {**PAIR, **score}))
    (said,) = ratings(items)
    assert (said.rating, said.points, said.first_id) == (rating, 3, "1")
    assert judges(items) == [("reward", {"model": "reward", "order_free": True})]


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    row = {"prompt": "p", "model": "a", "score": 1}
    path = write_lines(
        tmp_path, "s.jsonl", row, row, {**row, "model": "b", "score": 1e9}, {**row, "model": ""}
    )
    assert problems(path) == [
        (2, "score", "the second score of this answer by this judge"),
        (3, "score", "1000000000.0 is not between -99999 and 99999"),
        (4, "model", "missing"),
    ]
