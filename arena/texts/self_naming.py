"""Finds completions that tell their author, which breaks the blindness of a rating."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from django.db import transaction

from arena.data.formats.records import CompletionRecord
from arena.models import Completion, Contestant, Study
from arena.models.signals import announce
from arena.texts.author_names import NameFinder, mask

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

    own: int = 0  # they name their own model, family or maker
    others: int = 0  # they claim to be another model or maker's work
    by_contestant: dict[str, int] = field(default_factory=dict)
    examples: list[NamingExample] = field(default_factory=list)

    @property
    def count(self) -> int:
        return self.own + self.others

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "SelfNaming":
        return cls(**{**values, "examples": [NamingExample(**example) for example in values["examples"]]})

    def check(self, record: CompletionRecord, contestant: Contestant | None) -> list[str]:
        """The words by which a completion tells its author, after counting it."""
        finder = _finder_of(contestant)
        named = (
            next((found for turn in record.turns if (found := finder.find(turn))), None) if finder else None
        )
        if finder is None or named is None:
            return []
        name = record.contestant or ""
        self.own += named.own
        self.others += not named.own
        self.by_contestant[name] = self.by_contestant.get(name, 0) + 1
        if len(self.examples) < EXAMPLES:
            example = NamingExample(name, record.prompt, named.phrase, named.own, str(record.place))
            self.examples.append(example)
        return finder.find_all(record.turns)


_finder = lru_cache(maxsize=1000)(NameFinder)


def _finder_of(contestant: Contestant | None) -> NameFinder | None:
    """The finder of a contestant; None for people and unknown authors."""
    if contestant is None or contestant.kind == Contestant.Kind.PEOPLE:
        return None
    return _finder(contestant.name, contestant.family, contestant.organisation)


def telling_words(contestant: Contestant | None, turns: Sequence[str]) -> list[str]:
    """The words of an answer that tell who wrote it."""
    finder = _finder_of(contestant)
    return finder.find_all(turns) if finder else []


def shown_turns(completion: Completion, study: Study) -> list[str]:
    """The turns of a completion as raters of the study, people and judges, see them."""
    hidden = completion.telling if study.naming == Study.Naming.MASK else ()
    return [mask(turn, hidden) for turn in completion.turns]


@dataclass(frozen=True)
class NamesFound:
    """What a search through a study's completions found."""

    completions: int  # completions with a known text, earlier versions included
    telling: int
    changed: int  # those whose words differ from the stored ones


def find_names(study: Study) -> NamesFound:
    """Search all completions of a study for names again, and store the words found."""
    looked = telling = 0
    changed: list[Completion] = []
    names_of = ("contestant__name", "contestant__kind", "contestant__family", "contestant__organisation")
    known = Completion.objects.filter(prompt__study=study).exclude(turns=[]).select_related("contestant")
    rows = known.only("turns", "telling", *names_of).order_by("pk")
    for completion in rows.iterator(chunk_size=BATCH):
        names = telling_words(completion.contestant, completion.turns)
        looked += 1
        telling += bool(names)
        if names != completion.telling:
            changed.append(Completion(pk=completion.pk, telling=names))
    with transaction.atomic():
        Completion.objects.bulk_update(changed, ["telling"], batch_size=BATCH)
        if changed:  # which pairs there are to offer depends on it
            announce([study])
    return NamesFound(looked, telling, len(changed))
