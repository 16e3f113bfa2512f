"""What names and first cells of columns tell, and what has to be asked."""

from itertools import pairwise
from pathlib import Path

import pytest

from arena.data.formats import columns
from arena.data.formats.catalogue import gather
from arena.data.formats.columns import NOTHING_KNOWN, Known, Reading, _plain, guess, suggest
from arena.data.formats.files import InputFile
from arena.data.formats.reading import Kind
from tests.arena.data.formats.reading import write_lines


@pytest.mark.parametrize(
    ("columns", "row", "found"),
    [
        ("Frage Antwort1 Antwort2", "Wie_geht_es? So. Nein.", "Frage: Antwort1 Antwort2"),
        ("question difficulty source notes", "Why? hard web none", None),
        ("question year price", "Why? 1999 3.50", None),
        ("question model answer Alder Birch", "Why? A So. x y", None),
    ],
)
def test_which_columns_may_be_models(columns: str, row: str, found: str | None) -> None:
    names = columns.split()
    samples = {name: [value] for name, value in zip(names, row.split(), strict=True)}
    mapping = guess(names, samples).mapping
    spread = f"{mapping.columns['instruction']}: {' '.join(mapping.spread_columns)}"
    assert (spread if mapping.further else None) == found
    assert (suggest(names, samples) == mapping) == (found is None)


@pytest.mark.parametrize(
    ("columns", "kind", "mapping"),
    [
        (
            "number topic question system answer",
            Kind.COMPLETIONS,
            "prompt=number category=topic instruction=question contestant=system text=answer",
        ),
        (
            "prompt_id Model-Name Response",
            Kind.COMPLETIONS,
            "prompt=prompt_id contestant=Model-Name text=Response",
        ),
        ("prompt model output", Kind.COMPLETIONS, "instruction=prompt contestant=model text=output"),
        ("left right winner", Kind.COMPARISONS, "first=left second=right winner=winner"),
        (
            "question_id model_a model_b label worker comment",
            Kind.COMPARISONS,
            "prompt=question_id first=model_a second=model_b winner=label rater=worker rationale=comment",
        ),
        (
            "input text_a text_b winner",
            Kind.COMPARISONS,
            "instruction=input first_text=text_a second_text=text_b winner=winner",
        ),
        (
            "question model_a model_b Label_1 Label_2 label3",
            Kind.COMPARISONS,
            "instruction=question first=model_a second=model_b winner=Label_1",
        ),
        ("prompt requirement labels", Kind.QUESTIONS, "prompt=prompt text=requirement labels=labels"),
        ("prompt_id Questions", Kind.QUESTIONS, "prompt=prompt_id text=Questions"),
        ("prompt question", Kind.PROMPTS, "instruction=question id=prompt"),
        ("# Question Topic", Kind.PROMPTS, "id=# instruction=Question category=Topic"),
        ("prompt", Kind.PROMPTS, "instruction=prompt"),
        ("model org license", Kind.CONTESTANTS, "name=model organisation=org licence=license"),
    ],
)
def test_suggestions(columns: str, kind: Kind, mapping: str) -> None:
    found = suggest(columns.split())
    assert found.kind is kind
    assert found.columns == dict(pair.split("=") for pair in mapping.split())
    assert found.further == (("Label_2", "label3") if "label3" in columns else ())
    wants_rater = kind is Kind.COMPARISONS and "rater" not in found.columns and not found.further
    assert found.constants == ({"rater": "anonymous"} if wants_rater else {})


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


def test_several_questions_of_a_prompt_are_its_requirements(tmp_path: Path) -> None:
    rows = [f"{prompt},Is {prompt} {word}?" for prompt in ("rain", "sun", "fog") for word in ("big", "wet")]
    file = InputFile(write_lines(tmp_path, "rows.csv", "prompt,question", *rows))
    found = suggest(file.columns(), file.samples())
    assert found is not None
    assert (found.kind, found.columns) == (Kind.QUESTIONS, {"prompt": "prompt", "text": "question"})


