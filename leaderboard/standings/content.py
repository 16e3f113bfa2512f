"""Standings at a setting that no snapshot holds: of one category, and of all categories."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from arena.models import Study
from leaderboard.raters.agreement.expected import expected_table
from leaderboard.snapshots import columns
from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.copying import Payloads
from leaderboard.snapshots.declarations import OnDemand, Request
from leaderboard.snapshots.method_names import method_beside
from leaderboard.snapshots.reading import Choice, Opinions, PairStyle, UnknownTextError, pair_style
from leaderboard.snapshots.settings import ADJUSTED, BESIDE, MODELS, Scope, Setting, parse
from leaderboard.snapshots.standings import TIES, inputs_of, matrix_table, published, standings
from leaderboard.stats.checks import NoGamesError, NotIdentifiedError, ParameterError
from leaderboard.stats.part_agreement import part_agreement
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.ratings import Ratings


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


def board_tables(
    opinions: Opinions, setting: Setting, method: Method, known: Payloads, facts: Facts = Facts()
) -> Iterator[Table]:
    """What the leaderboard shows at a setting, by the ``method`` with the setting's parameters.

    What is ``known`` is copied, and grows. Raises ParameterError for a tie band that the chosen raters do not
    have; others without it are left out, and whose ranking cannot be adjusted.
    """
    yield from _Standings(opinions, setting, method, known, facts).board()


def _of(request: Request) -> _Standings:
    facts = Facts.of(request.study, request.setting)
    return _Standings(request.rated, request.setting, request.method, request.known, facts)


@dataclass(frozen=True)
class _Standings:
    opinions: Opinions
    setting: Setting
    method: Method
    known: Payloads
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


BOARD: Final = OnDemand(Scope.BOARD, parse, lambda request: _of(request).board())
CATEGORIES: Final = OnDemand(Scope.CATEGORIES, parse, lambda request: _of(request).categories())
