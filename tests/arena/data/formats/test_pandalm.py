from pathlib import Path
from typing import Any

from arena.data.formats.records import ComparisonRecord, CompletionRecord, Note, PromptRecord, RaterRecord
from tests.arena.data.formats.reading import problems, read, write_lines


def make_row(idx: int = 0, **overrides: Any) -> dict[str, Any]:
    people = {f"annotator{number}": said for number, said in enumerate((1, 0, 2), start=1)}
    texts = {"instruction": "Name it.", "input": "A wader.", "response1": "Dunlin", "response2": "Duck"}
    return {"idx": idx, "motivation_app": "Birds", "cmp_key": "a-7b_b-7b", **texts, **people, **overrides}


def test_a_row_is_a_pair_of_models_that_three_people_rated(tmp_path: Path) -> None:
    prompt, one, two, *ratings = read(write_lines(tmp_path, "t.json", make_row()))
    assert (prompt.turns, prompt.input, prompt.category) == (("Name it.",), "A wader.", "Birds")
    assert [(answer.contestant, answer.turns) for answer in (one, two)] == [
        ("a-7b", ("Dunlin",)),
        ("b-7b", ("Duck",)),
    ]
    assert [(said.rater, said.rater_kind, said.rating, said.points) for said in ratings] == [
        ("annotator1", "person", 1, 3),
        ("annotator2", "person", 2, 3),
        ("annotator3", "person", 3, 3),
    ]
    assert {(said.first_id, said.second_id) for said in ratings} == {("a-7b", "b-7b")}


def test_it_is_taken_as_found_and_said(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path,
        "t.json",
        make_row(0, response1=True, response2=""),
        make_row(1, response1="Stint", response2=""),
        make_row(2, instruction="", cmp_key="a-7b_c-7b"),
    )
    items = read(path)
    answers = [item for item in items if isinstance(item, CompletionRecord)]
    assert [(answer.contestant, answer.id, answer.turns) for answer in answers] == [
        ("a-7b", "a-7b", ("true",)),
        ("b-7b", "b-7b", ("",)),
        (None, "a-7b (2)", ("Stint",)),
        ("b-7b", "b-7b", ("",)),
        ("a-7b", "a-7b", ("Dunlin",)),
        ("c-7b", "c-7b", ("Duck",)),
    ]
    assert [item.turns for item in items if isinstance(item, PromptRecord)][-1] == ("A wader.",)
    assert [item.text for item in items if isinstance(item, Note)] == [
        "1 response(s) are true or false instead of a text (line 1 response1); they are taken as that word",
        "1 answer(s) are another text of the same model for the same prompt; they are kept as answers "
        "without a model",
    ]


def test_a_judge_names_rows_of_the_test_set(tmp_path: Path) -> None:
    other = make_row(8, cmp_key="b-7b_a-7b", response1="Duck", response2="Dunlin")
    tests = write_lines(tmp_path, "testset-v1.json", make_row(7), other)
    said = [
        {"idx": idx, "jay_result": result, "jay_reason": "So."} for idx, result in ((8, "2"), (7, "garbage"))
    ]
    path = write_lines(tmp_path, "Jay-1-testset-v1.json", *said, {"idx": 7, "jay_result": 0})
    (judge,) = (item for item in read(tests, path) if isinstance(item, RaterRecord))
    assert (judge.slug, judge.facts) == ("Jay-1", {"model": "Jay-1"})
    rated = [item for item in read(tests, path) if isinstance(item, ComparisonRecord)][-3:]
    assert [(one.first_id, one.rating, one.reason, one.rationale) for one in rated] == [
        ("b-7b", 3, "", "So."),
        ("a-7b", None, "unparsable", "So."),
        ("a-7b", 2, "", ""),
    ]
    assert problems(path) == [(0, "", "it names rows of the test set by number; import the test set with it")]
    path = write_lines(tmp_path, "j.json", {"idx": 9, "jay_result": 1}, {"idx": 7, "jay_result": "3"})
    assert problems(tests, path) == [
        (1, "idx", "the test set has no row 9"),
        (2, "jay_result", '"3" is not one of 1, 2, Tie, 0 and garbage'),
    ]


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path,
        "t.json",
        make_row(cmp_key="a-7b"),
        make_row(1, annotator2=3),
        make_row(2, annotator3=None),
        make_row(3, response1=None),
        make_row(4, instruction=" ", input=""),
        make_row(4),
    )
    assert problems(path) == [
        (1, "cmp_key", "expected the names of two models, such as llama-7b_opt-7b"),
        (2, "annotator2", "3 is not between 0 and 2"),
        (3, "annotator3", "missing; 1 or 2 is the better response, 0 a tie"),
        (4, "response1", "expected a text, found null"),
        (5, "instruction", "missing, and so is the input"),
        (6, "idx", "4 numbers two rows"),
    ]
