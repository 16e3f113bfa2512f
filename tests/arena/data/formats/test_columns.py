"""What names and first cells of columns tell, and what has to be asked."""

from itertools import pairwise
from pathlib import Path

import pytest

from arena.data.formats import columns
from arena.data.formats.catalogue import gather
from arena.data.formats.columns import NOTHING_KNOWN, Known, Reading, _plain, guess, suggest
from arena.data.formats.files import InputFile
from arena.data.formats.table import KINDS
from tests.arena.data.formats.reading import write_lines

GUESSES = Path(__file__).with_name("guesses.txt").read_text("utf-8").strip().split("\n\n")
"""Tables whose cells are parted by bars, after ``:`` the kind of rows that somebody said, after ``=`` how the
columns are read, and after ``?`` the question."""


@pytest.mark.parametrize("guessed", GUESSES)
def test_what_columns_are_read_as(guessed: str) -> None:
    lines = guessed.split("\n")
    header, *rows = [line.split("|") for line in lines if line[:2] not in (": ", "= ", "? ")]
    kind = next((KINDS[line[2:]] for line in lines if line.startswith(": ")), None)
    samples = {name: [row[n] for row in rows] for n, name in enumerate(header)} if rows else {}
    found = guess(header, samples, kind)
    asked = found.question
    choices = f" ({asked.field}: {', '.join(asked.choices)})" if asked and asked.field else ""
    told = [f"= {found.as_options}", *([f"? {asked.text}{choices}"] if asked else [])]
    assert told == [line for line in lines if line[:2] in ("= ", "? ")]
    is_sure = asked is None and not found.mapping.faults()
    assert suggest(header, samples, kind) == (found.mapping if is_sure else None)


@pytest.mark.parametrize(
    ("value", "ids", "field"),
    [("r1", [], "prompt"), ("Name a river.", [], "instruction"), ("task 1", ["task 1"], "prompt")],
)
def test_a_prompt_of_a_requirement_is_an_id_or_a_text(value: str, ids: list[str], field: str) -> None:
    found = suggest(
        ["prompt", "requirement"], {"prompt": [value], "requirement": ["Is it short?"]}, known=Known(ids)
    )
    assert found is not None
    assert found.columns == {field: "prompt", "text": "requirement"}


LONG = [
    f"{word} is a long answer that says many things about its subject, one after another."
    for word in "abcdef"
]


def read(header: str, *rows: str, known: Known = NOTHING_KNOWN) -> Reading:
    """What is read from a table whose cells are parted by bars."""
    columns, cells = header.split("|"), [row.split("|") for row in rows]
    samples = {name: [row[n] for row in cells] for n, name in enumerate(columns)}
    found = guess(columns, samples, known=known)
    is_sure = found.question is None and not found.mapping.faults()
    assert suggest(columns, samples, known=known) == (found.mapping if is_sure else None)
    return found


NO_ANSWERS = {
    "addresses": ["ann@example.org", "bo@example.org", "cy@example.org"],
    "links": ["https://a.example", "https://b.example", "https://c.example"],
    "moments": ["2024-05-01T10:00:00Z", "5/1/2024 10:00", "2024/05/01 10:00:12 AM GMT+1"],
    "numbers": ["1", "2.5", "30 %"],
    "flags": ["true", "no", "N/A"],
    "ids": ["p-001", "p-002", "8f14e45f"],
    "uuids": ["8f14e45f-ceea-467a-9575-0b2d3c1a4e5f"] * 3,
    "sides": ["Answer A", "left", "tie"],
    "names of columns": ["Alder", "Birch", "Alder"],
    "labels": ["good", "bad", "good", "bad", "good", "good"],
    "lists": ["[1, 2]", '{"a": 1}', "[]"],
    "errors of sheets": ["#REF!", "#N/A", "#DIV/0!"],
}


