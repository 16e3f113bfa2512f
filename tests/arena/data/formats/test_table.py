"""Foreign tables through a mapping."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from arena.data.formats import table as formats_mapping
from arena.data.formats.catalogue import Choice, UnknownFormatError, gather
from arena.data.formats.columns import suggest
from arena.data.formats.files import InputFile
from arena.data.formats.reading import Kind, digest
from arena.data.formats.records import (
    AnswerRecord,
    ComparisonRecord,
    CompletionRecord,
    ContestantRecord,
    GoldRecord,
    Item,
    Problem,
    PromptRecord,
    ScoreRecord,
    Unused,
    VerdictValues,
)
from arena.data.formats.table import ColumnMapping, MappingError, parse_mapping
from tests.arena.data.formats.reading import write_lines

VOTES = ColumnMapping(
    Kind.COMPARISONS, {"first": "left", "second": "right", "winner": "winner"}, {"rater": "crowd"}
)
ANSWERS = ColumnMapping(
    Kind.COMPLETIONS,
    {"instruction": "question", "contestant": "system", "text": "answer", "category": "topic"},
)


def read(path: Path, mapping: ColumnMapping | None) -> list[Item]:
    return [item for item in gather([path], "table", mapping=mapping).items() if not isinstance(item, Unused)]


def said(path: Path, mapping: ColumnMapping | None) -> list[str]:
    """Every problem as a sentence, without the file's name."""
    found = [item for item in read(path, mapping) if isinstance(item, Problem)]
    return [str(problem).removeprefix(f"{path}") for problem in found]


def of_type(items: list[Item], kind: type[Any]) -> list[Any]:
    return [item for item in items if isinstance(item, kind)]


def write_votes(folder: Path, *winners: str) -> Path:
    return write_lines(folder, "votes.csv", "left,right,winner", *(f"A,B,{winner}" for winner in winners))


@pytest.mark.parametrize(
    ("words", "rating"),
    [
        (("left", "Left", " FIRST ", "a", "model_a", "1"), 1),
        (("tie", "draw", "both", "equal", "Tie (bothbad)"), 2),
        (("right", "second", "b", "model_b", "2"), 3),
    ],
)
def test_winners_are_ratings_on_three_points(tmp_path: Path, words: tuple[str, ...], rating: int) -> None:
    comparisons = of_type(read(write_votes(tmp_path, *words), VOTES), ComparisonRecord)
    assert [(record.rating, record.points) for record in comparisons] == [(rating, 3)] * len(words)
    assert {(record.first, record.second, record.rater) for record in comparisons} == {("A", "B", "crowd")}


def test_a_table_without_prompts_names_all_it_needs(tmp_path: Path) -> None:
    items = read(write_votes(tmp_path, "left", "right"), VOTES)
    answers = [ContestantRecord, CompletionRecord] * 2
    assert [type(item) for item in items] == [PromptRecord, *answers, *[ComparisonRecord] * 2]
    assert {item.prompt for item in of_type(items, CompletionRecord)} == {"comparisons"}
    assert of_type(items, PromptRecord)[0].turns == ()


@pytest.mark.parametrize("points", ["8", "x"])
def test_a_winner_needs_two_or_three_points(tmp_path: Path, points: str) -> None:
    mapping = ColumnMapping(Kind.COMPARISONS, VOTES.columns, {"rater": "crowd", "points": points})
    found = said(write_votes(tmp_path, "left"), mapping)
    assert found[0] == f", row 2: points: a winner has a place on 2 or 3 points, not on {points}"


