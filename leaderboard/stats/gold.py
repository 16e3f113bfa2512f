"""One judge on instances whose right answer is known, each asked in both orders.

Verdicts are arrays (orders, instances): first as stored, then swapped, both mapped back to the stored order.
A verdict and a gold label are FIRST, TIE or SECOND; a verdict may also be UNSCORED or NOT_ASKED. Alpha is
Krippendorff's (nominal) between the two orders, kappa Cohen's against gold; no entry is mirrored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import BoolArray, FloatArray, IntArray, LengthMismatchError, ParameterError
from leaderboard.stats.choices import CLASS, RULES
from leaderboard.stats.clustered_means import mean_of_coefficients, mean_of_shares
from leaderboard.stats.coefficients import alpha, kappa, nominal_spread, unlike
from leaderboard.stats.plain_values import Estimate, Result
from leaderboard.stats.resampling import check_seed, generator
from leaderboard.stats.sides import FIRST, NOT_ASKED, SECOND, SIDES, TIE, UNSCORED, counted, is_scored
from leaderboard.stats.sums import added_up, ratio

Part = tuple[npt.NDArray[Any], npt.NDArray[Any]]
"""What counts towards a share, and among what, of each instance."""

Coefficient = Callable[[FloatArray], FloatArray]
"""Values (n,) of sums (kinds, n)."""

_GUESSES: Final = 20  # the purpose of the random stream


@dataclass(frozen=True)
class Rule:
    """How unscored replies and ties count.

    ``unscored``: exclude, wrong, random (a side drawn by lot), or tie. ``ties``: half, which gives a tie half
    a point beside a side, tie, where only a tie is right about a tie, or class, which is tie with the figures
    of three classes: precision, recall and F1. ``as_published``: "llmbar" counts as
    LLMBar's own tables: an unscored reply is wrong and agrees with another; a judge that scores each output
    alone gets half a point for a tie or an unscored reply, and never agrees with itself there.
    """

    unscored: str = "exclude"
    ties: str = "half"
    as_published: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, allowed in RULES.items():
            if getattr(self, name) not in allowed:
                listed = ", ".join(filter(None, allowed))
                raise ParameterError(f"{name} is {getattr(self, name)!r}; it must be one of {listed}")
        check_seed(self.seed)


@dataclass(frozen=True)
class GoldFigures(Result):
    """``n`` instances; ``asked`` and ``scored`` replies, ``both`` instances with both orders scored.

    ``accuracy_bounds``: if all unscored replies were wrong, or right. ``agreement``, ``alpha``: between the
    orders, None where no order was seen. ``both_right``: share of instances right in both orders.
    ``hedging``, ``unscored``: shares of replies asked. ``first``: share of what was shown first among
    verdicts with a side. ``precision``, ``recall``, ``f1``: macro-averages over the classes that are right
    answers or verdicts, which are the places shown and ties, 0 where a class has none; None unless ties are a
    class. ``confusion``: replies by gold side and verdict.
    """

    n: int
    asked: int
    scored: int
    both: int
    accuracy: float | None
    accuracy_bounds: tuple[float, float] | None
    agreement: float | None
    alpha: float | None
    both_right: float | None
    hedging: float | None
    unscored: float | None
    first: float | None
    kappa: float | None
    precision: float | None
    recall: float | None
    f1: float | None
    confusion: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, eq=False)
class Judged:
    """One judge on one subset; ``pointwise``: it saw each output alone, so both orders agree by themselves.

    ``stream`` numbers judge and subset, so that no two draw the same random sides. Without ``prompt`` every
    instance has its own.
    """

    gold: IntArray  # (instances,)
    verdicts: IntArray  # (orders, instances)
    rule: Rule = Rule()
    pointwise: bool = False
    stream: int = 0
    prompt: IntArray | None = None  # (instances,)

    def __post_init__(self) -> None:
        if self.verdicts.shape != (2, len(self.gold)):
            shapes = f"gold has {len(self.gold)} instances, verdicts the shape {self.verdicts.shape}"
            raise LengthMismatchError(shapes)

    @cached_property
    def used(self) -> IntArray:
        """The verdicts, with a tie or a random side for each unscored reply if the rule wants that."""
        if self.rule.unscored == "tie" and not self.rule.as_published:
            return np.where(self.verdicts == UNSCORED, TIE, self.verdicts)
        if self.rule.unscored != "random" or self.rule.as_published:
            return self.verdicts
        drawn = generator(self.rule.seed, _GUESSES, self.stream).integers(2, size=self.verdicts.shape)
        return np.where(self.verdicts == UNSCORED, np.where(drawn, SECOND, FIRST), self.verdicts)

    @cached_property
    def credits(self) -> FloatArray:
        """Points (orders, instances) from 0 to 1, NaN for replies that do not count."""
        lost = 0.0 if self.rule.unscored == "wrong" else np.nan
        if self.rule.as_published:
            lost = 0.5 if self.pointwise else 0.0
        found = np.where(is_scored(self.used), points(self.used, self.gold, self.rule), lost)
        return np.where(self.used == NOT_ASKED, np.nan, found)

    @property
    def asked(self) -> BoolArray:
        return np.asarray(self.verdicts != NOT_ASKED)

    def part(self, share: Part) -> tuple[FloatArray, FloatArray]:
        """A share by prompt."""
        won, count = share
        return self.by_prompt(won), self.by_prompt(count)

    def by_prompt(self, values: npt.NDArray[Any]) -> FloatArray:
        """The sum over the instances of each prompt, along the last axis; NaN adds nothing."""
        known = np.nan_to_num(np.asarray(values, dtype=np.float64))
        return known if self._together is None else added_up(known, self._together)

    @cached_property
    def _together(self) -> IntArray | None:
        """The prompt of each instance; None where every one has its own."""
        alone = self.prompt is None or np.array_equal(self.prompt, np.arange(len(self.gold)))
        return None if alone else self.prompt

    @cached_property
    def shares(self) -> dict[str, Part]:
        """What counts towards each share of GoldFigures, and among what, by prompt."""
        given, asked, scored = self.verdicts, self.asked, is_scored(self.verdicts)
        tied, sided = given == TIE, np.abs(given) == 1
        right = self.right_throughout(np.ones_like(asked))
        found: dict[str, tuple[npt.NDArray[Any], npt.NDArray[Any]]] = {
            "agreement": self._agreement(is_scored(self.used)),
            "both_right": (np.nan_to_num(right), ~np.isnan(right)),
            "hedging": (tied.sum(axis=0), asked.sum(axis=0)),
            "unscored": ((asked & ~scored).sum(axis=0), asked.sum(axis=0)),
            "first": ((given == np.array([[FIRST], [SECOND]])).sum(axis=0), sided.sum(axis=0)),
        }
        return {name: self.part(share) for name, share in found.items()}

    @cached_property
    def coefficients(self) -> dict[str, FloatArray]:
        """What alpha between the orders, kappa with gold and macro-averages are computed from, by prompt."""
        told = is_scored(self.used)
        both = told.all(axis=0) & (not self.pointwise)
        gold = np.broadcast_to(self.gold, told.shape)
        kappas = [kappa_sums(*row) for row in zip(self.used, gold, told, strict=True)]
        classes = told if self.rule.ties == CLASS and not self.rule.as_published else np.zeros_like(told)
        shown = np.array([[1], [-1]])  # which side is called the first follows the order shown
        sums = class_sums(shown * self.used, shown * gold, classes)
        found = {"alpha": alpha_sums(counted(self.used)) * both, "kappa": np.sum(kappas, axis=0)}
        found |= dict.fromkeys(("precision", "recall", "f1"), sums)
        return {name: self.by_prompt(sums) for name, sums in found.items()}

    def right_throughout(self, orders: BoolArray) -> FloatArray:
        """1 where all verdicts in these ``orders`` (orders, instances) are the gold label, else 0.

        NaN where one of them does not count, or there is none.
        """
        lost = (np.isnan(self.credits) & orders).any(axis=0) | ~orders.any(axis=0)
        return np.where(lost, np.nan, ((self.used == self.gold) | ~orders).all(axis=0))

    def figures(self) -> GoldFigures:
        given = self.verdicts
        asked, scored = self.asked, is_scored(given)
        unscored = asked & ~scored
        certain = float(points(given, self.gold, self.rule)[scored].sum())
        ends = certain, certain + float(unscored.sum())
        confusion = {
            side: {
                name: int((given[:, self.gold == label] == value).sum())
                for name, value in (SIDES | {"unscored": UNSCORED}).items()
            }
            for side, label in SIDES.items()
        }
        return GoldFigures(
            n=len(self.gold),
            asked=int(asked.sum()),
            scored=int(scored.sum()),
            both=int(scored.all(axis=0).sum()),
            accuracy=mean_of(self.credits),
            accuracy_bounds=(ends[0] / int(asked.sum()), ends[1] / int(asked.sum())) if asked.any() else None,
            **{name: share_of(*part) for name, part in self.shares.items()},
            **{name: _of_all(sums, COEFFICIENTS[name]) for name, sums in self.coefficients.items()},
            confusion=confusion,
        )

    def _agreement(self, told: BoolArray) -> Part:
        same, both = self.used[0] == self.used[1], told.all(axis=0) & (not self.pointwise)
        if self.rule.as_published:
            both = (self.used != NOT_ASKED).all(axis=0)
            same = same & (np.abs(self.used[0]) == 1) if self.pointwise else same
        return np.asarray(same & both), np.asarray(both)


def points(verdicts: IntArray, gold: IntArray, rule: Rule) -> FloatArray:
    """What each verdict earns beside its gold label; of no meaning for what is no verdict."""
    if rule.ties == "half" or rule.as_published:
        return np.asarray(1.0 - np.abs(verdicts - gold) / 2.0)
    return np.asarray(verdicts == gold, dtype=np.float64)


def mean_of(values: FloatArray) -> float | None:
    """The mean of what is not NaN."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def share_of(which: npt.NDArray[Any], among: npt.NDArray[Any]) -> float | None:
    """None where there is nothing."""
    return float(which.sum() / among.sum()) if among.any() else None


