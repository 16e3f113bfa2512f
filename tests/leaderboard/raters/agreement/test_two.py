"""Any two raters compared on demand: groups of people, judges and single people."""

import json
from itertools import product

import numpy as np
import pytest
from django.utils import timezone
from statsmodels.stats.inter_rater import cohens_kappa

from arena.people.rater_data import pseudonym
from leaderboard.raters.agreement.two import parse_for_two
from leaderboard.refreshing import computing, services
from leaderboard.snapshots import on_demand
from leaderboard.snapshots.settings import Scope
from tests import factories
from tests.leaderboard.reading import printed, records, shown, words
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

ROUNDS = 40
PAGE = "/studies/small/agreement/two/"
NAMES = ("alpha", "beta", "gamma")


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """Four people in two groups, and one group across them, rate all twelve pairs on 3 points, a judge too.

    Another judge rated a pair of its own, and a third gave no rating.
    """
    made = HandMade(*NAMES, "delta", slug="small", categories=("coding", "poems") * 2)
    made.people = {name: factories.make_rater(name=name.title()) for name in ("ann", "ben", "cal", "dan")}
    for slug, members in (("left", ("ann", "ben")), ("right", ("cal", "dan")), ("across", ("ben", "cal"))):
        group = factories.make_group(slug=slug, name=slug.title())
        for name in members:
            made.people[name].groups.add(group)
    strict = made.judge("strict")
    made.given = {}
    pairs = [(prompt, *two) for prompt in range(4) for two in zip(NAMES, (*NAMES[1:], NAMES[0]), strict=True)]
    for number, (prompt, one, other) in enumerate(pairs):
        for turn, rater in enumerate((*made.people.values(), strict)):
            rating = 1 + (number + (number * turn) // 3) % 3
            made.rate(one, other, rating, points=3, prompt=prompt, rater=rater)
            made.given[number, rater.name] = rating if NAMES.index(one) < NAMES.index(other) else 4 - rating
    made.rate("alpha", "delta", 1, points=3, rater=made.judge("apart"))
    made.rate("alpha", "delta", None, points=3, rater=made.judge("silent"), reason="refused")
    made.snapshot = services.refresh(made.study).snapshot
    return made


def content(made, one, other, **asked):
    """What the page shows, before any rounding for the eye."""
    setting = parse_for_two({"raters": f"{one},{other}", **asked}, made.snapshot.counts)
    on_demand.contents(made.snapshot, setting, Scope.TWO)
    computing.compute_next(made.study.pk)
    ((payload),) = on_demand.contents(made.snapshot, setting, Scope.TWO).values()
    return json.loads(payload)


def kappas(made, one, other):
    """Weighted kappa of two lists of people over every pair in both orientations, and unmirrored."""
    once = np.zeros((3, 3))
    for number, a, b in product({number for number, _ in made.given}, one, other):
        once[made.given[number, a] - 1, made.given[number, b] - 1] += 1
    return [cohens_kappa(table, wt="quadratic").kappa for table in (once + once[::-1, ::-1], once)]


def test_groups_of_people_are_compared_with_each_other(client, made):
    waiting = client.get(f"{PAGE}?raters=group:left&against=group:right")
    assert "One moment" in waiting.content.decode()
    response = shown(client, made, PAGE + "?raters=group:left&against=group:right")
    mirrored, unmirrored = kappas(made, ("Ann", "Ben"), ("Cal", "Dan"))
    said = f"weighted kappa {mirrored:.2f}".replace("-", "−")
    assert said in words(response)
    assert "no pair in common" not in words(response)
    row = records(client, f"{PAGE}tables/measures.csv?raters=group:left&against=group:right")[0]
    assert row["Measure"] == "Weighted kappa"
    assert [float(row["Value"]), float(row["Unmirrored"])] == pytest.approx([mirrored, unmirrored], abs=1e-6)
    cells = records(client, f"{PAGE}tables/confusion.csv?raters=group:left&against=group:right")
    assert sum(int(row[f"Right {point}"]) for row in cells for point in (1, 2, 3)) == 2 * 12 * 4


def test_a_level_is_that_of_the_intervals(client, made):
    page = shown(client, made, PAGE + "?raters=group:left&against=group:right&level=90").context["page"]
    assert page.content["level"] == 90


def test_members_of_both_count_with_the_smaller_or_the_first(client, made):
    text = words(shown(client, made, PAGE + "?raters=group:left&against=group:across"))
    assert "1 member of Across also in Left, and counted there alone." in text
    assert f"weighted kappa {kappas(made, ('Ann', 'Ben'), ('Cal',))[0]:.2f}".replace("-", "−") in text
    found = content(made, "people", "group:left")
    assert [(own["members"], own["left_out"]) for own in found["raters"]] == [(2, 2), (2, 0)]
    assert found["between"]["kappa"] == pytest.approx(
        kappas(made, ("Cal", "Dan"), ("Ann", "Ben"))[0], abs=1e-6
    )


def test_people_among_themselves_have_a_row_for_every_two_under_pseudonyms(client, made):
    text = words(shown(client, made, PAGE + "?raters=people&against=people"))
    assert not any(name in text for name in ("Ann", "Ben", "Cal", "Dan"))
    rows = records(client, f"{PAGE}tables/members.csv?raters=people&against=people")
    assert len(rows) == 6
    name = {pseudonym(made.study, rater.pk): rater.name for rater in made.people.values()}
    for row in rows:
        expected = kappas(made, [name[row["Rater"]]], [name[row["With"]]])[0]
        assert float(row["Weighted kappa"]) == pytest.approx(expected, abs=1e-6)
        assert row["Pairs in common"] == "12"
        if row["Low"]:
            assert float(row["Low"]) <= expected <= float(row["High"])
    assert any(row["Low"] for row in rows)


def test_a_single_person_is_chosen_by_pseudonym_once_the_study_is_closed(client, made, monkeypatch):
    made.change(closed_at=timezone.now())
    monkeypatch.setattr(made, "snapshot", services.refresh(made.study).snapshot)
    ann = pseudonym(made.study, made.people["ann"].pk)
    found = content(made, ann, "judge:strict")
    assert found["between"]["kappa"] == pytest.approx(kappas(made, ["Ann"], ["STRICT"])[0], abs=1e-6)
    assert [own["members"] for own in found["raters"]] == [1, 1]
    assert f'<option value="{ann}"' in client.get(PAGE).content.decode()


@pytest.mark.parametrize("category", ["", "poems"])
def test_the_numbers_are_those_of_the_overview(made, category):
    found = content(made, "judge:strict", "people", category=category)
    others = made.snapshot.slices.get(kind="agreement", raters="judge:strict").content["others"]
    (rows,) = (each["rows"] for each in others if each["raters"] == "people")
    row = next(row for row in rows if (row["category"] or "") == category)
    assert found["between"] == {name: value for name, value in row.items() if name != "category"}
    rows = made.snapshot.slices.get(kind="correlation", raters="judge:strict").content["rows"]
    row = next(row for row in rows if (row["category"] or "") == category and row["all_but"] is None)
    assert found["correlation"].items() <= row.items()


def test_without_ties_the_middle_is_left_out(made):
    found = content(made, "group:left", "group:right", ties="off")
    middle = [key for key, rating in made.given.items() if rating == 2 and key[1] != "STRICT"]
    assert found["sideless"] == len(middle)
    assert sum(own["ratings"] for own in found["raters"]) == 48 - len(middle)
    assert np.array(found["confusion"]["counts"])[1].sum() == 0


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        (
            "?raters=judge:apart",
            "They have rated no pair in common: APART rated 1 pair, People rated 12 pairs.",
        ),
        ("?raters=judge:apart&against=judge:silent", "SILENT gave no rating."),
        ("?raters=judge:apart&category=poems", "APART gave no rating in poems."),
        (
            "?raters=judge:apart&against=judge:apart",
            "APART with itself has no alpha: no pair has two ratings.",
        ),
        (
            "?raters=judge:strict&category=poems",
            "over 6 pairs that both rated.",
        ),
    ],
)
def test_what_the_page_says_is_true(client, made, query, sentence):
    assert sentence in words(shown(client, made, PAGE + query))


