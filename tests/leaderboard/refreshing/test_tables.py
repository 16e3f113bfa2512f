import json

import pytest

from leaderboard.raters.agreement.coefficients import agreement
from leaderboard.refreshing import tables
from leaderboard.snapshots.counts import counts
from leaderboard.snapshots.reading import opinions
from leaderboard.stats.ranking_method import Method
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db
FAST = Method(rounds=20)
STRICT = ("agreement", "judge:strict")


def table(study, kind, **wanted):
    place = {"raters": "people", "category": "", "ties": "", "method": "", **wanted}
    (found,) = [
        row
        for row in tables.tables(opinions(study), FAST, {})
        if row.kind == kind and all(getattr(row, name) == value for name, value in place.items())
    ]
    return json.loads(found.payload)


@pytest.fixture(scope="module")
def shared(shared_rows):
    """Alpha beats beta twice and ties once; beta beats gamma once, shown second."""
    made = HandMade("alpha", "beta", "gamma", categories=("coding", "poems"))
    made.rate("alpha", "beta", 1)
    made.rate("beta", "alpha", 7)
    made.rate("alpha", "beta", 4)
    made.rate("gamma", "beta", 8, prompt=1)
    made.rate("alpha", "gamma", None, reason="unparsable")
    return made


def test_matrices_read_across_a_row(made):
    found = table(made.study, "matrices", ties="on")
    assert found["contestants"] == ["alpha", "beta", "gamma"]
    assert found["wins"] == [[0, 2, 0], [0, 0, 1], [0, 0, 0]]
    assert found["ties"] == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert found["games"] == [[0, 3, 0], [3, 0, 1], [0, 1, 0]]
    found = table(made.study, "matrices", ties="off")
    assert found["wins"] == [[0, 3, 0], [0, 0, 1], [0, 0, 0]]
    assert found["ties"] == [[0, 0, 0]] * 3


def test_standings_count_each_contestant_and_the_unscored_in_each_category(made):
    found = table(made.study, "standings", ties="on", method="elo")
    rows = {row["contestant"]: row for row in found["standings"]}
    assert [
        (rows[name]["games"], rows[name]["wins"], rows[name]["losses"], rows[name]["ties"])
        for name in ("alpha", "beta", "gamma")
    ] == [(3, 2, 0, 1), (4, 1, 2, 1), (1, 0, 1, 0)]
    assert [row["contestant"] for row in found["standings"]] == ["alpha", "beta", "gamma"]
    assert (found["games"], found["left_out"], found["unscored"], found["not_ranked"]) == (4, 0, 1, 0)
    assert found["parameters"]["resample"] == "prompts"
    assert found["parameters"]["clusters"] == 2
    found = table(made.study, "standings", ties="on", method="bradley-terry", category="poems")
    assert [row["contestant"] for row in found["standings"]] == ["beta", "gamma"]
    assert found["games"] == 1


def test_ratings_are_counted_as_shown_on_each_scale(made):
    found = table(made.study, "ratings")
    assert found["comparisons"] == 5
    (scale,) = found["scales"]
    assert scale["points"] == 8
    assert scale["counts"] == [1, 0, 0, 1, 0, 0, 1, 1]
    assert scale["unscored"] == {"unparsable": 1}
    assert scale["share_first"] == 0.5
    assert scale["mean"] == 5.0
    made.rate("alpha", "gamma", 2, points=3)
    found = table(made.study, "ratings")
    assert [(scale["points"], scale["scored"]) for scale in found["scales"]] == [(3, 1), (8, 4)]


def test_correlation_pairs_people_with_each_judge_in_the_pairs_own_orientation(made):
    judge = made.judge("strict")
    # The same opinions as the people's means on three pairs, two of them shown the other way round.
    made.rate("alpha", "gamma", 2)
    made.rate("beta", "alpha", 6, rater=judge)
    made.rate("gamma", "beta", 8, prompt=1, rater=judge)
    made.rate("gamma", "alpha", 7, rater=judge)
    found = table(made.study, "correlation", raters="judge:strict")
    overall, coding, poems, *rest = found["rows"]
    assert [row["category"] for row in rest] == ["-coding", "-poems"]
    assert (overall["category"], overall["n"]) == (None, 3)
    assert (coding["category"], coding["n"], poems["category"], poems["n"]) == ("coding", 2, "poems", 1)
    # People's means: (-1 - 5/7 - 1/7) / 3 = -13/21, +1 on gamma:beta = first of its pair second, -5/7; the
    # judge's: -3/7, the same, -5/7. Pearson over both orientations is sum(xy) / sqrt(sum(x2) sum(y2)).
    people, strict = (-13 / 21, 1.0, -5 / 7), (-3 / 7, 1.0, -5 / 7)
    product = sum(x * y for x, y in zip(people, strict, strict=True))
    size = (sum(x * x for x in people) * sum(y * y for y in strict)) ** 0.5
    assert overall["pearson"] == pytest.approx(product / size, abs=1e-6)
    assert coding["pearson"] is None
    assert "fewer than 3" in coding["reason"]


