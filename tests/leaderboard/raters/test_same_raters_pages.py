import pytest
from celery import current_app

from leaderboard.refreshing import computing, services
from tests import factories
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

BOTH = "/studies/small/?raters=people&amp;resample=prompts-and-raters"
ROUNDS = 20


@pytest.fixture(autouse=True, scope="module")
def made(shared_rows, rounds):
    made = HandMade("alpha", "beta", categories=("coding", "poems", "maths", "chat"), slug="small")
    people = [factories.make_rater(name=name) for name in ("Ada", "Ben", "Cal")]
    for number, rater in enumerate([*people, made.judge("strict")]):
        for prompt in range(4):
            made.rate("alpha", "beta", 1 + (3 * number + 2 * prompt) % 8, prompt=prompt, rater=rater)
    services.refresh(made.study)
    return made


def test_a_board_links_to_intervals_for_other_raters_too(client, made, monkeypatch):
    monkeypatch.setattr(current_app, "send_task", lambda *args, **options: None)
    page = client.get("/studies/small/?raters=people").content.decode()
    assert f'<a href="{BOTH}">Also allow for other raters</a>' in page

    client.get(BOTH.replace("&amp;", "&"))
    assert computing.compute_next(made.study.pk)
    page = client.get(BOTH.replace("&amp;", "&")).content.decode()
    assert "Also allow for other raters" not in page


def test_the_setting_is_kept_and_a_single_rater_not_worth_a_word(client):
    page = client.get("/studies/small/?raters=people&sort=games&method=davidson").content.decode()
    kept = "?raters=people&amp;method=davidson&amp;resample=prompts-and-raters&amp;sort=games"
    assert f'<a href="/studies/small/{kept}">Also allow for other raters</a>' in page
    page = client.get("/studies/small/?raters=judge:strict").content.decode()
    assert "Also allow for other raters" not in page
    used = client.get("/studies/small/standings.json?raters=people").json()["parameters"]
    assert (used["same_raters"], used["clusters"]) == (3, 4)
    used = client.get("/studies/small/standings.json?raters=judge:strict").json()["parameters"]
    assert "same_raters" not in used


def test_a_board_says_below_its_headline_that_raters_differ_in_taste(client, made):
    said = "raters differ in taste, and the intervals do not allow for other raters."
    assert said not in client.get("/studies/small/?raters=people").content.decode()
    tastes = HandMade("alpha", "beta", categories=("chat",) * 12, slug="tastes")
    ratings = {"Ada": (1, 2), "Ben": (8, 7), "Cal": (1, 8)}
    for name, own in ratings.items():
        rater = factories.make_rater(name=name)
        for prompt in range(12):
            tastes.rate("alpha", "beta", own[prompt % 2], prompt=prompt, rater=rater)
    services.refresh(tastes.study)
    page = client.get("/studies/tastes/?raters=people").content.decode()
    link = f'<a href="{BOTH.replace("small", "tastes")}">Also allow for other raters</a>'
    assert f'<p class="small muted">The 3 {said} {link}</p>' in page
    assert page.count(said) == 1
    used = client.get("/studies/tastes/standings.json?raters=people").json()["parameters"]
    assert used["wider_for_other_raters"] > 2
