"""The scale of 2, 3, 5 or 8 points, from "first much better" (1) to "second much better". Pure."""

from typing import Final, Literal, get_args

Points = Literal[2, 3, 5, 8]
POINTS: Final[tuple[int, ...]] = get_args(Points)

TIE_BAND: Final[dict[int, tuple[int, ...]]] = {2: (), 3: (2,), 5: (3,), 8: (4, 5)}
"""Ratings that count as a tie while ties are on, by number of points."""


TIE_WIDTH: Final = 1 / 7
"""Mean preferences up to this far from the middle are ties; those of 4 and 5 of 8 points lie just so far."""


class ScaleError(ValueError):
    """A scale that does not exist, or a rating outside its scale."""


def check_points(points: int) -> int:
    if points not in TIE_BAND:
        raise ScaleError(f"no scale has {points} points; choose one of {', '.join(map(str, POINTS))}")
    return points


def check_rating(rating: int, points: int) -> int:
    check_points(points)
    if not 1 <= rating <= points:
        raise ScaleError(f"rating {rating} is outside the scale 1-{points}")
    return rating


def mirror(rating: int, points: int) -> int:
    """The same opinion with the completions shown the other way round."""
    return points + 1 - check_rating(rating, points)


def preference(rating: int, points: int) -> float:
    """The rating on a common axis: -1 first much better, 0 the middle, +1 second much better."""
    check_rating(rating, points)
    return (2 * rating - points - 1) / (points - 1)


def verdict(rating: int, points: int) -> int:
    """Return which completion is better: -1 the first, 1 the second, 0 for a rating in the tie band."""
    preferred = preference(rating, points)
    return 0 if rating in TIE_BAND[points] else 1 if preferred > 0 else -1


def score(rating: int, points: int, *, ties: bool) -> float | None:
    """The first completion's score: 1, 0.5, 0, or None if the rating takes no side.

    With ties off only the middle of an odd scale takes none; 4 of 8 is a win for the first, 5 for the second.
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
"""Ratings in words, from 1 upwards; A is shown first."""
