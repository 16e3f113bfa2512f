"""Mappings of foreign columns: what is wrong with them, and what column names suggest."""

import re
from pathlib import Path

import pytest

from arena.data.formats import table as formats_mapping
from arena.data.formats.reading import Kind
from arena.data.formats.table import ColumnMapping, MappingError, parse_mapping, suggest

VOTES = ColumnMapping(
    Kind.COMPARISONS, {"first": "left", "second": "right", "winner": "winner"}, {"rater": "crowd"}
)


def test_a_good_mapping_has_no_faults_and_survives_json() -> None:
    assert VOTES.faults() == []
    assert ColumnMapping.from_dict(VOTES.to_dict()) == VOTES
    assert (
        parse_mapping("comparisons", ["first=left", "second=right", "winner=winner"], ["rater=crowd"])
        == VOTES
    )


@pytest.mark.parametrize(
    ("mapping", "fault"),
    [
        (
            ColumnMapping(Kind.RATERS, {"rater": "who", "rater_kind": "kind", "colour": "c"}),
            'raters have no field "colour"; their fields are rater, rater_kind, name, groups, simulated',
        ),
        (
            ColumnMapping(Kind.CONTESTANTS, {"name": "model"}, {"name": "A"}),
            '"name" is mapped and set; do one of both',
        ),
        (ColumnMapping(Kind.CONTESTANTS, {"name": ""}), '"name" is mapped to no column'),
        (ColumnMapping(Kind.PROMPTS), "prompts need instruction or turns; map a column to it or set it"),
        (
            ColumnMapping(Kind.COMPARISONS, {"first": "a", "second": "b", "rating": "r"}, {"rater": "x"}),
            "a rating needs points: on how many points it was given",
        ),
        (
            ColumnMapping(Kind.COMPARISONS, {**VOTES.columns, "rating": "r"}, {"rater": "x", "points": "3"}),
            "winner and rating are both given; one stands for the other",
        ),
    ],
)
def test_what_is_wrong_with_a_mapping(mapping: ColumnMapping, fault: str) -> None:
    assert mapping.faults() == [fault]


def test_a_column_that_is_not_there() -> None:
    reason = '"winner" is mapped to the column "winner", which is not there; the columns are left, right, who'
    assert VOTES.missing_from(["left", "right", "who"]) == [reason]


@pytest.mark.parametrize(
    ("kind", "maps", "message"),
    [
        ("votes", [], 'there is no kind "votes"; a table holds one of prompts, contestants, completions, '),
        ("", [], 'there is no kind ""; a table holds one of '),
        ("prompts", ["instruction"], '"instruction" is not of the form FIELD=COLUMN'),
        ("prompts", ["id=a", "id=b"], '"id" is given two times: a and b'),
    ],
)
def test_texts_that_are_no_mapping(kind: str, maps: list[str], message: str) -> None:
    with pytest.raises(MappingError) as caught:
        parse_mapping(kind, maps, [])
    assert str(caught.value).startswith(message)


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
        ("# Question Topic", Kind.PROMPTS, "id=# instruction=Question category=Topic"),
        ("prompt", Kind.PROMPTS, "instruction=prompt"),
        ("model org license", Kind.CONTESTANTS, "name=model organisation=org licence=license"),
    ],
)
def test_suggestions(columns: str, kind: Kind, mapping: str) -> None:
    found = suggest(columns.split())
    assert found is not None
    assert found.kind is kind
    assert found.columns == dict(pair.split("=") for pair in mapping.split())
    wants_rater = kind is Kind.COMPARISONS and "rater" not in found.columns
    assert found.constants == ({"rater": "anonymous"} if wants_rater else {})


@pytest.mark.parametrize("columns", ["", "colour shape", "algorithm item score"])
def test_columns_that_tell_nothing(columns: str) -> None:
    assert suggest(columns.split()) is None


def test_options_of_the_command_line() -> None:
    mapping = ColumnMapping(Kind.PROMPTS, {"instruction": "the question"}, {"category": "x"})
    options = "--format table --kind prompts --map 'instruction=the question' --set category=x"
    assert mapping.as_options() == options


def test_every_field_is_in_the_document() -> None:
    document = (Path(__file__).parents[4] / "docs" / "data-formats.md").read_text()
    section = document.partition("## Our own fields")[2]
    named = set(re.findall(r"`(\w+)`", section))
    missing = {name for kind in formats_mapping.MAPPABLE for name in formats_mapping.names(kind)} - named
    assert not missing


def test_what_is_needed_can_be_mapped() -> None:
    for kind, groups in formats_mapping.NEEDED.items():
        assert {name for group in groups for name in group} <= set(formats_mapping.names(kind))
