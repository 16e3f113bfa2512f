"""What holds for every page of a study: who may see it, what is sent again, when new opinions show, which
tabs and files it has, and how many queries it takes. What they refuse and say is in tests/golden.
"""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.models import Completion
from leaderboard.refreshing import services
from tests import factories
from tests.leaderboard.reading import text
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db
PAGES = (
    *("", "categories/", "data/", "agreement/", "raters/", "raters/people/", "raters/judge:strict/"),
    *("raters/group:panel/", "contestants/alpha/", "comparisons/", "comparisons/?search=i&raters=people"),
    *("requirements/", "scores/", "?columns=all"),
)
COMPUTED = ("agreement/two/", "anchored/", "compare/alpha/beta/", "features/", "judges/", "plan/", "trust/")
"""Pages of which a part is computed when somebody asks, or of what the other tests leave out."""

FILES = ("standings.json", "tables/games/", "tables/games.csv", "figures/games.json", "leaderboard.json")


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """A closed study rated by two people and a judge, who is in a group with one of them."""
    made = HandMade(
        "alpha", "beta", "gamma", slug="small", categories=("coding", "poems"), closed_at=timezone.now()
    )
    strict, other = made.judge("strict"), factories.make_rater(name="Bob")
    group = factories.make_group(slug="panel")
    for name, contestant in made.contestants.items():
        contestant.slug = name
        contestant.save()
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
    for said in Completion.objects.filter(prompt__study=made.study):
        question = said.prompt.questions.first() or factories.make_question(prompt=said.prompt)
        factories.make_score(completion=said, rater=rater, value=1 + said.pk % 5)
        factories.make_answer(completion=said, question=question, rater=rater)


def addresses(made):
    one = f"comparisons/{made.pair('alpha', 'beta').pk}/"
    return {page: f"/studies/small/{page}" for page in (*PAGES, one)}


def test_a_private_study_does_not_exist_for_the_public(client, made):
    made.change(visibility="private")
    others = (*FILES, *COMPUTED, "status/", "contestants/", "computing/", "compare/")
    results = ("results/", "results/bundle.zip", "results/arena.csv", "results/evalica.csv", "releases/")
    everything = [*addresses(made).values(), *(f"/studies/small/{other}" for other in (*others, *results))]
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


def opinions(made):
    """One more score or check, by a judge that nobody has seen."""
    late, text = made.judge("late"), Completion.objects.filter(prompt__study=made.study).first()
    return {
        "scores/": lambda: factories.make_score(completion=text, rater=late),
        "requirements/": lambda: factories.make_answer(
            completion=text, question=text.prompt.questions.first(), rater=late
        ),
    }


@pytest.mark.parametrize("page", ["scores/", "requirements/"])
def test_an_opinion_shows_with_the_next_refresh(client, made, page):
    address = f"/studies/small/{page}"
    known = {"If-None-Match": client.get(address)["ETag"]}
    opinions(made)[page]()
    assert client.get(address, headers=known).status_code == 304
    services.refresh_if_stale(made.study)
    assert "LATE" in text(client.get(address, headers=known))


NEEDED = {
    "scores/": "Nobody has scored an answer of this study yet.",
    "requirements/": "Nobody has checked an answer against its requirements yet.",
    "features/": "No answer of this study has features yet.",
    "trust/": "No judge has rated in this study.",
}
"""Pages whose tab is there where a study has what they show, and what they say in a study that has not."""


def tabs(client, study):
    page = text(client.get(f"/studies/{study}/data/"))
    found = re.findall('href="([^"]*)"', page.partition('<nav class="tabs"')[2].partition("</nav>")[0])
    return {address.removeprefix(f"/studies/{study}/") for address in found}


def test_tabs_are_of_pages_that_have_something(client, made):
    bare = HandMade("alpha", "beta", slug="bare")
    bare.rate("alpha", "beta", 1)
    services.refresh(bare.study)
    factories.make_feature(completion=made.pair("alpha", "beta").first)
    made.pair("alpha", "beta").gold, made.study.revision = "first", made.study.revision + 1
    type(made.pair("alpha", "beta")).objects.update(gold="first", gold_source="by hand")
    made.study.save()
    services.refresh(made.study)
    assert not tabs(client, "bare") & NEEDED.keys()
    assert tabs(client, "small") >= NEEDED.keys()
    assert {page: client.get(f"/studies/small/{page}").status_code for page in tabs(client, "small")} == (
        dict.fromkeys(tabs(client, "small"), 200)
    )
    for page, sentence in NEEDED.items():
        assert sentence in " ".join(text(client.get(f"/studies/bare/{page}")).split())


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
