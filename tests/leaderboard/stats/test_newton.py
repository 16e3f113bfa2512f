"""Two hundred contestants, each of whom met the next alone: the ends are as far apart as ratings can be.

Every link is a study of two contestants, so its gap is known exactly.
"""

import numpy as np
import pytest

from leaderboard.stats.bradley_terry import bradley_terry
from leaderboard.stats.davidson import davidson
from leaderboard.stats.games import make_games
from leaderboard.stats.ordinal import ordinal
from leaderboard.stats.ratings import make_ratings

CONTESTANTS = 200


def make_chain(wins, ties, losses):
    """First, second and score of all games: each link has so many of each."""
    link = np.repeat([1.0, 0.5, 0.0], [wins, ties, losses])
    first = np.repeat(np.arange(CONTESTANTS - 1), len(link))
    return first, first + 1, np.tile(link, CONTESTANTS - 1)


@pytest.mark.parametrize("wins", [9, 99, 9999])
def test_bradley_terry_arrives(wins):
    fit = bradley_terry(make_games(*make_chain(wins, 0, 1), CONTESTANTS))
    assert -np.diff(fit.rating) == pytest.approx(400 * np.log10(wins))
    assert not fit.prior


def test_davidson_and_the_ordinal_model_arrive():
    fit = davidson(make_games(*make_chain(90, 6, 1), CONTESTANTS))
    assert -np.diff(fit.rating) == pytest.approx(400 * np.log10(90))
    assert fit.nu == pytest.approx(6 / np.sqrt(90))
    assert not fit.prior
    first, second, score = make_chain(99, 0, 1)
    fit = ordinal(make_ratings(first, second, 2 - score.astype(int), 2, CONTESTANTS), position=False)
    assert -np.diff(fit.rating) == pytest.approx(400 * np.log10(99))
    assert not fit.prior
    assert set(fit.unbounded) == {None}
