"""Ratings: comparisons as they were given, with everything a ranking may use; checked here once."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from leaderboard.stats.checks import (
    FloatArray,
    IntArray,
    ParameterError,
    RatingError,
    check_length,
    labels_of,
    numbers,
)
from leaderboard.stats.choices import PROMPTS_AND_RATERS, RESAMPLE
from leaderboard.stats.games import Games, games_from_ratings, make_games
from leaderboard.stats.verdicts import TieBand


@dataclass(frozen=True, eq=False)
class Ratings:
    """Comparisons as parallel arrays (n,), in presentation order."""

    first: IntArray
    second: IntArray
    rating: IntArray  # from 1 (first much better) to points (second much better)
    points: IntArray
    contestants: int
    prompt: IntArray | None = None  # numbered from 0 without gaps, None where unknown
    rater: IntArray | None = None  # numbered likewise
    expected: FloatArray | None = None  # on the scale; games take it in place of the rating
    covariates: Mapping[str, FloatArray] = field(default_factory=dict)  # how much more the first has
    _last: dict[str, tuple[tuple[bool, TieBand | None], Games]] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        return len(self.rating)

    def unit(self, resample: str) -> IntArray | None:
        """What each rating is drawn with, None for single games; raises ParameterError if not known.

        Of prompts-and-raters it is the prompt.
        """
        if resample not in RESAMPLE:
            raise ParameterError(f"resample is {resample!r}; choose one of {', '.join(RESAMPLE)}")
        if resample == "games":
            return None
        return self._known("raters" if resample == "raters" else "prompts", resample)

    def crossed(self, resample: str) -> IntArray | None:
        """The rater of each rating where both prompts and raters are drawn, None otherwise."""
        return self._known("raters", resample) if resample == PROMPTS_AND_RATERS else None

    def _known(self, what: str, resample: str) -> IntArray:
        number = self.prompt if what == "prompts" else self.rater
        if number is None:
            raise ParameterError(f"resample is {resample!r}, but the ratings name no {what}")
        return number

    @property
    def won_shares(self) -> list[float | None]:
        """The mean share of a win that expected ratings give each contestant; None where it has none."""
        if self.expected is None:
            raise ParameterError("there are no expected ratings")
        first = (self.points - self.expected) / (self.points - 1.0)
        who, share = np.concatenate([self.first, self.second]), np.concatenate([first, 1.0 - first])
        won, met = (np.bincount(who, each, self.contestants) for each in (share, None))
        return [float(share / count) if count else None for share, count in zip(won, met, strict=True)]

    def games(self, *, ties: bool, resample: str = "prompts", tie_band: TieBand | None = None) -> Games:
        """By an expected rating the first has (points - expected) / (points - 1) of a win.

        ``ties`` and ``tie_band`` are about ratings as given. The last games of each ``resample`` are kept,
        because one method after the other asks for them.
        """
        wanted = (ties, tie_band)
        if resample not in self._last or self._last[resample][0] != wanted:
            self._last[resample] = (wanted, self._games(ties, resample, tie_band))
        return self._last[resample][1]

    def _games(self, ties: bool, resample: str, tie_band: TieBand | None) -> Games:
        if self.expected is not None:
            return make_games(
                self.first,
                self.second,
                (self.points - self.expected) / (self.points - 1.0),
                self.contestants,
                cluster=self.unit(resample),
                crossed=self.crossed(resample),
                shares=True,
            )
        return games_from_ratings(
            self.first,
            self.second,
            self.rating,
            self.points,
            ties=ties,
            contestants=self.contestants,
            cluster=self.unit(resample),
            crossed=self.crossed(resample),
            tie_band=tie_band,
        )


def make_ratings(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    rating: npt.ArrayLike,
    points: npt.ArrayLike,
    contestants: int,
    *,
    prompt: npt.ArrayLike | None = None,
    rater: npt.ArrayLike | None = None,
    expected: npt.ArrayLike | None = None,
    covariates: Mapping[str, npt.ArrayLike] | None = None,
) -> Ratings:
    """Ratings from arrays and labels of any kind; raises a StatsError that names the first bad position."""
    checked = games_from_ratings(first, second, rating, points, ties=True, contestants=contestants)
    values = np.asarray(rating).reshape(-1).astype(np.int64)
    scale = np.broadcast_to(np.asarray(points, dtype=np.int64), values.shape)
    return Ratings(
        checked.a,
        checked.b,
        values,
        scale,
        contestants,
        labels_of("prompt", prompt, "rating", len(values)),
        labels_of("rater", rater, "rating", len(values)),
        None if expected is None else _on_scale(expected, scale),
        {name: _finite(name, more, len(values)) for name, more in (covariates or {}).items()},
    )


def ratings_of_games(games: Games, resample: str = "prompts") -> Ratings:
    """Games as ratings on three points, the clusters being what ``resample`` says."""
    rating = (3.0 - 2.0 * games.score).astype(np.int64)
    points = np.full(len(games), 3, dtype=np.int64)
    prompt, rater = (None, games.cluster) if resample == "raters" else (games.cluster, games.crossed)
    return Ratings(games.a, games.b, rating, points, games.contestants, prompt, rater)


def _on_scale(expected: npt.ArrayLike, points: IntArray) -> FloatArray:
    array = _finite("expected", expected, len(points))
    off = (array < 1.0) | (array > points)
    if off.any():
        place = int(off.argmax())
        raise RatingError(f"expected[{place}] is {array[place]:g}, outside the scale 1-{points[place]}")
    return array


def _finite(name: str, values: npt.ArrayLike, length: int) -> FloatArray:
    array = numbers(name, values)
    check_length(name, array, "rating", length)
    if not np.isfinite(array).all():
        raise ParameterError(f"{name}[{int((~np.isfinite(array)).argmax())}] is not a finite number")
    return array
