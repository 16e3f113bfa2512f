import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.pages import format, wording
from leaderboard.pages.rater_kinds import families
from leaderboard.raters.agreement.table import (
    between,
    correlated,
    kappa_table,
    kind_matrix,
    matrix_table,
    row_of,
    two_sentence,
    within_table,
    without_pools,
)
from leaderboard.raters.bias.table import (
    length_sentence,
    position_sentences,
    scores_table,
    shown,
    told_apart,
)
from leaderboard.raters.table import Kind, summary
from leaderboard.raters.verdict import of_one
from tests.leaderboard import rater_payloads as payloads


def kind(**overrides):
    given = {
        "selector": "judge:a",
        "label": "Judge A",
        "raters": 1,
        "comparisons": 100,
        "simulated": False,
        "ratings": payloads.ratings(),
    }
    return Kind(**{**given, **overrides})


def sentences(one):
    return position_sentences(one.shown, one.flips, one.scores, 95.0)


def cells(one):
    return summary(one)


@pytest.mark.parametrize(
    ("counts", "band", "ties"),
    [
        ((1,) * 8, "", 2),
        ((1, 2, 4, 8, 16), "", 4),
        ((1, 2, 4), "", 2),
        ((3, 5), "", 0),
        ((1,) * 8, "3-6", 4),
        ((1,) * 8, "2-7", 6),
        ((1,) * 8, "2-4", 2),
    ],
)
def test_ties_are_the_middle_of_each_scale_or_the_band(counts, band, ties):
    scale = payloads.scale(points=len(counts), counts=list(counts))
    assert shown("Judge", payloads.ratings(scale, band=band))[0].ties == ties


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (-0.3, "none"),
        (0.0, "none"),
        (0.2, "slight"),
        (0.2000004, "slight"),
        (0.6049, "moderate"),
        (0.21, "fair"),
        (0.6, "moderate"),
        (0.61, "substantial"),
        (0.81, "almost perfect"),
        (1.0, "almost perfect"),
        (None, ""),
    ],
)
def test_kappa_in_words(value, word):
    assert wording.agreement_word(value) == word


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (0.05, "none"),
        (-0.05, "none"),
        (0.3, "weak"),
        (0.45, "moderate"),
        (-0.6, "strong, opposite"),
        (1.0, "very strong"),
    ],
)
def test_correlation_in_words(value, word):
    assert wording.correlation_word(value) == word


@given(st.floats(-1, 1))
def test_every_coefficient_has_a_word_and_no_minus_before_a_zero(value):
    assert wording.agreement_word(value)
    assert wording.correlation_word(value)


def test_numbers_have_no_minus_before_a_zero():
    assert format.signed(-0.001) == "0.00"
    assert format.signed(-0.5) == "−0.50"


def test_what_is_missing_has_dashes_and_says_why():
    empty = payloads.scale(
        counts=[0] * 8, scored=0, share_first=None, mean=None, position=None, unscored={"empty": 3}
    )
    found = cells(kind(ratings=payloads.ratings(empty)))
    assert (found["Ratings"].value, found["Ratings"].note) == ("0", "3 of 3 not rated")
    assert found["Prefers the first"].value == "–"
    assert sentences(kind(ratings=payloads.ratings(empty))) == [
        "Among the ratings that count, no rater has the same pair in both orders, so nothing here shows how "
        "often a verdict changes. Repeats that test a rater do not count."
    ]
    old = payloads.scale()
    del old["position"]
    found = cells(kind(ratings={"comparisons": 1, "swapped": 0, "scales": [old]}))
    assert (found["Prefers the first"].value, found["Prefers the first"].note) == ("60.0%", "")
    few = cells(kind(correlation={"pearson": 0.6, "n": 8}))["Agrees with people (r)"]
    assert (few.value, few.note, few.warn) == ("0.60", "only 8 pairs", True)
    found = cells(kind(correlation={"pearson": None, "n": 0, "reason": "no pair was rated by both"}))
    assert found["Agrees with people (r)"].note == "no pair was rated by both"


