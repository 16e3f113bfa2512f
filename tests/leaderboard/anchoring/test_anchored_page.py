"""The page and the API of rankings anchored on people."""

import json

import pytest

from leaderboard.anchoring.table import leader
from leaderboard.refreshing import services
from tests import factories
from tests.leaderboard.reading import printed, shown, words
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

PAGE = "/studies/small/anchored/"
API = "/api/v1/studies/small/anchored/"
NAMES = ("Alpha", "Beta", "Gamma")


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """Two people rate the pairs of five prompts, a judge those of twelve both ways; another rates one."""
    made = HandMade(*NAMES, slug="small", categories=("coding", "poems") * 6)
    robot, apart = made.judge("robot", simulated=True), made.judge("apart")
    other = factories.make_rater(name="Ben")
    for number, prompt in enumerate(range(12)):
        for turn, (one, two) in enumerate((NAMES[:2], NAMES[1:], NAMES[::2])):
            rating = 1 + (number * 5 + turn * 2) % 8
            if number < 5:
                made.rate(one, two, rating, prompt=prompt)
                made.rate(one, two, 1 + (rating + turn) % 8, prompt=prompt, rater=other)
            made.rate(one, two, min(8, rating + turn), prompt=prompt, rater=robot)
            made.rate(two, one, 9 - rating, prompt=prompt, rater=robot)
    made.rate("Alpha", "Beta", 1, prompt=11, rater=apart)
    services.refresh(made.study)
    return made


def command(*options):
    return json.loads(printed("anchor", "--study", "small", *options, "--format", "json"))


def test_the_page_is_what_the_command_prints(client, made):
    board = client.get("/studies/small/").content.decode()
    assert '<a href="/studies/small/anchored/">Can a judge help people?</a>' in board
    waiting = client.get(PAGE + "?raters=judge:robot")
    assert "One moment" in waiting.content.decode()
    assert "Bradley-Terry, ties half" in waiting.context["page"].setting_words
    page = shown(client, made, PAGE + "?raters=judge:robot")
    wanted = command("--judges", "robot")
    assert page.context["page"].found == wanted
    assert 0 < wanted["parameters"]["power"] <= 1
    text = words(page)
    assert f"Weight of the judge {wanted['parameters']['power']:.2f}" in text
    assert f"Worth with the judge {wanted['effective_votes']:.0f}" in text
    assert all(warning in text for warning in wanted["warnings"])


@pytest.mark.parametrize(
    ("worth", "low", "words"),
    [
        (3000.0, 0.1, "With the judge, the 2,000 pairs that people rated count like 3,000."),
        (2200.0, 0.1, "With the judge, the 2,000 pairs that people rated count like 2,200."),
        (2199.0, 0.1, "The judge hardly helps: with it, the 2,000 pairs that people rated count like 2,199."),
        (2000.4, 0.1, "The judge does not help: its ratings make people’s ranking no more certain."),
        (None, None, "The judge does not help: its ratings make people’s ranking no more certain."),
        *(
            (
                3000.0,
                low,
                "The judge does not help, as far as these ratings show: that the 2,000 pairs that "
                "people rated count like 3,000 with it may be chance.",
            )
            for low in (0.0, -0.1, None)
        ),
    ],
)
def test_the_first_sentence_says_what_the_judge_is_worth(worth, low, words):
    content = {
        "standings": [{"contestant": "Alpha", "rating": 1000.0, "rank": 1, "component": 0}],
        "beside_the_leader": ["Beta"],
        "counts": {"human_pairs": 2000},
        "effective_votes": worth,
        "parameters": {"power_low": low},
        "simulated": False,
    }
    assert leader(content) == f"{words} Alpha leads, but cannot be told apart from Beta.".strip()


def test_other_switches_and_the_api(client, made):
    query = "?raters=judge:robot&ties=off&level=90"
    assert client.get(API + query).status_code == 202
    found = shown(client, made, PAGE + query).context["page"].found
    wanted = command("--judges", "robot", "--ties", "off", "--interval", "90")
    assert found == wanted
    reply = client.get(API + query).json()
    assert {name: reply[name] for name in wanted if name != "source"} == {
        name: value for name, value in wanted.items() if name != "source"
    }
    assert (reply["simulated"], reply["ties"], reply["raters"]) == (True, "off", "judge:robot")


def test_a_category_is_the_pairs_of_its_prompts(client, made):
    counts = shown(client, made, PAGE + "?raters=judge:robot&category=poems").context["page"].found["counts"]
    assert (counts["human_prompts"], counts["judged_prompts"]) == (2, 6)


def test_only_judges_can_be_chosen_and_what_is_missing_is_said(client, made):
    page = shown(client, made, PAGE)
    assert page.context["page"].setting.raters == "judge:apart"
    sentence = "No pair was rated by both people and the judge, so there is nothing to anchor with."
    assert sentence in words(page)
    assert client.get(API).json()["detail"] == sentence
    (judges,) = (each for each in page.context["page"].switches if each.field == "raters")
    assert [option.value for option in judges.options] == ["judge:apart", "judge:robot"]
    refused = client.get(f"{API}?raters=people")
    assert (refused.status_code, refused.json()["detail"]) == (
        404,
        'This leaderboard has no raters "people". It has: judge:apart, judge:robot.',
    )
    alone = HandMade("A", "B", slug="alone")
    alone.rate("A", "B", 1)
    services.refresh(alone.study)
    assert "This ranking needs people and a judge." in words(client.get("/studies/alone/anchored/"))
    assert "/studies/alone/anchored/" not in client.get("/studies/alone/").content.decode()