def test_an_unknown_winner_is_named_with_its_rows_and_a_missing_one_is_no_tie(tmp_path: Path) -> None:
    missing, unknown, other = said(write_votes(tmp_path, "left", "it's B", "", "it's B", "?"), VOTES)
    assert missing == ", row 4: winner: missing"
    assert unknown == (
        ', row 3: winner: "it\'s B", in 2 rows, has no known meaning; choose one on the import page or say '
        "--value 'it'\"'\"'s B=MEANING': first, tie, second, empty, out_of_range, unparsable, truncated, "
        "refused, undecided"
    )
    assert other.startswith(', row 6: winner: "?", in 1 row, has no known meaning')
    (found,) = said(write_votes(tmp_path, "x" * 500), VOTES)
    assert found.startswith(f', row 2: winner: "{"x" * 200}…", in 1 row')
    (found,) = said(write_votes(tmp_path, *(f"text {number}" for number in range(25))), VOTES)
    assert found == ', row 2: winner: "text 0" is one of more than 20 values; a column of verdicts has few'


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_values_mean_what_somebody_says_and_nothing_else(tmp_path: Path, form: str) -> None:
    mapping = parse_mapping(
        "comparisons",
        ["first=l", "second=r", "winner=w"],
        ["rater=x"],
        ["0=tie", "1=RIGHT", "a=b=first", "true=undecided"],
    )
    assert mapping.faults() == []
    values = [0, 1, "a=b", True, 1.0] if form == "jsonl" else ["0", "1", "a=b", "true", " 1 "]
    rows = [{"l": "A", "r": "B", "w": value} for value in values]
    lines = rows if form == "jsonl" else ["l,r,w", *(f"A,B,{value}" for value in values)]
    items = read(write_lines(tmp_path, f"v.{form}", *lines), mapping)
    comparisons = of_type(items, ComparisonRecord)
    assert [record.rating for record in comparisons] == [2, 3, 1, None, 3]
    assert [record.reason for record in comparisons] == ["", "", "", "undecided", ""]
    assert items[-1].rows == {"1": 2, "0": 1, "a=b": 1, "true": 1}
    (unknown,) = said(write_lines(tmp_path, "u.csv", "l,r,w", "A,B,left", "A,B,0"), mapping)
    assert unknown.startswith(', row 2: winner (column w): "left", in 1 row, has no known meaning')


def test_values_of_ratings_and_gold_labels(tmp_path: Path) -> None:
    columns = {"first": "l", "second": "r", "rating": "w"}
    mapping = ColumnMapping(Kind.COMPARISONS, columns, {"rater": "x", "points": "5"}, {"-2": "1", "2": "5"})
    path = write_lines(tmp_path, "v.csv", "l,r,w", "A,B,-2", "A,B,2", "A,B,2")
    assert [item.rating for item in of_type(read(path, mapping), ComparisonRecord)] == [1, 5, 5]
    (unknown,) = said(path, ColumnMapping(Kind.COMPARISONS, columns, mapping.constants))
    assert unknown.startswith(
        ', row 2: rating (column w): "-2", in 1 row, has no known meaning; choose one on the import page or '
    )
    assert "say --value=-2=MEANING: 1, 2, 3, 4, 5, empty, " in unknown
    columns = {"prompt": "p", "first": "l", "second": "r", "gold": "w"}
    gold = ColumnMapping(Kind.PAIRS, columns, {"gold_source": "us"}, {"=": "tie"})
    path = write_lines(tmp_path, "g.csv", "p,l,r,w", "1,A,B,=", "2,A,B,left")
    assert [item.gold for item in of_type(read(path, gold), GoldRecord)] == ["tie"]
    words = ColumnMapping(Kind.PAIRS, columns, gold.constants)
    assert [item.gold for item in of_type(read(path, words), GoldRecord)] == ["first"]


def test_a_reason_stands_for_a_winner(tmp_path: Path) -> None:
    mapping = ColumnMapping(Kind.COMPARISONS, {**VOTES.columns, "reason": "why"}, VOTES.constants)
    path = write_lines(tmp_path, "v.csv", "left,right,winner,why", "A,B,,refused", "A,B,left,refused")
    (comparison,) = of_type(read(path, mapping), ComparisonRecord)
    assert (comparison.rating, comparison.reason, comparison.points) == (None, "refused", 3)
    assert said(path, mapping) == [
        ", row 3: reason (column why): given beside a rating; an answer has one or the other"
    ]