@pytest.mark.parametrize(
    ("kind", "columns", "mapping"),
    [
        (Kind.QUESTIONS, "prompt question", "prompt=prompt text=question"),
        (
            Kind.ANSWERS,
            "prompt model number met",
            "prompt=prompt contestant=model question=number answer=met",
        ),
        (
            Kind.SCORES,
            "question model answer score",
            "instruction=question contestant=model text=answer score=score",
        ),
        (Kind.RATERS, "rater kind", "rater=rater rater_kind=kind"),
        (
            Kind.PAIRS,
            "question text_a text_b label",
            "instruction=question first_text=text_a second_text=text_b gold=label",
        ),
    ],
)
def test_columns_are_guessed_for_the_kind_that_somebody_chose(kind: Kind, columns: str, mapping: str) -> None:
    found = guess(columns.split(), {}, kind).mapping
    assert (found.kind, found.columns) == (kind, dict(pair.split("=") for pair in mapping.split()))


def test_a_requirement_beside_a_model_is_no_table_of_requirements() -> None:
    found = guess(["prompt", "model", "requirement", "met"], {}).mapping
    assert found.kind is not Kind.QUESTIONS


def test_columns_that_tell_nothing() -> None:
    assert [suggest(columns.split()) for columns in ("", "colour shape", "algorithm item score")] == [
        None
    ] * 3


RIVER, BIRD = ("Name a river.", "The Rhine.", "A road."), ("Name a bird.", "Owl", "A car.")
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


def told(mapping: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in mapping.split("|"))


