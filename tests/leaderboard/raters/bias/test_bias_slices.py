import json

import pytest

from arena.data.importing.texts import digest_of
from arena.models import Reference
from leaderboard.data.counting import MANY
from leaderboard.refreshing import services, tables
from leaderboard.snapshots.reading import opinions
from leaderboard.snapshots.text_sizes import texts
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.style import tokenizer_name
from tests import factories
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db
FAST = Method(rounds=20)


def table(study, kind, raters="people", category=""):
    read = opinions(study)
    (found,) = [
        row
        for row in tables.tables(read, FAST, {}, texts(study), wanted=lambda *place: kind == "standings")
        if (row.kind, row.raters, row.category) == (kind, raters, category)
    ]
    return json.loads(found.payload)


@pytest.fixture(scope="module")
def shared(shared_rows):
    """Two prompts; alpha answers in four words, beta in one, gamma in nobody knows how many."""
    made = HandMade("alpha", "beta", "gamma", categories=("coding", "poems"))
    made.prompts[0].subset = "easy"
    made.prompts[0].save()
    answers = {"alpha": ["four words in all"], "beta": ["one"], "gamma": []}
    for prompt in made.prompts:
        for name, turns in answers.items():
            factories.make_completion(
                prompt=prompt, contestant=made.contestants[name], turns=turns, digest=digest_of(turns)
            )
    return made


@pytest.fixture
def rated(made):
    made.rate("alpha", "beta", 1)
    made.rate("beta", "alpha", 1)  # the other order: whatever stands first
    made.rate("alpha", "beta", 4, prompt=1)
    made.rate("beta", "alpha", 8, prompt=1)
    made.rate("gamma", "beta", 2, prompt=1)
    made.rate("alpha", "gamma", None, reason="unparsable")
    return made


def test_position_statistics_stand_with_each_scale_and_flips_are_of_one_rater(rated):
    ratings = table(rated.study, "ratings")
    (scale,) = ratings["scales"]
    found = scale["position"]
    # Ratings 1, 1 on one prompt and 4, 8, 2 on the other.
    assert (found["n"], found["sided"], found["prompts"], found["neutral_mean"]) == (5, 5, 2, 4.5)
    assert found["share_first"] == scale["share_first"] == 0.8
    assert found["mean"] == scale["mean"] == 3.2
    assert found["chi2"] == pytest.approx(1 / 3 + 1 + 1, abs=1e-6)
    assert (found["df"], found["test"]) == (3, "rao-scott")
    assert found["p"] >= found["p_independent"] > 0.4
    assert found["share_first_low"] < 0.8 < found["share_first_high"]
    assert found["mean_low"] < 3.2 < found["mean_high"]
    found = ratings["flips"]
    # 1 then 1: to the first. 4 (a tie) then 8 (alpha, shown second): to the second.
    assert (found["pairs"], found["flipped"], found["rate"], found["prompts"]) == (2, 2, 1, 2)
    assert (found["to_first"], found["to_second"], found["exact"]) == (1, 1, 0)
    assert table(rated.study, "ratings", category="coding")["flips"]["low"] is None


def test_differences_of_scores(made):
    judge = made.judge("scorer")
    for scores, rating in [((9, 4), 1), ((4, 6), 7), ((5, 5), 4)]:
        made.rate("alpha", "beta", rating, rater=judge, first_score=scores[0], second_score=scores[1])
    found = table(made.study, "ratings", raters="judge:scorer")["scores"]
    assert (found["n"], found["mean"], found["width"]) == (3, 1, 1)
    assert (found["first_higher"], found["equal"], found["second_higher"]) == (1, 1, 1)
    assert found["bins"][0] == -5.5
    assert found["counts"] == [0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1]
    made.rate("alpha", "beta", 1)
    assert table(made.study, "ratings")["scores"] is None


def test_the_effect_of_length_leaves_out_unknown_texts(rated):
    found = table(rated.study, "length")
    assert (found["n"], found["unknown"], found["tokenizer"]) == (4, 1, tokenizer_name())
    words = found["measures"][0]
    assert [one["name"] for one in found["measures"]] == ["words", "unique_words", "tokens", "characters"]
    # Alpha is three words longer: it won, lost, tied and won.
    assert (words["n"], words["prompts"], words["longer_wins"]) == (4, 2, 0.625)
    assert [(one["low"], one["high"], one["n"], one["win_rate"]) for one in words["bins"]] == [
        (-3, -1, 4, 0.375),
        (1, 3, 4, 0.625),
    ]
    # log2(5 / 2) doublings: the slope makes 0.625 of them.
    assert 1 / (1 + 2.5 ** (-words["slope"] / 0.6931471805599453)) == pytest.approx(0.625, abs=1e-5)
    assert table(rated.study, "length", category="coding")["n"] == 2
    kinds = set(services.refresh(rated.study).snapshot.slices.values_list("kind", "raters"))
    assert {("length", "people"), ("data", ""), ("ratings", "people")} <= kinds