def test_problems_name_our_field_and_the_column_and_two_points_have_no_tie(tmp_path: Path) -> None:
    path = write_lines(tmp_path, "votes.csv", "left,right,winner", ",B,left", "B,B,left")
    assert said(path, VOTES) == [
        ", row 2: first (column left): missing",
        ', row 3: second (column right): the same model as first ("B")',
    ]
    mapping = ColumnMapping(Kind.COMPARISONS, VOTES.columns, {"rater": "crowd", "points": "2"})
    path = write_votes(tmp_path, "right", "tie")
    assert of_type(read(path, mapping), ComparisonRecord)[0].rating == 2
    assert said(path, mapping) == [', row 3: winner: "tie" has no place on 2 points; a tie needs 3']


def test_each_rater_may_have_a_column(tmp_path: Path) -> None:
    mapping = parse_mapping(
        "comparisons",
        ["first=l", "second=r", "winner=ann", "winner=bob", "winner=cat"],
        [],
        ["1=first", "2=second"],
    )
    assert mapping.faults() == []
    assert ColumnMapping.from_dict(mapping.to_dict()) == mapping
    assert "--map winner=ann --map winner=bob --map winner=cat" in mapping.as_options()
    path = write_lines(tmp_path, "v.csv", "l,r,ann,bob,cat,note", "A,B,1,,2,x", "A,B,, ,,y", "B,A,2,2,2,")
    items = read(path, mapping)
    comparisons = of_type(items, ComparisonRecord)
    assert [(item.rater, item.rating, item.extra) for item in comparisons] == [
        ("ann", 1, {"note": "x"}),
        ("cat", 3, {"note": "x"}),
        *[(rater, 3, {}) for rater in ("ann", "bob", "cat")],
    ]
    assert str(items[-2]) == f"{path}: 1 row is left out because nobody rated them"
    assert items[-1].rows == {"2": 4, "1": 1}
    path = write_lines(tmp_path, "u.csv", "l,r,ann,bob,cat", ",B,1,2,", "A,B,1,?,")
    assert [text.partition(";")[0] for text in said(path, mapping)] == [
        ", row 2: first (column l): missing",
        ', row 3: winner (column bob): "?", in 1 row, has no known meaning',
    ]


WIDE = ["id,instruction,topic,Alder,Birch,score", "1,Why?,x,So.,No.,3", "2,How?,x,,Thus.,4", "3,When?,x,,,5"]


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_each_model_may_have_a_column(tmp_path: Path, form: str) -> None:
    columns, *rows = [line.split(",") for line in WIDE]
    lines = WIDE if form == "csv" else [dict(zip(columns, row, strict=True)) for row in rows]
    path = write_lines(tmp_path, f"wide.{form}", *lines)
    hint, *_, unused = gather([path]).items()
    options = "--map category=topic --map prompt=id --map text=Alder --map text=Birch"
    assert str(hint).endswith(f"--kind completions --map instruction=instruction {options}")
    assert unused == Unused(InputFile(path).place(), ("topic", "Alder", "Birch", "score"))
    file = InputFile(path)
    mapping = suggest(file.columns(), file.samples())
    assert mapping is not None
    assert parse_mapping("completions", mapping.as_options().split()[5::2], []) == mapping
    items = read(path, mapping)
    assert [item.id for item in of_type(items, PromptRecord)] == ["1", "2", "3"]
    assert [(item.contestant, item.turns) for item in of_type(items, CompletionRecord)] == [
        ("Alder", ("So.",)),
        ("Birch", ("No.",)),
        ("Birch", ("Thus.",)),
    ]
    named = replace(mapping, constants={"contestant": "A"})
    assert named.faults() == ["each of 2 columns is a model of its own; give no other contestant"]


