"""Sentences that must stand beside human-anchored ratings whose numbers could mislead."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from leaderboard.stats.anchored.result import Anchored
from leaderboard.stats.ranking.cautions import FEWEST_CLUSTERS

UNLIKELY: Final = 0.001
"""A p value of the balance below this is said: one study in a thousand by chance, for each test."""

_NAMES_SHOWN: Final = 3
_SMALLEST: Final = 1e-6
_IMBALANCE: Final = {
    "contestants": "the contestants take part in other shares",
    "decided": "the judge was more, or less, decided on them",
    "categories": "the prompts are of other categories",
}


def anchored_cautions(found: Anchored, names: Sequence[str]) -> tuple[str, ...]:
    """The sentences that apply to the result, the most serious first; ``names`` are the contestants'."""
    checks = (_not_anchored, _groups, _imbalance, _few_prompts, _unbounded, _no_help, _left_out)
    return tuple(sentence for check in checks for sentence in check(found, names))


def _not_anchored(found: Anchored, names: Sequence[str]) -> Iterator[str]:
    idle = [name for name, anchored in zip(names, found.is_anchored, strict=True) if not anchored]
    if idle:
        yield f"People rated no pair of {_listed(idle)}: not ranked, whatever the judge says of them."


def _groups(found: Anchored, names: Sequence[str]) -> Iterator[str]:
    numbers = np.unique(found.component[found.is_anchored])
    if len(numbers) > 1:
        groups = (
            [name for name, own in zip(names, found.component, strict=True) if own == n] for n in numbers
        )
        listed = "; ".join(_listed(group) for group in list(groups)[:_NAMES_SHOWN])
        yield (
            f"The pairs people rated leave {len(numbers)} groups that never met ({listed}): ratings can be "
            "compared within a group only."
        )


def _imbalance(found: Anchored, _: Sequence[str]) -> Iterator[str]:
    seen = [(name, p) for name, p in found.balance.items() if p < UNLIKELY]
    if seen:
        reasons = "; ".join(f"{_IMBALANCE[name]}, p {_size(p)}" for name, p in seen)
        yield (
            "The pairs people rated do not look like a random part of the judged ones "
            f"({reasons}): the judge's bias may not cancel."
        )


def _few_prompts(found: Anchored, _: Sequence[str]) -> Iterator[str]:
    if found.counts.human_prompts == 1:
        yield "People rated pairs of one prompt only, which says nothing about other prompts: no intervals."
    elif found.counts.human_prompts < FEWEST_CLUSTERS:
        yield (
            f"People rated pairs of only {found.counts.human_prompts} prompts; fewer than {FEWEST_CLUSTERS} "
            "may not stand for the others, as the intervals take for granted."
        )


def _unbounded(found: Anchored, _: Sequence[str]) -> Iterator[str]:
    if found.best.prior:
        yield (
            "The ratings have no finite answer because some contestants won, or lost, every pair people "
            "rated; one drawn game against the average was added for each contestant."
        )


def _no_help(found: Anchored, _: Sequence[str]) -> Iterator[str]:
    if found.counts.judged_pairs == found.counts.shared_pairs:
        yield "The judge rated no pair beyond those people rated, so it adds nothing."
    elif found.power == 0:
        yield "The judge's scores tell nothing about people's here, so the ratings are those of people alone."


def _left_out(found: Anchored, _: Sequence[str]) -> Iterator[str]:
    if found.counts.left_out:
        yield (
            f"{found.counts.left_out} judged pairs were not used: no pairs that people rated connect their "
            "contestants."
        )


def _size(p: float) -> str:
    return f"= {p:.1g}" if p >= _SMALLEST else f"< {_SMALLEST:g}"


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    rest = len(names) - _NAMES_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown
