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
from arena.data.formats.records import ComparisonRecord, CompletionRecord, Item, Problem, PromptRecord, Unused
from arena.data.formats.table import ColumnMapping, MappingError, parse_mapping
from tests.arena.data.formats.reading import write_lines

VOTES = ColumnMapping(
    Kind.COMPARISONS, {"first": "left", "second": "right", "winner": "winner"}, {"rater": "crowd"}
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


def test_an_unknown_winner_is_named_with_its_rows_and_a_missing_one_is_no_tie(tmp_path: Path) -> None:
    missing, unknown, other = said(write_votes(tmp_path, "left", "it's B", "", "it's B", "?"), VOTES)
    assert missing == ", row 4: winner: missing"
    assert unknown == (
        ', row 3: winner: "it\'s B", in 2 rows, has no known meaning; choose one on the import page or say '
        "--value 'it'\"'\"'s B=MEANING': first, tie, second, empty, out_of_range, unparsable, truncated, "
        "refused, undecided, neither"
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
    with_more = replace(VOTES, values={"a b": "tie"}, further=("bob",))
    assert ColumnMapping.from_dict(with_more.to_dict()) == with_more
    assert with_more.as_options().endswith("--map winner=bob --set rater=crowd --value 'a b=tie'")


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
        (ColumnMapping(Kind.PROMPTS), "prompts need instruction or turns; give it a column or one value"),
        (
            ColumnMapping(Kind.COMPARISONS, {"first": "a", "second": "b", "rating": "r"}, {"rater": "x"}),
            "a rating needs points: on how many points it was given",
        ),
        (
            ColumnMapping(Kind.COMPARISONS, {**VOTES.columns, "rating": "r"}, {"rater": "x", "points": "3"}),
            "winner and rating are both given; give one of them",
        ),
        (replace(VOTES, further=("x",)), "each of 2 columns is a rater of its own; give no other rater"),
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
