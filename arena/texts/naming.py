"""Which completions tell who wrote them, and so break the blindness of a rating."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import transaction

from arena.data.formats.records import CompletionRecord
from arena.models import Completion, Contestant, Study
from arena.models.signals import announce
from arena.texts.names import Named, NameFinder

EXAMPLES: Final = 20

BATCH: Final = 500
"""Completions that are read and written at once."""


@dataclass(frozen=True)
class NamingExample:
    """A completion that names a maker or model; ``phrase`` is what it says, ``own`` whether it is its own."""

    contestant: str
    prompt: str
    phrase: str
    own: bool
    place: str


@dataclass
class SelfNaming:
    """Completions in the files whose text says who wrote it."""

    own: int = 0
    """Completions that name their own model, family or maker."""
    others: int = 0
    """Completions that call themselves the model or work of somebody else."""
    by_contestant: dict[str, int] = field(default_factory=dict)
    """How many of both there are, by contestant."""
    examples: list[NamingExample] = field(default_factory=list)
    """The first of them."""

    @property
    def count(self) -> int:
        return self.own + self.others

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "SelfNaming":
        """What ``dataclasses.asdict`` made of it."""
        return cls(**{**values, "examples": [NamingExample(**example) for example in values["examples"]]})

    def add(self, record: CompletionRecord, found: Named) -> None:
        contestant = record.contestant or ""
        self.own += found.own
        self.others += not found.own
        self.by_contestant[contestant] = self.by_contestant.get(contestant, 0) + 1
        if len(self.examples) < EXAMPLES:
            example = NamingExample(contestant, record.prompt, found.phrase, found.own, str(record.place))
            self.examples.append(example)


class _Finders:
    """One finder per contestant."""

    def __init__(self) -> None:
        self._by_name: dict[str, NameFinder] = {}

    def of(self, contestant: Contestant | None) -> NameFinder | None:
        """What finds the names of a contestant; what people wrote, or nobody known, names no model."""
        if contestant is None or contestant.kind == Contestant.Kind.PEOPLE:
            return None
        finder = self._by_name.get(contestant.name)
        if finder is None:
            names = (contestant.name, contestant.family, contestant.organisation)
            finder = self._by_name[contestant.name] = NameFinder(*names)
        return finder


class SelfNamingWatch:
    """Looks at every completion of an import."""

    def __init__(self, found: SelfNaming) -> None:
        self._found = found
        self._finders = _Finders()

    def look(self, record: CompletionRecord, contestant: Contestant | None) -> list[str]:
        """Report a completion whose text says who wrote it; the words that do."""
        finder = self._finders.of(contestant)
        if finder is None:
            return []
        named = next((found for turn in record.turns if (found := finder.find(turn))), None)
        if named is None:
            return []
        self._found.add(record, named)
        return finder.find_all(record.turns)


@dataclass(frozen=True)
class NamesFound:
    """What looking through the completions of a study came to."""

    completions: int
    """Completions looked at: those with a known text, earlier versions included."""
    telling: int
    """Those with words that tell who wrote them."""
    changed: int
    """Those of which something else was known before."""


def find_names(study: Study) -> NamesFound:
    """Look for names in all completions of a study anew, as after an import before there was this search.

    Doing it again changes nothing, unless a contestant's name, family or organisation was changed.
    """
    finders = _Finders()
    looked = telling = 0
    changed: list[Completion] = []
    rows = (
        Completion.objects.filter(prompt__study=study)
        .exclude(turns=[])
        .select_related("contestant")
        .only(
            "turns",
            "telling",
            "contestant__name",
            "contestant__kind",
            "contestant__family",
            "contestant__organisation",
        )
        .order_by("pk")
    )
    for completion in rows.iterator(chunk_size=BATCH):
        finder = finders.of(completion.contestant)
        names = finder.find_all(completion.turns) if finder else []
        looked += 1
        telling += bool(names)
        if names != completion.telling:
            changed.append(Completion(pk=completion.pk, telling=names))
    with transaction.atomic():
        Completion.objects.bulk_update(changed, ["telling"], batch_size=BATCH)
        if changed:  # which pairs there are to offer depends on it
            announce([study])
    return NamesFound(looked, telling, len(changed))
