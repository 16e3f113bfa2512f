"""FastChat, which is installed with the benchmarks, reads the votes we export; run by ``make bench``."""

import pandas
import pytest

from leaderboard.files import interchange
from leaderboard.snapshots.reading import opinions
from leaderboard.stats.elo import EloParameters
from leaderboard.stats.ranking import rank_ratings
from leaderboard.stats.ranking_method import Method
from tests import factories
from tests.benchmarks.rivals import rating_module
from tests.leaderboard.rows import HandMade


@pytest.mark.django_db
def test_one_pass_of_elo_by_fastchat_over_our_file_is_one_pass_of_ours(tmp_path):
    made = HandMade("Alpha", "=Beta", "Gamma", categories=("coding", "poems"))
    bob = factories.make_rater(name="Bob")
    made.rate("Alpha", "=Beta", 2)
    made.rate("=Beta", "Alpha", 6, rater=bob)
    made.rate("Alpha", "Gamma", 4)
    made.rate("Gamma", "=Beta", 8, prompt=1)
    made.rate("=Beta", "Gamma", 2, prompt=1, rater=bob)
    file = tmp_path / "votes.jsonl"
    file.write_bytes(
        b"".join(interchange.vote_file(made.study, "arena", "jsonl", {"raters": "people"}).pieces)
    )
    battles = pandas.read_json(file, lines=True)
    theirs = rating_module().compute_elo(battles.sort_values("tstamp", kind="stable", ignore_index=True))
    read = opinions(made.study)
    ours = rank_ratings(read.ratings(), read.names, Method("elo-study", rounds=None, elo=EloParameters(k=4)))
    assert {row.contestant: row.rating for row in ours.standings} == pytest.approx(dict(theirs), abs=1e-9)
