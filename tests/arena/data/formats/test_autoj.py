from pathlib import Path

import pytest

from arena.data.formats.records import ComparisonRecord, GoldRecord
from arena.data.importing.imports import import_files
from arena.models import Comparison
from tests.arena.data.formats.reading import problems, read, write_lines

ITEM = {"scenario": "poems", "prompt": "A haiku.", "response 1": "Rain.", "response 2": "Snow.", "label": 0}


def test_a_label_says_which_response_is_better(tmp_path: Path) -> None:
    rows = [{**ITEM, "label": label} for label in (0, 1, 2)]
    items = read(write_lines(tmp_path, "t.jsonl", *rows))
    assert [(item.gold, item.source) for item in items if isinstance(item, GoldRecord)] == [
        ("first", "Auto-J"),
        ("second", "Auto-J"),
        ("tie", "Auto-J"),
    ]
    prompt, one, two, _ = items[:4]
    assert (prompt.turns, prompt.category) == (("A haiku.",), "poems")
    assert [(answer.contestant, answer.id, answer.turns[0]) for answer in (one, two)] == [
        (None, "1", "Rain."),
        (None, "2", "Snow."),
    ]


@pytest.mark.django_db
def test_a_pair_that_is_repeated_with_another_label_is_a_pair_of_its_own(tmp_path: Path) -> None:
    """As the published file has one; a judge's verdicts count as often as its authors count them."""
    rows = [{**ITEM, "label": label} for label in (0, 1, 0)]
    pairs = write_lines(tmp_path, "test.jsonl", *rows)
    judged = write_lines(
        tmp_path, "pairwise_wren_output.jsonl", *[{"output": output} for output in (0, 0, 2)]
    )
    report = import_files("s", [pairs, judged])
    assert report.applied
    assert "1 pair is repeated with another label; each is a pair of its own" in {
        note.text for note in report.notes
    }
    said = Comparison.objects.order_by("pk").values_list("pair__gold", "rating", "repeat")
    assert list(said) == [("first", 1, 0), ("second", 1, 0), ("first", 2, 1)]


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path, "t.jsonl", ITEM, ITEM | {"label": 3}, ITEM | {"label": None, "response 1": 4}
    )
    assert problems(path) == [
        (2, "label", "3 is not between 0 and 2"),
        (3, "label", "missing; 0 or 1 says which response is better, 2 is a tie"),
    ]


def test_verdicts_follow_the_lines_of_the_pairs(tmp_path: Path) -> None:
    pairs = write_lines(tmp_path, "test.jsonl", *({**ITEM, "prompt": prompt} for prompt in "xyz"))
    name = "pairwise_wren_output.jsonl"
    outputs = [{"output": output} for output in (0, 2, None)]
    straight = write_lines(tmp_path, name, *outputs)
    swapped = write_lines(tmp_path, name.replace("_", "_exchange_", 1), *reversed(outputs))
    said = [item for item in read(pairs, straight, swapped) if isinstance(item, ComparisonRecord)]
    assert {(item.rater, item.points) for item in said} == {("wren", 3)}
    assert sorted((item.first_id, item.rating or 0) for item in said) == [
        *(("1", rating) for rating in (0, 1, 2)),
        *(("2", rating) for rating in (0, 1, 2)),
    ]
    assert problems(straight)[0][2].startswith("its lines follow those of the pairs")
    assert problems(pairs, write_lines(tmp_path, name, *outputs[:2])) == [
        (0, "", "1 of the 3 pairs have no line here")
    ]
    longer = write_lines(tmp_path, name, *outputs, {"output": 1})
    assert problems(pairs, longer) == [(4, "output", "the file of the pairs has no such line")]
