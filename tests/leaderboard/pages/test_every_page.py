"""What holds for every address of a study, as leaderboard.urls has them: a new page is held to it at once.

Who may see it, what is not there, what is sent again, which tables and figures it has, when new opinions
show, which tabs there are, and how many queries a page takes. What pages refuse and say is in tests/golden,
what becomes of hostile names in tests/crawl.
"""

import csv
import io
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from arena.models import Comparison, Completion, Pair
from leaderboard.refreshing import services
from leaderboard.urls import urlpatterns
from tests import factories
from tests.leaderboard.reading import computed, text
from tests.leaderboard.releases.releasing import release
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db
PARTS_OF = {
    each.name: list(each.pattern.converters)
    for each in urlpatterns
    if str(each.pattern).startswith("studies/<")
}
"""What stands in the addresses below a study's, by their names."""

PAGES = [name for name in PARTS_OF if f"{name}-csv" in PARTS_OF]
BESIDE = {f"{name}-{part}" for name in PAGES for part in ("computing", "csv", "table", "figure")}
OF_OPERATORS = {"study-export", "study-export-file"}
OTHERS = [name for name in PARTS_OF if name not in {*PAGES, *BESIDE, *OF_OPERATORS}]
WITHOUT_ETAG = {
    *("study-contestants", "study-compare", "study-status"),  # lead elsewhere
    *("study-bundle", "study-votes"),
}


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """A closed study rated by two people and two judges, of which one is in a group with a person."""
    made = HandMade(
        "alpha", "beta", "gamma", slug="small", categories=("coding", "poems"), closed_at=timezone.now()
    )
    strict, kind, other = made.judge("strict"), made.judge("kind"), factories.make_rater(name="Bob")
    group = factories.make_group(slug="panel")
    for name, contestant in made.contestants.items():
        contestant.slug = name
        contestant.save()
    for rater in (strict, made.person):
        rater.groups.add(group)
    for rater in (made.person, other, strict, kind):
        made.rate("alpha", "beta", 1, rater=rater)
        made.rate("beta", "gamma", 7, rater=rater, prompt=1)
    say_of_texts(made, strict)
    Pair.objects.update(gold="first", gold_source="by hand")
    services.refresh(made.study)
    for version in ("1.0", "2.0"):
        release(made, version)
    pair = made.pair("alpha", "beta")
    made.places = {
        **{"slug": "small", "selector": "judge:strict", "panel": "games", "what": "arena", "form": "csv"},
        **{"contestant": "alpha", "first": "alpha", "second": "beta", "number": 2, "other": 1},
        **{"pair": pair.pk, "text": pair.first_id},
        "comparison": Comparison.objects.get(pair=pair, rater=strict).pk,
    }
    made.panels = {
        name: computed(Client(), made.study, address(made, name)).context["page"].panels for name in PAGES
    }
    return made


def say_of_texts(made, rater):
    """The rater scores and checks every answer, which has a feature."""
    for said in Completion.objects.filter(prompt__study=made.study):
        question = said.prompt.questions.first() or factories.make_question(prompt=said.prompt)
        factories.make_score(completion=said, rater=rater, value=1 + said.pk % 5)
        factories.make_answer(completion=said, question=question, rater=rater)
        if not said.features.exists():
            factories.make_feature(completion=said)


def address(made, name, **other):
    """Where the page of this name is; of what it is about ``other`` may be something else."""
    form = {"form": "bib"} if name == "study-release-citation" else {}
    return reverse(name, kwargs={part: {**made.places, **form, **other}[part] for part in PARTS_OF[name]})


def parts_of(panel):
    return [panel.csv_url, panel.table_url, *([panel.figure_url] if panel.has_figure else [])]


def statuses(client, addresses):
    return {each: client.get(each).status_code for each in addresses}


def test_a_private_study_does_not_exist_for_the_public(client, made):
    made.change(visibility="private")
    pages = {address(made, name) for name in PAGES}
    others = {f"{page}computing/" for page in pages} | {address(made, name) for name in OTHERS}
    parts = {part for panels in made.panels.values() for panel in panels[:1] for part in parts_of(panel)}
    assert statuses(client, pages | others | parts) == dict.fromkeys(pages | others | parts, 404)
    client.force_login(factories.make_user(is_staff=True))
    assert statuses(client, pages) == dict.fromkeys(pages, 200)


def test_an_unknown_study_or_part_of_an_address_is_not_there(client, made):
    unknown = {part: 10**6 if isinstance(value, int) else "nobody" for part, value in made.places.items()}
    wrong = {
        address(made, name, **{part: unknown[part]})
        for name in PARTS_OF
        if name not in OF_OPERATORS
        for part in PARTS_OF[name]
        if part == "panel" or name not in BESIDE
    }
    assert statuses(client, wrong) == dict.fromkeys(wrong, 404)


def test_what_has_not_changed_is_not_sent_again(client, made):
    files = parts_of(made.panels["study"][0])
    others = [address(made, name) for name in (*PAGES, *OTHERS) if name not in WITHOUT_ETAG]
    known = {each: client.get(each)["ETag"] for each in (*files, *others)}
    again = {each: client.get(each, headers={"If-None-Match": tag}) for each, tag in known.items()}
    found = {each: (reply.status_code, reply.content) for each, reply in again.items()}
    assert found == dict.fromkeys(known, (304, b""))


def test_every_panel_is_a_table_a_file_and_where_it_is_drawn_a_figure(client, made):
    for panel in (panel for panels in made.panels.values() for panel in panels):
        file = client.get(panel.csv_url)
        assert file["Content-Disposition"] == f'attachment; filename="small-{panel.slug}.csv"'
        heading, *rows = csv.reader(io.StringIO(file.content.decode("utf-8-sig"), newline=""))
        assert (heading, len(rows)) == (list(panel.table.columns), len(panel.table.rows))
        assert panel.title in text(client.get(panel.table_url))
        drawn = client.get(panel.figure_url)
        assert drawn.status_code == (200 if panel.has_figure else 404)
        assert not panel.has_figure or drawn.json()["data"]


def test_a_page_that_waits_for_nothing_is_loaded_again(client, made):
    for page in (address(made, name) for name in PAGES):
        assert client.get(f"{page}computing/").url.removesuffix("?") == page
        reply = client.get(f"{page}computing/", headers={"HX-Request": "true"})
        assert (reply.status_code, reply["HX-Refresh"]) == (204, "true")
        assert "no-store" in reply["Cache-Control"]


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
    assert not tabs(client, "bare") & NEEDED.keys()
    assert tabs(client, "small") >= NEEDED.keys()
    shown = [f"/studies/small/{page}" for page in tabs(client, "small")]
    assert statuses(client, shown) == dict.fromkeys(shown, 200)
    for page, sentence in NEEDED.items():
        assert sentence in " ".join(text(client.get(f"/studies/bare/{page}")).split())


MORE = ("?columns=all", "comparisons/?search=i&raters=people")


def test_the_number_of_queries_does_not_grow_with_the_study(client, made):
    pages = {name: address(made, name) for name in PAGES} | {more: f"/studies/small/{more}" for more in MORE}

    def queries():
        found = {}
        for page, where in pages.items():
            if client.get(where).context["page"].pending is None:
                with CaptureQueriesContext(connection) as captured:
                    assert client.get(where).status_code == 200
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
    after = queries()
    assert after == {page: before[page] for page in after}
    assert len(after) >= len(PAGES) - 5, "some wait to be computed anew"
    assert (before["study"] <= 9, before["study-data"] <= 8, before["study-categories"] <= 6) == (True,) * 3
