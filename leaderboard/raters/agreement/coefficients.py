"""How raters agree: correlation with people, its ceiling, kappa, alpha and Fleiss' kappa."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Final

import numpy as np

from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.copying import Payloads, digest
from leaderboard.snapshots.reading import Choice, Opinions
from leaderboard.stats import alpha, kappa
from leaderboard.stats.agreement_estimates import Estimates, Wanted, estimates
from leaderboard.stats.agreement_opinions import (
    Beside,
    Measure,
    OpinionRows,
    PairSums,
    Topics,
    distinct,
    mean_verdicts,
    opinion_rows,
    pair_sums,
)
from leaderboard.stats.alpha import one_from_each, repeated_pairs, within_measure
from leaderboard.stats.alternative_annotator import alternative_annotator
from leaderboard.stats.checks import FloatArray
from leaderboard.stats.choices import COEFFICIENTS
from leaderboard.stats.correlation import (
    Entries,
    ceiling_entries,
    correlation,
    in_their_place,
    shared_entries,
)
from leaderboard.stats.kappa import kappa_measure
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.verdicts import TieBand


@dataclass(frozen=True, eq=False)
class Kind:
    """The rows of one choice of raters, and their sums for every pair of the study."""

    selector: str
    rows: OpinionRows
    sums: PairSums


@dataclass(frozen=True, eq=False)
class Arranged:
    """Scored opinions, with pairs and prompts numbered from 0."""

    topics: Topics
    rows: OpinionRows
    choices: Sequence[Choice]

    @property
    def pairs(self) -> int:
        return len(self.topics.prompt)

    def about(self, category: str) -> Arranged:
        """The opinions on a category (on all where empty) as the only row; rounds still draw all prompts."""
        topics = replace(self.topics, category=np.zeros_like(self.topics.category), names=("",))
        if not category:
            return replace(self, topics=topics)
        chosen = self.topics.of_pairs(self.rows.pair) == self.topics.names.index(category)
        return replace(self, topics=topics, rows=self.rows.only(chosen))

    def kind(self, choice: Choice, but: frozenset[int] = frozenset()) -> Kind:
        """The opinions of the raters of a choice, without those of ``but``."""
        rows = self.rows.only(np.isin(self.rows.rater, list(choice.ids - but)))
        return Kind(choice.selector, rows, pair_sums(rows, self.pairs))

    def raters(self, rows: OpinionRows, pair: Any) -> Any:
        """For each row of the topics, the number of raters with an opinion on any of these pairs."""
        asked = np.zeros(self.pairs, dtype=bool)
        asked[pair] = True
        own = rows.only(asked[rows.pair])
        names = len(self.topics.names)
        seen = np.unique(own.rater * names + self.topics.of_pairs(own.pair))
        found = np.zeros((len(self.topics.chosen), 1))
        if len(seen):
            _, number = np.unique(seen // names, return_inverse=True)
            table = np.zeros((names, number.max() + 1))
            table[seen % names, number] = 1.0
            found = self.topics.chosen @ table
        return (found > 0).sum(axis=1)


def arrange(opinions: Opinions, band: TieBand | None = None, *, ties: bool = True) -> Arranged:
    """Without ``ties``, ratings without a side are left out."""
    # Column by column: a copy of whole rows would take half as much memory as all of them.
    scored = np.flatnonzero(opinions.scored)
    columns = {name: opinions.rows[name][scored] for name in ("pair", "rater", "rating", "points", "swapped")}
    _, first, pair = np.unique(columns.pop("pair"), return_index=True, return_inverse=True)
    heads = opinions.rows[scored[first]]
    _, start, prompt = np.unique(heads["prompt"], return_index=True, return_inverse=True)
    topics = Topics(prompt, heads["category"][start], opinions.categories)
    given = opinion_rows(pair, **columns, band=band, ties=ties)
    return Arranged(topics, given, opinions.raters)


Rows = list[dict[str, Any]]

FEWEST_PAIRS: Final = 3
BESIDE_PEOPLE: Final = tuple(
    f"{name}{end}" for end in ("", "_people", "_difference") for name in COEFFICIENTS
)
"""Of a judge, of people in its place, and how much more the judge has."""

PEOPLE: Final = "people"
_CONSTANT: Final = "a side gave every pair the middle of the scale"


@dataclass(frozen=True, eq=False)
class Part:
    """A list of rows of a table: what it needs from the bootstrap, and how it is written."""

    wanted: Wanted
    write: Callable[[Estimates], Rows]


@dataclass(frozen=True, eq=False)
class Place:
    """Where a part stands: in correlation, ceiling or agreement, ``other`` empty for what is within one."""

    kind: str
    raters: str
    other: str
    make: Callable[[], Part]

    @property
    def table(self) -> tuple[str, str]:
        return "correlation" if self.kind == "ceiling" else self.kind, self.raters


def agreement(opinions: Opinions, method: Method, known: Payloads | None = None) -> Iterator[Table]:
    """Tables of correlation (people and each judge) and of agreement (people, each judge, each group).

    One bootstrap over prompts serves all. What two kinds of raters have in common is copied from ``known``
    where neither has changed: ``inputs`` of a table are those of its own raters alone.
    """
    known = {} if known is None else known
    arranged = arrange(opinions, method.tie_band, ties=method.ties)
    if not len(arranged.rows):
        return
    choices = {choice.selector: choice for choice in arranged.choices}
    kinds = {selector: arranged.kind(choice) for selector, choice in choices.items()}
    places = list(_places(arranged, choices, kinds))
    level, rounds, seed = method.interval, method.rounds or 1, method.seed
    own = {selector: _inputs(arranged, kind, method) for selector, kind in kinds.items()}
    inputs = {place.table: digest([place.table, own[place.raters]]) for place in places}
    earlier = {table: json.loads(known[key]) for table, key in inputs.items() if key in known}
    rows = {place: _copied(place, earlier) for place in places}
    new = {place: place.make() for place in places if rows[place] is None}
    wanted = [part.wanted for part in new.values()]
    found = estimates(wanted, level=level, rounds=rounds, seed=seed)
    rows |= {place: part.write(each) for (place, part), each in zip(new.items(), found, strict=True)}
    contents: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for place in places:
        content = contents[place.table]
        if place.kind == "ceiling":
            judge = kinds[place.raters]
            content["ceiling"] = rows[place]
            content["stand_in"] = (
                _stand_in(arranged.topics, judge, kinds[PEOPLE])
                if place in new
                else earlier[place.table]["stand_in"]
            )
        elif place.kind == "correlation":
            content["rows"] = rows[place]
        elif place.other:
            content["others"].append({"raters": place.other, "rows": rows[place]})
        else:
            content.update(points=_points(arranged), others=[], within={"rows": rows[place]})
        content.update(level=level, rounds=rounds, seed=seed, resample="prompts")
        if method.tie_band:
            content.update(band=str(method.tie_band))
    for table, content in contents.items():
        known[inputs[table]] = canonical(content)
        yield Table(*table, known[inputs[table]], inputs=inputs[table])


def _copied(place: Place, earlier: Mapping[tuple[str, str], Any]) -> Rows | None:
    """The rows of a place in earlier tables; None where a kind of raters has changed since."""
    if any(("agreement", raters) not in earlier for raters in (place.raters, place.other) if raters):
        return None
    content = earlier.get(place.table, {})
    if place.kind == "agreement":
        found = {each["raters"]: each for each in content["others"]} | {"": content["within"]}
        content = found.get(place.other, {})
    rows: Rows | None = content.get("ceiling" if place.kind == "ceiling" else "rows")
    return rows


def _inputs(arranged: Arranged, kind: Kind, method: Method) -> str:
    """Digest of what parts of a kind of raters are computed from beside the other's opinions."""
    topics, rows = arranged.topics, kind.rows
    run = method.interval, method.rounds, method.seed, method.tie_band, method.ties
    arrays = topics.prompt, topics.category, rows.pair, rows.rater, rows.rating, rows.points
    return digest(["agreement", kind.selector, run, topics.names], *arrays)


