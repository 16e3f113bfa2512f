from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from arena.data.formats.records import ComparisonRecord, RaterRecord
from tests.arena.data.formats.reading import problems, read, write_lines

NAME = "review_lark_wren-13b_jay-4_mec3_bpc1.json"


def make_review(score: Any) -> dict[str, Any]:
    return {"question_id": 1, "question": "Why?", "review": ["A", "B"], "review_bpc": ["C"], "score": score}


@pytest.mark.parametrize(
    ("score", "rating", "reason"),
    [([8.5, 7], 1, ""), ([7, 7.0], 2, ""), ([1, 9], 3, ""), ([-1, -1], None, "unparsable")],
)
def test_mean_scores_decide(tmp_path: Path, score: Any, rating: int | None, reason: str) -> None:
    items = read(write_lines(tmp_path, NAME, make_review(score)))
    (said,) = (item for item in items if isinstance(item, ComparisonRecord))
    assert (said.first, said.second, said.rating, said.points, said.reason) == (
        "lark",
        "wren-13b",
        rating,
        3,
        reason,
    )
    assert said.raw_reply == "A\n\nB\n\nC"
    assert said.scores == (tuple(map(Decimal, map(str, score))) if rating else None)


@pytest.mark.parametrize("both", [True, False])
def test_the_name_tells_models_judge_and_whether_both_orders_are_in_the_mean(
    tmp_path: Path, both: bool
) -> None:
    path = write_lines(tmp_path, NAME.replace("bpc1", f"bpc{both:d}"), make_review([1, 2]))
    (judge,) = (item for item in read(path) if isinstance(item, RaterRecord))
    assert judge.slug == f"jay-4-mec3-bpc{both:d}"
    assert judge.facts.get("order_free", False) is both
    assert judge.facts["model"] == "jay-4"


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    (found,) = problems(write_lines(tmp_path, "review.json", make_review([1, 2])))
    assert found[2].startswith("the name tells models and judge; call the file as in review_gpt35_vicuna-13b")
    path = write_lines(tmp_path, NAME.replace("wren-13b", "lark"), make_review([1, 2]))
    assert problems(path) == [(0, "", 'the name has the model "lark" twice')]
    path = write_lines(tmp_path, NAME, make_review([1]), make_review(["x", 2]))
    assert problems(path) == [(line, "score", "expected a list of two scores") for line in (1, 2)]
