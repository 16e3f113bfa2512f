"""What is asked of opinions about single answers, and what can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

from leaderboard.pages.rater_kinds.choices import one_of

CHECKS: Final = "requirements"
SCORES: Final = "scores"
FEATURES: Final = "features"
"""Kinds of tables about single answers: by opinions of two kinds, and of features held against opinions."""

BESIDE_PAIRS: Final = "pairs"
BESIDE_SCORES: Final = "scores"
"""Methods of tables that hold figures against others."""

FEWEST: Final = 10
"""Until a study closes, numbers of fewer opinions than this stay hidden."""


class NoOpinionsError(ValueError):
    """Nobody said anything about what was asked for; the message is a sentence for the reader."""


@dataclass(frozen=True)
class AskedOfAnswers:
    """Whose opinions."""

    raters: str

    def parts(self) -> list[tuple[str, str]]:
        """Names and values in an address; those that are usual are empty."""
        return [*asdict(self).items()]

    def query(self, **changes: Any) -> str:
        """The end of an address, with some of it changed."""
        return "?" + urlencode([each for each in replace(self, **changes).parts() if each[1]])

    def parameters(self) -> dict[str, Any]:
        return {name: value or None for name, value in asdict(self).items()}

    @property
    def is_stored(self) -> bool:
        """Whether every snapshot holds its numbers."""
        return self == type(self)(self.raters)


@dataclass(frozen=True)
class AskedOfTexts(AskedOfAnswers):
    """Whose opinions, and about which prompts; what is empty means all."""

    subset: str = ""
    category: str = ""


@dataclass(frozen=True)
class Known:
    """What a snapshot counted of one kind of opinions, and what readers choose from.

    ``raters``: selector, label, simulated, ``same_as`` of an earlier entry, and ``enough``: the sets and
    categories in which a model has FEWEST opinions. ``given``: how many opinions there are. ``features``:
    name, variant, source and label. ``models``: the names of those whose answers have features.
    """

    raters: Sequence[Mapping[str, Any]] = ()
    subsets: Sequence[str] = ()
    categories: Sequence[str] = ()
    turns: Sequence[int] = ()
    given: int = 0
    features: Sequence[Mapping[str, str]] = ()
    models: Sequence[str] = ()

    @classmethod
    def of(cls, counts: Mapping[str, Any], kind: str) -> Known:
        """Nothing where nobody gave an opinion of this kind."""
        return cls(**counts.get(kind) or {})

    @property
    def selectors(self) -> list[str]:
        return [str(each["selector"]) for each in self.raters]

    def chosen(self, selector: str) -> Mapping[str, Any]:
        return next(each for each in self.raters if each["selector"] == selector)


def asked_of_all(wanted: Mapping[str, str], known: Known) -> dict[str, str]:
    """Raters, set and category of an address. Raises UnknownSettingError."""
    raters = known.selectors
    return {
        "raters": one_of(wanted, "raters", raters, raters[0] if raters else ""),
        "subset": one_of(wanted, "subset", known.subsets, ""),
        "category": one_of(wanted, "category", known.categories, ""),
    }


def enough(about: Iterable[tuple[int, str, str]]) -> dict[str, list[str]]:
    """The sets and categories in which a model has FEWEST opinions, from model, set and category of each."""
    given = Counter(about)
    found = {}
    for place, name in ((1, "subset"), (2, "category")):
        parts: Counter[tuple[int, str]] = Counter()
        for key, number in given.items():
            parts[key[0], str(key[place])] += number
        found[name] = sorted({part for (_, part), number in parts.items() if part and number >= FEWEST})
    return found
