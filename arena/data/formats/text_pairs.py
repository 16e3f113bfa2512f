"""Pairs of texts without authors, as sets of gold labels have them. Pure.

A pair is a prompt named by a digest of its texts, with the completions "1" and "2".
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import chain
from typing import Any, Final, Literal, NamedTuple

from arena.data.formats.reading import Fields, digest
from arena.data.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    GoldRecord,
    Item,
    Place,
    PromptRecord,
    RaterRecord,
)
from arena.data.formats.values import MAX_SCORE

Shown = tuple[Literal["1", "2"], Literal["1", "2"]]

GOLD: Final = {1: "first", 2: "second"}
"""Labels by the better output."""

OUTPUTS: Final = frozenset({"instruction", "output_1", "output_2"})
"""Fields of a pair."""

AS_GIVEN: Final[Shown] = ("1", "2")
SWAPPED: Final[Shown] = ("2", "1")


class Said(NamedTuple):
    """A verdict in presentation order."""

    points: int
    rating: int | None
    reason: str = ""
    scores: tuple[Decimal, Decimal] | None = None
    raw_reply: str = ""
    extra: Mapping[str, Any] = {}


def by_scores(first: Decimal | None, second: Decimal | None) -> Said:
    """The verdict of two scores on three points; a missing score is a reply that nobody could read."""
    if first is None or second is None:
        return Said(3, None, "unparsable")
    return Said(3, 2 + (second > first) - (second < first), scores=(first, second))


def score(text: str) -> Decimal | None:
    """The score in a reply; None if it holds something else."""
    try:
        found = Decimal(text.strip().replace("_", "x"))
    except InvalidOperation:
        return None
    return found if found.is_finite() and abs(found) < MAX_SCORE else None


def no_rating(reply: str, finish: str = "") -> str:
    """The reason why there is no rating in a reply."""
    if not reply.strip():
        return "empty"
    return "truncated" if finish == "length" else "unparsable"


@dataclass(frozen=True)
class TextPair:
    """A pair of a file; ``implied`` if the file holds something about pairs of another.

    ``number`` tells pairs of the same texts apart, from 1.
    """

    instruction: str
    outputs: tuple[tuple[str, ...], tuple[str, ...]]
    subset: str = ""
    category: str | None = None
    input: str | None = None
    implied: bool = False
    number: int = 1
    extra: Mapping[str, Any] = field(default_factory=dict)
    place: Place = field(kw_only=True)

    @classmethod
    def read(cls, fields: Fields, instruction: str, first: str, second: str, **more: Any) -> "TextPair":
        """The pair of the fields with these names."""
        outputs = fields.turns(first), fields.turns(second)
        return cls(fields.required_text(instruction), outputs, place=fields.place, **more)

    @property
    def id(self) -> str:
        name = digest(self.instruction, *filter(None, [self.input]), *chain(*self.outputs))
        return name if self.number == 1 else f"{name}-{self.number}"

    def records(self) -> Iterator[Item]:
        yield PromptRecord(
            id=self.id,
            subset=self.subset,
            turns=(self.instruction,),
            category=self.category,
            input=self.input,
            implied=self.implied,
            extra=self.extra,
            place=self.place,
        )
        for number, turns in zip(AS_GIVEN, self.outputs, strict=True):
            yield CompletionRecord(
                prompt=self.id,
                subset=self.subset,
                id=number,
                turns=turns,
                implied=self.implied,
                place=self.place,
            )

    def gold(self, label: str, source: str) -> GoldRecord:
        return GoldRecord(
            prompt=self.id,
            subset=self.subset,
            first="",
            second="",
            first_id="1",
            second_id="2",
            gold=label,
            source=source,
            place=self.place,
        )

    def rated(self, judge: RaterRecord, said: Said, shown: Shown = AS_GIVEN) -> ComparisonRecord:
        return ComparisonRecord(
            prompt=self.id,
            subset=self.subset,
            first="",
            second="",
            first_id=shown[0],
            second_id=shown[1],
            rater=judge.slug,
            rater_kind="judge",
            rater_from_path=True,
            **said._asdict(),
            place=self.place,
        )