def test_lengths_by_category_and_subset(rated):
    Reference.objects.create(prompt=rated.prompts[1], author="Ada", turns=["two words"])
    human = factories.make_contestant(study=rated.study, name="human", kind="people")
    factories.make_completion(
        prompt=rated.prompts[0], contestant=human, turns=["a b c"], digest=digest_of(["a b c"])
    )
    found = table(rated.study, "data", raters="")
    assert found["tokenizer"] == tokenizer_name()
    assert [(one["category"], one["subset"], one["prompts"]) for one in found["groups"]] == [
        (None, None, 2),
        ("coding", None, 1),
        ("poems", None, 1),
        (None, "easy", 1),
    ]

    def words(group, what):
        (row,) = [row for row in group["texts"] if (row["what"], row["measure"]) == (what, "words")]
        return row["count"], row["unknown"], row["mean"], row["min"], row["max"]

    everything, coding, poems, _ = found["groups"]
    assert words(everything, "completion") == (4, 2, 2.5, 1, 4)
    assert words(everything, "demonstration") == (2, 0, 2.5, 2, 3)
    assert words(coding, "demonstration") == (1, 0, 3, 3, 3)
    assert words(poems, "demonstration") == (1, 0, 2, 2, 2)
    assert len(everything["texts"]) == 12


def test_contestants_and_their_texts(rated):
    retired = rated.contestants["beta"]
    retired.retired_at = "2026-01-01T00:00Z"
    retired.save()
    found = {row["contestant"]: row for row in table(rated.study, "data", raters="")["contestants"]}
    assert (found["alpha"]["completions"], found["alpha"]["words_mean"], found["alpha"]["words_sd"]) == (
        2,
        4,
        0,
    )
    assert (found["beta"]["retired"], found["beta"]["words_mean"]) == (True, 1)
    assert (found["gamma"]["unknown"], found["gamma"]["words_mean"]) == (2, None)


def test_versions_that_were_replaced_are_not_described_but_measured(rated):
    old = rated.completion("alpha", rated.prompts[0])
    old.is_current = False
    old.save()
    new = ["five words are here now"]
    factories.make_completion(
        prompt=rated.prompts[0],
        contestant=rated.contestants["alpha"],
        turns=new,
        digest=digest_of(new),
        version=2,
    )
    found = {row["contestant"]: row for row in table(rated.study, "data", raters="")["contestants"]}
    assert (found["alpha"]["completions"], found["alpha"]["words_mean"]) == (2, 4.5)
    assert table(rated.study, "length")["n"] == 4


def test_how_often_pairs_were_rated(rated):
    judge = rated.judge("strict")
    for _ in range(MANY + 2):
        rated.rate("alpha", "beta", 3, rater=judge)
    found = table(rated.study, "data", raters="")
    # Pairs: alpha-beta twice, gamma-beta, alpha-gamma (never scored).
    assert found["pairs"] == 4
    people, strict = found["coverage"]
    assert (people["raters"], people["ratings"], people["pairs"]) == ("people", 5, [1, 1, 2])
    assert strict["pairs"] == [3, *[0] * (MANY - 1), 1]
    assert found["unscored"] == [
        {
            "raters": "people",
            "label": "People",
            "comparisons": 6,
            "identical": 0,
            "reasons": {"unparsable": 1},
        },
        {"raters": "judge:strict", "label": "STRICT", "comparisons": MANY + 2, "identical": 0, "reasons": {}},
    ]


def test_nothing_rated_in_both_orders_or_without_known_texts(made):
    found = table(made.study, "data", raters="")
    assert (found["coverage"], found["unscored"]) == ([], [])
    assert found["groups"][0]["prompts"] == 2
    made.rate("gamma", "beta", 2)
    found = table(made.study, "length")
    assert (found["n"], found["unknown"], found["measures"]) == (0, 1, [])
    made.rate("alpha", "beta", 1)
    made.rate("beta", "alpha", 1, rater=made.judge("strict"))
    assert table(made.study, "ratings")["flips"] is None