def command(*options):
    return json.loads(printed("agreement", "small", "--rounds", ROUNDS, "--format", "json", *options))


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        (
            ("--raters", "group:left", "--against", "group:right"),
            {"one": "group:left", "other": "group:right"},
        ),
        (("--raters", "people", "--ties", "off"), {"one": "people", "other": "people", "ties": "off"}),
        (
            ("--raters", "judge:strict", "--category", "poems", "--interval", 80),
            {"one": "judge:strict", "other": "people", "category": "poems", "level": "80"},
        ),
    ],
)
def test_the_command_prints_what_the_page_shows(made, options, asked):
    assert command(*options) == {"study": "small", "criterion": None} | content(made, **asked)


def test_the_command_prints_the_tables_of_the_agreement_page(made):
    found = command()
    for own in found["kinds"]:
        stored = {row.kind: row.content for row in made.snapshot.slices.filter(raters=own["selector"])}
        correlated = stored.get("correlation", {})
        for name, key in (("correlation", "rows"), ("ceiling", "ceiling"), ("stand_in", "stand_in")):
            assert own[name] == correlated.get(key)
        if "agreement" in stored:
            assert own["within"] == stored["agreement"]["within"]["rows"]
            assert own["others"] == stored["agreement"]["others"]
    assert next(own["selector"] for own in found["kinds"] if own["correlation"]) == "people"
    rows = next(own for own in command("--category", "poems")["kinds"] if own["selector"] == "judge:strict")
    assert [row["category"] for row in (*rows["correlation"], *rows["within"])] == ["poems", "poems"]


def test_the_text_has_the_numbers_of_the_page_and_unmirrored_ones_on_request(client, made):
    shown(client, made, PAGE + "?raters=group:left&against=group:right")
    row = records(client, f"{PAGE}tables/measures.csv?raters=group:left&against=group:right")[0]
    two = ("agreement", "small", "--rounds", ROUNDS, "--raters", "group:left", "--against", "group:right")
    text = printed(*two)
    assert "over 12 pairs that both rated" in text
    line = next(line for line in text.splitlines() if line.startswith("Weighted kappa"))
    assert line.split()[2:5] == [f"{float(row[name]):.3f}" for name in ("Value", "Low", "High")]
    assert "Unmirrored" not in text
    assert f"{float(row['Unmirrored']):.3f}" in printed(*two, "--unmirrored")
    overview = printed("agreement", "small", "--rounds", ROUNDS)
    page = client.get("/studies/small/agreement/").content.decode()
    for said in (
        "STRICT cannot be tested: fewer than 3 people rated 30 pairs or more with the",
        "In a person",
        "Alternative annotator test",
    ):
        assert said in overview
        assert said in page
    rows = records(client, "/studies/small/agreement/tables/ceiling.csv")
    row = next(row for row in rows if row["Raters"] == "STRICT")
    assert f"The difference of {float(row['Difference']):.2f}".replace("-", "−") in page
    assert "Cohen's kappa, quadratic weights." in overview