@pytest.mark.parametrize(
    ("header", "rows", "kind", "columns", "constants"),
    [
        # A form: people's addresses, times, and a verdict that names a column.
        (
            "Timestamp|Email Address|Question|Answer A|Answer B|Which is better?",
            ["5/1/2024 10:00:00|ann@example.org|Name a river|The Rhine|A road|Answer A"],
            Kind.COMPARISONS,
            "first_text=Answer A|second_text=Answer B|winner=Which is better?|rater=Email Address|"
            "instruction=Question",
            "",
        ),
        (
            "Zeitstempel|E-Mail-Adresse|Prompt|Response 1|Response 2|Wahl",
            ["01.05.2024 10:00:00|ann@example.org|Name a river|The Rhine|A road|Response 2"],
            Kind.COMPARISONS,
            "first_text=Response 1|second_text=Response 2|winner=Wahl|instruction=Prompt|"
            "rater=E-Mail-Adresse",
            "",
        ),
        # Label Studio calls the tag of a pair "pw"; MTurk puts groups before names.
        (
            "annotation_id|annotator|created_at|id|lead_time|prompt|pw|text1|text2|updated_at",
            ["7|1|2024-05-01T10:00:00Z|3|4.2|Name a river.|left|The Rhine.|A road.|2024-05-01T10:00:00Z"],
            Kind.COMPARISONS,
            "first_text=text1|second_text=text2|winner=pw|rater=annotator|created_at=created_at|"
            "instruction=prompt",
            "",
        ),
        (
            "HITId|WorkerId|Input.prompt|Input.text_a|Input.text_b|Answer.choice|AssignmentStatus",
            ["3QI|A1B2|Name a river.|The Rhine.|A road.|b|Submitted"],
            Kind.COMPARISONS,
            "first_text=Input.text_a|second_text=Input.text_b|winner=Answer.choice|rater=WorkerId|"
            "instruction=Input.prompt",
            "",
        ),
        (
            "prompt|model_a|model_b|response_a|response_b|preferred_model|status|annotator",
            ["Name a river.|heron|stork|The Rhine.|A road.|stork|submitted|ann"] * 3,
            Kind.COMPARISONS,
            "first=model_a|second=model_b|first_text=response_a|second_text=response_b|winner=preferred_model|"
            "rater=annotator|instruction=prompt",
            "",
        ),
        (
            "ID|Start time|Email|Question|Output 1|Output 2|Better output",
            ["1|5/1/24 10:00:00|anonymous|Name a river.|The Rhine.|A road.|Output 2"],
            Kind.COMPARISONS,
            "first_text=Output 1|second_text=Output 2|winner=Better output|rater=Email|instruction=Question",
            "",
        ),
        (
            "prompt_id|left_model|right_model|vote|user",
            ["q1|Heron|Stork|left|u1", "q2|Heron|Stork|both bad|u2"],
            Kind.COMPARISONS,
            "first=left_model|second=right_model|winner=vote|rater=user|prompt=prompt_id",
            "",
        ),
        (
            "id|instruction|response_1|response_2|preference|status",
            ["8f14e45f|Name a river.|The Rhine.|A road.|response_1|completed"],
            Kind.COMPARISONS,
            "first_text=response_1|second_text=response_2|winner=preference|instruction=instruction",
            "rater=anonymous",
        ),
        (
            "prompt|winner|loser",
            ["p-1|Heron|Stork", "p-2|Stork|Heron"],
            Kind.COMPARISONS,
            "first=winner|second=loser|prompt=prompt",
            "winner=first|rater=anonymous",
        ),
        # Two columns are models, and a verdict names one of them.
        (
            "prompt|heron|stork|preferred_model|status|pw",
            ["Name a river.|The Rhine.|A road.|heron|done|k2", "Name a bird.|Owl|A car.|tie|done|k3"],
            Kind.COMPARISONS,
            "first_text=heron|second_text=stork|winner=preferred_model|instruction=prompt",
            "first=heron|second=stork|rater=anonymous",
        ),
        # Names of models in columns that are called after the sides.
        (
            "instruction|first|second|rater|rating|points",
            ["Name a river.|Heron|Stork|ann|2|8", "Name a bird.|Stork|Heron|ann|7|8"],
            Kind.COMPARISONS,
            "first=first|second=second|rating=rating|points=points|rater=rater|instruction=instruction",
            "",
        ),
        (
            "prompt|model A|model B|answer A|answer B|rating|rater|kind|points",
            ["Name a river.|Alpha|Bravo|The Rhine.|A road.|2|ann|person|8"],
            Kind.COMPARISONS,
            "first=model A|second=model B|first_text=answer A|second_text=answer B|rating=rating|"
            "points=points|rater=rater|rater_kind=kind|instruction=prompt",
            "",
        ),
        # The better and the worse.
        (
            "prompt|chosen|rejected",
            ["|".join(RIVER), "|".join(BIRD)],
            Kind.PAIRS,
            "first_text=chosen|second_text=rejected|instruction=prompt",
            "gold=first|gold_source=preferences",
        ),
        (
            "prompt|chosen|chosen_model|rejected|rejected_model|subset|id",
            [
                "Name a river.|The Rhine.|heron|A road.|stork|easy|1",
                "Name a bird.|Owl.|human|Car.|unknown|hard|2",
            ],
            Kind.PAIRS,
            "first=chosen_model|second=rejected_model|first_text=chosen|second_text=rejected|"
            "instruction=prompt|subset=subset|prompt=id",
            "gold=first|gold_source=preferences",
        ),
        (
            "prompt|chosen|rejected|margin|n_raters|agreement|consensus|consensus_by|prompt_id|category|simulated",
            ["Name a river.|The Rhine.|A road.|0.5|3|1.0|chosen|majority|gen-1|facts|false"],
            Kind.PAIRS,
            "first_text=chosen|second_text=rejected|instruction=prompt|category=category|prompt=prompt_id",
            "gold=first|gold_source=preferences",
        ),
        (
            "prompt|chosen|rejected|style|facts",
            ["Name a river.|The Rhine.|A road.|chosen|tie", "Name a bird.|Owl.|A car.|rejected|chosen"],
            Kind.PAIRS,
            "first_text=chosen|second_text=rejected|instruction=prompt",
            "gold=first|gold_source=preferences",
        ),
        (
            "id|question|response_preferred|response_non_preferred|score_chosen",
            ["7|Name a river.|The Rhine.|A road.|8.0"],
            Kind.PAIRS,
            "first_text=response_preferred|second_text=response_non_preferred|instruction=question|prompt=id",
            "gold=first|gold_source=preferences",
        ),
        (
            "prompt|chosen|rejected|annotator",
            ["Name a river.|The Rhine.|A road.|ann"],
            Kind.COMPARISONS,
            "first_text=chosen|second_text=rejected|rater=annotator|instruction=prompt",
            "winner=first",
        ),
        # Columns of models, beside what tables usually have.
        (
            "Question|Alder|Birch|Reviewer notes|Difficulty|Source URL|last_updated",
            ["Name a river.|The Rhine.|A road.|fine|easy|https://example.org|May 1, 2024"],
            Kind.COMPLETIONS,
            "instruction=Question|text=Alder",
            "",
        ),
        (
            "prompt|gpt-4|claude-2|region|cost",
            [f"Name river {n}.|River {n}.|Stream {n}.|north|$0.0{n}" for n in range(1, 7)],
            Kind.COMPLETIONS,
            "instruction=prompt|text=gpt-4",
            "",
        ),
        (
            "question|region",
            [f"Name river {n}.|north" for n in range(6)],
            Kind.PROMPTS,
            "instruction=question",
            "",
        ),
        (
            "question|owner|code|day",
            ["Name a river.|ann@example.org|b7-3|1 May 2024", "Name a bird.|bo@example.org|b8-1|2 May 2024"],
            Kind.PROMPTS,
            "instruction=question",
            "",
        ),
    ],
)
def test_what_tables_of_others_hold(
    header: str, rows: list[str], kind: Kind, columns: str, constants: str
) -> None:
    found = read(header, *rows)
    assert found.question is None
    assert (found.mapping.kind, found.mapping.columns) == (kind, told(columns))
    assert found.mapping.constants == (told(constants) if constants else {})
    assert found.mapping.faults() == []


