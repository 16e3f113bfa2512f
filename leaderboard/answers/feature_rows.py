"""The features of one answer, as a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from arena.models import Completion, CompletionFeature
from arena.rules.feature_names import ENDS, Named, Variant
from leaderboard.pages.format import number


@dataclass(frozen=True)
class FeatureRow:
    """``shown``: the value, or what bounds say of it."""

    label: str
    turn: int
    shown: str
    variant: str
    source: str


def feature_rows(completion: Completion) -> list[FeatureRow]:
    """The features by turn and name; both bounds of one are one row."""
    stored = list(CompletionFeature.objects.filter(completion=completion))
    return [_row(list(same)) for _, same in groupby(sorted(stored, key=_key), _key)]


def _key(feature: CompletionFeature) -> tuple[int, str, str, str]:
    return feature.turn, Named.read(feature.name).name, feature.variant, feature.source


def _row(same: list[CompletionFeature]) -> FeatureRow:
    one = same[0]
    named = Named.read(one.name)
    shown = _between(same) if one.variant == Variant.BOUNDS else number(one.value, ".4g")
    return FeatureRow(named.label, one.turn, shown, Variant(one.variant).label, one.source)


def _between(bounds: Iterable[CompletionFeature]) -> str:
    found = {Named.read(each.name).end: number(each.value, ".4g") for each in bounds}
    if len(found) == len(ENDS):
        return "–".join(found[end] for end in ENDS)
    return next(f"{ENDS[end]} {value}" for end, value in found.items())
