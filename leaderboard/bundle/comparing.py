"""Published tables against computed ones: the same to the byte, to the last digit, or where not. Pure.

Numbers are published rounded to 1e-6. Two processors may differ in the fifteenth digit; where the sixth
decimal is rounded the other way because of that, the published numbers differ by 1e-6. That is told, and is
no difference.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

UNIT: Final = 1e-6
"""One in the last place of a published number."""

_SLACK: Final = 1.000_5
MOST_SHOWN: Final = 20

Place = tuple[str, ...]
"""Which table: kind, raters, ties, category and method."""


@dataclass
class Verdict:
    """What came out: tables that are the same to the byte, and to the last digit, and everything else."""

    same: int = 0
    rounded_otherwise: int = 0
    numbers: int = 0
    differences: list[str] = field(default_factory=list)
    different: int = 0

    @property
    def is_equal(self) -> bool:
        """Whether every published table came out."""
        return not self.different

    def add(self, place: Place, published: Any, computed: Any, *, same_text: bool) -> None:
        """Compare one table, given as JSON values."""
        if same_text:
            self.same += 1
            return
        found = list(differences(published, computed))
        apart = [each for each in found if not each.last_digit]
        self.numbers += len(found) - len(apart)
        self.rounded_otherwise += not apart
        if apart:
            self.different += 1
            for each in apart[:MOST_SHOWN]:
                self.say(f"{named(place)}: {each}")

    def missing(self, place: Place, where: str) -> None:
        """A table that is on one side alone."""
        self.different += 1
        self.say(f"{named(place)}: {where}")

    def say(self, sentence: str) -> None:
        if len(self.differences) < MOST_SHOWN:
            self.differences.append(sentence)


@dataclass(frozen=True)
class Difference:
    """One value that differs; ``last_digit`` where it is a number rounded the other way."""

    path: str
    published: Any
    computed: Any
    last_digit: bool = False

    def __str__(self) -> str:
        published, computed = _shown(self.published), _shown(self.computed)
        return f"{self.path or 'all of it'} was published as {published}, is {computed}"


def named(place: Place) -> str:
    """A table in words that tell it from the others."""
    return " ".join(part for part in place if part)


def differences(published: Any, computed: Any, path: str = "") -> Iterator[Difference]:
    """Every value in which two tables differ."""
    if isinstance(published, Mapping) and isinstance(computed, Mapping):
        for key in sorted(published.keys() | computed.keys()):
            yield from differences(published.get(key), computed.get(key), f"{path}.{key}" if path else key)
    elif isinstance(published, list) and isinstance(computed, list) and len(published) == len(computed):
        for number, (one, other) in enumerate(zip(published, computed, strict=True)):
            yield from differences(one, other, f"{path}[{number}]")
    elif published != computed or isinstance(published, bool) is not isinstance(computed, bool):
        yield Difference(path, published, computed, _close(published, computed))


def _close(one: Any, other: Any) -> bool:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (one, other))
    if not numbers or (isinstance(one, int) and isinstance(other, int)):
        return False  # counts and ranks are right or wrong
    scale = max(1.0, abs(one) * 1e-9)
    return bool(abs(one - other) <= UNIT * _SLACK * scale)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
