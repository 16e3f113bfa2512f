"""Computes the tables of a bundle again, without a database, and compares them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from leaderboard.answers.stored.texts import TextOpinions
from leaderboard.files.bundle.archive import (
    CHECKS,
    COMPARISONS,
    FEATURES,
    OPINIONS,
    PARAMETERS,
    REQUIREMENTS,
    RESULTS,
    RIGHT_ANSWERS,
    SCORED,
    SCORES,
    SIZES,
    BundleError,
    Place,
    Reader,
    digest_of,
    place_of,
    valid,
)
from leaderboard.files.bundle.arrays import opinions_from, sizes_from
from leaderboard.files.bundle.right_answers import right_answers_from
from leaderboard.files.bundle.text_opinions import Files, checks_from, features_from, scores_from
from leaderboard.pages.aligned_text import printable
from leaderboard.refreshing.tables import tables
from leaderboard.snapshots.canonical import canonical
from leaderboard.stats.checks import StatsError
from leaderboard.stats.elo import EloParameters
from leaderboard.stats.ranking_method import METHODOLOGY, Method

# Processors may differ in the fifteenth digit. A sixth decimal that this rounds the other way
# is reported and is no difference.
UNIT: Final = 1e-6

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

    def add(self, place: Place, published: str, computed: str) -> None:
        if published == computed:
            self.same += 1
            return
        found = list(differences(json.loads(published), json.loads(computed)))
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
    verdict: Verdict
    published_digest: str
    digest: str


def recompute(bundle: Reader, threads: int | None = None) -> Report:
    """Compute a bundle's tables again and compare them with the published ones. Raises BundleError."""
    parameters = bundle.json(PARAMETERS)
    method = method_of(parameters, threads)
    published = _published(bundle.read(RESULTS))
    opinions = opinions_from(bundle.read(OPINIONS), bundle.read(COMPARISONS))
    verdict, left = Verdict(), dict(published)
    texts = sizes_from(bundle.read(SIZES)) if SIZES in bundle else None
    right = right_answers_from(bundle.read(RIGHT_ANSWERS)) if RIGHT_ANSWERS in bundle else None
    about_texts = _text_opinions(bundle)
    if FEATURES in bundle:
        features_from(bundle.read(FEATURES))  # no table is made of them: they are checked alone
    if not len(opinions) and not about_texts:
        raise BundleError("The ratings in the bundle are invalid: there are none.")
    try:
        of_pairs = tables(opinions, method, {}, texts, right)
        found = itertools.chain(of_pairs, about_texts.tables())
        computed = {place_of(table): table.payload for table in found}
    except StatsError as error:
        raise BundleError(f"The ratings in the bundle cannot be ranked: {error}.") from error
    for place, payload in computed.items():
        if place in left:
            verdict.add(place, left.pop(place), payload)
        else:
            verdict.missing(place, "was not published")
    for place in sorted(left):
        verdict.missing(place, "was published, and did not come out")
    return Report(
        str(parameters.get("study", "")),
        str(parameters["methodology"]),
        verdict,
        digest_of(published),
        digest_of(computed),
    )


def _text_opinions(bundle: Reader) -> TextOpinions:
    def files(facts: str, rows: str) -> Files | None:
        return Files(bundle.read(facts), bundle.read(rows)) if facts in bundle else None

    checks, scores = files(REQUIREMENTS, CHECKS), files(SCORED, SCORES)
    return TextOpinions(checks and checks_from(checks), scores and scores_from(scores))


def method_of(parameters: Any, threads: int | None = None) -> Method:
    """The method of a bundle. Raises BundleError."""
    with valid("parameters"):
        made_by = str(parameters["methodology"])
        if made_by != METHODOLOGY:
            raise BundleError(
                f"The bundle has method version {made_by[:20]}; this program has version {METHODOLOGY}. Use "
                "the program of the release or commit that the bundle names."
            )
        rounds = int(parameters["rounds"])
        if not 1 <= rounds <= MOST_ROUNDS:
            raise BundleError(f"The bundle asks for {rounds} resamples; 1 to {MOST_ROUNDS:,} are possible.")
        elo = EloParameters(**{name: _number(parameters[name]) for name in ("k", "scale", "base", "init")})
        return Method(
            rounds=rounds,
            interval=_number(parameters["interval"]),
            seed=int(parameters["seed"]),
            elo=elo,
            threads=threads,
        )


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{str(value)[:50]!r} is not a number")
    return value


def _published(content: bytes) -> dict[Place, str]:
    found: dict[Place, str] = {}
    try:
        for line in content.splitlines():
            one = json.loads(line)
            where = one["table"]
            place = (where["kind"], where["raters"], where["ties"], where["category"], where["method"])
            if place in found or not all(isinstance(part, str) for part in place):
                raise ValueError("a table occurs twice")
            found[place] = canonical(one["content"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BundleError("The results in the bundle cannot be read.") from error
    return found


def sentences(report: Report) -> Iterator[str]:
    """The outcome, differences and digests.

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
