"""Finds completions that tell their author, which breaks the blindness of a rating."""

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


@dataclass(frozen=True)
class NamingExample:
    """A completion that names a maker or model; ``own`` if it is its author's."""

    contestant: str
    prompt: str
    phrase: str
    own: bool
    place: str


@dataclass
class SelfNaming:
    """Completions in the files that tell their author."""

    own: int = 0
    """They name their own model, family or maker."""
    others: int = 0
    """They claim to be another model or maker's work."""
    by_contestant: dict[str, int] = field(default_factory=dict)
    examples: list[NamingExample] = field(default_factory=list)

    @property
    def count(self) -> int:
        return self.own + self.others

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "SelfNaming":
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
    def __init__(self) -> None:
        self._by_name: dict[str, NameFinder] = {}

    def of(self, contestant: Contestant | None) -> NameFinder | None:
        """The finder of a contestant; None for people and unknown authors."""
        if contestant is None or contestant.kind == Contestant.Kind.PEOPLE:
            return None
        finder = self._by_name.get(contestant.name)
        if finder is None:
            names = (contestant.name, contestant.family, contestant.organisation)
            finder = self._by_name[contestant.name] = NameFinder(*names)
        return finder


class SelfNamingWatch:
    def __init__(self, found: SelfNaming) -> None:
        self._found = found
        self._finders = _Finders()

    def look(self, record: CompletionRecord, contestant: Contestant | None) -> list[str]:
        """The words by which a completion tells its author, after counting it."""
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
    """What a search through a study's completions found."""

    completions: int
    """Completions with a known text, earlier versions included."""
    telling: int
    changed: int
    """Those whose words differ from the stored ones."""


def find_names(study: Study) -> NamesFound:
    """Search all completions of a study for names again, and store the words found."""
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