@pytest.mark.parametrize("name", ["Feld", "Heron", "x1", "Spalte 7"])
@pytest.mark.parametrize("cells", NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_cells_that_are_no_texts_are_never_answers(name: str, cells: list[str]) -> None:
    many = (cells * 6)[:6]
    samples = {
        "question": [f"Name river {n}." for n in range(6)],
        "Alder": [f"It is river {n}." for n in range(6)],
        "Birch": [f"Some stream {n}." for n in range(6)],
        name: many,
    }
    mapping = guess(list(samples), samples).mapping
    assert name not in (mapping.columns.get("text"), *mapping.further)
    alone = guess(["question", name], {"question": samples["question"], name: many}).mapping
    assert name not in alone.columns.values()


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Email Address",
            "Timestamp",
            "Comments",
            "status",
            "pw",
            "preferred_model",
            "Your e-mail",
            "Rater 2",
        ),
        *("lead_time", "Which do you prefer?", "annotator_notes", "Reference answer's label", "Worker ID"),
        *("reason for rating", "Model version", "source", "Language", "session id", "Ground truth", "Rubric"),
        *("Remarks", "observations", "Assessment", "Evaluation notes", "Assessor"),
    ],
)
def test_columns_that_tables_usually_have_are_never_models(name: str) -> None:
    samples = {"question": LONG, "Alder": LONG[1:], "Birch": LONG[2:], name: LONG[3:]}
    mapping = guess(list(samples), samples).mapping
    assert name not in (mapping.columns.get("text"), *mapping.further)


@pytest.mark.parametrize("name", ["gpt-4", "Llama-3-8B-Instruct", "LLM judge 7B", "claude-3-sonnet", "Time"])
def test_a_name_of_a_model_is_one_whatever_words_it_has(name: str) -> None:
    samples = {"question": LONG, "Alder": LONG[1:], name: LONG[2:]}
    mapping = suggest(list(samples), samples, known=Known(models=["Time"]))
    assert mapping is not None
    assert mapping.spread_columns == ("Alder", name)


def test_a_rating_has_the_points_of_a_study_that_is_rated() -> None:
    table = "prompt|model_a|model_b|rating|rater", "Name a river.|Heron|Stork|2|ann"
    found = read(*table, known=Known(points=5, is_rated=True))
    assert (found.question, found.mapping.constants) == (None, {"points": "5"})
    asked = read(*table, known=Known(points=5))
    assert asked.question is not None
    assert asked.question.choices == ("5", "2", "3", "8")


def test_the_prompt_that_somebody_chose_leaves_the_others_to_be_models() -> None:
    samples = {"Alder": LONG[1:], "Birch": LONG[2:], "Aufgabe": LONG}
    asked = guess(list(samples), samples)
    assert asked.question is not None
    assert asked.question.choices == ("Alder", "Birch", "Aufgabe")
    found = guess(list(samples), samples, prompt="Aufgabe")
    assert (found.question, found.mapping.spread_columns) == (None, ("Alder", "Birch"))
    assert found.mapping.columns["instruction"] == "Aufgabe"


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"prompt": "a", "heron_text": "Rhine", "p": "b"}], "no format has these columns"),
        (
            [
                {"rater": "a", "rater_kind": "person", "rating": "2"}
                | {"prompt": "p", "first": "m", "second": "n"}
            ],
            "On how many points were the ratings given?",
        ),
        (
            [{"Aufgabe": one, "Alder": two, "Birch": two} for one, two in pairwise(LONG)],
            "Which column is the prompt? Try --format table --kind completions --map instruction=Aufgabe",
        ),
        (
            [{"prompt": "Name a river.", "preferred": "The Rhine.", "rejected": "A road."}],
            "Try --format table --kind pairs --map first_text=preferred --map second_text=rejected",
        ),
    ],
)
def test_the_command_suggests_what_the_page_does(
    tmp_path: Path, rows: list[dict[str, str]], told: str
) -> None:
    path = write_lines(tmp_path, "rows.jsonl", *rows)
    (problem,) = gather([path]).problems
    assert told in problem.reason
    file = InputFile(path)
    found = guess(file.columns(), file.samples())
    assert (found.as_options in problem.reason) == bool(found.question or not found.mapping.faults())


@pytest.mark.parametrize("cell", ["x", "a text of some words", "7", "A", "Heron 3"])
def test_wide_tables_are_read_in_proportion_to_their_columns(
    monkeypatch: pytest.MonkeyPatch, cell: str
) -> None:
    read = 0

    def plain(column: str) -> str:
        nonlocal read
        read += 1
        return _plain(column)

    monkeypatch.setattr(columns, "_plain", plain)

    def names_read(width: int) -> int:
        nonlocal read
        read = 0
        names = [f"c{number}" for number in range(width)]
        guess(names, {name: [cell, cell] for name in names})
        return read

    assert names_read(200) < 2.5 * names_read(100)
