"""The pairs that every judge of an ablation has answered, so that differences are those of the judges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.pages.wording import FEWEST_PAIRS
from leaderboard.snapshots.opinions import Choice, Opinions

PEOPLE: Final = "people"

_MOST_IN_ONE_ORDER: Final = 0.75


class NothingInCommonError(ValueError):
    """These raters cannot be put side by side; the message is a sentence for the reader."""


@dataclass(frozen=True, eq=False)
class SamePairs:
    """What the chosen raters said about pairs they all know.

    ``rated`` holds the answers on pairs that every judge has rated, by the chosen raters and by people;
    ``asked`` those of the judges on pairs that every judge has answered, with a rating or without. People
    need not have rated all of them.
    """

    choices: tuple[Choice, ...]
    rated: Opinions
    asked: Opinions

    @property
    def pairs(self) -> int:
        """How many pairs every judge has rated."""
        return len(set(self.rated.rows["pair"].tolist()))

    @property
    def prompts(self) -> int:
        """How many prompts these are about."""
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
            found.append(
                f"Only {self.pairs} pairs were rated by all of these judges; below {FEWEST_PAIRS} read the "
                "numbers as hints at most."
            )
        both = {choice.label: self.in_both_orders(choice) for choice in self.judges}
        one_order = [label for label, pairs in both.items() if not pairs]
        if one_order and len(one_order) < len(both):
            found.append(
                f"{', '.join(one_order)} rated every pair in one order only, others in both: flips and the "
                "shift from both orders are known of the others alone."
            )
        return found + [
            f"{choice.label} saw {share:.0%} of the pairs in one and the same order: no lot was drawn, so "
            "the share that prefers the first and the shift of every rating are about the contestants too."
            for choice in self.choices
            if (share := self._in_one_order(choice)) > _MOST_IN_ONE_ORDER
        ]

    def _in_one_order(self, choice: Choice) -> float:
        """The share of the ratings whose pair was shown in the commoner of the two orders."""
        swapped = self.rated.by(choice.ids).rows["swapped"]
        return max(float(swapped.mean()), 1.0 - float(swapped.mean())) if len(swapped) else 0.0

    @property
    def judges(self) -> list[Choice]:
        return [choice for choice in self.choices if choice.selector != PEOPLE]


def same_pairs(
    opinions: Opinions, selectors: Sequence[str], left_out: npt.NDArray[np.int64] | None = None
) -> SamePairs:
    """The answers of the selected raters on the pairs they share; ``left_out`` are ids that do not count.

    Raises NothingInCommonError for fewer than two raters, for raters that gave no answer, and where no pair
    was rated by all judges.
    """
    by_selector = {choice.selector: choice for choice in opinions.raters}
    wanted = list(dict.fromkeys(selectors))
    for selector in wanted:
        if selector not in by_selector:
            known = ", ".join(by_selector) or "none"
            raise NothingInCommonError(f'no answers by "{selector}" in this study; there are: {known}')
    if len(wanted) < 2:
        raise NothingInCommonError("one judge alone has nobody to stand beside; name at least two")
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


def _shared(rows: npt.NDArray[Any], judges: Sequence[Choice], which: npt.NDArray[np.bool_]) -> Any:
    """The ids of the pairs that each of the judges has among ``which`` rows."""
    found = None
    for judge in judges:
        own = np.unique(rows["pair"][which & np.isin(rows["rater"], list(judge.ids))])
        found = own if found is None else np.intersect1d(found, own, assume_unique=True)
    return found
