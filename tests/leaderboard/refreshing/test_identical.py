import json
from decimal import Decimal

import pytest

from arena.models import Pair, Rater
from leaderboard.comparisons.filters import ANSWERS
from leaderboard.data.counting import _unscored
from leaderboard.data.table import unscored_table
from leaderboard.files.bundle.arrays import facts_json, opinions_from, rows_csv
from leaderboard.files.interchange import vote_file
from leaderboard.raters.bias.measures import ratings
from leaderboard.snapshots.comparison_index import Question, build, places
from leaderboard.snapshots.counts import counts
from leaderboard.snapshots.reading import opinions
from tests.factories import make_comparison, make_completion, make_judge, make_prompt, make_small_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    """A judge gave one rating, one answer without, and was asked about one of two identical pairs."""
    study = make_small_study(prompts=2, contestants=2)
    judge = make_judge(slug="loop").rater
    pairs = [_pair(list(prompt.completions.order_by("pk"))) for prompt in study.prompts.all()]
    contestants = list(study.contestants.all())
    for _ in range(2):
        prompt = make_prompt(study=study)
        same = {"prompt": prompt, "turns": ["the same"], "digest": "f" * 64}
        pairs.append(_pair([make_completion(**same, contestant=each) for each in contestants]))
    make_comparison(pair=pairs[0], rater=judge, rating=2)
    make_comparison(pair=pairs[1], rater=judge, reason="refused")
    scores = {"first_score": Decimal(9), "second_score": Decimal(1)}
    make_comparison(pair=pairs[2], rater=judge, status="identical", rating=7, **scores)
    make_comparison(pair=pairs[3], rater=judge, status="identical", rating=None)
    return study


def _pair(completions):
    first, second = completions
    return Pair.objects.create(prompt=first.prompt, first=first, second=second)


def test_they_are_neither_scored_nor_unscored_no_game_and_counted_apart(study):
    read = opinions(study)
    assert read.scored.tolist() == [True, False, False, False]
    assert read.unscored.tolist() == [False, True, False, False]
    assert read.identical.tolist() == [False, False, True, True]
    assert len(read.ratings()) == 1
    counted = counts(opinions(study), {})
    assert (counted["comparisons"], counted["unscored"], counted["identical"]) == (4, 1, 2)
    (judge,) = counted["raters"]
    assert (judge["comparisons"], judge["unscored"]) == (2, 1)
    (row,) = _unscored(opinions(study))
    assert (row["identical"], row["reasons"]) == (2, {"refused": 1})
    table = unscored_table({"unscored": [row]})
    assert table.columns == ("Raters", "Replies", "Unscored", "Share, %", "Refused", "Identical texts")
    assert table.rows[0][1:] == (2, 1, 50.0, 1, 2)
    measured = ratings(opinions(study))
    (scale,) = measured["scales"]
    assert (scale["scored"], scale["unscored"]) == (1, {"refused": 1})
    assert measured["scores"] is None


def test_they_can_be_looked_for_and_files_tell_them_apart(study):
    index = build(opinions(study).rows, [], {})
    assert len(places(index, Question(answer="identical"))) == 2
    assert len(places(index, Question(answer="unscored"))) == 1
    assert ANSWERS["identical"] == "Identical answers"
    read = opinions(study)
    again = opinions_from(facts_json(read).encode(), b"".join(rows_csv(read)))
    assert again.identical.tolist() == read.identical.tolist()
    assert counts(again, {}) == counts(read, {})
    Rater.objects.update(study=None)
    left_out = json.loads(vote_file(study, "arena", "jsonl", {}).note())["left_out"]
    assert left_out == {"by a judge about two identical texts": 2, "not rated: refused": 1}