def test_two_columns_are_joined(tmp_path: Path) -> None:
    mapping = ColumnMapping(Kind.PROMPTS, {"id": "set+no", "instruction": "a+b"})
    path = write_lines(
        tmp_path, "p.jsonl", *[{"set": "koala", "no": n, "a+b": "Why?", "a": "x"} for n in (1, 2.0)]
    )
    assert [item.id for item in of_type(read(path, mapping), PromptRecord)] == ["koala/1", "koala/2"]
    path = write_lines(tmp_path, "c.csv", "set,no,m,t", "koala,1,A,So.", "koala,,A,So.", ",,A,So.")
    mapping = ColumnMapping(Kind.COMPLETIONS, {"prompt": "set + no", "contestant": "m", "text": "t"})
    assert [item.prompt for item in of_type(read(path, mapping), CompletionRecord)] == ["koala/1"]
    assert said(path, mapping) == [f", row {line}: prompt (column set + no): missing" for line in (3, 4)]
    rest = "its columns are set, no, m, t"
    mapping = replace(mapping, columns={"prompt": "set+nr", "contestant": "a+b", "text": "t"})
    assert said(path, mapping) == [
        f': the file has no column "nr" for prompt; {rest}',
        f': the file has no column "a+b" for contestant; {rest}',
    ]


def test_answers_with_their_questions(tmp_path: Path) -> None:
    rows = ["topic,question,system,answer,seed", "x,Why?,A,So.,1", "x,Why?,B,,2", "y,How?,A,=1,3"]
    path = write_lines(tmp_path, "a.csv", *rows)
    items = read(path, ANSWERS)
    why, how = of_type(items, PromptRecord)
    assert (why.id, why.turns, why.category, why.implied) == (digest("Why?"), ("Why?",), "x", True)
    assert how.id == digest("How?")
    completions = of_type(items, CompletionRecord)
    assert [(c.prompt, c.contestant, c.turns, c.extra) for c in completions] == [
        (why.id, "A", ("So.",), {"seed": "1"}),
        (why.id, "B", ("",), {"seed": "2"}),
        (how.id, "A", ("=1",), {"seed": "3"}),
    ]
    said = '1 cell begins like a formula (row 4, column "answer"); it is kept as text'
    assert str(items[-1]) == f"{path}: {said}"


def test_one_prompt_with_two_texts_names_both_lines(tmp_path: Path) -> None:
    mapping = ColumnMapping(Kind.COMPLETIONS, {**ANSWERS.columns, "prompt": "no"})
    path = write_lines(
        tmp_path, "a.csv", "no,topic,question,system,answer", "1,,Why?,A,So.", "1,,How?,B,So.", "2,,,B,So."
    )
    assert said(path, mapping) == [
        ', row 3: another text for prompt "1" than in row 2',
        ", row 4: instruction (column question): missing",
    ]


def test_prompts_without_ids_are_known_by_their_text_and_named_ones_make_nothing_up(tmp_path: Path) -> None:
    mapping = ColumnMapping(Kind.PROMPTS, {"instruction": "q", "input": "context"})
    first, second = read(write_lines(tmp_path, "p.csv", "q,context", "Why?,", "Why?,Because."), mapping)
    assert (first.id, second.id) == (digest("Why?"), digest("Why?", "Because."))
    mapping = ColumnMapping(Kind.COMPARISONS, {**VOTES.columns, "prompt": "q"}, VOTES.constants)
    path = write_lines(tmp_path, "v.csv", "q,left,right,winner", "p1,A,B,left", ",A,B,left")
    items = read(path, mapping)
    assert of_type(items, CompletionRecord) == of_type(items, ContestantRecord) == []
    assert said(path, mapping) == [", row 3: prompt (column q): missing"]


def test_comparisons_with_prompts_and_texts(tmp_path: Path) -> None:
    columns = {"instruction": "q", "first_text": "answer_a", "second_text": "answer_b"}
    mapping = ColumnMapping(Kind.COMPARISONS, {**VOTES.columns, **columns}, VOTES.constants)
    path = write_lines(tmp_path, "v.csv", "q,left,right,answer_a,answer_b,winner", "Why?,A,B,So.,No.,left")
    items = read(path, mapping)
    assert {c.contestant: c.turns for c in of_type(items, CompletionRecord)} == {"A": ("So.",), "B": ("No.",)}
    assert of_type(items, ComparisonRecord)[0].prompt == digest("Why?")