def test_two_scales_are_named():
    both = payloads.ratings(payloads.scale(), payloads.scale(points=3, counts=[1, 1, 1]))
    lines = sentences(kind(ratings=both))
    assert any("on the scale of 8 points" in line for line in lines)
    assert any("on the scale of 3 points" in line for line in lines)
    labels = [one.label for one in told_apart(kind(ratings=both).shown)]
    assert labels == ["Judge A, 8 points", "Judge A, 3 points"]
    assert [one.label for one in told_apart(kind().shown)] == ["Judge A"]


@pytest.mark.parametrize(
    ("low", "high", "p", "words"),
    [
        (0.52, 0.68, 0.014, "The answer shown first is preferred; the ratings differ from"),
        (0.52, 0.68, 0.4, "The answer shown first is preferred; the ratings do not clearly differ from"),
        (0.3, 0.4, 0.4, "The answer shown second is preferred; the ratings do not clearly differ from"),
        (0.45, 0.68, 0.014, "Nothing shows that one side is preferred more often; the ratings differ from"),
        (0.45, 0.68, 0.4, "Nothing shows that one side is preferred more often; the ratings do not clearly"),
        (None, None, 0.014, "Nothing shows that one side is preferred more often; the ratings differ from"),
    ],
)
def test_the_interval_of_the_share_alone_decides_which_side_is_preferred(low, high, p, words):
    position = payloads.position(share_first_low=low, share_first_high=high, p=p)
    one = kind(ratings=payloads.ratings(payloads.scale(position=position)))
    assert any(line.startswith(words) for line in sentences(one))
    assert any("is preferred;" in line for line in sentences(one)) == (
        "A prefers" in of_one(one).partition("shows")[0]
    )


def test_a_table_of_differences_of_scores_has_every_bin_of_every_rater():
    other = payloads.scores(bins=[0.0, 3.0], counts=[30, 20])
    table = scores_table([("A", payloads.scores()), ("B", other)])
    assert table.rows[2] == ("From 0", 20, 30)
    assert table.rows[5] == ("From 3", 0, 20)
    assert [row[1] for row in table.rows[6:]] == [50, 0.4, 18, 17, 15]


def test_categories_named_like_pools_and_like_the_whole_are_told_apart():
    content = payloads.correlation(*(payloads.correlation_row(name) for name in (None, *HOSTILE)))
    left = [row["category"] for row in without_pools(content)["rows"]]
    assert left == [None, "-coding", "All", "All but x", "coding"]
    rows = content["rows"]
    words = [one.category for one in correlated("Judge", payloads.correlation(*rows), "pearson")]
    assert words == [
        *("All", "-coding", "All (category)", "All but x (category)", "coding"),
        *("All but -coding", "All but All", "All but All but x", "All but coding"),
    ]


def test_a_row_says_itself_which_category_it_leaves_out():
    rows = [payloads.correlation_row(name, all_but=but) for name, but in ((None, None), *STATED)]
    content = payloads.correlation(*rows)
    words = [one.category for one in correlated("Judge", content, "pearson")]
    assert words == ["All", "coding", "-coding", "All but coding", "All but -coding"]
    assert [row["category"] for row in without_pools(content)["rows"]] == [None, "coding", "-coding"]
    found = [row_of(content, category) for category in ("", "coding", "-coding")]
    assert found == rows[:3]


STATED = (("coding", None), ("-coding", None), ("-coding", "coding"), ("--coding", "-coding"))
"""Category and ``all_but`` of rows, in an order that nobody can tell them by."""


HOSTILE = ("-coding", "All", "All but x", "coding", "--coding", "-All", "-All but x", "-coding")
"""Four categories, then all but each, as ``Topics.rows`` puts them."""


def test_two_kinds_are_found_whoever_holds_their_entry():
    agreements = {"judge:a": payloads.agreement(payloads.entry("people"))}
    assert between(agreements, "judge:a", "people") == between(agreements, "people", "judge:a")
    assert between(agreements, "judge:a", "people")["rows"] == [payloads.kappa_row()]
    assert between(agreements, "people", "judge:b") is None


