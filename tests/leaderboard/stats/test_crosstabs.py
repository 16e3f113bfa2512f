import numpy as np
import pytest

from leaderboard.stats.agreement_opinions import opinion_rows
from leaderboard.stats.correlation import Entries, shared_entries
from leaderboard.stats.crosstabs import confusion, scatters
from tests.leaderboard.stats import agreement_studies


@pytest.mark.parametrize("points", agreement_studies.RATED, ids=lambda points: points[0])
def test_confusion_counts_every_rating_against_every_other_in_both_orientations(points):
    topics = agreement_studies.topics()
    one, other = agreement_studies.at_random(0, points[1]), agreement_studies.at_random(1, points[2], 2)
    found = confusion(topics, one, other)
    assert found.shape[1:] == points[1:]
    for number, chosen in ((0, topics.category >= 0), (1, topics.category == 0), (3, topics.category != 0)):
        kept = chosen[topics.prompt]
        sides = (rows.only(kept[rows.pair]) for rows in (one, other))
        expected = agreement_studies.crossed(*sides, lambda rows: rows.rating - 1, points[1:])
        assert (found[number] == expected).all()


def test_by_hand():
    one = opinion_rows([0, 1, 1], 1, [1, 3, 8], [3, 3, 8], False)
    other = opinion_rows([0, 1], 2, [2, 2], 2, False)
    found = confusion(agreement_studies.topics(2, names=("",)), one, other)
    assert found[0].tolist() == [[1, 1], [0, 0], [1, 1]]
    entries = Entries(np.array([0, 1, 4]), np.array([0.5, 0.5, 0.0]), np.array([-1.0, -1.0, 0.0]))
    found = scatters(agreement_studies.topics(), entries)
    # A place and its mirror image both show the two entries; that at (0, 0) is its own mirror image.
    assert found[0] == [[-0.5, 1, 2], [0, 0, 1], [0.5, -1, 2]]
    assert found[1] == [[-0.5, 1, 2], [0.5, -1, 2]]
    one, other = opinion_rows([0], 1, [1], 3, False), opinion_rows([1], 2, [1], 3, False)
    entries = shared_entries(agreement_studies.sums(one, 2), agreement_studies.sums(other, 2))
    assert scatters(agreement_studies.topics(2, names=("",)), entries) == [[]]


def test_many_places_go_on_a_grid_that_is_its_own_mirror_image():
    generator = np.random.default_rng(0)
    x, y = generator.uniform(-1, 1, (2, 900))
    found = scatters(agreement_studies.topics(900), Entries(np.arange(900), x, y))[0]
    assert 200 < len(found) <= 441
    middle = sum(times for a, b, times in found if a == b == 0)
    assert sum(times for _, _, times in found) == 1800 - middle
    assert {(-a + 0.0, -b + 0.0, n) for a, b, n in found} == {(a, b, n) for a, b, n in found}
    assert sorted(found) == found
    near = [(a, b) for a, b, _ in found if abs(a * 10 - round(a * 10)) > 1e-9]
    assert near == []
