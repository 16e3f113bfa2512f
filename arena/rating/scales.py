"""The rating scale: 2, 3, 5 or 8 points, from "first much better" (1) to "second much better" (n).

Pure. One mechanism serves every scale: the sign of ``2 * rating - (points + 1)`` tells the side, and its size
how strong the preference is, so mirroring, ties and the mapping to [-1, 1] need no table per scale.
"""

from typing import Final

POINTS: Final = (2, 3, 5, 8)
"""The scales there are, by their number of points."""

TIE_BAND: Final[dict[int, tuple[int, ...]]] = {2: (), 3: (2,), 5: (3,), 8: (4, 5)}
"""Ratings that count as a tie while ties are on, by number of points."""


class ScaleError(ValueError):
    """A scale that does not exist, or a rating outside its scale."""


def check_points(points: int) -> int:
    """Return ``points`` if there is such a scale; raise ScaleError otherwise."""
    if points not in TIE_BAND:
        raise ScaleError(f"no scale has {points} points; choose one of {', '.join(map(str, POINTS))}")
    return points


def check_rating(rating: int, points: int) -> int:
    """Return ``rating`` if it lies on the scale of ``points``; raise ScaleError otherwise."""
    check_points(points)
    if not 1 <= rating <= points:
        raise ScaleError(f"rating {rating} is outside the scale 1-{points}")
    return rating


def mirror(rating: int, points: int) -> int:
    """The same opinion with the two completions shown the other way round."""
    return points + 1 - check_rating(rating, points)


def preference(rating: int, points: int) -> float:
    """The rating on a common axis: -1 first much better, 0 the middle, +1 second much better."""
    check_rating(rating, points)
    return (2 * rating - points - 1) / (points - 1)


def verdict(rating: int, points: int) -> int:
    """Which completion is better: -1 the first, 1 the second, 0 neither, for a rating in the tie band."""
    preferred = preference(rating, points)
    return 0 if rating in TIE_BAND[points] else 1 if preferred > 0 else -1


def score(rating: int, points: int, *, ties: bool) -> float | None:
    """The first completion's score: 1 win, 0.5 tie, 0 loss; None where the rating takes no side.

    With ties on, the band of the scale is half a win for each. With ties off only the exact middle of an
    odd scale has no side; 4 of 8 is a win for the first and 5 of 8 for the second.
    """
    if ties:
        return (1 - verdict(rating, points)) / 2
    preferred = preference(rating, points)
    return None if preferred == 0 else float(preferred < 0)


CAPTIONS: Final[dict[int, tuple[str, ...]]] = {
    2: ("A is better", "B is better"),
    3: ("A is better", "Tie", "B is better"),
    5: ("A is much better", "A is better", "Tie", "B is better", "B is much better"),
    8: (
        "A is much better",
        "A is better",
        "A is somewhat better",
        "A is barely better",
        "B is barely better",
        "B is somewhat better",
        "B is better",
        "B is much better",
    ),
}
"""What each rating means in words, from 1 upwards; A is the completion shown first."""
