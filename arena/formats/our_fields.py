"""The fields of our own records, and what a mapping of foreign columns may name: one list for all. Pure.

The import page offers them, messages name them, and docs/data-formats.md describes the same ones at length.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from arena.formats.kinds import Kind


class OurField(NamedTuple):
    """A field of ours and what stands in it, in one line."""

    name: str
    meaning: str


_TEXTS: Final = (
    OurField("instruction", "the prompt's text, where the prompt is not imported on its own"),
    OurField("input", "material the instruction works on"),
    OurField("category", "the prompt's category"),
)
_PAIR: Final = (
    OurField("first", "name of the contestant shown first"),
    OurField("second", "name of the contestant shown second"),
    OurField("first_id", "id of the completion shown first, instead of a name"),
    OurField("second_id", "id of the completion shown second, instead of a name"),
)
_SUBSET: Final = OurField("subset", "subset of the prompts")

FIELDS: Final[Mapping[Kind, tuple[OurField, ...]]] = {
    Kind.PROMPTS: (
        OurField("id", "the prompt's id; made from its text where there is none"),
        OurField("instruction", "the prompt's text"),
        OurField("turns", "the user's turns as a JSON list, instead of an instruction"),
        OurField("input", "material the instruction works on"),
        OurField("category", "category"),
        OurField("domain", "domain"),
        _SUBSET,
        OurField("references", "reference answers as a JSON list of objects with author and text"),
    ),
    Kind.CONTESTANTS: (
        OurField("name", "the contestant's name"),
        OurField("slug", "its short name in addresses"),
        OurField("kind", "model or people"),
        OurField("family", "model family"),
        OurField("organisation", "who made it"),
        OurField("licence", "licence"),
        OurField("size", "size"),
        OurField("generation", "generation parameters as a JSON object"),
        OurField("benchmarks", "scores on other benchmarks as a JSON object of names and numbers"),
        OurField("retired_at", "since when it gets no new pairs and stands in no ranking"),
    ),
    Kind.COMPLETIONS: (
        OurField("prompt", "the prompt's id; made from its text where there is none"),
        *_TEXTS,
        OurField("contestant", "name of the contestant who wrote the completion"),
        OurField("text", "the completion"),
        OurField("turns", "its turns as a JSON list, instead of a text"),
        OurField("id", "the completion's own id"),
        _SUBSET,
    ),
    Kind.RATERS: (
        OurField("rater", "the rater's short name"),
        OurField("rater_kind", "person or judge"),
        OurField("name", "name to show"),
        OurField("groups", "groups as a JSON list"),
        OurField("simulated", "true or false"),
    ),
    Kind.PAIRS: (
        OurField("prompt", "the prompt's id"),
        *_PAIR,
        OurField("gold", "which is better: first, tie or second"),
        OurField("gold_source", "who says so"),
        _SUBSET,
    ),
    Kind.COMPARISONS: (
        OurField("prompt", "the prompt's id; one common prompt where there is none"),
        *_TEXTS,
        *_PAIR,
        OurField("first_text", "the completion shown first, where it is not imported on its own"),
        OurField("second_text", "the completion shown second, where it is not imported on its own"),
        OurField("rater", "the rater's name"),
        OurField("rater_kind", "person or judge; person where nothing is said"),
        OurField("winner", "who won, in a word: left, right, tie, ..."),
        OurField("rating", "the rating, from 1 (first much better), instead of a winner"),
        OurField("points", "points of the scale: 2, 3, 5 or 8; 3 for a winner where nothing is said"),
        OurField("reason", "why there is no rating"),
        OurField("first_score", "score of the completion shown first"),
        OurField("second_score", "score of the completion shown second"),
        OurField("raw_reply", "a judge's reply as it came"),
        OurField("rationale", "why the rater thinks so"),
        OurField("seconds", "seconds it took"),
        OurField("created_at", "when: ISO 8601, or seconds since 1970"),
        OurField("id", "the comparison's own id"),
        OurField("repeat", "number of a deliberate repeat, from 0"),
        OurField("criteria", "ratings by criterion as a JSON object"),
        _SUBSET,
    ),
}
"""What a mapping may name, by kind, the most important first."""

NEEDED: Final[Mapping[Kind, tuple[tuple[str, ...], ...]]] = {
    Kind.PROMPTS: (("instruction", "turns"),),
    Kind.CONTESTANTS: (("name",),),
    Kind.COMPLETIONS: (("prompt", "instruction"), ("text", "turns"), ("contestant", "id")),
    Kind.RATERS: (("rater",), ("rater_kind",)),
    Kind.PAIRS: (
        ("prompt",),
        ("first", "first_id"),
        ("second", "second_id"),
        ("gold",),
        ("gold_source",),
    ),
    Kind.COMPARISONS: (
        ("first", "first_id"),
        ("second", "second_id"),
        ("rater",),
        ("winner", "rating", "reason"),
    ),
}
"""What a mapping has to name: of each group at least one."""


def names(kind: Kind) -> list[str]:
    """The names of a kind's fields."""
    return [entry.name for entry in FIELDS[kind]]
