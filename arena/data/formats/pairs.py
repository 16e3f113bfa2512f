"""Two answers to one prompt, as the rows of many data sets have them, and verdicts about them. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

from arena.data.formats.reading import Fields, digest
from arena.data.formats.records import (
    ComparisonRecord,
    CompletionRecord,
    ContestantRecord,
    GoldRecord,
    Item,
    Place,
    PromptRecord,
    RaterRecord,
)
from arena.data.formats.values import MAX_SCORE
from arena.texts.asides import NAME as ASIDES
from arena.texts.visible import is_blank

Turns: TypeAlias = tuple[str, ...]
Asides: TypeAlias = tuple[dict[str, Any], ...]
"""What stands beside the turns of a conversation; see ``arena.texts.asides``."""

GOLD: Final = {1: "first", 2: "second"}
"""Labels by the better output."""

OUTPUTS: Final = "instruction output_1 output_2"
"""Fields of a pair."""


class Side(NamedTuple):
    """An answer of a contestant, or known by its own id; without turns its text is unknown."""

    contestant: str = ""
    id: str = ""
    turns: Turns = ()
    asides: Asides = ()

    @property
    def name(self) -> str:
        return "" if self.id else self.contestant

    def answer(self, prompt: str, subset: str, place: Place, *, implied: bool = True) -> CompletionRecord:
        about: dict[str, Any] = {"subset": subset, "implied": implied, "place": place}
        about["extra"] = beside(self.asides)
        return CompletionRecord(prompt, self.turns, contestant=self.contestant or None, id=self.id, **about)


class Said(NamedTuple):
    """A verdict in presentation order."""

    points: int
    rating: int | None
    reason: str = ""
    scores: tuple[Decimal, Decimal] | None = None
    raw_reply: str = ""
    extra: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Pair:
    """Two answers; both are named in passing if their prompt is."""

    prompt: PromptRecord
    first: Side
    second: Side

    @classmethod
    def of(cls, prompt: PromptRecord, models: tuple[str, str], *texts: Turns) -> "Pair":
        """The answers of two models, whose texts are unknown unless given."""
        first, second = texts or ((), ())
        return cls(prompt, Side(models[0], turns=first), Side(models[1], turns=second))

    @classmethod
    def alone(
        cls, fields: Fields, turns: Turns, *texts: Turns, models: tuple[str, str] = ("", ""), **about: Any
    ) -> "Pair":
        """A prompt named by a digest of all texts; without two different models, answers "1" and "2"."""
        name = digest(*turns, *filter(None, [about.get("input")]), *chain(*texts))
        prompt = PromptRecord(id=name, turns=turns, place=fields.place, **about)
        if all(models) and models[0] != models[1]:
            return cls.of(prompt, models, *texts)
        return cls(prompt, Side(id="1", turns=texts[0]), Side(id="2", turns=texts[1]))

    @classmethod
    def read(cls, fields: Fields, instruction: str, first: str, second: str, **about: Any) -> "Pair":
        """The pair of the texts in the fields with these names."""
        outputs = fields.turns(first), fields.turns(second)
        return cls.alone(fields, (fields.required_text(instruction),), *outputs, **about)

    def with_asides(self, first: Asides, second: Asides) -> "Pair":
        """Return the pair with what stands between the turns of each answer."""
        both = self.first._replace(asides=first), self.second._replace(asides=second)
        return replace(self, first=both[0], second=both[1])

    def answers(self) -> Iterator[CompletionRecord]:
        prompt = self.prompt
        for side in (self.first, self.second):
            yield side.answer(prompt.id, prompt.subset, prompt.place, implied=prompt.implied)

    def records(self) -> Iterator[Item]:
        yield self.prompt
        yield from self.answers()

    def news(self, fields: Fields) -> Iterator[Item]:
        """The records of what no row has named before."""
        yield from fields.news(self.prompt)
        for answer in self.answers():
            yield from with_author(fields, answer)

    def gold(self, label: str, source: str, **more: Any) -> GoldRecord:
        return GoldRecord(**self._named(), gold=label, source=source, **more)

    def rated(
        self,
        rater: str,
        rater_kind: str,
        points: int,
        rating: int | None,
        *,
        swapped: bool = False,
        **more: Any,
    ) -> ComparisonRecord:
        """Return what a rater said who saw the answers in this order, or the other if ``swapped``."""
        said: dict[str, Any] = {"rater": rater, "rater_kind": rater_kind, "points": points, "rating": rating}
        return ComparisonRecord(**{**self._named(swapped=swapped), **said, **more})

    def judged(self, judge: RaterRecord, said: Said, *, swapped: bool = False) -> ComparisonRecord:
        """Return what a judge said who is named after the path of the file."""
        return self.rated(judge.slug, "judge", swapped=swapped, rater_from_path=True, **said._asdict())

    def _named(self, *, swapped: bool = False) -> dict[str, Any]:
        first, second = (self.second, self.first) if swapped else (self.first, self.second)
        return {
            "prompt": self.prompt.id,
            "subset": self.prompt.subset,
            "first": first.name,
            "second": second.name,
            "first_id": first.id,
            "second_id": second.id,
            "place": self.prompt.place,
        }


def beside(asides: Asides) -> dict[str, Any]:
    """The further fields that hold asides, if there are any."""
    return {ASIDES: list(asides)} if asides else {}


def with_author(fields: Fields, record: CompletionRecord) -> Iterator[Item]:
    """The completion, after its contestant if it has one, unless they were named before."""
    if record.contestant:
        yield from fields.news(ContestantRecord(record.contestant, implied=True, place=record.place))
    yield from fields.news(record)


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
    if is_blank(reply):
        return "empty"
    return "truncated" if finish == "length" else "unparsable"
