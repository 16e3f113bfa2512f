"""Computes the tables of a board from a bundle and compares them with the published ones; no database."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from leaderboard.files.bundle.archive import (
    COMPARISONS,
    OPINIONS,
    PARAMETERS,
    RESULTS,
    SIZES,
    BundleError,
    Place,
    Reader,
    digest_of,
    line_of,
    place_of,
)
from leaderboard.files.bundle.arrays import opinions_from, sizes_from
from leaderboard.refreshing import tables as refreshing_tables
from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.opinions import Opinions
from leaderboard.snapshots.presentation import printable
from leaderboard.snapshots.text_sizes import Texts
from leaderboard.stats import METHODOLOGY, EloParameters, Method, StatsError

# Published tables against computed ones: the same to the byte, to the last digit, or where not. Pure.
#
# Numbers are published rounded to 1e-6. Two processors may differ in the fifteenth digit; where the sixth
# decimal is rounded the other way because of that, the published numbers differ by 1e-6. That is told, and is
# no difference.


UNIT: Final = 1e-6
"""The last published decimal."""

_SLACK: Final = 1.000_5
MOST_SHOWN: Final = 20


@dataclass
class Verdict:
    same: int = 0
    rounded_otherwise: int = 0
    numbers: int = 0
    differences: list[str] = field(default_factory=list)
    different: int = 0

    @property
    def is_equal(self) -> bool:
        return not self.different

    def add(self, place: Place, published: Any, computed: Any, *, same_text: bool) -> None:
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
        self.different += 1
        self.say(f"{named(place)}: {where}")

    def say(self, sentence: str) -> None:
        if len(self.differences) < MOST_SHOWN:
            self.differences.append(sentence)


@dataclass(frozen=True)
class Difference:
    """A value that differs; ``last_digit`` where a number was only rounded the other way."""

    path: str
    published: Any
    computed: Any
    last_digit: bool = False

    def __str__(self) -> str:
        published, computed = _shown(self.published), _shown(self.computed)
        return f"{self.path or 'all of it'} was published as {published}, is {computed}"


def named(place: Place) -> str:
    return " ".join(part for part in place if part)


def differences(published: Any, computed: Any, path: str = "") -> Iterator[Difference]:
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


MOST_ROUNDS: Final = 100_000


@dataclass(frozen=True)
class Report:
    study: str
    methodology: str
    made_with: Mapping[str, Any]
    verdict: Verdict
    published_digest: str
    digest: str


def recompute(bundle: Reader, threads: int | None = None) -> Report:
    """Compute every table again and compare it with what was published. Raises BundleError."""
    parameters = bundle.json(PARAMETERS)
    method = method_of(parameters, threads)
    published = _published(bundle.read(RESULTS))
    opinions = opinions_from(bundle.read(OPINIONS), bundle.read(COMPARISONS))
    verdict, lines = Verdict(), []
    left = dict(published)
    texts = sizes_from(bundle.read(SIZES)) if SIZES in bundle else None
    for table in tables(opinions, method, texts):
        place = place_of(table)
        lines.append(line_of(place, table.payload))
        if place not in left:
            verdict.missing(place, "was not published")
            continue
        payload = left.pop(place)
        same = payload == table.payload
        given = {} if same else json.loads(payload)
        verdict.add(place, given, {} if same else json.loads(table.payload), same_text=same)
    for place in sorted(left):
        verdict.missing(place, "was published, and did not come out")
    return Report(
        str(parameters.get("study", "")),
        str(parameters["methodology"]),
        parameters.get("versions", {}),
        verdict,
        digest_of([line_of(place, payload) for place, payload in published.items()]),
        digest_of(lines),
    )


def tables(opinions: Opinions, method: Method, texts: Texts | None) -> Iterator[Table]:
    try:
        yield from refreshing_tables.tables(opinions, method, {}, texts)
    except StatsError as error:
        raise BundleError(f"The comparisons in the bundle cannot be ranked: {error}.") from error


def method_of(parameters: Any, threads: int | None = None) -> Method:
    """The method a bundle names. Raises BundleError."""
    try:
        made_by = str(parameters["methodology"])
        if made_by != METHODOLOGY:
            raise BundleError(
                f"The bundle was made by version {made_by[:20]} of the methodology; this program computes by "
                f"version {METHODOLOGY}. Take the program of the release or commit that the bundle names."
            )
        rounds = int(parameters["rounds"])
        if not 1 <= rounds <= MOST_ROUNDS:
            raise BundleError(f"The bundle asks for {rounds} rounds; there may be 1 to {MOST_ROUNDS:,}.")
        elo = EloParameters(**{name: _number(parameters[name]) for name in ("k", "scale", "base", "init")})
        return Method(
            rounds=rounds,
            interval=_number(parameters["interval"]),
            seed=int(parameters["seed"]),
            elo=elo,
            threads=threads,
        )
    except (KeyError, TypeError, ValueError, OverflowError, StatsError) as error:
        raise BundleError(f"The parameters in the bundle make no sense: {error}.") from error


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{str(value)[:50]!r} is no number")
    return value


def _published(content: bytes) -> dict[Place, str]:
    found: dict[Place, str] = {}
    try:
        for line in content.splitlines():
            one = json.loads(line)
            where = one["table"]
            place = (where["kind"], where["raters"], where["ties"], where["category"], where["method"])
            if place in found or not all(isinstance(part, str) for part in place):
                raise ValueError("a table stands there twice")
            found[place] = canonical(one["content"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BundleError("The results in the bundle cannot be read.") from error
    return found


# The outcome of computing a bundle again, in sentences. Pure.


def sentences(report: Report) -> Iterator[str]:
    """The outcome, differences and digests, one line each.

    Names come from whoever made the bundle and must not be able to fake an outcome.
    """
    yield from map(printable, _sentences(report))


def _sentences(report: Report) -> Iterator[str]:
    verdict = report.verdict
    number = verdict.same + verdict.rounded_otherwise + verdict.different
    yield f"{report.study}, methodology {report.methodology}: {number} tables computed again."
    yield f"{verdict.same} are equal to the published ones, to the last character."
    if verdict.rounded_otherwise:
        numbers = f"{verdict.numbers} number{'' if verdict.numbers == 1 else 's'}"
        yield (
            f"{verdict.rounded_otherwise} more are equal, with {numbers} whose sixth decimal was rounded the "
            "other way, as can happen between processors."
        )
    if verdict.different:
        yield f"{verdict.different} DIFFER from the published ones:"
        yield from (f"  {sentence}" for sentence in verdict.differences)
        if len(verdict.differences) >= MOST_SHOWN:
            yield "  ... and more."
    yield f"SHA-256 of all published tables: {report.published_digest}"
    yield f"SHA-256 of all computed tables:  {report.digest}"
    yield "EQUAL" if verdict.is_equal else "NOT EQUAL"
