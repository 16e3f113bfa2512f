"""Tests that what is said of agreement is what its interval shows."""

import json
import re

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from leaderboard.pages.claim import FEWEST_ALIKE, Claim, claim, people_said, strength
from leaderboard.pages.format import signed
from leaderboard.pages.wording import FEWEST_PAIRS
from leaderboard.raters.agreement.coefficients import agreement
from leaderboard.raters.agreement.table import (
    difference_sentence,
    stand_in_sentence,
    two_sentence,
    with_people,
    with_people_by_category,
)
from leaderboard.raters.agreement.verdict import Standing, verdict
from leaderboard.stats.ranking_method import Method
from tests.leaderboard.raters.agreement.claims import rating
from tests.leaderboard.raters.agreement.test_agreement_slices import choice, study

WAYS = ("contrary", "like", "middle", "by-lot")


def row(value, low=None, high=None, *, pairs=40, prompts=20, name="pearson", **more):
    return {"n": pairs, "prompts": prompts, name: value, f"{name}_low": low, f"{name}_high": high, **more}


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (row(0.5, 0.2, 0.7), Claim.AGREES),
        (row(0.23, -0.16, 0.56), Claim.NOT_SHOWN),
        (row(0.2, 0.0, 0.4), Claim.NOT_SHOWN),
        (row(-0.5, -0.7, -0.2), Claim.CONTRADICTS),
        (row(-0.2, -0.5, 0.2), Claim.NOT_SHOWN),
        (row(0.9, 0.8, 0.95, pairs=29), Claim.TOO_FEW),
        (row(None, pairs=2), Claim.TOO_FEW),
        (row(0.9, prompts=1), Claim.NO_INTERVAL),
        (row(None), Claim.UNDEFINED),
        (row(None, pairs=0), Claim.EMPTY),
        (None, Claim.EMPTY),
        (row(-1.0), Claim.NO_INTERVAL),
        (row(-1.0, pearson_alike=True), Claim.CONTRADICTS),
        (row(1.0, pearson_alike=True), Claim.AGREES),
        (row(0.0, pearson_alike=True), Claim.NOT_SHOWN),
        (row(-1.0, pearson_alike=True, prompts=FEWEST_ALIKE - 1), Claim.NO_INTERVAL),
    ],
)
def test_the_interval_decides(found, shown):
    assert claim(found) is shown


def test_so_many_prompts_alike_are_no_chance():
    assert 2 * 0.5**FEWEST_ALIKE < 0.05 < 2 * 0.5 ** (FEWEST_ALIKE - 1)


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (row(0.65, 0.5, 0.8, name="kappa"), "substantial"),
        (row(0.65, -0.1, 0.9, name="kappa"), "none shown"),
        (row(-0.65, -0.8, -0.2, name="kappa"), "opposite"),
        (row(0.65, 0.5, 0.8, pairs=29, name="kappa"), ""),
        (row(0.65, name="kappa"), ""),
    ],
)
def test_a_word_for_strength_needs_an_interval(found, word):
    assert strength(found, "kappa") == word


class Tables(dict):
    def get(self, kind, raters, category="", ties="", method=""):
        return super().get((kind, raters))


def computed(people, judges, prompts, seed):
    """The tables of a study of three pairs to a prompt, and its raters as a snapshot lists them."""
    generator, rows = np.random.default_rng(seed), []
    for pair in range(3 * prompts):
        told, swapped = int(generator.integers(1, 9)), bool(generator.integers(0, 2))
        rows.append((pair, 0, told, 8, swapped))
        rows += [
            (pair, number, rating(how, told, generator), 8, swapped)
            for number, how in enumerate([*people, *judges], start=1)
        ]
    choices = [choice("people", *range(1 + len(people)))]
    choices += [choice(f"judge:{number}", 1 + len(people) + number) for number in range(len(judges))]
    found = agreement(study(rows, *choices, each=3), Method(rounds=40))
    raters = [{"selector": each.selector, "label": each.label, "raters": len(each.ids)} for each in choices]
    return raters, Tables({(table.kind, table.raters): json.loads(table.payload) for table in found})


SEEDS = st.integers(0, 10**6)
FEW = st.lists(st.sampled_from(WAYS), max_size=2)


