"""Tests of the words on judges: intervals decide them."""

import pytest

from leaderboard.raters.agreement.verdict import Verdict, verdict


class Tables(dict):
    def get(self, kind, raters, category="", ties="", method=""):
        return super().get((kind, raters))


def rater(selector, label="", *, raters=1):
    return {"selector": selector, "label": label, "raters": raters}


PEOPLE = rater("people", "People", raters=4)
JUDGE = rater("judge:a", "Judge A")


def coefficient(value, name="pearson", arm=0.1):
    return {name: value, f"{name}_low": value - arm, f"{name}_high": value + arm}


def correlation(r=0.7, people=0.6, difference=0.1, low=-0.05, high=0.2, n=100, arm=0.1):
    own = {"category": None, "all_but": None, "n": n, "prompts": 20, **coefficient(r, arm=arm)}
    beside = coefficient(people, "pearson_people") | {"pearson_difference": difference}
    ends = {"pearson_difference_low": low, "pearson_difference_high": high}
    return {"rows": [own], "ceiling": [{**own, **beside, **ends}]}


def alone(r=0.7, n=100, arm=0.1):
    """Where no two people rated the same pairs."""
    return correlation(r=r, n=n, arm=arm) | {"ceiling": []}


def standings(*groups):
    """Models in their order; a third entry is a rank that is shared."""
    rows = [
        {"contestant": name, "group": group, "rank": rank[0] if rank else place, "component": 0}
        for place, (name, group, *rank) in enumerate(groups, 1)
    ]
    return {"standings": rows}


AMONG_THEMSELVES = {("correlation", "people"): alone(0.6)}


def said(tables, raters=(PEOPLE, JUDGE), people=AMONG_THEMSELVES):
    return verdict(raters, Tables(people | tables), method="bradley-terry")


@pytest.mark.parametrize(
    ("difference", "low", "high", "words"),
    [
        (0.1, 0.01, 0.2, "better than"),
        (0.1, -0.05, 0.2, "as well as"),
        (-0.04, -0.0999, 0.02, "as well as"),
        (-0.05, -0.09, -0.01, "slightly less than"),
        (-0.2, -0.3, -0.1, "clearly less than"),
    ],
)
def test_the_interval_of_the_difference_decides_the_words(difference, low, high, words):
    found = said({("correlation", "judge:a"): correlation(difference=difference, low=low, high=high)})
    assert found.short == f"Judge A agrees with people {words} people agree with each other."


@pytest.mark.parametrize(("low", "high"), [(-0.1, 0.02), (None, None)])
def test_a_wide_interval_decides_nothing(low, high):
    found = said({("correlation", "judge:a"): correlation(low=low, high=high)})
    assert found.short == (
        "Judge A agrees with people (r\u00a00.70, interval 0.60–0.80), but it is too uncertain to tell "
        "whether as well as people agree with each other."
    )


def test_the_strongest_reason_for_doubt_follows():
    scale = {
        "scored": 90,
        "position": {"share_first": 0.3, "share_first_low": 0.2, "share_first_high": 0.4},
    }
    flips = {"rate": 0.64, "low": 0.5}
    tables = {("correlation", "judge:a"): correlation()}
    orders = {"scales": [scale], "comparisons": 90, "swapped": 45}
    turned = tables | {("ratings", "judge:a"): orders | {"flips": flips}}
    placed = tables | {("ratings", "judge:a"): orders | {"flips": {"rate": 0.2, "low": 0.05}}}
    alike = tables | {("ratings", "judge:a"): orders | {"flips": None, "swapped": 5}}
    assert not said(alike).rest, "what looks like a preference for a place may be one for the models there"
    assert said(turned).rest == "But Judge A changes its verdict in 64% of pairs when the order is swapped."
    assert said(placed).rest == "But Judge A prefers the answer shown second, in 70% of its choices."


@pytest.mark.parametrize(
    ("people_high", "end"),
    [
        (0.62, "But Judge A lets the longer answer win 70% of points (people: 60%)."),
        (0.66, ""),
    ],
)
def test_length_is_a_doubt_where_people_like_it_less(people_high, end):
    def length(wins, low, high):
        own = {"name": "words", "longer_wins": wins, "longer_low": low, "longer_high": high}
        return {"measures": [own]}

    found = said(
        {
            ("correlation", "judge:a"): correlation(),
            ("length", "judge:a"): length(0.7, 0.65, 0.75),
            ("length", "people"): length(0.6, 0.58, people_high),
        }
    )
    assert found.rest == end


NONE_APART = "No two models are told apart both by people and by Judge A, so their orders cannot be compared."


@pytest.mark.parametrize(
    ("judge", "words"),
    [
        ((("X", "a"), ("Y", "b"), ("Z", "c")), "Judge A gives the same order of models as people."),
        (
            (("Y", "a"), ("X", "a"), ("Z", "b")),
            "In the order of models, Judge A differs from people only where scores are too close to call.",
        ),
        (
            (("Z", "a"), ("X", "b"), ("Y", "c")),
            "Judge A clearly reverses people’s order in 1 of 3 pairs of models (ranked by Bradley-Terry).",
        ),
        ((("X", "a"), ("Y", "ab"), ("Z", "b")), "Judge A gives the same order of models as people."),
        ((("X", "a"), ("Y", "a"), ("Z", "a")), NONE_APART),
        ((("Z", "a"), ("Y", "a"), ("X", "a")), NONE_APART),
        ((("Y", "ab"), ("Z", "b"), ("X", "a")), "clearly reverses"),
    ],
)
def test_orders_differ_where_both_are_sure(judge, words):
    """People cannot tell Y from Z, so only X against Z can be reversed."""
    found = said(
        {
            ("standings", "people"): standings(("X", "a"), ("Y", "ab"), ("Z", "b")),
            ("standings", "judge:a"): standings(*judge),
            ("correlation", "judge:a"): correlation(),
        }
    )
    assert words in found.rest
    assert ("too close to call" in found.rest) == ("too close to call" in words)


