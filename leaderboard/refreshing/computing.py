"""Tables of settings that no snapshot holds, made by a worker."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl

import numpy as np
import numpy.typing as npt

from arena.models import Study
from leaderboard.anchoring.content import anchored_table
from leaderboard.answers.asked import CHECKS, FEATURES, SCORES, AskedOfTexts, Known
from leaderboard.answers.features import content as features
from leaderboard.answers.requirements import content as requirements
from leaderboard.answers.scores import content as scores
from leaderboard.head_to_head.measuring import head_to_head_table
from leaderboard.judges.measuring import beside, judges_table
from leaderboard.models import ComputedView, Snapshot
from leaderboard.planning.content import plan_table
from leaderboard.raters.agreement.coefficients import agreement
from leaderboard.raters.agreement.expected import expected_table
from leaderboard.raters.agreement.two import two_table
from leaderboard.raters.bias.measures import leanings
from leaderboard.refreshing.feature_tables import feature_tables
from leaderboard.refreshing.text_tables import rankings_of, text_opinions_of
from leaderboard.snapshots import columns, on_demand
from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.copying import Payloads
from leaderboard.snapshots.methods import method_at
from leaderboard.snapshots.presentation import method_beside
from leaderboard.snapshots.reading import (
    Choice,
    Opinions,
    PairStyle,
    UnknownTextError,
    opinions_of,
    pair_style,
)
from leaderboard.snapshots.settings import (
    ADJUSTED,
    BESIDE,
    MODELS,
    Scope,
    Setting,
    parse,
    parse_for_all,
    parse_for_anchoring,
    parse_for_judges,
    parse_for_pair,
    parse_for_plan,
    parse_for_trust,
    parse_for_two,
)
from leaderboard.snapshots.standings import TIES, inputs_of, matrix_table, published, standings
from leaderboard.snapshots.study_lock import DeletedError, Hold, still_there
from leaderboard.snapshots.text_sizes import Texts, texts
from leaderboard.stats import METHODOLOGY, EloParameters, Method, Ratings
from leaderboard.stats.checks import NoGamesError, NotIdentifiedError, ParameterError
from leaderboard.stats.part_agreement import part_agreement
from leaderboard.trust.content import trust_table

logger = logging.getLogger(__name__)

THREADS: Final = 2

_PARSERS: Final = {
    Scope.RATERS: parse_for_all,
    Scope.JUDGES: parse_for_judges,
    Scope.TWO: parse_for_two,
    Scope.PLAN: parse_for_plan,
    Scope.ANCHORED: parse_for_anchoring,
    Scope.HEAD_TO_HEAD: parse_for_pair,
    Scope.TRUST: parse_for_trust,
}
_OF_ANSWERS: Final[Mapping[Scope, tuple[str, Any]]] = {
    Scope.REQUIREMENTS: (CHECKS, requirements.Asked),
    Scope.SCORES: (SCORES, scores.Asked),
    Scope.FEATURES: (FEATURES, features.Asked),
}
_MAKERS: Final[Mapping[Scope, Callable[[Study, Opinions, Any, Method], Table]]] = {
    Scope.TWO: two_table,
    Scope.PLAN: plan_table,
    Scope.ANCHORED: anchored_table,
    Scope.HEAD_TO_HEAD: head_to_head_table,
    Scope.TRUST: trust_table,
}


@dataclass(frozen=True, eq=False)
class Facts:
    """What some settings need beside opinions: style to adjust for, ids of comparisons of random pairs, and
    expected ratings.
    """

    style: PairStyle | None = None
    at_random: npt.NDArray[np.int64] | None = None
    expected: npt.NDArray[Any] | None = None

    @classmethod
    def of(cls, study: Study, setting: Setting) -> Facts:
        """Those that the setting needs."""
        style = pair_style(study) if setting.adjust else None
        at_random = columns.at_random(study) if setting.pairs else None
        return cls(style, at_random, columns.expected(study) if setting.ratings else None)

    def beside(self, setting: Setting) -> list[npt.NDArray[Any]]:
        """What standings at a setting are computed from beside opinions."""
        style = [self.style.pair, self.style.more] if setting.adjust and self.style else []
        return [*style, *([self.expected] if setting.ratings and self.expected is not None else [])]


def any_tables(
    opinions: Opinions,
    setting: Setting,
    scope: Scope,
    method: Method,
    known: Payloads,
    texts: Texts | None = None,
    facts: Facts = Facts(),
) -> Iterator[Table]:
    """The tables that a scope shows at a setting, at the parameters of ``method``.

    What is ``known`` is copied, and grows. Without ``texts`` there are no lengths. Raises ParameterError for
    a tie band that the chosen raters do not have; others without it are left out, and whose ranking cannot be
    adjusted.
    """
    request = _Request(opinions, setting, method_at(setting, method), known, texts, facts)
    shown = {Scope.BOARD: request.board, Scope.CATEGORIES: request.categories, Scope.RATERS: request.raters}
    yield from shown[scope]()


@dataclass(frozen=True)
class _Request:
    opinions: Opinions
    setting: Setting
    method: Method
    known: Payloads
    texts: Texts | None
    facts: Facts

    def board(self) -> Iterator[Table]:
        """Standings of all kinds of raters, and more of the chosen ones."""
        by_selector = {choice.selector: choice for choice in self.opinions.raters}
        own = by_selector.pop(self.setting.raters)
        try:
            yield from self._own(own)
        except (NotIdentifiedError, UnknownTextError) as error:
            yield Table("nothing", own.selector, canonical({"reason": str(error)}))
        for other in by_selector.values():
            if not other.selector.startswith("group:"):
                yield from self._others(other)

    def categories(self) -> Iterator[Table]:
        own = next(each for each in self.opinions.raters if each.selector == self.setting.raters)
        for category in self._categories:
            with suppress(NotIdentifiedError, UnknownTextError):
                setting = replace(self.setting, category=category)
                yield from self._standings("standings", own, setting, self._chosen(own, setting))

    def raters(self) -> Iterator[Table]:
        for choice in self.opinions.raters:
            for category in self._categories:
                chosen = self._about(choice, category)
                if len(chosen):
                    yield from leanings(choice, category, chosen, self.texts, self.method, self.known)
        yield from agreement(self.opinions, self.method, self.known)

    @property
    def _categories(self) -> tuple[str, ...]:
        return ("", *filter(None, self.opinions.categories))

    def _own(self, own: Choice) -> Iterator[Table]:
        setting, chosen = self.setting, self._chosen(own, self.setting)
        # The ordinal model takes ratings as given, and expected ones are no ties.
        rules = TIES[:1] if setting.method == "ordinal" or setting.ratings else TIES
        alone = replace(setting, pairwise="")
        under = [replace(alone, ties=rule) for rule in rules if rule != setting.ties]
        for each in (setting, *under, replace(alone, method=method_beside(setting.method), adjust="")):
            yield from self._standings("standings", own, each, chosen)
        ties = setting.ties == "on"
        band = self.method.tie_band if ties else None
        players = chosen.present()
        games = players.ratings().games(ties=ties, resample="games", tie_band=band)
        if len(games) and not setting.ratings:
            payload = canonical(matrix_table(games, players.names))
            yield Table("matrices", own.selector, payload, category=setting.category, ties=setting.ties)
        for name, kind in BESIDE.items():
            if getattr(setting, name):
                usual = replace(alone, **{name: ""})
                yield from self._standings(kind, own, usual, self._chosen(own, usual))
        if setting.pairs and self.facts.at_random is not None:
            yield from self._control(own, self.facts.at_random)
        if self.facts.expected is not None:
            about = self.opinions.within(setting.category)
            yield from expected_table(about, own, self.facts.expected, self.method)

    def _control(self, own: Choice, at_random: npt.NDArray[np.int64]) -> Iterator[Table]:
        """Whether the pairs drawn at random rank as all pairs do."""
        players = self._chosen(own, replace(self.setting, pairs="")).present()
        part = np.isin(players.rows["id"][players.scored & players.ranked], at_random)
        with suppress(NoGamesError):
            given = self._given(players, replace(self.setting, adjust=""))
            found = part_agreement(given, part, self.method).as_dict(players.names)
            content = {**found, "level": self.method.interval}
            yield Table("control", own.selector, canonical(content))

    def _others(self, other: Choice) -> Iterator[Table]:
        with suppress(ParameterError, UnknownTextError):  # of the band: they used another scale
            setting = replace(self.setting, pairwise="")
            yield from self._standings("standings", other, setting, self._chosen(other, setting))

    def _chosen(self, choice: Choice, setting: Setting) -> Opinions:
        chosen = self._about(choice, setting.category)
        if setting.pairs and self.facts.at_random is not None:
            chosen = chosen.among_ids(self.facts.at_random)
        if self.facts.expected is not None:  # beside expected ratings, those given in the same comparisons
            chosen = chosen.among_ids(self.facts.expected["id"])
        return chosen.among("model") if setting.contestants == MODELS else chosen

    def _given(self, players: Opinions, setting: Setting) -> Ratings:
        style = self.facts.style if setting.adjust else None
        expected = self.facts.expected if setting.ratings else None
        return players.ratings(style.covariates(players) if style else None, expected)

    def _about(self, choice: Choice, category: str) -> Opinions:
        return self.opinions.by(choice.ids).within(category)

    def _standings(self, kind: str, choice: Choice, setting: Setting, chosen: Opinions) -> Iterator[Table]:
        place = {"ties": setting.ties, "category": setting.category}
        method = published(self.method, setting.method, **place)
        method = replace(method, adjust=ADJUSTED[setting.adjust], pairwise=bool(setting.pairwise))
        inputs = inputs_of(chosen, method, *self.facts.beside(setting))
        if inputs not in self.known:
            players = chosen.present()
            given = self._given(players, setting)
            if not len(given.games(ties=method.ties, resample="games", tie_band=method.tie_band)):
                return
            self.known[inputs] = canonical(standings(players, given, method))
        found = {"payload": self.known[inputs], "method": setting.method, "inputs": inputs}
        yield Table(kind, choice.selector, **found, **place)


class SnapshotOutdatedError(Exception):
    """The data or methods of a snapshot are gone."""


def compute_next(study_id: int) -> bool:
    """Compute what has waited longest; False where nothing waits.

    The rest is asked for in another message, so that other tasks have their turn.
    """
    view = on_demand.claim(study_id)
    if view is None or view.running_until is None:
        return False
    with Hold(f"view {view.pk}", view.running_until, partial(ComputedView.objects.renew, view.pk)):
        started = time.perf_counter()
        try:
            with still_there(study_id, str(view)):
                payload = tables_of(view)
        except DeletedError:
            return False
        except SnapshotOutdatedError:
            on_demand.fail(view, on_demand.CHANGED)
        except Exception as error:
            logger.exception("%s could not be computed", view)
            on_demand.fail(view, f"{type(error).__name__}: {error}")
        else:
            on_demand.succeed(view, payload, time.perf_counter() - started)
    if ComputedView.objects.of(study_id).unfinished().exists():
        on_demand.nudge(study_id)
    return True


def tables_of(view: ComputedView) -> str:
    """The tables of a view as JSON. Raises SnapshotOutdatedError."""
    snapshot, method = view.snapshot, method_of(view.snapshot)
    setting, scope = wanted_of(view)
    if isinstance(setting, AskedOfTexts):
        return _packed(_of_texts(snapshot, setting))
    if isinstance(setting, features.Asked):
        return _packed(_of_features(view, setting))
    read = opinions_of(snapshot)
    more = beside(snapshot.study, read, snapshot.last_comparison) if scope is Scope.JUDGES else None
    facts = Facts.of(snapshot.study, setting)
    measured = texts(snapshot.study) if scope is Scope.RATERS else None
    # Read again, because a change may have come in between.
    if read.mark != snapshot.data or _revision(snapshot) != snapshot.revision:
        raise SnapshotOutdatedError
    if setting.criterion:
        read = read.by_criterion(columns.of_criterion(snapshot.study, setting.criterion))
    if more is not None:
        found = [judges_table(read, more, setting.raters, method)]
    elif scope in _MAKERS:
        found = [_MAKERS[scope](snapshot.study, read, setting, method_at(setting, method))]
    else:
        found = [*any_tables(read, setting, scope, method, on_demand.siblings(view), measured, facts)]
    return _packed(found)


def _revision(snapshot: Snapshot) -> int:
    return Study.objects.values_list("revision", flat=True).get(pk=snapshot.study_id)


def _packed(tables: Iterable[Table]) -> str:
    return json.dumps([vars(table) for table in tables], sort_keys=True, separators=(",", ":"))


def _of_texts(snapshot: Snapshot, asked: AskedOfTexts) -> Iterator[Table]:
    """Raises SnapshotOutdatedError."""
    read = text_opinions_of(snapshot)
    if read is None or snapshot.revision != _revision(snapshot):
        raise SnapshotOutdatedError
    return read.tables_at(asked, rankings_of(snapshot, asked.category))


def _of_features(view: ComputedView, asked: features.Asked) -> Iterator[Table]:
    """Raises SnapshotOutdatedError."""
    snapshot = view.snapshot
    compared, read = opinions_of(snapshot), text_opinions_of(snapshot)
    if read is None or compared.mark != snapshot.data:
        raise SnapshotOutdatedError
    found = feature_tables(snapshot.study, compared, read.rows, on_demand.siblings(view))
    if found is None or snapshot.revision != _revision(snapshot):
        raise SnapshotOutdatedError
    return found.tables_at(asked)


def wanted_of(view: ComputedView) -> tuple[Setting | AskedOfTexts | features.Asked, Scope]:
    address, _, query = view.setting.partition("#")[0].partition("?")
    scope, wanted = Scope(address), dict(parse_qsl(query))
    if scope in _OF_ANSWERS:
        kind, asked = _OF_ANSWERS[scope]
        return asked.of(wanted, Known.of(view.snapshot.counts, kind)), scope
    found = _PARSERS.get(scope, parse)(wanted, view.snapshot.known)
    if found is None:
        raise SnapshotOutdatedError
    return found, scope


def method_of(snapshot: Snapshot) -> Method:
    """The method of a snapshot. Raises SnapshotOutdatedError for an older methodology."""
    if snapshot.methodology != METHODOLOGY:
        raise SnapshotOutdatedError
    used = snapshot.parameters
    elo = EloParameters(**{name: used[name] for name in ("k", "scale", "base", "init")})
    return Method(
        rounds=used["rounds"], interval=used["interval"], seed=snapshot.seed, elo=elo, threads=THREADS
    )
