"""Pairs for raters to learn on, or to be checked by: a prompt, two texts, and which is better and why. Pure.

Every row becomes a prompt of its own apart from those of the study, two completions without a contestant, and
a pair with a gold label. The completions are called as their places are, so that it stays known which text
stood first in the file: an explanation may speak of it.
"""

from collections.abc import Iterator
from typing import Final

from arena.data.formats.fields import Fields
from arena.data.formats.files import Form, InputFile
from arena.data.formats.reading import Companions, Format, Head, Kind, digest, read_rows
from arena.data.formats.records import CompletionRecord, GoldRecord, Item, PromptRecord
from arena.rating.apart import APART

GOLD: Final = ("first", "tie", "second")
USES: Final = ("train", "check")
SOURCE: Final = "training file"
"""Source of a gold label where the file names none."""

FIELDS: Final = ("id", "prompt", "input", "category", "first", "second", "gold", "gold_source", "use")
NEEDED: Final = frozenset({"prompt", "first", "second", "gold"})


def recognise(head: Head) -> Kind | None:
    """Gold labels name contestants; what explains itself or says what it is for brings its own texts."""
    told = head.fields & {"explanation", "use"}
    return Kind.PAIRS if told and head.fields >= NEEDED else None


def read(file: InputFile, kind: Kind, companions: Companions) -> Iterator[Item]:
    if file.form is Form.CELLS:
        yield from read_rows(file, lambda fields: _row(fields.unguarded()))
    else:
        yield from read_rows(file, _row)


def _row(fields: Fields) -> list[Item]:
    texts = tuple(_answer(fields, name) for name in ("first", "second"))
    if "gold" not in fields:
        fields.problem("gold", f"missing; one of {', '.join(GOLD)}")
    use = fields.choice("use", USES) or "train"
    found = pair_apart(
        fields,
        prompt=fields.required_text("prompt"),
        texts=(texts[0], texts[1]),
        gold=fields.choice("gold", GOLD) or "tie",
        source=fields.text("gold_source") or SOURCE,
        explanation=fields.text("explanation"),
        use=use,
    )
    for unknown in fields.rest():
        fields.problem(unknown, f"unknown field; a pair to learn on has {', '.join(FIELDS)} and explanation")
    return found


def _answer(fields: Fields, name: str) -> str:
    """One of the two texts, which may be empty but has to be there."""
    problems = len(fields.problems)
    text = fields.optional_text(name)
    if text is None and len(fields.problems) == problems:
        fields.problem(name, "missing")
    return text or ""


def pair_apart(
    fields: Fields,
    *,
    prompt: str,
    texts: tuple[str, str],
    gold: str,
    source: str,
    explanation: str,
    use: str = "train",
) -> list[Item]:
    """The records of one row: prompt, completions and pair. ``id``, ``input`` and ``category`` are optional.

    Without an id the texts name the row; a row that stands twice is then there once.
    """
    own_id, given, category = fields.text("id"), fields.text("input"), fields.optional_text("category")
    name = own_id or digest(prompt, given, *texts)
    place, implied = fields.place, not own_id
    return [
        PromptRecord(
            id=name,
            subset=APART,
            turns=(prompt,),
            input=given or None,
            category=category,
            implied=implied,
            place=place,
        ),
        *(
            CompletionRecord(prompt=name, subset=APART, id=side, turns=(text,), implied=implied, place=place)
            for side, text in zip(("first", "second"), texts, strict=True)
        ),
        GoldRecord(
            prompt=name,
            subset=APART,
            first="",
            second="",
            first_id="first",
            second_id="second",
            gold=gold,
            source=source,
            use=use,
            explanation=explanation,
            place=place,
        ),
    ]


FORMAT: Final = Format(
    "training",
    "training pairs and hidden checks",
    "prompt, first, second and gold, with explanation or use",
    recognise,
    read,
)
