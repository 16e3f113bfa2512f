"""The tables of opinions about single answers: requirements met, and text scores."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from django.db.models import Q

from arena.models import Answer, Score, Study
from arena.rating.publication import Due, held_back
from leaderboard.answers.asked import (
    BESIDE_PAIRS,
    BESIDE_SCORES,
    CHECKS,
    SCORES,
    AskedOfTexts,
    Known,
    NoOpinionsError,
    enough,
)
from leaderboard.answers.beside_pairs import (
    Compared,
    Ranked,
    beside_pairs,
    compared,
    ranked,
    ranking_by,
)
from leaderboard.answers.requirements import content as requirements
from leaderboard.answers.requirements.beside_scores import beside_scores
from leaderboard.answers.requirements.content import Figures
from leaderboard.answers.requirements.reading import Checked, checked
from leaderboard.answers.scores import content as scores
from leaderboard.answers.scores.content import Scored, of_contestants, scored
from leaderboard.answers.scores.reading import ScoreRows, TextScores, score_rows
from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.snapshots.canonical import Table
from leaderboard.snapshots.copying import Payloads, digest, kept
from leaderboard.snapshots.declarations import OnDemand, Request, SnapshotOutdatedError
from leaderboard.snapshots.reading import Choice, Read, ids_held
from leaderboard.snapshots.settings import Scope
from leaderboard.snapshots.text_sizes import measure_missing
from leaderboard.stats.sides import UNSCORED

Marks = Sequence[Sequence[int]]
"""Number and largest id of the scores, and of the answers, that a snapshot counts."""

_KINDS: Final = (Score, Answer)


@dataclass(frozen=True, eq=False)
class TextOpinions:
    """Those that a snapshot counts, or that a bundle holds; None without any."""

    checked: Checked | None = None
    rows: ScoreRows | None = None

    def __bool__(self) -> bool:
        return self.checked is not None or self.rows is not None

    @cached_property
    def scored(self) -> TextScores | None:
        return None if self.rows is None else self.rows.arrays()

    @property
    def raters(self) -> set[int]:
        """Who checked or scored, by id."""
        checks = () if self.checked is None else self.checked.ids.tolist()
        given = () if self.rows is None else (row.rater for row in self.rows.rows)
        return {*checks, *given}

    def counts(self) -> dict[str, Any]:
        """What readers choose from, by kind."""
        checks = None if self.checked is None else _known_checks(self.checked)
        given = None if self.scored is None else _known_scores(self.scored)
        return {CHECKS: checks and asdict(checks), SCORES: given and asdict(given)}

    def tables(
        self, known: Payloads | None = None, rankings: Sequence[Ranked] | None = None
    ) -> Iterator[Table]:
        """The usual figures by each kind of raters.

        With ``rankings`` from pairs there is also what these figures are held against.
        """
        known = {} if known is None else known
        if self.checked is not None:
            checks = _Checks(self, known, rankings, self.checked, requirements.Asked(""))
            for choice in self.checked.raters:
                yield from checks.by(choice)
        if self.scored is not None:
            given = _Scores(self, known, rankings, self.scored, scores.Asked(""))
            yield given.of_everybody()
            for choice in self.scored.raters:
                yield from given.by(choice)

    def tables_at(self, asked: AskedOfTexts, rankings: Sequence[Ranked]) -> Iterator[Table]:
        """What an address asks for."""
        if isinstance(asked, requirements.Asked) and self.checked is not None:
            checks = _Checks(self, {}, rankings, self.checked, asked)
            yield from checks.by(_choice(self.checked.raters, asked.raters))
        elif isinstance(asked, scores.Asked) and self.scored is not None:
            given = _Scores(self, {}, rankings, self.scored, asked)
            yield given.of_everybody()
            yield from given.by(_choice(self.scored.raters, asked.raters))

    @cached_property
    def digest_of_checks(self) -> str:
        found = self.checked
        if found is None:
            return ""
        answers = found.answers
        arrays = answers.rater, answers.contestant, answers.question, answers.value, found.text, found.seconds
        return digest([found.asked, found.names, _named(found.raters)], found.ids, *arrays)

    @cached_property
    def digest_of_scores(self) -> str:
        found = self.scored
        return "" if found is None else digest([found.names, found.prompts, _named(found.raters)], found.rows)


def _choice(known: Sequence[Choice], selector: str) -> Choice:
    return next(each for each in known if each.selector == selector)


def _named(raters: Sequence[Choice]) -> list[tuple[Any, ...]]:
    return [(each.selector, each.label, sorted(each.ids), each.simulated) for each in raters]


@dataclass(frozen=True, eq=False)
class _Making:
    """Makes the tables of what is asked."""

    opinions: TextOpinions
    known: Payloads
    rankings: Sequence[Ranked] | None

    def made(
        self, kind: str, raters: str, given: Sequence[Any], make: Callable[[], Any], method: str = ""
    ) -> Table:
        """``given`` is all that the table is computed from."""
        inputs = digest([kind, raters, method, *given])
        return Table(kind, raters, kept(self.known, inputs, make), method=method, inputs=inputs)

    def beside(
        self, kind: str, raters: str, given: Sequence[Any], make: Callable[[], Compared]
    ) -> Iterator[Table]:
        """The order of models beside their order by pairs."""
        ranking = ranking_by(raters, self.rankings or ())
        if ranking is not None:
            more = [*given, ranking]
            yield self.made(kind, raters, more, lambda: beside_pairs(make(), ranking), BESIDE_PAIRS)


def _or_nothing(make: Callable[[], Any]) -> Any:
    """The content, or why there is none."""
    try:
        return make()
    except NoOpinionsError as error:
        return {"nothing": str(error)}


@dataclass(frozen=True, eq=False)
class _Checks(_Making):
    checked: Checked
    asked: requirements.Asked

    @cached_property
    def _figures(self) -> Figures:
        return Figures(self.checked, self.asked)

    @cached_property
    def _scores(self) -> Scored | None:
        read, asked = self.opinions.scored, self.asked
        return None if read is None else scored(read, scores.Asked("", asked.subset, asked.category))

    def by(self, choice: Choice) -> Iterator[Table]:
        raters, given = choice.selector, [self.asked, self.opinions.digest_of_checks]
        own = self.made(CHECKS, raters, given, lambda: _or_nothing(lambda: self._figures.by(choice)))
        yield own
        content = json.loads(own.payload)
        if self.rankings is None or "nothing" in content:
            return

        def met() -> Compared:
            return compared(self._figures.standings(choice), self.checked.names, content["contestants"])

        if not (self.asked.subset or self.asked.contested):
            yield from self.beside(CHECKS, raters, given, met)
        direct, whose = self._scores, self._scores and self._scores.like(raters)
        if direct and whose:
            more = [*given, self.opinions.digest_of_scores]
            yield self.made(CHECKS, raters, more, lambda: beside_scores(met(), direct, whose), BESIDE_SCORES)


@dataclass(frozen=True, eq=False)
class _Scores(_Making):
    read: TextScores
    asked: scores.Asked

    @cached_property
    def _scored(self) -> Scored:
        return scored(self.read, self.asked)

    @property
    def _given(self) -> list[Any]:
        return [self.asked, self.opinions.digest_of_scores]

    def of_everybody(self) -> Table:
        return self.made(SCORES, "", self._given, lambda: self._scored.by_rater())

    def by(self, choice: Choice) -> Iterator[Table]:
        raters = choice.selector
        own = self.made(
            SCORES, raters, self._given, lambda: _or_nothing(lambda: of_contestants(self._scored, choice))
        )
        yield own
        content = json.loads(own.payload)
        if "nothing" not in content and not (self.asked.subset or self.asked.turn):

            def above() -> Compared:
                return compared(self._scored.standings(choice), self.read.names, content["contestants"])

            yield from self.beside(SCORES, raters, self._given, above)


def _known_checks(found: Checked) -> Known:
    about = np.array([(each.subset, each.category) for each in found.asked], dtype=object)

    def parts(choice: Choice) -> Iterator[tuple[int, str, str]]:
        own = found.told(choice)
        for contestant, question in zip(own.contestant.tolist(), own.question.tolist(), strict=True):
            yield contestant, *about[question]

    return Known(
        _entries(found.raters, parts),
        found.subsets(),
        found.categories(),
        given=int((found.answers.value < UNSCORED).sum()),
    )


def _known_scores(found: TextScores) -> Known:
    def parts(choice: Choice) -> Iterator[tuple[int, str, str]]:
        rows = found.by(choice).rows
        rows = rows[~np.isnan(rows["value"])]
        for contestant, prompt in zip(rows["contestant"].tolist(), rows["prompt"].tolist(), strict=True):
            yield contestant, *found.prompts[prompt]

    given = int((~np.isnan(found.rows["value"])).sum())
    return Known(_entries(found.raters, parts), found.subsets(), found.categories(), found.turns, given=given)


def _entries(
    raters: Sequence[Choice], parts: Callable[[Choice], Iterator[tuple[int, str, str]]]
) -> list[dict[str, Any]]:
    return [
        {
            "selector": choice.selector,
            "label": choice.label,
            "simulated": choice.simulated,
            "same_as": next((one.selector for one in raters[:number] if one.ids == choice.ids), None),
            "enough": enough(parts(choice)),
        }
        for number, choice in enumerate(raters)
    ]


def text_opinions(study: Study, marks: Marks, held: Q | None, due: Due | None = None) -> TextOpinions:
    """Those up to the ids of ``marks``, without those ``held`` back that are not ``due``."""
    given, answers = (
        Read(last, frozenset(() if held is None else ids_held(study, held, due or (), kind).tolist()))
        for kind, (_, last) in zip(_KINDS, marks, strict=True)
    )
    found, rows = None, None
    if answers.until:
        found = checked(study, answers)
    if given.until:
        measure_missing(study)
        rows = score_rows(study, given)
    return TextOpinions(
        found if found is not None and len(found) else None, rows if rows and rows.rows else None
    )


def text_opinions_of(snapshot: Snapshot) -> TextOpinions | None:
    """Those that a snapshot counts; None if they changed since."""
    held = held_back(snapshot.pk) if snapshot.holds_back else None
    for kind, mark in zip(_KINDS, snapshot.texts, strict=True):
        rows: Any = kind._default_manager.filter(study=snapshot.study_id, pk__lte=mark[1])
        if list((rows if held is None else rows.exclude(held)).watermark()) != mark:
            return None
    return text_opinions(snapshot.study, snapshot.texts, held)


def by_elo(tables: Iterable[Table]) -> dict[str, str]:
    """Payloads of Elo standings over all categories, by raters."""
    place = ("standings", "on", "", "elo")
    return {
        table.raters: table.payload
        for table in tables
        if (table.kind, table.ties, table.category, table.method) == place
    }


def rankings_of(snapshot: Snapshot, category: str = "") -> list[Ranked]:
    stored = SnapshotSlice.objects.filter(
        snapshot=snapshot, kind="standings", ties="on", method="elo", category=category
    )
    return ranked(snapshot, dict(stored.values_list("raters", "payload")))


def _tables(request: Request) -> Iterator[Table]:
    """Raises SnapshotOutdatedError."""
    read = text_opinions_of(request.snapshot)
    if read is None:
        raise SnapshotOutdatedError
    return read.tables_at(request.setting, rankings_of(request.snapshot, request.setting.category))


CHECKS_ON_DEMAND: Final = OnDemand(
    Scope.REQUIREMENTS,
    lambda wanted, counts: requirements.Asked.of(wanted, Known.of(counts, CHECKS)),
    _tables,
)
SCORES_ON_DEMAND: Final = OnDemand(
    Scope.SCORES, lambda wanted, counts: scores.Asked.of(wanted, Known.of(counts, SCORES)), _tables
)