def test_what_was_known_is_copied_and_what_changed_is_not(made):
    before = {row.inputs: row.payload for row in tables.tables(opinions(made.study), FAST, {}) if row.inputs}
    marked = dict.fromkeys(before, '{"copied":true}')
    made.rate("gamma", "beta", 1, prompt=1)
    after = [row for row in tables.tables(opinions(made.study), FAST, marked) if row.kind == "standings"]
    assert {row.category for row in after if "copied" in row.payload} == {"coding"}
    assert {row.category for row in after if "copied" not in row.payload} == {"", "poems"}

    def inputs(method):
        found = tables.tables(opinions(made.study), method, {})
        return {row.inputs for row in found if row.kind in ("standings", "agreement")}

    assert not inputs(FAST) & inputs(Method(rounds=21))
    made.rate("alpha", "beta", 3, rater=made.judge("strict"))
    first = list(tables.tables(opinions(made.study), FAST, {}))
    again = list(tables.tables(opinions(made.study), FAST, {}))
    threads = list(tables.tables(opinions(made.study), Method(rounds=20, threads=2), {}))
    assert first == again == threads


def test_a_category_that_holds_everything_has_the_rankings_of_all():
    alone = HandMade("one", "other")
    alone.rate("one", "other", 2)
    rankings = [row for row in tables.tables(opinions(alone.study), FAST, {}) if row.kind == "standings"]
    of_all = {row.inputs for row in rankings if not row.category}
    own = [row for row in rankings if row.inputs not in of_all]
    # How few ratings decide who is first is told of all alone.
    assert {(row.category, row.method) for row in own} == {("coding", "bradley-terry")}
    assert {row.category for row in rankings} == {"", "coding"}


def test_agreement_of_two_kinds_of_raters_is_copied_while_neither_has_changed(made):
    for judge in (made.judge("kind"), made.judge("strict")):
        made.rate("alpha", "beta", 3, rater=judge)
        made.rate("gamma", "beta", 8, prompt=1, rater=judge)

    def others(known):
        found = agreement(opinions(made.study), FAST, known)
        (strict,) = [json.loads(row.payload) for row in found if (row.kind, row.raters) == STRICT]
        return strict["within"], {each["raters"]: each["rows"] for each in strict["others"]}

    known = {}
    first = others(known)
    marked = {key: payload.replace('"n":2', '"n":-2') for key, payload in known.items()}
    made.rate("alpha", "beta", 1)
    within, found = others(marked)
    assert within == first[0]
    assert [row["n"] for row in found["judge:kind"]] == [-2, 1, 1]
    assert found["people"] == others({})[1]["people"] != first[1]["people"]
    assert others(known) == others({})
    made.rate("gamma", "alpha", 1)  # a pair that nobody rated before: rounds draw others
    assert [row["n"] for row in others(marked)[1]["judge:kind"]] == [2, 1, 1]


def test_unscored_replies_and_none_at_all():
    assert list(tables.tables(opinions(HandMade("alpha", "beta").study), FAST, {})) == []
    made = HandMade("alpha", "beta")
    made.rate("alpha", "beta", None, reason="empty")
    kinds = [row.kind for row in tables.tables(opinions(made.study), FAST, {}) if not row.category]
    assert kinds == ["ratings"]


def test_the_counts_of_the_header(made):
    judge = made.judge("strict", simulated=True)
    made.rate("alpha", "beta", 3, rater=judge)
    found = counts(opinions(made.study), {})
    assert found["prompts"] == 2
    assert (found["contestants"], found["in_play"], found["pairs"]) == (3, 3, 3)
    assert (found["comparisons"], found["unscored"], found["not_ranked"]) == (6, 1, 0)
    assert found["kinds"] == {"model": 3}
    assert found["categories"] == ["coding", "poems"]
    assert found["raters"] == [
        {
            "selector": "people",
            "label": "People",
            "raters": 1,
            "comparisons": 5,
            "unscored": 1,
            "by_category": {"coding": 4, "poems": 1},
            "points": [8],
            "by_criterion": {},
            "simulated": False,
            "panel": False,
            "same_as": None,
        },
        {
            "selector": "judge:strict",
            "label": "STRICT (simulated)",
            "raters": 1,
            "comparisons": 1,
            "unscored": 0,
            "by_category": {"coding": 1, "poems": 0},
            "points": [8],
            "by_criterion": {},
            "simulated": True,
            "panel": False,
            "same_as": None,
        },
    ]