def _points(arranged: Arranged) -> int | None:
    """The points of the scale; None where several are in use."""
    found = distinct(arranged.rows.points).tolist()
    return found[0] if len(found) == 1 else None


def _stand_in(topics: Topics, judge: Kind, people: Kind) -> dict[str, Any]:
    rows, judged = one_from_each(people.rows), mean_verdicts(judge.rows, judge.sums)
    found = alternative_annotator(rows.pair, rows.rater, rows.verdict, judged, prompt=topics.prompt)
    return found.as_dict()


def _places(arranged: Arranged, choices: Mapping[str, Choice], kinds: Mapping[str, Kind]) -> Iterator[Place]:
    # Groups meet people alone, without those who are in both; all others meet each other once.
    alone = [kind for selector, kind in kinds.items() if not selector.startswith("group:")]
    people = kinds.get(PEOPLE)
    for kind in kinds.values():
        if len(kind.rows):
            yield Place("agreement", kind.selector, "", partial(within, arranged, kind))
    if people is not None:
        ceiling = Ceiling(arranged, people)
        yield Place("correlation", PEOPLE, "", ceiling.part)
    for number, one in enumerate(alone):
        for other in alone[:number]:
            place = one.selector, other.selector
            if other is people:
                yield Place("correlation", *place, partial(correlated, arranged, one, people))
                yield Place("ceiling", *place, partial(ceiling.beside, one))
            if len(one.rows) and len(other.rows):
                yield Place("agreement", *place, partial(between, arranged, one, other))
    for selector, kind in kinds.items():
        if people is not None and selector.startswith("group:"):
            others = arranged.kind(choices[PEOPLE], choices[selector].ids)
            if len(kind.rows) and len(others.rows):
                yield Place("agreement", selector, PEOPLE, partial(between, arranged, kind, others))