def _of_all(sums: FloatArray, coefficient: Coefficient) -> float | None:
    found = float(coefficient(sums.sum(axis=1, keepdims=True))[0])
    return None if np.isnan(found) else found


def alpha_sums(counts: IntArray) -> FloatArray:
    """What each unit adds to the sums of alpha: verdicts, those of each value, and what differs."""
    each = counts.sum(axis=1)
    return np.asarray(np.stack([each, *counts.T, unlike(counts)]) * (each > 1))


def alpha_of(sums: FloatArray) -> FloatArray:
    """Nominal alpha from sums (kinds, n)."""
    return alpha(sums[0], sums[4], nominal_spread(sums[0], sums[1:4]))


def kappa_sums(one: IntArray, other: IntArray, both: BoolArray) -> FloatArray:
    """What each two verdicts add to the sums of kappa, if there are both."""
    values = [side == value for side in (one, other) for value in SIDES.values()]
    return np.asarray(np.stack([np.ones(len(one)), one == other, *values]) * both)


def kappa_of(sums: FloatArray) -> FloatArray:
    """Cohen's kappa from sums (kinds, n)."""
    return kappa(sums[0], sums[1], sums[2:5], sums[5:8])


def class_sums(verdicts: IntArray, gold: IntArray, counts: BoolArray) -> FloatArray:
    """What each instance adds to the verdicts, and to those of each right answer and verdict (10, n)."""
    cells = [(gold == right) & (verdicts == said) for right in SIDES.values() for said in SIDES.values()]
    return np.stack([(each & counts).sum(axis=0) for each in (counts, *cells)]).astype(np.float64)


