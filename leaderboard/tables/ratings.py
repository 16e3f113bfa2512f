"""Ratings as shown: histograms and position statistics."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from leaderboard.tables.parts import Cell, Content, DataTable

_UNSCORED: Final = {
    "empty": "empty",
    "out_of_range": "out of range",
    "unparsable": "unparsable",
    "truncated": "truncated",
    "refused": "refused",
}


@dataclass(frozen=True)
class Shown:
    """How one kind of rater used a scale: counts as shown, and the unscored by reason in words."""

    label: str
    counts: tuple[int, ...]
    unscored: Mapping[str, int]
    share_first: float | None
    mean: float | None

    @property
    def replies(self) -> int:
        return sum(self.counts) + sum(self.unscored.values())


def shown_by_scale(ratings: Iterable[tuple[str, Content]]) -> dict[int, list[Shown]]:
    """The histograms of all kinds of raters by the points of their scale, largest scale first."""
    scales: dict[int, list[Shown]] = {}
    for label, content in ratings:
        for scale in content["scales"]:
            unscored = {_UNSCORED.get(reason, reason): n for reason, n in scale["unscored"].items()}
            found = Shown(label, tuple(scale["counts"]), unscored, scale["share_first"], scale["mean"])
            scales.setdefault(scale["points"], []).append(found)
    return dict(sorted(scales.items(), reverse=True))


def unscored_reasons(shown: Iterable[Shown]) -> list[str]:
    """The reasons that occur, in a fixed order."""
    present = {reason for one in shown for reason in one.unscored}
    known = [word for word in _UNSCORED.values() if word in present]
    return known + sorted(present - set(known))


def ratings_table(points: int, shown: Sequence[Shown]) -> DataTable:
    """How often each rating was given as shown, then the unscored, then the position statistics."""
    rows: list[tuple[Cell, ...]] = [
        (f"Rating {rating}", *(one.counts[rating - 1] for one in shown)) for rating in range(1, points + 1)
    ]
    rows += [
        (f"Unscored: {reason}", *(one.unscored.get(reason, 0) for one in shown))
        for reason in unscored_reasons(shown)
    ]
    rows.append(("All replies", *(one.replies for one in shown)))
    share = (None if one.share_first is None else round(100 * one.share_first, 2) for one in shown)
    rows.append(("Share preferring the first, % (50 without bias)", *share))
    mean = (None if one.mean is None else round(one.mean, 3) for one in shown)
    rows.append((f"Mean rating ({(points + 1) / 2:g} without bias)", *mean))
    caption = f"Ratings as shown, scale of {points} points"
    return DataTable(caption, ("Rating", *(one.label for one in shown)), tuple(rows))