@pytest.mark.parametrize(
    ("header", "rows", "question", "field"),
    [
        (
            "Aufgabe|Alder|Birch",
            [f"Nenne Fluss {n}.|Rhein {n}.|Elbe {n}." for n in range(3)],
            "Which column is the prompt?",
            "instruction",
        ),
        (
            "history|human_ref_A|human_ref_B|labels",
            ["Why is the sky blue?|Air.|Sea.|1"],
            "Which column is the prompt?",
            "instruction",
        ),
        (
            "question|Alder",
            ["Name a river.|The Rhine."],
            "Is Alder a model, and are its cells the answers?",
            "",
        ),
        (
            "question|Heron|Stork",
            [f"Pick {n}|{'ABCD'[n % 4]}|{'ABDC'[n % 4]}" for n in range(12)],
            "Are Heron and Stork models, and their cells the answers?",
            "",
        ),
        (
            "prompt|answer_a|answer_b|rater|style|facts",
            ["Name a river.|The Rhine.|A road.|ann|A|tie", "Name a bird.|Owl.|A car.|ann|B|A"],
            "Does style say which answer is better?",
            "",
        ),
        (
            "question|response_j|response_k",
            ["Name a river.|The Rhine is long.|It is a road."],
            "Are response_j and response_k models, and their cells the answers?",
            "",
        ),
        (
            "prompt|model|answer|rating|rater",
            ["Name a river.|Alder|The Rhine.|4|ann"],
            "Are the numbers in rating scores that raters gave to single answers?",
            "",
        ),
        (
            "instruction|input|output",
            ["Name a river.||The Rhine."],
            "Which model wrote the answers in the column output?",
            "contestant",
        ),
        (
            "question|answer_1|answer_2",
            ["|".join(RIVER)],
            "Are answer_1 and answer_2 models, and their cells the answers?",
            "",
        ),
        (
            "question|Alder|Birch|Team",
            [f"Name a river.|{LONG[n]}|{LONG[n + 1]}|blue {n}" for n in range(3)],
            "Are Alder, Birch and Team models, and their cells the answers?",
            "",
        ),
        (
            "question|Alder|Birch|Cedar|best",
            ["Name a river.|Rhine.|Elbe.|Oder.|Birch"],
            "Are Alder, Birch and Cedar models, and their cells the answers?",
            "",
        ),
        (
            "prompt|answer_a|answer_b|ann|bo",
            ["|".join([*RIVER, "A", "B"]), "|".join([*BIRD, "tie", "A"])],
            "Are ann and bo raters, and their cells what they said?",
            "",
        ),
        (
            "prompt|model_a|model_b|rating|rater",
            ["Name a river.|Heron|Stork|2|ann"],
            "On how many points were the ratings given?",
            "points",
        ),
        (
            "prompt|chosen|rejected",
            ['Name a river.|[{"role": "user"}]|[{"role": "user"}]'],
            "No answers can be read from chosen and rejected. Is this a file of prompts alone?",
            "",
        ),
    ],
)
def test_what_is_in_doubt_is_one_question(header: str, rows: list[str], question: str, field: str) -> None:
    found = read(header, *rows)
    assert found.question is not None
    assert (found.question.text, found.question.field) == (question, field)
    columns = header.split("|")
    assert (
        suggest(columns, {name: [row.split("|")[n] for row in rows] for n, name in enumerate(columns)})
        is None
    )
    assert set(found.question.choices) <= {*columns, "2", "3", "5", "8"}


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


def test_two_models_with_a_column_each_are_read_where_rows_are_said_to_be_ratings() -> None:
    samples = {"prompt": ["Name a river."], "Heron": ["The Rhine."], "Stork": ["A road."], "best": ["Stork"]}
    found = suggest(list(samples), samples, Kind.COMPARISONS)
    assert found is not None
    assert found.constants == {"first": "Heron", "second": "Stork", "rater": "anonymous"}
    assert found == suggest(list(samples), samples)


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
