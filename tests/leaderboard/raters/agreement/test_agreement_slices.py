import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from leaderboard.raters.agreement.coefficients import agreement
from leaderboard.snapshots.reading import Choice, Opinions
from leaderboard.stats.ranking_method import Method
from leaderboard.stats.resampling import cluster_draws

METHOD = Method(rounds=40)
ANN, BEN, CAL, STRICT, KIND = range(1, 6)
FIELDS = [
    *(("pair", "i8"), ("prompt", "i8"), ("category", "i8"), ("rater", "i8")),
    *(("swapped", "?"), ("points", "i2"), ("rating", "i2")),
]


def choice(selector, *raters):
    return Choice(selector, selector.title(), frozenset(raters), False)


PEOPLE, JUDGE, OTHER = choice("people", ANN, BEN, CAL), choice("judge:a", STRICT), choice("judge:b", KIND)


def study(rows, *choices, categories=("coding", "poems"), of=lambda prompt: prompt % 2, each=2):
    """Rows of (pair, rater, rating as shown, points, swapped); two pairs to a prompt."""
    given = np.zeros(len(rows), dtype=FIELDS)
    for name, column in zip(
        ("pair", "rater", "rating", "points", "swapped"), zip(*rows, strict=True), strict=True
    ):
        given[name] = column
    # Ids as a database has them: not from 0, and with gaps.
    given["prompt"] = 1000 - 3 * (given["pair"] // each)
    given["category"] = of(given["pair"] // each)
    given["pair"] = 7 * given["pair"] + 50
    return Opinions(given, (), (), categories, (0, 0, 0), 0, raters=choices)


def tables(opinions, method=METHOD):
    return {(table.kind, table.raters): json.loads(table.payload) for table in agreement(opinions, method)}


@pytest.fixture(scope="module")
def opinions():
    """Three people and two judges on 40 pairs of 20 prompts; one judge answers in both orders."""
    generator = np.random.default_rng(0)
    truth, rows = generator.normal(size=40), []
    for rater, orders in ((ANN, 1), (BEN, 1), (CAL, 1), (STRICT, 2), (KIND, 1)):
        for pair in range(40):
            for swapped in range(orders):
                seen = truth[pair] + generator.normal() * 0.8
                rating = int(np.clip(np.rint((seen / 4 + 0.5) * 7) + 1, 1, 8))
                rows.append((pair, rater, 9 - rating if swapped else rating, 8, bool(swapped)))
    return study(rows, PEOPLE, JUDGE, OTHER, choice("group:g", ANN, STRICT))


def test_who_is_compared_with_whom(opinions):
    found = tables(opinions)
    others = {
        raters: [each["raters"] for each in content["others"]]
        for (kind, raters), content in found.items()
        if kind == "agreement"
    }
    assert others == {
        "people": [],
        "judge:a": ["people"],
        "judge:b": ["people", "judge:a"],
        "group:g": ["people"],
    }
    assert [raters for kind, raters in found if kind == "correlation"] == ["people", "judge:a", "judge:b"]
    row = found["agreement", "judge:b"]["within"]["rows"][0]
    assert (row["alpha"], row["fleiss"], row["pairs"]) == (None, None, 0)
    assert row["reason"] == "no pair has two ratings"
    (entry,) = found["agreement", "group:g"]["others"]
    # Ann once and the judge twice, against Ben and Cal.
    assert entry["rows"][0]["n"] == 40 * 3 * 2


def test_values_lie_inside_their_intervals_and_what_they_count(opinions):
    found = tables(opinions)
    lists = [content["rows"] for (kind, _), content in found.items() if kind == "correlation"]
    lists += [found["agreement", raters]["within"]["rows"] for raters in ("people", "judge:a", "group:g")]
    lists += [each["rows"] for content in found.values() for each in content.get("others", ())]
    for row in (row for rows in lists for row in rows):
        assert row["reason"] is None
        for name in [name.removesuffix("_low") for name in row if name.endswith("_low")]:
            assert -1 <= row[f"{name}_low"] < row[name] < row[f"{name}_high"] <= 1
    content = found["correlation", "judge:a"]
    drawn = [content[name] for name in ("level", "rounds", "seed", "resample")]
    assert drawn == [95, 40, 0, "prompts"]
    counted = [[row[name] for name in ("category", "n", "prompts", "raters")] for row in content["rows"]]
    assert counted == [
        [None, 40, 20, 3],
        *(["coding", 20, 10, 3], ["poems", 20, 10, 3], ["-coding", 20, 10, 3], ["-poems", 20, 10, 3]),
    ]
    assert [row["all_but"] for row in content["rows"]] == [None, None, None, "coding", "poems"]
    rows = {row["category"]: row for row in content["rows"]}
    assert rows["-coding"]["pearson"] == rows["poems"]["pearson"]
    assert found["correlation", "people"]["rows"][0]["n"] == 40
    (entry,) = found["agreement", "judge:a"]["others"]
    counted = [[row[name] for name in ("category", "n", "pairs", "prompts")] for row in entry["rows"]]
    # Two ratings by the judge and three by people on each pair.
    assert counted == [[None, 240, 40, 20], ["coding", 120, 20, 10], ["poems", 120, 20, 10]]
    within = found["agreement", "people"]["within"]["rows"][0]
    names = ("raters", "pairs", "ratings", "fleiss_pairs", "fleiss_ratings")
    assert [within[name] for name in names] == [3, 40, 120, 40, 3]
    own = found["agreement", "judge:a"]["within"]["rows"][0]
    assert [own[name] for name in names] == [1, 40, 80, 40, 2], "both orders of one judge"


def test_a_judge_is_held_against_the_people_whose_place_it_takes_in_the_same_rounds(opinions):
    """Leave-one-out correlations in plain loops, and the interval from the rounds of the bootstrap."""
    rows = opinions.rows
    lean = np.where(rows["swapped"], -1, 1) * (2 * rows["rating"] - 9) / 7
    means = {
        (pair, rater): lean[(rows["pair"] == pair) & (rows["rater"] == rater)].mean()
        for pair in np.unique(rows["pair"]).tolist()
        for rater in (ANN, BEN, CAL, STRICT)
    }
    entries = {}
    for pair, prompt in {(row["pair"], row["prompt"]) for row in rows[["pair", "prompt"]]}:
        for person in (ANN, BEN, CAL):
            rest = np.mean([means[pair, other] for other in (ANN, BEN, CAL) if other != person])
            entries.setdefault(prompt, []).append((means[pair, STRICT], means[pair, person], rest))

    def apart(prompts):
        judge, person, rest = np.array([entry for prompt in prompts for entry in entries[prompt]]).T
        own, ceiling = ((x * rest).sum() / np.sqrt((x**2).sum() * (rest**2).sum()) for x in (judge, person))
        return own, ceiling, own - ceiling

    prompts = np.unique(rows["prompt"])
    row = tables(opinions)["correlation", "judge:a"]["ceiling"][0]
    names = ("pearson", "pearson_people", "pearson_difference")
    assert [row[name] for name in names] == pytest.approx(apart(prompts), abs=1e-6)
    drawn = [apart(prompts[draw])[2] for draw in cluster_draws(0, np.arange(METHOD.rounds), len(prompts))]
    reach = stats.t.ppf(0.975, 19) * np.std(drawn, ddof=1) * np.sqrt(20 / 19)
    expected = row["pearson_difference"] - reach, row["pearson_difference"] + reach
    assert (row["pearson_difference_low"], row["pearson_difference_high"]) == pytest.approx(
        expected, abs=1e-5
    )
    assert (row["n"], row["prompts"], row["raters"], row["reason"]) == (40, 20, 3, None)


def test_all_but_takes_prompts_without_a_category_too():
    generator = np.random.default_rng(1)
    rows = [
        (pair, rater, int(generator.integers(1, 4)), 3, False)
        for rater in (ANN, STRICT)
        for pair in range(60)
    ]
    found = tables(
        study(rows, PEOPLE, JUDGE, categories=("", "coding", "poems"), of=lambda prompt: prompt % 3)
    )
    counted = {row["category"]: row["n"] for row in found["correlation", "judge:a"]["rows"]}
    assert counted == {None: 60, "coding": 20, "poems": 20, "-coding": 40, "-poems": 40}


def test_kinds_that_share_no_pair_or_have_unscored_replies_alone():
    found = tables(study([(0, ANN, 1, 3, False), (1, STRICT, 1, 3, False)], PEOPLE, JUDGE))
    row = found["correlation", "judge:a"]["rows"][0]
    assert (row["n"], row["pearson"], row["pearson_low"]) == (0, None, None)
    assert row["reason"] == "fewer than 3 pairs rated by both"
    kappa = found["agreement", "judge:a"]["others"][0]["rows"][0]
    assert (kappa["kappa"], kappa["reason"]) == (None, "no pair was rated by both")
    ceiling = found["correlation", "people"]["rows"][0]
    assert (ceiling["n"], ceiling["raters"]) == (0, 0)
    assert ceiling["reason"] == "fewer than 3 pairs rated by two people"
    assert tables(study([(0, ANN, 0, 8, False), (0, STRICT, 0, 8, True)], PEOPLE, JUDGE)) == {}
    found = tables(study([(0, ANN, 3, 8, False), (0, STRICT, 0, 8, True)], PEOPLE, JUDGE))
    assert set(found) == {("correlation", "people"), ("correlation", "judge:a"), ("agreement", "people")}
    assert found["correlation", "judge:a"]["rows"][0]["n"] == 0


def test_a_judge_that_always_takes_the_middle_has_no_correlation():
    rows = [
        (pair, rater, 2 if rater == STRICT else 1 + pair % 3, 3, False)
        for pair in range(9)
        for rater in (ANN, STRICT)
    ]
    found = tables(study(rows, PEOPLE, JUDGE))
    row = found["correlation", "judge:a"]["rows"][0]
    assert (row["kendall"], row["reason"]) == (None, "a side gave every pair the middle of the scale")
    kappa = found["agreement", "judge:a"]["others"][0]["rows"][0]
    assert (kappa["kappa"], kappa["pearson"], kappa["reason"]) == (
        0,
        None,
        "no interval: every resample gives the same",
    )


def test_one_prompt_and_full_agreement_have_values_but_no_interval():
    rows = [(pair, rater, 1 + pair % 3, 3, False) for pair in range(9) for rater in (ANN, BEN, STRICT)]
    alone = tables(study(rows, PEOPLE, JUDGE, each=9))["correlation", "judge:a"]["rows"][0]
    assert (alone["pearson"], alone["pearson_low"]) == (1, None)
    assert alone["reason"] == "no interval: one prompt only"
    found = tables(study(rows, PEOPLE, JUDGE, each=1))["agreement", "people"]["within"]["rows"][0]
    assert (found["alpha"], found["alpha_low"], found["fleiss"]) == (1, None, 1)
    assert found["reason"] == "no interval: every resample gives the same"


def test_scales_may_differ():
    rows = [
        (pair, rater, 1 + pair % points, points, False)
        for pair in range(20)
        for rater, points in ((ANN, 8), (STRICT, 2))
    ]
    found = tables(study(rows, PEOPLE, JUDGE))
    assert found["agreement", "people"]["points"] is None
    assert found["agreement", "judge:a"]["others"][0]["rows"][0]["kappa"] is not None
    assert tables(study([(0, ANN, 1, 8, False)], PEOPLE))["agreement", "people"]["points"] == 8


def test_the_level_widens_intervals_and_the_same_seed_gives_the_same_text(opinions):
    again, narrow = tables(opinions), tables(opinions, replace(METHOD, interval=80.0))
    row, less = (found["correlation", "judge:a"]["rows"][0] for found in (again, narrow))
    assert row["pearson"] == less["pearson"]
    assert row["pearson_low"] < less["pearson_low"]
    assert row["pearson_high"] > less["pearson_high"]


def test_neither_the_names_of_completions_nor_the_order_of_answers_change_a_number(opinions):
    """Which completion has the lower id decides the orientation of a pair, and ``swapped`` of its ratings."""
    turned = opinions.rows.copy()
    turned["swapped"] ^= np.random.default_rng(2).random(400)[turned["pair"]] < 0.5
    backwards = opinions.rows.copy()
    # Within a rater the order stays: of two ratings the first one counts.
    backwards = backwards[np.argsort(-backwards["rater"], kind="stable")]
    expected = tables(opinions)
    assert tables(replace(opinions, rows=backwards)) == expected
    unmirrored = {name for row in rows_of(expected) for name in row if "_unmirrored" in name}
    renamed = tables(replace(opinions, rows=turned))
    for row in (*rows_of(expected), *rows_of(renamed)):
        for name in unmirrored:
            row.pop(name, None)
    assert renamed == expected


def rows_of(found):
    """Every row about kappa and alpha."""
    contents = [content for (kind, _), content in found.items() if kind == "agreement"]
    return [row for each in contents for part in (each["within"], *each["others"]) for row in part["rows"]]