def test_texts_without_authors_are_known_by_their_texts(tmp_path: Path) -> None:
    columns = {"instruction": "q", "first_text": "text_a", "second_text": "text_b", "winner": "winner"}
    mapping = ColumnMapping(Kind.COMPARISONS, columns, {"rater": "crowd"})
    rows = ["q,text_a,text_b,winner", "Why?,So.,No.,a", "Why?,No.,So.,tie", "Why?,So.,So.,b"]
    items = read(write_lines(tmp_path, "v.csv", *rows), mapping)
    so, no, again = digest("So."), digest("No."), digest("So.", "2")
    assert of_type(items, ContestantRecord) == []
    completions = of_type(items, CompletionRecord)
    assert [(c.id, c.contestant, c.turns) for c in completions] == [
        (so, None, ("So.",)),
        (no, None, ("No.",)),
        (again, None, ("So.",)),
    ]
    comparisons = of_type(items, ComparisonRecord)
    assert {c.prompt for c in (*completions, *comparisons)} == {digest("Why?")}
    assert [(c.first_id, c.second_id, c.rating) for c in comparisons] == [
        (so, no, 1),
        (no, so, 2),
        (so, again, 3),
    ]
    del columns["instruction"]
    path = write_lines(
        tmp_path, "w.jsonl", {"text_a": "So.", "text_b": "No.", "winner": "a"}, {"text_a": "So."}
    )
    assert of_type(read(path, mapping), ComparisonRecord)[0].prompt == digest("No.", "So.")
    assert said(path, mapping) == [
        ", line 2: second_text (column text_b): missing",
        ", line 2: winner: missing",
    ]
    gold = ColumnMapping(
        Kind.PAIRS, {"first_text": "text_a", "second_text": "text_b", "gold": "winner"}, {"gold_source": "us"}
    )
    found = of_type(read(write_lines(tmp_path, "g.csv", *rows[:2]), gold), GoldRecord)
    assert [(item.prompt, item.first_id, item.second_id, item.gold) for item in found] == [
        (digest("No.", "So."), so, no, "first")
    ]


def test_gold_labels_and_what_is_left_out(tmp_path: Path) -> None:
    columns = {"prompt": "p", "first_id": "a", "second_id": "b", "gold": "better"}
    mapping = ColumnMapping(Kind.PAIRS, columns, {"gold_source": "editors"})
    path = write_lines(tmp_path, "g.csv", "p,a,b,better,why", "p1,1,2,second,x")
    gold, unused = gather([path], "table", mapping=mapping).items()
    assert (gold.first_id, gold.second_id, gold.gold, gold.source) == ("1", "2", "second", "editors")
    assert str(unused) == f"{path}: 1 column is not used: why"


