"""The page and the API of the planner."""

import json

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from leaderboard.refreshing import computing, services
from tests import factories
from tests.leaderboard.reading import printed, records, shown, words
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

PAGE = "/studies/small/plan/"
API = "/api/v1/studies/small/plan/"
NAMES = ("Alpha", "Beta", "Gamma")


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """Two people rate three contestants on eight prompts; a fourth took part in nothing."""
    made = HandMade(*NAMES, "Idle", slug="small", categories=("coding", "poems") * 4)
    other = factories.make_rater(name="Ben")
    for number, prompt in enumerate(range(8)):
        for turn, (one, two) in enumerate((NAMES[:2], NAMES[1:], NAMES[::2])):
            made.rate(one, two, 1 + (number * 3 + turn) % 7, prompt=prompt)
            made.rate(two, one, 2 + (number * 5 + turn) % 7, prompt=prompt, rater=other)
    services.refresh(made.study)
    return made


def slug(made, name):
    return made.contestants[name].slug


def command(*options):
    return json.loads(printed("plan", "--study", "small", *options, "--format", "json"))


def test_the_first_two_of_the_ranking_are_planned_for_as_the_command_does(client, made):
    board = client.get("/studies/small/?method=bradley-terry")
    assert '<a href="/studies/small/plan/?raters=people">How many more prompts?</a>' in board.content.decode()
    first, second, *_ = board.context["page"].order
    waiting = client.get(PAGE)
    assert "One moment" in waiting.content.decode()
    assert "Bradley-Terry, ties half" in waiting.context["page"].setting_words
    page = shown(client, made, PAGE)
    wanted = command("--between", first, second)
    assert wanted["sentence"] in words(page)
    assert all(warning in words(page) for warning in wanted["warnings"])
    found = page.context["page"].found
    assert {name: found[name] for name in wanted} == wanted


def test_any_two_with_other_switches(client, made):
    two = f"contestant={slug(made, 'Gamma')}&against={slug(made, 'Alpha')}"
    page = shown(client, made, PAGE + f"?raters=people&ties=off&level=90&power=90&{two}")
    wanted = command("--between", "Gamma", "Alpha", "--ties", "off", "--level", "90", "--power", "90")
    found = page.context["page"].found
    assert {name: found[name] for name in wanted} == wanted
    assert (
        f'href="?raters=people&amp;level=90&amp;{two.replace("&", "&amp;")}&amp;power=90"'
        in page.content.decode()
    )


def test_other_gaps_and_raters_worked_out_from_the_variance_of_a_prompt(client, made):
    """The variance of the gap is (gap / (t + z'))² once N prompts of R raters and n of r weigh as games."""
    page = shown(client, made, PAGE + "?raters=people")
    plan = page.context["page"].found
    hand, within = plan["evidence"], plan["variance"]["within"]
    rows = records(client, f"{PAGE}tables/needs.csv?raters=people")
    assert [row["Gap"].split()[0] for row in rows if "measured" not in row["Gap"]] == [
        "10",
        "20",
        "30",
        "50",
        "100",
    ]
    had, now, n = hand["prompts"], hand["raters"], np.arange(200_000)
    quantiles = student.ppf(0.975, had + n - 1) + norm.ppf(0.8)
    for row, gap in zip(rows, plan["gaps"], strict=True):
        for raters in (1, 2, 3, 5):
            own, old = (plan["variance"]["between"] + within / each for each in (raters, now))
            variance = (had * now**2 * old + n * raters**2 * own) / (had * now + n * raters) ** 2
            target = (gap["gap"] / quantiles) ** 2
            needed = int(np.argmax(variance <= target * (1 + 1e-9)))
            seen = gap["measured"] and gap["gap"] > hand["half_width"]
            needed *= not seen
            assert int(row[f"{raters} rater{'s' * (raters > 1)}"]) == needed


def test_two_rated_alike_and_one_without_a_comparison(client, made):
    page = shown(client, made, PAGE + f"?contestant={slug(made, 'Idle')}&against={slug(made, 'Alpha')}")
    assert "No rating here is of Idle." in words(page)
    assert (
        client.get(f"{API}?contestant={slug(made, 'Idle')}&against={slug(made, 'Alpha')}").status_code == 404
    )
    even = HandMade("A", "B", slug="even", categories=("x",) * 3)
    for prompt in range(3):
        even.rate("A", "B", 1, prompt=prompt)
        even.rate("B", "A", 1, prompt=prompt)
    services.refresh(even.study)
    client.get("/studies/even/plan/")
    assert computing.compute_next(even.study.pk)
    page = client.get("/studies/even/plan/")
    assert "A and B have the same score so far. You need " in words(page)
    assert "to see a gap of 10 points between A and B." in words(page)
    assert "A and B have the same score, give or take" in words(page)
    assert len(page.context["page"].found["gaps"]) == 5


def test_what_ratings_do_not_show_is_not_said(client):
    """Ratings that all agree show no spread; one rater shows nothing of others."""
    same = HandMade("A", "B", slug="same", categories=("x",) * 4)
    for prompt in range(4):
        same.rate("A", "B", 1, prompt=prompt)
    services.refresh(same.study)
    said = words(shown(client, same, "/studies/same/plan/"))
    assert "The ratings so far hardly differ" in said
    for unknown in ("On one prompt the gap differs", "Nobody knows", "correlate", "Some numbers rise"):
        assert unknown not in said
    assert "Standard deviations" not in printed("plan", "--study", "same", "--between", "A", "B")
    alone = HandMade("A", "B", slug="alone", categories=("x",) * 4)
    for prompt, rating in enumerate((1, 8, 1, 2)):
        alone.rate("A", "B", rating, prompt=prompt)
    services.refresh(alone.study)
    said = words(shown(client, alone, "/studies/alone/plan/"))
    assert "points (standard deviation), with what its one rater adds." in said
    assert "Nobody knows how much raters differ" in said
    assert "with 1 rater for each pair" in said
    assert "more raters" not in said.replace("what more raters would save", "")


def test_one_prompt_is_none(client):
    one = HandMade("A", "B", slug="one", categories=("x",))
    one.rate("A", "B", 1)
    services.refresh(one.study)
    said = words(shown(client, one, "/studies/one/plan/"))
    assert "One prompt says nothing about how prompts differ." in said
    assert "You need" not in said