def correlated(arranged: Arranged, one: Kind, other: Kind) -> Part:
    entries = shared_entries(other.sums, one.sums)
    found = correlation(arranged.topics, entries)
    return _correlated(arranged, entries, found, other, "rated by both")


def _correlated(
    arranged: Arranged,
    entries: Entries,
    correlations: tuple[Measure, FloatArray],
    people: Kind,
    shared: str,
) -> Part:
    topics, pair = arranged.topics, distinct(entries.pair)
    n, raters = topics.add_up(topics.of_pairs(pair)), arranged.raters(people.rows, pair)
    measure, values = correlations
    values = np.where(n[:, None] < FEWEST_PAIRS, np.nan, values)
    wanted = Wanted(measure, pair, values)

    def write(found: Estimates) -> Rows:
        few = f"fewer than {FEWEST_PAIRS} pairs {shared}"
        rows = _rows(arranged, found, COEFFICIENTS, range(len(n)))
        for i, row in enumerate(rows):
            row.update(n=int(n[i]), raters=int(raters[i]), all_but=topics.left_out[i])
            row["reason"] = _reason(row, COEFFICIENTS[0], few if n[i] < FEWEST_PAIRS else _CONSTANT)
        return rows

    return Part(wanted, write)


@dataclass(frozen=True, eq=False)
class Ceiling:
    """How each person correlates with the others."""

    arranged: Arranged
    people: Kind
    found: dict[bytes, tuple[Measure, FloatArray]] = field(default_factory=dict)

    @cached_property
    def entries(self) -> Entries:
        return ceiling_entries(self.people.rows, self.people.sums)

    def part(self) -> Part:
        found = self._on(self.entries)
        return _correlated(self.arranged, self.entries, found, self.people, "rated by two people")

    def beside(self, judge: Kind) -> Part:
        """A judge's correlation with people beside each person's with the others, on the same pairs."""
        arranged, topics = self.arranged, self.arranged.topics
        entries, persons = in_their_place(self.entries, judge.sums)
        pair = distinct(entries.pair)
        n, raters = topics.add_up(topics.of_pairs(pair)), arranged.raters(self.people.rows, pair)
        own, values = correlation(topics, entries)
        person, ceiling = self._on(persons)
        found = np.concatenate((values, ceiling, values - ceiling), axis=1)
        found[n < FEWEST_PAIRS] = np.nan
        differences = tuple(range(2 * len(COEFFICIENTS), len(BESIDE_PEOPLE)))
        wanted = Wanted(Beside(own, person), pair, found, differences=differences)

        def write(estimates: Estimates) -> Rows:
            few = f"fewer than {FEWEST_PAIRS} pairs rated by the judge and two people"
            rows = _rows(arranged, estimates, BESIDE_PEOPLE, range(len(n)))
            for i, row in enumerate(rows):
                row.update(n=int(n[i]), raters=int(raters[i]), all_but=topics.left_out[i])
                row["reason"] = _reason(row, BESIDE_PEOPLE[-3], few if n[i] < FEWEST_PAIRS else _CONSTANT)
            return rows

        return Part(wanted, write)

    def _on(self, persons: Entries) -> tuple[Measure, FloatArray]:
        """Once for all people, and for all judges who rated the same pairs."""
        pairs = persons.pair.tobytes()
        if pairs not in self.found:
            self.found[pairs] = correlation(self.arranged.topics, persons)
        return self.found[pairs]