@settings(max_examples=30, deadline=None)
@given(FEW, st.lists(st.sampled_from(WAYS), min_size=1, max_size=3), st.integers(1, 16), SEEDS)
@example((), ["contrary"], 16, 0)
@example(("contrary",), ["by-lot"], 16, 0)
@example(("like", "like"), ["contrary", "like", "by-lot"], 16, 0)
def test_no_sentence_says_more_than_its_interval(people, judges, prompts, seed):
    raters, tables = computed(people, judges, prompts, seed)
    found = verdict(raters, tables, method="bradley-terry")
    words = f"{found.short} {found.rest}"
    rows = [with_people(tables.get("correlation", each["selector"])) for each in raters]
    for content in (tables.get("correlation", each["selector"]) for each in raters):
        for row in with_people_by_category(content)["rows"] if content else ():
            assert row.get("all_but") is not None or row == with_people(content, row["category"] or "")
    of_people, *of_judges = rows
    shown = {claim(each) for each in of_judges}
    assert ("contradict" in words.replace("People contradict", "")) == (Claim.CONTRADICTS in shown)
    said_to_agree = re.sub(r"[Nn]othing shows [^;.]*|People agree[^;.]*", "", found.short)
    assert ("agree" in said_to_agree and "has no interval" not in said_to_agree) == (Claim.AGREES in shown)
    for each in of_judges:
        if claim(each) is Claim.AGREES:
            assert each["pearson_low"] is None or each["pearson_low"] > 0
            assert each["n"] >= FEWEST_PAIRS
        if claim(each) in (Claim.CONTRADICTS, Claim.NOT_SHOWN):
            assert signed(each["pearson"]) in words
    own = people_said(of_people)
    assert own.startswith("people agree") == (claim(of_people) is Claim.AGREES)
    assert own.startswith("people contradict") == (claim(of_people) is Claim.CONTRADICTS)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(WAYS), st.integers(1, 16), SEEDS)
@example("contrary", 16, 0)
@example("middle", 16, 0)
def test_two_raters_are_told_by_the_same_rule(how, prompts, seed):
    _, tables = computed((), [how], prompts, seed)
    (entry,) = tables.get("agreement", "judge:0")["others"]
    both = [{"label": label, "ratings": 9, "pairs": 9} for label in ("People", "Judge:0")]
    between = entry["rows"][0]
    told = two_sentence({"raters": both, "level": 95.0, "category": None, "ties": "on", "between": between})
    starts = {
        Claim.AGREES: "People and Judge:0 show ",
        Claim.CONTRADICTS: "People and Judge:0 contradict each other: ",
        Claim.NOT_SHOWN: "Nothing shows that People and Judge:0 agree: ",
        Claim.TOO_FEW: "Too few pairs to tell whether People and Judge:0 agree: ",
        Claim.NO_INTERVAL: "Without an interval nothing shows whether People and Judge:0 agree: ",
        Claim.UNDEFINED: "People and Judge:0 have no kappa: ",
    }
    if between["kappa"] is not None:
        assert told.startswith(starts[claim(between, "kappa")])
    else:
        assert told.startswith(starts[Claim.UNDEFINED])


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("people", [(), ("like",), ("contrary",), ("like", "like")])
def test_judges_are_known_for_what_they_are(how, people):
    _, tables = computed(people, [how], 24, 2)
    found = claim(with_people(tables.get("correlation", "judge:0")))
    if people == ("contrary",):
        assert found is Claim.NOT_SHOWN, "the mean of two who contradict each other is always the middle"
    else:
        expected = {"contrary": Claim.CONTRADICTS, "like": Claim.AGREES}
        assert found is expected.get(how, Claim.NOT_SHOWN)


def test_one_prompt_alone_shows_nothing_though_the_others_are_ties():
    """Every resample with it gives 1; the others have no value."""
    rows = [(pair, rater, 2 if pair else 1, 3, False) for pair in range(72) for rater in (0, 1)]
    opinions = study(rows, choice("people", 0), choice("judge:a", 1), each=3)
    made = agreement(opinions, Method(rounds=200))
    tables = {(each.kind, each.raters): json.loads(each.payload) for each in made}
    found = with_people(tables["correlation", "judge:a"])
    assert found["pearson"] == 1
    assert claim(found) is Claim.NO_INTERVAL


def test_standing_has_every_claim():
    assert {each.value for each in Standing} >= set(Claim) - {Claim.AGREES}


@pytest.mark.parametrize(
    ("p", "low", "high", "chance"),
    [
        (0.01, 0.02, 0.2, "is more than chance explains"),
        (0.04, -0.01, 0.2, "may be chance"),
        (0.2, 0.02, 0.2, "may be chance"),
        (0.01, None, None, "may be chance"),
    ],
)
def test_two_judges_differ_where_test_and_interval_both_say_so(p, low, high, chance):
    one, other = ({"selector": f"judge:{name}"} for name in "ab")
    row = {"one": "A", "other": "B", "one_selector": "judge:a", "other_selector": "judge:b", "pairs": 90}
    row |= {"one_right": 0.6, "other_right": 0.5, "difference": 0.1, "p_adjusted": p}
    row |= {"difference_low": low, "difference_high": high}
    assert chance in difference_sentence({"raters": [one, other], "level": 95.0, "differences": [row]})


@pytest.mark.parametrize(
    ("passes", "low", "doubted"), [(True, -0.1, True), (True, 0.1, False), (False, -0.1, False)]
)
def test_who_passes_where_people_rate_by_lot_is_not_praised(passes, low, doubted):
    beside = {"pearson_people": None, "pearson_difference": None}
    test = {"passes": passes, "people": [{"won": passes}]}
    content = {"stand_in": test, "ceiling": [row(0.2, low, 0.4) | beside]}
    told = stand_in_sentence("A", content, "pearson", 95.0)
    assert ("But nothing shows that it agrees with people." in told) is doubted
