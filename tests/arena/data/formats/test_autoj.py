from pathlib import Path

from arena.data.formats.records import GoldRecord
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


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path, "t.jsonl", ITEM, ITEM | {"label": 3}, ITEM | {"label": None, "response 1": 4}
    )
    assert problems(path) == [
        (2, "label", "3 is not between 0 and 2"),
        (3, "label", "missing; 0 or 1 says which response is better, 2 is a tie"),
    ]
