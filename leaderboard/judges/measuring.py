"""Judges side by side on the pairs that all of them answered, so that only the judges differ."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from django.db.models import Q

from arena.models import Comparison, Study
from leaderboard.pages.format import counted
from leaderboard.pages.rater_kinds.families import kin_of
from leaderboard.pages.wording import FEWEST_PAIRS
from leaderboard.raters.agreement.coefficients import agreement
from leaderboard.raters.bias.content import in_one_order
from leaderboard.raters.bias.measures import own_family, ratings
from leaderboard.snapshots import columns
from leaderboard.snapshots.canonical import Table, canonical
from leaderboard.snapshots.declarations import OnDemand, Request
from leaderboard.snapshots.reading import Choice, Opinions
from leaderboard.snapshots.rows import Rows
from leaderboard.snapshots.settings import Counts, Scope, Setting, one_of
from leaderboard.snapshots.standings import standings
from leaderboard.stats.checks import IntArray, StatsError
from leaderboard.stats.clustered_means import ClusteredMean, mean_over_prompts, share_over_prompts
from leaderboard.stats.flips import repeats, shift, shift_in_both_orders
from leaderboard.stats.plain_values import rounded
from leaderboard.stats.position_bias import place_worth
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.verdicts import TieBand, preference, verdicts

PEOPLE: Final = "people"


class NothingInCommonError(ValueError):
    """These raters cannot be put side by side; the message is a sentence for the reader."""


@dataclass(frozen=True, eq=False)
class SamePairs:
    """``rated``: the ratings of the chosen raters, and of people, on pairs that every judge has rated.

    ``asked``: answers of the judges, with a rating or without, on pairs that every judge has answered.
    """

    choices: tuple[Choice, ...]
    rated: Opinions
    asked: Opinions

    @property
    def pairs(self) -> int:
        return len(set(self.rated.rows["pair"].tolist()))

    @property
    def prompts(self) -> int:
        return len(set(self.rated.rows["prompt"].tolist()))

    def in_both_orders(self, choice: Choice) -> int:
        """How many of the pairs one of the raters has rated in both orders."""
        own = self.rated.by(choice.ids)
        rows = own.rows[own.scored]
        orders = [set(rows["pair"][rows["swapped"] == order].tolist()) for order in (False, True)]
        return len(orders[0] & orders[1])

    def warnings(self) -> list[str]:
        """Why the numbers may not be worth much, in sentences."""
        found = []
        if self.pairs < FEWEST_PAIRS:
            who = "This judge" if len(self.judges) == 1 else "All of these judges"
            found.append(
                f"{who} rated only {counted(self.pairs, 'pair')}. Below {FEWEST_PAIRS}, take "
                "the numbers as hints."
            )
        both = {choice.label: self.in_both_orders(choice) for choice in self.judges}
        one_order = [label for label, pairs in both.items() if not pairs]
        if one_order and len(one_order) < len(both):
            found.append(
                f"{', '.join(one_order)} rated each pair in one order only, so nothing shows how often "
                "the verdict changes."
            )
        return found + [
            f"{choice.label} saw {share:.0%} of pairs in the same order, so its preference for a place "
            "may be one for the models shown there."
            for choice in self.choices
            if in_one_order(share := self._in_one_order(choice), 1.0)
        ]

    def _in_one_order(self, choice: Choice) -> float:
        """The share of ratings in the commoner of the two orders."""
        swapped = self.rated.by(choice.ids).rows["swapped"]
        return max(float(swapped.mean()), 1.0 - float(swapped.mean())) if len(swapped) else 0.0

    @property
    def judges(self) -> list[Choice]:
        return [choice for choice in self.choices if choice.selector != PEOPLE]


def same_pairs(
    opinions: Opinions, selectors: Sequence[str], left_out: npt.NDArray[np.int64] | None = None
) -> SamePairs:
    """The answers of the raters on the pairs they share; ``left_out`` are ids that do not count.

    Raises NothingInCommonError.
    """
    by_selector = {choice.selector: choice for choice in opinions.raters}
    wanted = list(dict.fromkeys(selectors))
    for selector in wanted:
        if selector not in by_selector:
            known = ", ".join(by_selector) or "none"
            raise NothingInCommonError(f'no ratings by "{selector}" in this study; it has: {known}')
    if len(wanted) < 2:
        raise NothingInCommonError("name at least two judges")
    choices = tuple(by_selector[selector] for selector in wanted)
    judges = [choice for choice in choices if choice.selector != PEOPLE]
    if left_out is not None and len(left_out):
        opinions = replace(opinions, rows=opinions.rows[~np.isin(opinions.rows["id"], left_out)])
    # In their own order: people come first, and judges are held against who stands before them.
    raters = tuple(each for each in opinions.raters if each in choices or each.selector == PEOPLE)
    own = opinions.by(frozenset().union(*(choice.ids for choice in raters)))
    rated, asked = (_shared(own.rows, judges, which) for which in (own.scored, np.ones(len(own), dtype=bool)))
    if not len(rated):
        names = ", ".join(choice.label for choice in judges)
        raise NothingInCommonError(f"no pair of this study was rated by all of {names}")
    kept = np.isin(own.rows["pair"], rated) & own.scored
    judged = np.isin(own.rows["rater"], [pk for choice in judges for pk in choice.ids])
    return SamePairs(
        choices,
        replace(own, rows=own.rows[kept], raters=raters),
        replace(own, rows=own.rows[judged & np.isin(own.rows["pair"], asked)], raters=raters),
    )


def _shared(rows: Rows, judges: Sequence[Choice], which: npt.NDArray[np.bool_]) -> Any:
    """The ids of the pairs that each of the judges has among ``which`` rows."""
    found = None
    for judge in judges:
        own = np.unique(rows["pair"][which & np.isin(rows["rater"], list(judge.ids))])
        found = own if found is None else np.intersect1d(found, own, assume_unique=True)
    return found


@dataclass(frozen=True, eq=False)
class Beside:
    """What is needed beside opinions, as structured arrays by the id of the answer.

    ``expected`` has id and expected, on the scale of the rating; ``controls`` are ratings of pairs of
    identical texts, ``identical`` the ids of all answers about such pairs; ``kin`` names each judge's related
    contestants, by selector.
    """

    expected: npt.NDArray[Any]
    controls: npt.NDArray[Any]
    identical: npt.NDArray[Any]
    kin: Mapping[str, tuple[str, ...]]


_CONTROL = [("id", "i8"), ("rater", "i8"), ("prompt", "i8"), ("points", "i8"), ("rating", "i8")]


def beside(study: Study, opinions: Opinions, until: int | None = None) -> Beside:
    """Beside from the comparisons that were current when ``until`` was the largest id, or are now."""
    rows = Comparison.objects.filter(study=study).order_by("pk")
    if until is None:
        rows = rows.filter(is_current=True)
    else:
        then = Q(is_current=True) | Q(revised_by__pk__gt=until)
        rows = rows.filter(then, pk__lte=until)
    labels = {each.selector: each.label for each in opinions.raters if each.selector.startswith("judge:")}
    identical = rows.filter(status=Comparison.Status.IDENTICAL)
    controls = identical.filter(rating__isnull=False)
    fields = ("pk", "rater", "pair__prompt", "points", "rating")
    return Beside(
        columns.expected(study),
        np.array(list(controls.values_list(*fields)), dtype=_CONTROL),
        np.array(list(identical.values_list("pk", flat=True)), dtype=np.int64),
        {selector: kin.everyone for selector, kin in kin_of(study, labels).items()} if labels else {},
    )


def unscored(asked: Opinions, level: float) -> dict[str, Any]:
    rows = asked.rows
    without = ~asked.scored
    reasons = Counter(reason.decode() for reason in rows["reason"][without].tolist())
    share = share_over_prompts(without, rows["prompt"], level)
    found = {"answers": len(rows), "unscored": int(without.sum()), "reasons": dict(sorted(reasons.items()))}
    return dict(rounded(found | {"share": share.estimate}))


def places(own: Opinions, level: float) -> dict[str, Any]:
    rows = own.rows[own.scored]
    return {
        "both_orders": shift_in_both_orders(*_columns(rows), level).as_dict(),
        "every_rating": shift(preference(rows["rating"], rows["points"]), rows["prompt"], level).as_dict(),
        "worth": place_worth(own.present().ratings(), level).as_dict(),
    }


def retest(own: Opinions, level: float, band: TieBand | None) -> dict[str, Any] | None:
    """How alike answers to the same in the same order are; None where none was asked twice."""
    found = repeats(*_columns(own.rows[own.scored]), level, band)
    return found.as_dict() if found.n else None


def controls(
    rows: npt.NDArray[Any], raters: frozenset[int], level: float, band: TieBand | None
) -> dict[str, Any] | None:
    """The answers about pairs of identical texts; None without any.

    ``shift`` is the mean preference on [-1, 1], ``distance`` its mean size, ``sided`` the share that is no
    tie.
    """
    own = rows[np.isin(rows["rater"], list(raters))]
    if not len(own):
        return None
    lean = preference(own["rating"], own["points"])
    sided = verdicts(own["rating"], own["points"], band) != 0
    found = {
        "shift": shift(lean, own["prompt"], level),
        "distance": mean_over_prompts(np.abs(lean), own["prompt"], level).clipped(0.0, 1.0),
        "sided": share_over_prompts(sided, own["prompt"], level),
    }
    return {"n": len(own), "prompts": len(np.unique(own["prompt"])), **_estimates(found)}


def expectation(
    own: Opinions, expected: npt.NDArray[Any], level: float, band: TieBand | None
) -> dict[str, Any] | None:
    """Expected ratings over the answer tokens beside the sampled ratings; None without any.

    ``difference`` is the mean of expected minus sampled preference on [-1, 1], ``distance`` its mean size,
    ``shift`` the mean expected preference, ``same_side`` the share of sampled sides that the expected rating
    has too.
    """
    rows = own.rows[own.scored & np.isin(own.rows["id"], expected["id"])]
    if not len(rows):
        return None
    given = expected["expected"][np.searchsorted(expected["id"], rows["id"])]
    sampled, wanted = (preference(each, rows["points"]) for each in (rows["rating"], given))
    lean = verdicts(rows["rating"].astype(np.int64), rows["points"].astype(np.int64), band)
    sided = lean != 0
    agree, prompt = (np.sign(wanted) == lean)[sided], rows["prompt"]
    found = {
        "difference": mean_over_prompts(wanted - sampled, prompt, level),
        "distance": mean_over_prompts(np.abs(wanted - sampled), prompt, level).clipped(0.0, 1.0),
        "shift": shift(wanted, prompt, level),
        "same_side": share_over_prompts(agree, prompt[sided], level),
    }
    return {"n": len(rows), "prompts": len(np.unique(prompt)), **_estimates(found)}


def _columns(
    rows: Rows,
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray, IntArray]:
    pair, rater, prompt, swapped, rating, points = (
        rows[name].astype(np.int64) for name in ("pair", "rater", "prompt", "swapped", "rating", "points")
    )
    return pair, rater, prompt, swapped, rating, points


def _estimates(found: Mapping[str, ClusteredMean]) -> dict[str, Any]:
    return dict(rounded({name: each.estimate for name, each in found.items()}))


FORM: Final = 1
"""Of the content; raised when a key changes its meaning or goes."""


def parse_for_judges(wanted: Mapping[str, str], counts: Counts) -> Setting | None:
    """The setting of raters side by side, separated by commas. Raises UnknownSettingError."""
    known = [choice["selector"] for choice in counts["raters"]]
    named = [one_of("raters", one, known) for one in wanted.get("raters", "").split(",")]
    return Setting(",".join(one for one in known if one in named))


def judges_table(opinions: Opinions, beside: Beside, selectors: str, method: Method) -> Table:
    """The table of a page; ``selectors`` are joined by commas. Its key ``nothing`` says why it is empty."""
    try:
        content = side_by_side(opinions, beside, selectors.split(","), method)
    except NothingInCommonError as error:
        content = {"nothing": str(error)}
    return Table("judges", selectors, canonical(content))


def side_by_side(
    opinions: Opinions, beside: Beside, selectors: Sequence[str], method: Method
) -> dict[str, Any]:
    """The selected raters on the pairs that all judges among them have rated.

    Standings are by Elo, at the level, rounds and seed of ``method``; intervals of shares and means are over
    prompts. Raises NothingInCommonError.
    """
    same = same_pairs(opinions, selectors, beside.identical)
    correlated = _correlations(same, method)
    return {
        "form": FORM,
        "pairs": same.pairs,
        "prompts": same.prompts,
        "level": method.interval,
        "rounds": method.rounds,
        "seed": method.seed,
        "band": str(method.tie_band) if method.tie_band else None,
        "warnings": same.warnings(),
        "raters": [
            _of(choice, same, beside, method)
            | {
                "correlation": correlated.get(choice.selector, []),
                "own_family": _own_family(choice, same, beside.kin.get(choice.selector, ()), method.interval),
            }
            for choice in same.choices
        ],
    }


def _of(choice: Choice, same: SamePairs, beside: Beside, method: Method) -> dict[str, Any]:
    own, level, band = same.rated.by(choice.ids), method.interval, method.tie_band
    judged = choice.selector != PEOPLE
    return {
        "selector": choice.selector,
        "label": choice.label,
        "simulated": choice.simulated,
        "pairs": len(set(own.rows["pair"].tolist())),
        "pairs_in_both_orders": same.in_both_orders(choice),
        "ratings": ratings(own, level, band),
        "unscored": unscored(same.asked.by(choice.ids), level) if judged else None,
        "place": places(own, level),
        "retest": retest(own, level, band),
        "controls": controls(beside.controls, choice.ids, level, band),
        "expected": expectation(own, beside.expected, level, band),
        "standings": {ties: _standings(own, method, ties) for ties in ("on", "off")},
    }


def _own_family(choice: Choice, same: SamePairs, kin: Collection[str], level: float) -> dict[str, Any] | None:
    return own_family(same.rated, choice, kin, level) if kin else None


def _standings(own: Opinions, method: Method, ties: str) -> dict[str, Any] | None:
    players = own.present()
    band = method.tie_band if ties == "on" else None
    try:
        return standings(
            players, players.ratings(), replace(method, name="elo", ties=ties == "on", tie_band=band)
        )
    except StatsError:
        return None


def _correlations(same: SamePairs, method: Method) -> dict[str, list[dict[str, Any]]]:
    """Rows of correlation with people (of people, with each other) by selector."""
    found = [table for table in agreement(same.rated, method) if table.kind == "correlation"]
    return {table.raters: json.loads(table.payload)["rows"] for table in found}


def _tables(request: Request) -> list[Table]:
    read = request.opinions
    more = beside(request.study, read, request.snapshot.last_comparison)
    return [judges_table(read, more, request.setting.raters, request.method)]


JUDGES: Final = OnDemand(Scope.JUDGES, parse_for_judges, _tables)