def _macro(sums: FloatArray, share: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]) -> FloatArray:
    """The mean share over the classes that are right answers or verdicts; NaN without any."""
    cells = sums[1:].reshape(3, 3, -1)
    hit, right, said = np.einsum("iin->in", cells), cells.sum(axis=1), cells.sum(axis=0)
    there = right + said > 0
    shares = np.where(there, np.nan_to_num(share(hit, right, said)), 0.0)
    return ratio(shares.sum(axis=0), there.sum(axis=0).astype(np.float64))


def precision_of(sums: FloatArray) -> FloatArray:
    return _macro(sums, lambda hit, right, said: ratio(hit, said))


def recall_of(sums: FloatArray) -> FloatArray:
    return _macro(sums, lambda hit, right, said: ratio(hit, right))


def f1_of(sums: FloatArray) -> FloatArray:
    return _macro(sums, lambda hit, right, said: ratio(2.0 * hit, right + said))


COEFFICIENTS: Final[Mapping[str, Coefficient]] = {
    "alpha": alpha_of,
    "kappa": kappa_of,
    "precision": precision_of,
    "recall": recall_of,
    "f1": f1_of,
}


def intervals(judged: Sequence[Judged], level: float) -> dict[str, Estimate]:
    """Each share and coefficient of GoldFigures, on average over subsets."""
    found = {
        name: mean_of_shares([own.shares[name] for own in judged], level) for name in judged[0].shares
    } | {
        name: mean_of_coefficients([own.coefficients[name] for own in judged], value, level)
        for name, value in COEFFICIENTS.items()
    }
    found |= {name: found[name].clipped(0.0, 1.0) for name in _SHARES}
    return {name: each.estimate for name, each in found.items()}


_SHARES: Final = ("precision", "recall", "f1")
"""Coefficients that are no lower than 0, though their interval on Fisher's scale may be."""