def between(arranged: Arranged, one: Kind, other: Kind) -> Part:
    topics, entries = arranged.topics, shared_entries(one.sums, other.sums)
    category = topics.of_pairs(entries.pair)
    pairs, n = (
        topics.add_up(category, weight)
        for weight in (None, (one.sums.count * other.sums.count)[entries.pair])
    )
    measure = kappa_measure(topics, one.sums, other.sums)
    values = measure.estimate
    values[pairs < FEWEST_PAIRS, kappa.VALUES.index("pearson")] = np.nan
    wanted = Wanted(measure, entries.pair, values, shares=(kappa.VALUES.index("exact"),))

    def write(found: Estimates) -> Rows:
        rows = _rows(arranged, found, kappa.VALUES, _without_rest(arranged))
        for i, row in enumerate(rows):
            row.update(n=int(n[i]), pairs=int(pairs[i]))
            none = "no pair was rated by both" if not n[i] else "both gave every pair the middle of the scale"
            row["reason"] = _reason(row, kappa.VALUES[0], none)
        return rows

    return Part(wanted, write)


def within(arranged: Arranged, kind: Kind) -> Part:
    topics = arranged.topics
    rows = one_from_each(kind.rows)
    chosen = repeated_pairs(rows, arranged.pairs)
    category = topics.of_pairs(chosen.pair)
    pairs, ratings, even = (
        topics.add_up(category, weight) for weight in (None, chosen.sums.count, chosen.even)
    )
    raters = arranged.raters(rows, chosen.pair)
    measure, each = within_measure(topics, chosen), chosen.each
    wanted = Wanted(measure, chosen.pair, measure.estimate)

    def write(found: Estimates) -> Rows:
        written = _rows(arranged, found, alpha.VALUES, _without_rest(arranged))
        for i, row in enumerate(written):
            row.update(raters=int(raters[i]), pairs=int(pairs[i]), ratings=int(ratings[i]))
            row.update(fleiss_pairs=int(even[i]), fleiss_ratings=each)
            none = "no pair has two ratings" if not pairs[i] else "every rating is the middle of the scale"
            row["reason"] = _reason(row, alpha.VALUES[0], none)
        return written

    return Part(wanted, write)


def _without_rest(arranged: Arranged) -> range:
    """The rows about all categories and each, but not about all but one."""
    return range(1 + len(arranged.topics.named))


def _rows(arranged: Arranged, found: Estimates, names: tuple[str, ...], chosen: range) -> Rows:
    return [
        {
            "category": arranged.topics.rows[i],
            "prompts": int(found.prompts[i]),
            **rounded(dict(zip(names, found.row(i), strict=True))),
            **{f"{name}_alike": True for j, name in enumerate(names) if _is_alike(found, i, j)},
        }
        for i in chosen
    ]


def _is_alike(found: Estimates, row: int, value: int) -> bool:
    return bool(found.alike[row, value] and math.isnan(found.low[row, value]))


def _reason(row: dict[str, Any], name: str, undefined: str) -> str | None:
    if row[name] is None:
        return undefined
    if row[f"{name}_low"] is not None:
        return None
    return "no interval: " + ("one prompt only" if row["prompts"] < 2 else "every resample gives the same")
