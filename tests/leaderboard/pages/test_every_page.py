"""What holds for every page of a study: who may see it, what is sent again, and how many queries it takes."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.models import Completion
from leaderboard.refreshing import services
from tests import factories
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db
PAGES = (
    *("", "categories/", "data/", "agreement/", "raters/", "raters/people/", "raters/judge:strict/"),
    *("raters/group:panel/", "contestants/alpha/", "comparisons/", "comparisons/?search=i&raters=people"),
    *("requirements/", "scores/", "?columns=all"),
)
FILES = ("standings.json", "tables/games/", "tables/games.csv", "figures/games.json", "leaderboard.json")


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """A closed study rated by two people and a judge, who is in a group with one of them."""
    made = HandMade(
        "alpha", "beta", "gamma", slug="small", categories=("coding", "poems"), closed_at=timezone.now()
    )
    strict, other = made.judge("strict"), factories.make_rater(name="Bob")
    group = factories.make_group(slug="panel")
    made.contestants["alpha"].slug = "alpha"
    made.contestants["alpha"].save()
    for rater in (strict, made.person):
        rater.groups.add(group)
    for rater in (made.person, other, strict):
        made.rate("alpha", "beta", 1, rater=rater)
        made.rate("beta", "gamma", 7, rater=rater, prompt=1)
    say_of_texts(made, strict)
    services.refresh(made.study)
    return made


def say_of_texts(made, rater):
    """The rater scores and checks every answer."""
    for text in Completion.objects.filter(prompt__study=made.study):
        question = text.prompt.questions.first() or factories.make_question(prompt=text.prompt)
        factories.make_score(completion=text, rater=rater, value=1 + text.pk % 5)
        factories.make_answer(completion=text, question=question, rater=rater)


def addresses(made):
    one = f"comparisons/{made.pair('alpha', 'beta').pk}/"
    return {page: f"/studies/small/{page}" for page in (*PAGES, one)}


def test_a_private_study_does_not_exist_for_the_public(client, made):
    made.study.visibility = "private"
    made.study.save()
    others = (*FILES, "status/", "contestants/", "computing/", "judges/", "agreement/two/", "results/")
    everything = [*addresses(made).values(), *(f"/studies/small/{other}" for other in others)]
    found = {address: client.get(address).status_code for address in everything}
    assert found == dict.fromkeys(everything, 404)
    client.force_login(factories.make_user(is_staff=True))
    pages = addresses(made).values()
    assert {address: client.get(address).status_code for address in pages} == dict.fromkeys(pages, 200)


def test_what_has_not_changed_is_not_sent_again(client, made):
    files = ("figures/games.json", "leaderboard.json")
    everything = [*addresses(made).values(), *(f"/studies/small/{name}" for name in files)]
    known = {address: client.get(address)["ETag"] for address in everything}
    again = {address: client.get(address, headers={"If-None-Match": tag}) for address, tag in known.items()}
    found = {address: (reply.status_code, reply.content) for address, reply in again.items()}
    assert found == dict.fromkeys(everything, (304, b""))


def test_the_number_of_queries_does_not_grow_with_the_study(client, made):
    def queries():
        found = {}
        for page, address in addresses(made).items():
            client.get(address)
            with CaptureQueriesContext(connection) as captured:
                assert client.get(address).status_code == 200
            found[page] = len(captured)
        return found

    before = queries()
    for number in range(3):
        name = f"new {number}"
        made.contestants[name] = factories.make_contestant(study=made.study, name=name)
        made.prompts.append(factories.make_prompt(study=made.study, category=f"category {number}"))
        judge = made.judge(f"judge-{number}")
        for rater, rating in ((made.person, 2), (judge, 3)):
            made.rate("alpha", name, rating, prompt=2 + number, rater=rater)
            made.rate("alpha", "beta", 8 - rating, prompt=2 + number, rater=rater)
        made.rate("alpha", "beta", 6, rater=judge)
        say_of_texts(made, judge)
    services.refresh(made.study)
    assert queries() == before
    assert (before[""] <= 9, before["data/"] <= 8, before["categories/"] <= 6) == (True,) * 3
