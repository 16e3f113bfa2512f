"""Which completions tell who wrote them, and so break the blindness of a rating."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from arena.formats.records import CompletionRecord
from arena.models import Contestant
from arena.self_naming import Named, NameFinder

EXAMPLES: Final = 20


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


class SelfNamingWatch:
    """Looks at every completion of an import; one finder per contestant."""

    def __init__(self, found: SelfNaming) -> None:
        self._found = found
        self._finders: dict[str, NameFinder] = {}

    def look(self, record: CompletionRecord, contestant: Contestant | None) -> None:
        """Report a completion whose text says who wrote it. What people wrote names no model."""
        if contestant is None or contestant.kind == Contestant.Kind.PEOPLE:
            return
        finder = self._finders.get(contestant.name)
        if finder is None:
            names = (contestant.name, contestant.family, contestant.organisation)
            finder = self._finders[contestant.name] = NameFinder(*names)
        for turn in record.turns:
            named = finder.find(turn)
            if named:
                self._found.add(record, named)
                return