def test_the_matrix_of_kinds_is_symmetric():
    agreements = {
        "judge:a": payloads.agreement(
            payloads.entry("people"), payloads.entry("judge:b", payloads.kappa_row(None, -0.2))
        )
    }
    kinds = [("people", "People"), ("judge:a", "A"), ("judge:b", "B")]
    values, pairs = kind_matrix(agreements, kinds, "kappa")
    assert values.values == ((None, 0.45, None), (0.45, None, -0.2), (None, -0.2, None))
    assert pairs.values[0][1] == 45
    table = matrix_table("Weighted kappa", agreements, kinds, "kappa")
    low, high = (pytest.approx(0.45 + arm) for arm in (-0.1, 0.1))
    assert table.rows[0] == ("People", "A", 0.45, low, high, 45)
    assert [row[:3] for row in table.rows] == [("People", "A", 0.45), ("A", "B", -0.2)]


def test_kappa_is_told_in_a_sentence_and_few_pairs_in_a_note():
    both = [{"label": label, "ratings": 90, "pairs": 45} for label in ("A", "B")]
    content = {"raters": both, "level": 90.0, "category": None, "ties": "on"}
    assert two_sentence({**content, "between": payloads.kappa_row(kappa=-0.2)}) == (
        "A and B contradict each other: weighted kappa −0.20 (90% interval −0.30 to −0.10) over 45 pairs "
        "that both rated. They gave the same verdict in 62.0% of ratings."
    )
    bounded = payloads.kappa_row(kappa=-0.2) | {"exact_low": 0.5, "exact_high": 0.7}
    assert two_sentence({**content, "between": bounded}).endswith("62.0% of ratings (50.0–70.0%).")
    middle = payloads.kappa_row(kappa=None, reason="both gave every pair the middle of the scale")
    said = "A and B have no kappa: both gave every pair the middle of the scale."
    assert two_sentence({**content, "between": middle}) == said
    kappa = kappa_table([("A", "B", payloads.entry("b", payloads.kappa_row(pairs=29)))])
    assert kappa.rows[0][-1] == "fewer than 30 pairs"
    within = within_table([("A", {"within": {"rows": [payloads.within_row(pairs=30)]}})])
    assert within.rows[0][-1] == ""
    table = within_table([("", {"within": {"rows": [payloads.within_row()]}})])
    assert table.columns[0] == "Category"
    assert table.rows[0][:2] == ("All", 5)


def test_length_is_told_with_its_interval():
    assert length_sentence(payloads.measure(), 95.0) == (
        "The answer with more words won 65.0% of the points (95% interval 58.0–72.0%). "
        "Twice as many words multiply the odds of winning by 1.36 (95% interval 1.11–1.65)."
    )
    assert length_sentence(payloads.measure(longer_wins=None), 95.0) == ""
    flat = length_sentence(payloads.measure(slope=None, longer_low=None), 95.0)
    assert flat == "The answer with more words won 65.0% of the points."


@pytest.mark.parametrize(
    ("judge", "contestant", "family", "related"),
    [
        ("gpt-4-0613", "GPT-4", "", True),
        ("openai/gpt-4o", "ChatGPT", "", True),
        ("gpt-4", "Guppy 4", "", False),
        ("meta-llama/Llama-3-70B-Instruct", "Vicuna 13B", "llama", True),
        ("meta-llama/Llama-3-70B-Instruct", "Meta Chat", "", False),
        ("mixtral-large-instruct", "Command Large Instruct", "", False),
        ("heron-70b", "Human demonstrations", "", False),
        ("", "GPT-4", "", False),
    ],
)
def test_a_judge_is_related_to_whom_it_shares_a_telling_word_with(judge, contestant, family, related):
    found = families.relatives(judge, [families.Named(contestant, family)])
    assert found == ([contestant] if related else [])


def test_a_warning_names_a_few_and_counts_the_rest():
    assert families.warning("Judge", []) == ""
    assert "as A, B, C, D, E and 2 more." in families.warning("Judge", list("ABCDEFG"))
    assert "as A. A judge" in families.warning("Judge", ["A"])
