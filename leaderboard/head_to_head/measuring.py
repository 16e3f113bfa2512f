"""Two contestants head to head, as a page and ``decide`` show them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np

from arena.models import Contestant, Study
from leaderboard.anchoring.content import data_of
from leaderboard.head_to_head.settings import parse_for_pair
from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.declarations import OnDemand
from leaderboard.snapshots.reading import NOBODY, Choice, Opinions
from leaderboard.snapshots.settings import PairSetting, Scope
from leaderboard.snapshots.text_sizes import Texts, texts
from leaderboard.stats.checks import BoolArray, FloatArray, IntArray, StatsError
from leaderboard.stats.clustered_means import prompt_numbers, share_estimate, sums
from leaderboard.stats.confidence_sequences import share_at_every_look
from leaderboard.stats.games import scores
from leaderboard.stats.head_to_head import Difference, difference, split
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.ranking import drawn_by
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.style import MEASURES

MOST_PAIRS: Final = 5
"""Pairs shown for each side."""

DOUBLINGS: Final = 12
"""After so many what an interval reaches hardly changes any more."""

_WORDS: Final = MEASURES.index("words")


@dataclass(frozen=True, eq=False)
class Duel:
    """The games of two contestants, from the point of view of the ``first``: (n,) in the order given."""

    pair: IntArray
    prompt: IntArray
    rater: IntArray
    score: FloatArray  # of the first
    shown_first: BoolArray  # whether the first was
    category: IntArray
    longer: FloatArray  # by how many words the first's text is; NaN where not known

    @classmethod
    def of(cls, own: Opinions, first: str, second: str, method: Method, texts: Texts | None) -> Duel:
        players = tuple(own.names.index(name) if name in own.names else NOBODY for name in (first, second))
        rows = own.rows[own.scored & own.ranked]
        rating, points = rows["rating"].astype(np.int64), rows["points"].astype(np.int64)
        score = scores(rating, points, ties=method.ties, tie_band=method.tie_band)
        straight = (rows["first"] == players[0]) & (rows["second"] == players[1])
        turned = (rows["first"] == players[1]) & (rows["second"] == players[0])
        kept = (straight | turned) & ~np.isnan(score)
        rows, score, straight = rows[kept], score[kept], straight[kept]
        lead = np.full(len(rows), np.nan)
        if texts is not None:
            one, other = texts.places(rows["first_text"]), texts.places(rows["second_text"])
            known, words = (one >= 0) & (other >= 0), texts.completions[:, _WORDS]
            lead[known] = words[one[known]] - words[other[known]]
        return cls(
            rows["pair"],
            rows["prompt"],
            rows["rater"],
            np.where(straight, score, 1.0 - score),
            straight,
            rows["category"],
            np.where(straight, lead, -lead),
        )

    def __len__(self) -> int:
        return len(self.score)


def head_to_head_table(study: Study, opinions: Opinions, setting: PairSetting, method: Method) -> Table:
    """The table of the page of two contestants."""
    slugs = (setting.contestant, setting.against)
    named = dict(Contestant.objects.filter(study=study, slug__in=slugs).values_list("slug", "name"))
    first, second = (named.get(slug, "") for slug in slugs)
    about, method = opinions.within(setting.category), replace(method, name=setting.method)
    found = head_to_head(about, first, second, setting.raters, method, texts(study))
    return Table("head-to-head", setting.raters, canonical(found))


def head_to_head(
    opinions: Opinions, first: str, second: str, raters: str, method: Method, texts: Texts | None = None
) -> dict[str, Any]:
    """Everything about two contestants, called ``first`` and ``second``, from each kind of raters.

    Categories, what drives it and pairs are of the chosen ``raters``. Intervals have the method's level, for
    one look and for every look.
    """
    chosen = next(choice for choice in opinions.raters if choice.selector == raters)
    own = opinions.by(chosen.ids)
    duel = Duel.of(own, first, second, method, texts)
    kinds = [choice for choice in opinions.raters if len(opinions.by(choice.ids))]
    found = {
        "first": first,
        "second": second,
        "level": method.interval,
        "by_raters": [_by_kind(opinions, choice, first, second, method) for choice in kinds],
        "anchored": [
            row for choice in kinds if (row := _anchored(opinions, choice, first, second, method)) is not None
        ],
        "categories": [
            _row(own.about(name), first, second, method) | {"label": name}
            for name in own.categories
            if name and len(own.about(name))
        ],
        "drivers": _drivers(duel, opinions.categories, method.interval),
        "preferring": _preferring(duel, _panels(opinions, chosen)),
        "pairs": _telling(duel),
    }
    return dict(rounded(found))


def _by_kind(opinions: Opinions, choice: Choice, first: str, second: str, method: Method) -> dict[str, Any]:
    """A tie band acts on raters of its own scale; others keep their usual ties."""
    about = {"selector": choice.selector, "label": choice.label, "simulated": choice.simulated}
    own, band = opinions.by(choice.ids), method.tie_band
    if band and (own.rows["points"][own.scored] != band.points).any():
        method = replace(method, tie_band=None)
    return about | _row(own, first, second, method)


def _row(own: Opinions, first: str, second: str, method: Method) -> dict[str, Any]:
    """Games of the two, and the difference from all games of these raters."""
    duel, level = Duel.of(own, first, second, method, None), method.interval
    won, tied = int((duel.score == 1.0).sum()), int((duel.score == 0.5).sum())
    number = prompt_numbers(duel.prompt, len(duel))
    of_prompt = sums(number, duel.score), sums(number)
    share = share_estimate(*of_prompt, level)
    row = {
        "games": len(duel),
        "wins": won,
        "ties": tied,
        "losses": len(duel) - won - tied,
        "share": asdict(share),
        "share_every_look": None,
        "difference": None,
        "all_games": 0,
        "why_not": "",
    }
    if len(duel):
        came = np.unique(duel.prompt, return_index=True)[1].argsort()
        row["share_every_look"] = share_at_every_look((of_prompt[0] / of_prompt[1])[came], level)
    try:
        found, row["all_games"] = difference_of(own, first, second, method)
        row["difference"] = described(found, level)
    except StatsError as error:
        row["why_not"] = str(error)
    return row


def difference_of(own: Opinions, first: str, second: str, method: Method) -> tuple[Difference, int]:
    """The difference and the number of games of these raters it rests on. Raises a StatsError."""
    players = own.present()
    ratings = players.ratings()
    _check_there(players.names, first, second)
    games = ratings.games(ties=method.ties, resample=drawn_by(method, ratings), tie_band=method.tie_band)
    one, other = players.names.index(first), players.names.index(second)
    return difference(games, one, other, method), len(games)


def described(found: Difference, level: float) -> dict[str, Any]:
    """The difference as tables store it: with what its intervals reach, in standard errors.

    With so many units, and with 2, 4, 8 ... times as many; nothing for a single unit.
    """
    times = [] if found.standard_error is None else [2**step for step in range(DOUBLINGS)]
    later = [replace(found, units=found.units * each) for each in times]
    values = asdict(found) | {
        "reach": [each.reach(level) for each in later],
        "reach_at_every_look": [each.reach(level, every_look=True) for each in later],
    }
    return dict(rounded(values))


def _anchored(
    opinions: Opinions, choice: Choice, first: str, second: str, method: Method
) -> dict[str, Any] | None:
    """People and one judge together; None where they cannot be."""
    if not choice.selector.startswith("judge:"):
        return None
    try:
        found, pairs, power = anchored_difference(opinions, choice.selector, first, second, method)
    except StatsError:
        return None
    about = {"selector": choice.selector, "label": choice.label, "simulated": choice.simulated}
    return about | {"power": power, "difference": described(found, method.interval), "all_games": pairs}


def anchored_difference(
    opinions: Opinions, judge: str, first: str, second: str, method: Method
) -> tuple[Difference, int, float]:
    """The difference by people, made more certain by a judge; the pairs people rated; the judge's power.

    Raises a StatsError.
    """
    data = data_of(opinions, "", [judge], ties=method.ties)
    found = data.ranking(method.interval).found
    _check_there(data.names, first, second)
    apart = found.difference(data.names.index(first), data.names.index(second))
    return apart, found.counts.human_pairs, found.power


def _check_there(names: tuple[str, ...], *wanted: str) -> None:
    for name in wanted:
        if name not in names:
            raise StatsError(f"{name} has no rating")


def _drivers(duel: Duel, categories: tuple[str, ...], level: float) -> list[dict[str, Any]]:
    """How the share of points changes with what the two were shown as."""
    known = ~np.isnan(duel.longer) & (duel.longer != 0)
    parts: list[tuple[str, str, str, BoolArray, BoolArray]] = [
        ("position", "shown first", "shown second", np.ones(len(duel), dtype=bool), duel.shown_first),
        ("length", "the longer text", "the shorter text", known, duel.longer > 0),
        *(
            ("category", name, "all others", np.ones(len(duel), dtype=bool), duel.category == number)
            for number, name in enumerate(categories)
            if name
        ),
    ]
    found = []
    for what, one, other, kept, there in parts:
        if kept.any() and 0 < there[kept].sum() < kept.sum():
            apart = split(duel.score[kept], duel.prompt[kept], there[kept], level)
            found.append({"what": what, "one": one, "other": other, "split": asdict(apart)})
    return found


def _panels(opinions: Opinions, chosen: Choice) -> frozenset[int]:
    """The panels among raters, which are none of their own beside judges."""
    return frozenset().union(*(one.ids for one in opinions.raters if one.panel and one != chosen))


def _preferring(duel: Duel, without: frozenset[int] = frozenset()) -> dict[str, int]:
    """How many raters, but for some, gave more points to the first, to the second, or as many."""
    counted = ~np.isin(duel.rater, list(without))
    _, number = np.unique(duel.rater[counted], return_inverse=True)
    lead = np.bincount(number, duel.score[counted] - 0.5)
    return {
        "first": int((lead > 1e-9).sum()),
        "second": int((lead < -1e-9).sum()),
        "neither": int((np.abs(lead) <= 1e-9).sum()),
    }


def _telling(duel: Duel) -> list[dict[str, Any]]:
    """The pairs on which raters leave least doubt, for each side."""
    ids, number = np.unique(duel.pair, return_inverse=True)
    lead, answers = np.bincount(number, duel.score - 0.5), np.bincount(number)
    order = np.lexsort((ids, -answers, -np.abs(lead)))

    def rows(side: int) -> Iterator[dict[str, Any]]:
        for place in [each for each in order if lead[each] * side > 0][:MOST_PAIRS]:
            share = 0.5 + lead[place] / answers[place]
            yield {"pair": int(ids[place]), "answers": int(answers[place]), "share": float(share)}

    return [*rows(1), *rows(-1)]


HEAD_TO_HEAD: Final = OnDemand.one(Scope.HEAD_TO_HEAD, parse_for_pair, head_to_head_table)
