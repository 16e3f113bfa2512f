"""Tables of a setting that no snapshot holds: what a board shows for it, from the same functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from leaderboard.board.setting import EVERYONE, MODELS, Setting, left_out
from leaderboard.slices.ratings import ratings
from leaderboard.slices.standings import digest, matrix_table, published, standings
from leaderboard.slices.table import Table, canonical
from leaderboard.tables import beside

if TYPE_CHECKING:
    from leaderboard.reading.games import Choice, Opinions
    from leaderboard.stats import Method, Ratings


def any_tables(
    opinions: Opinions, setting: Setting, method: Method, known: Mapping[str, str]
) -> Iterator[Table]:
    """What a board shows for one setting, at the parameters of ``method``.

    Of the chosen raters the standings with ties on and off, those by the method beside it, and the matrices;
    of all others the standings. ``known`` holds payloads of standings by the digest of their inputs. A
    setting without a game has no standings. Raises ParameterError for a tie band that the ratings of the
    chosen raters do not have; other raters, who used another scale, are left out then.
    """
    from leaderboard.stats import TieBand

    band = TieBand.parse(setting.band) if setting.band else None
    method = replace(method, tie_band=band, resample=setting.resample, interval=float(setting.level))
    yield from _Asked(opinions, setting, method, dict(known)).tables()


@dataclass(frozen=True)
class _Asked:
    """``computed`` is read and added to: a group of the same raters as another choice costs nothing."""

    opinions: Opinions
    setting: Setting
    method: Method
    computed: dict[str, str]

    def tables(self) -> Iterator[Table]:
        by_selector = {choice.selector: choice for choice in self.opinions.raters}
        own = by_selector.pop(self.setting.raters)
        yield from self._own(own)
        for other in by_selector.values():
            if not other.selector.startswith("group:"):
                yield from self._others(other)
        if left_out(self.setting.category, self.opinions.categories) is not None:
            for choice in (own, *by_selector.values()):
                chosen = self._about(choice)
                if len(chosen):
                    yield self._table("ratings", choice, canonical(ratings(chosen, self.method.interval)))

    def _own(self, own: Choice) -> Iterator[Table]:
        name, ties = self.setting.method, self.setting.ties
        players = self._about(own, self.setting.contestants == MODELS).present()
        given = players.ratings()
        for rule in ("on", "off") if name != "ordinal" else ("on",):
            yield from self._standings("standings", own, players, given, name, rule)
        yield from self._standings("standings", own, players, given, beside(name), ties)
        games = given.games(ties=ties == "on", tie_band=self.method.tie_band if ties == "on" else None)
        if len(games):
            yield self._table("matrices", own, canonical(matrix_table(games, players.names)), ties=ties)
        if self.setting.contestants == MODELS:
            everyone = self._about(own).present()
            yield from self._standings(EVERYONE, own, everyone, everyone.ratings(), name, ties)

    def _others(self, other: Choice) -> Iterator[Table]:
        from leaderboard.stats.errors import ParameterError

        players = self._about(other, self.setting.contestants == MODELS).present()
        place = self.setting.method, self.setting.ties
        try:
            yield from self._standings("standings", other, players, players.ratings(), *place)
        except ParameterError:  # of the band: they used another scale
            return

    def _about(self, choice: Choice, models: bool = False) -> Opinions:
        """The comparisons of some raters in the chosen categories."""
        own, category = self.opinions.by(choice.ids), self.setting.category
        name = left_out(category, self.opinions.categories)
        chosen = own.about(category) if name is None else own.but(name)
        return chosen.among("model") if models else chosen

    def _standings(
        self, kind: str, choice: Choice, players: Opinions, given: Ratings, name: str, ties: str
    ) -> Iterator[Table]:
        method = published(self.method, name, ties, self.setting.category)
        if not len(given.games(ties=method.ties, tie_band=method.tie_band)):
            return
        inputs = digest(players, given, method)
        if inputs not in self.computed:
            self.computed[inputs] = canonical(standings(players, given, method))
        yield self._table(kind, choice, self.computed[inputs], ties=ties, method=name, inputs=inputs)

    def _table(self, kind: str, choice: Choice, payload: str, **place: str) -> Table:
        return Table(kind, choice.selector, payload, category=self.setting.category, **place)