ROWS = [{"q": "Why?", "m": "A", "t": "So.", "n": 1}, {"q": "How?", "m": "A", "t": "No.", "n": 2}]
FORMS = ["t.csv", "t.tsv", "t.jsonl", "t.json", "t.parquet"]


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_file_gives_the_same(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("parquet"):
        parquet.write_table(pa.Table.from_pylist(ROWS), path)
    elif name.endswith("sv"):
        mark = "," if name.endswith("csv") else "\t"
        lines = [list(ROWS[0]), *(row.values() for row in ROWS)]
        path.write_text("\n".join(mark.join(map(str, line)) for line in lines) + "\n")
    elif name.endswith("l"):
        path.write_text("\n".join(json.dumps(row) for row in ROWS) + "\n")
    else:
        path.write_text(json.dumps(ROWS, indent=2))
    mapping = ColumnMapping(Kind.COMPLETIONS, {"instruction": "q", "contestant": "m", "text": "t", "id": "n"})
    completions = of_type(read(path, mapping), CompletionRecord)
    assert [(c.prompt, c.turns, c.id) for c in completions] == [
        (digest("Why?"), ("So.",), "1"),
        (digest("How?"), ("No.",), "2"),
    ]


def test_a_bad_mapping_is_told_before_reading(tmp_path: Path) -> None:
    path = write_votes(tmp_path, "perhaps")
    wrong = ColumnMapping(Kind.COMPARISONS, {**VOTES.columns, "winner": "who"}, VOTES.constants)
    assert said(path, wrong) == [
        ': the file has no column "who" for winner; its columns are left, right, winner'
    ]
    assert said(path, ColumnMapping(Kind.PROMPTS)) == [
        ": prompts need instruction or turns; give it a column or one value"
    ]
    assert said(path, None) == [": say what each column means: --kind and --map"]


def test_files_are_what_somebody_chose(tmp_path: Path) -> None:
    write_votes(tmp_path, "left")
    write_lines(tmp_path, "prompts.jsonl", {"id": "p1", "instruction": "Why?"})
    files = [InputFile(tmp_path / "votes.csv", "votes.csv"), InputFile(tmp_path / "prompts.jsonl", "p.jsonl")]
    sources = gather(files, choices={"votes.csv": Choice("table", VOTES)})
    found = [(source.format.name, source.kind) for source in sources.sources]
    assert found == [("table", Kind.COMPARISONS), ("jsonl", Kind.PROMPTS)]
    with pytest.raises(UnknownFormatError, match='"xml" is no format'):
        gather(files, choices={"votes.csv": Choice("xml")})


# Mappings of foreign columns: what is wrong with them, and what column names suggest.


def test_a_good_mapping_has_no_faults_and_survives_json_and_the_command_line() -> None:
    assert VOTES.faults() == []
    assert ColumnMapping.from_dict(VOTES.to_dict()) == VOTES
    maps = ["first=left", "second=right", "winner=winner"]
    assert parse_mapping("comparisons", maps, ["rater=crowd"]) == VOTES
    mapping = ColumnMapping(Kind.PROMPTS, {"instruction": "the question"}, {"category": "x"})
    options = "--format table --kind prompts --map 'instruction=the question' --set category=x"
    assert mapping.as_options() == options
    with_values = replace(VOTES, values={"a b": "tie"})
    assert ColumnMapping.from_dict(with_values.to_dict()) == with_values
    assert with_values.as_options().endswith("--set rater=crowd --value 'a b=tie'")


@pytest.mark.parametrize(
    ("mapping", "fault"),
    [
        (
            ColumnMapping(Kind.RATERS, {"rater": "who", "rater_kind": "kind", "colour": "c"}),
            'raters have no field "colour"; their fields are rater, rater_kind, name, groups, simulated',
        ),
        (
            ColumnMapping(Kind.CONTESTANTS, {"name": "model"}, {"name": "A"}),
            '"name" has a column and a value for every row; give one of them',
        ),
        (ColumnMapping(Kind.CONTESTANTS, {"name": ""}), '"name" is mapped to no column'),
        (
            ColumnMapping(Kind.PROMPTS),
            "prompts need instruction or turns; give it a column or one value",
        ),
        (
            ColumnMapping(Kind.COMPARISONS, {"first": "a", "second": "b", "rating": "r"}, {"rater": "x"}),
            "a rating needs points: on how many points it was given",
        ),
        (
            ColumnMapping(Kind.COMPARISONS, {**VOTES.columns, "rating": "r"}, {"rater": "x", "points": "3"}),
            "winner and rating are both given; give one of them",
        ),
        (
            replace(VOTES, further=("x",)),
            "each of 2 columns is a rater of its own; give no other rater",
        ),
        (
            ColumnMapping(Kind.PROMPTS, {"instruction": "q"}, values={"1": "tie"}),
            "only values of winner, rating, gold, answer have a meaning; give one of them",
        ),
        (
            ColumnMapping(
                Kind.PAIRS,
                dict.fromkeys(["prompt", "first", "second", "gold", "gold_source"], "x"),
                {},
                {"1": "maybe"},
            ),
            '"1" cannot mean "maybe"; choose one of first, tie, second',
        ),
    ],
)
def test_what_is_wrong_with_a_mapping(mapping: ColumnMapping, fault: str) -> None:
    assert mapping.faults() == [fault]


@pytest.mark.parametrize(
    ("kind", "maps", "message"),
    [
        ("votes", [], '"votes" is no kind of rows; choose one of prompts, contestants, completions, '),
        ("", [], '"" is no kind of rows; choose one of '),
        ("prompts", ["instruction"], '"instruction" is not of the form FIELD=COLUMN'),
        ("prompts", ["id=a", "id=b"], '"id" is given two times: a and b'),
    ],
)
def test_texts_that_are_no_mapping(kind: str, maps: list[str], message: str) -> None:
    with pytest.raises(MappingError) as caught:
        parse_mapping(kind, maps, [])
    assert str(caught.value).startswith(message)


def test_every_field_is_in_the_document_and_what_is_needed_can_be_mapped() -> None:
    document = (Path(__file__).parents[4] / "docs" / "data-formats.md").read_text()
    named = set(re.findall(r"`(\w+)`", document))
    fields = {kind: set(formats_mapping.names(kind)) for kind in formats_mapping.MAPPABLE}
    assert not set().union(*fields.values()) - named
    for kind, groups in formats_mapping.NEEDED.items():
        assert {name for group in groups for name in group} <= set(formats_mapping.names(kind))


def test_requirements_scores_and_checks_of_a_table(tmp_path: Path) -> None:
    path = write_lines(tmp_path, "q.csv", "task,must,kind", "Say hello.,Is it polite?,Style; Content")
    columns = {"instruction": "task", "text": "must", "labels": "kind"}
    prompt, question = read_table(path, ColumnMapping(Kind.QUESTIONS, columns))
    assert (question.prompt, question.text) == (prompt.id, "Is it polite?")
    assert question.labels == ("Style", "Content")
    path = write_lines(
        tmp_path, "s.csv", "task,system,reply,ann,bo", "Say hello.,A,Hello.,4,", "Say hello.,B,Hi.,5,1"
    )
    columns = {"instruction": "task", "contestant": "system", "text": "reply", "score": "ann"}
    mapping = ColumnMapping(Kind.SCORES, columns, {"lowest": "1", "highest": "5"}, further=("bo",))
    items = read_table(path, mapping)
    said = [item for item in items if isinstance(item, ScoreRecord)]
    assert [(one.contestant, one.rater, one.score, one.highest) for one in said] == [
        *(("A", "ann", 4, 5), ("B", "ann", 5, 5), ("B", "bo", 1, 5))
    ]
    assert [item.turns for item in items if isinstance(item, CompletionRecord)] == [("Hello.",), ("Hi.",)]
    path = write_lines(
        tmp_path, "c.csv", "id,system,no,ok", "p1,A,1,Met", "p1,A,2,N", "p1,A,3,cannot tell", "p1,A,4,?"
    )
    columns = {"prompt": "id", "contestant": "system", "question": "no", "answer": "ok"}
    mapping = ColumnMapping(Kind.ANSWERS, columns, {"rater": "ann"})
    assert mapping.faults() == []
    (problem,) = (item for item in read_table(path, mapping) if isinstance(item, Problem))
    assert '"?", in 1 row, has no known meaning' in problem.reason
    values = {"Met": "yes", "N": "no", "cannot tell": "unknown", "?": "unparsable"}
    items = read_table(path, ColumnMapping(Kind.ANSWERS, columns, {"rater": "ann"}, values))
    assert [(one.answer, one.reason) for one in items if isinstance(one, AnswerRecord)] == [
        *(("yes", ""), ("no", ""), ("unknown", ""), (None, "unparsable"))
    ]


def read_table(path: Path, mapping: ColumnMapping) -> list[Item]:
    found = gather([path], "table", mapping=mapping)
    return [item for item in found.items() if not isinstance(item, Unused | VerdictValues)]