def test_agreement_on_pairs_stands_beside_that_on_the_order():
    """X, Y and Z move by 1, 1 and 2 places: 1 − 6 × 6 / (3 × 8)."""
    found = said(
        {
            ("standings", "people"): standings(("X", "a"), ("Y", "a"), ("Z", "a")),
            ("standings", "judge:a"): standings(("Z", "a"), ("X", "a"), ("Y", "a")),
            ("correlation", "judge:a"): correlation(r=0.7),
        }
    )
    assert (
        "is 0.70 (Pearson) on single pairs and −0.50 (Spearman) on the order of the three models"
        in found.rest
    )


def test_models_that_share_a_rank_have_no_order():
    """Three models on one rank have no correlation; ranks 2, 1, 2 beside 1, 2, 2 have −0.5."""
    tables = {
        ("standings", "people"): standings(("X", "", 1), ("Y", "", 1), ("Z", "", 1)),
        ("standings", "judge:a"): standings(("X", ""), ("Y", "", 2), ("Z", "", 2)),
        ("correlation", "judge:a"): correlation(r=0.7),
    }
    assert "Spearman" not in said(tables).rest
    tables["standings", "people"] = standings(("Y", ""), ("X", "", 2), ("Z", "", 2))
    assert "−0.50 (Spearman)" in said(tables).rest


def test_numbers_of_several_judges_do_not_look_like_an_interval():
    judges = [rater(f"judge:{name}", f"judge {name}") for name in "ab"]
    order = standings(("X", "a"), ("Y", "a"), ("Z", "a"))
    tables = {
        ("standings", "people"): order,
        **{("standings", one["selector"]): order for one in judges},
        ("correlation", "judge:a"): correlation(r=0.7),
        ("correlation", "judge:b"): correlation(r=0.5),
    }
    assert "is from 0.50 to 0.70 (Pearson) on single pairs and 1.00" in said(tables, [PEOPLE, *judges]).rest


def test_one_person_gives_no_figure_of_people():
    found = said({("correlation", "judge:a"): alone(0.55)}, [rater("people", "People"), JUDGE], {})
    assert found == Verdict(
        "Judge A agrees with the only person who rated (r\u00a00.55, interval 0.45–0.65).",
        "With one person nothing shows how far people agree with each other.",
    )


@pytest.mark.parametrize("content", [correlation(n=29), alone(n=29)])
def test_few_pairs_are_no_verdict(content):
    assert said({("correlation", "judge:a"): content}).short == (
        "Judge A and people both rated only 29 pairs, too few to compare them (30 are needed)."
    )


def test_without_people_or_judges_the_other_half_is_said():
    assert said({}, [PEOPLE]).rest == "People agree with each other (r\u00a00.60, interval 0.50–0.70)."
    assert said({}, [PEOPLE], {}) == said({}, [], {}) == Verdict()
    assert said({}, [JUDGE]).short.startswith("Only ratings by judges count so far")
    assert said({}).short == "No judge can be compared with people yet."


def test_many_judges_are_counted():
    judges = [rater(f"judge:{name}", f"judge {name}") for name in "abcd"]
    tables = {("correlation", one["selector"]): correlation() for one in judges}
    tables["correlation", "judge:d"] = correlation(r=0.5, difference=-0.05, low=-0.09, high=-0.01)
    found = said(tables, [PEOPLE, *judges])
    assert found.short == (
        "Three of four judges agree with people as well as people agree with each other; "
        "judge d slightly less."
    )


def test_two_groups_of_a_size_are_told_apart():
    judges = [rater(f"judge:{name}", f"judge {name}") for name in "abcdef"]
    tables = {("correlation", one["selector"]): correlation() for one in judges[:2]}
    lower = correlation(r=0.5, difference=-0.05, low=-0.09, high=-0.01)
    tables |= {("correlation", one["selector"]): lower for one in judges[2:4]}
    assert said(tables, [PEOPLE, *judges]).short.startswith(
        "Two of six judges agree with people as well as people agree with each other; two others slightly "
    )


def test_a_judge_is_told_from_a_model_of_its_name():
    found = said({("correlation", "judge:gpt"): correlation()}, [PEOPLE, rater("judge:gpt", "GPT-4")])
    assert found.short.startswith("Judge GPT-4 agrees")


def test_a_panel_is_not_among_all_judges():
    raters = [PEOPLE, rater("judge:a", "Ada"), rater("judge:b", "Ben")]
    raters += [rater("judge:both", "Both (panel)") | {"panel": True}]
    tables = {("correlation", one["selector"]): correlation() for one in raters[1:]}
    assert said(tables, raters).short == (
        "Both judges and Both (panel) agree with people as well as people agree with each other."
    )


def test_an_order_against_people_is_never_only_too_close_to_call():
    """People have A, B, C, D; both tell A from B alone, and Spearman is 1 − 6 × 20 / 60 < 0."""
    found = said(
        {
            ("standings", "people"): standings(("A", "a"), ("B", "bc"), ("C", "abc"), ("D", "abc")),
            ("standings", "judge:a"): standings(("D", "abc"), ("C", "abc"), ("A", "a"), ("B", "b")),
            ("correlation", "judge:a"): correlation(),
        }
    )
    assert "Judge A orders models unlike people, but no two that change places are told apart" in found.rest
    assert "too close to call" not in found.rest
