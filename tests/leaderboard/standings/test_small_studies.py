"""In small studies of every kind, what the leaderboard says in words is what its table says, everywhere."""

import itertools
import random
import re
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from arena.models import Comparison, Rater, Study
from leaderboard.pages.standings.sentences import ranks_written
from leaderboard.refreshing import services
from tests import factories
from tests.leaderboard.releases.releasing import release
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

NAMES = ("Alpha", "Bravo", "Charlie", "Delta", "Echo", "Foxtrot")
SEEDS = (5, 6, 9, 10)  # of each kind one
METHODS = ("elo", "bradley-terry")


def make_small(seed: int) -> HandMade:
    """1 to 4 people, 0 to 3 judges and 2 to 6 models, of which one may have no answers.

    Either one model wins everything, or all are equal, or wins are random; some pairs are never rated.
    """
    draw = random.Random(seed)
    names = NAMES[: draw.randint(2, 6)]
    made = HandMade(*names, slug="small", categories=("coding", "coding", "poems"))
    raters = [factories.make_rater(name=f"Person {n}") for n in range(draw.randint(1, 4))]
    raters += [made.judge(f"judge-{n}") for n in range(draw.randint(0, 3))]
    rated = names[: len(names) - draw.randint(0, 1)] if len(names) > 2 else names
    pattern = draw.choice(("all equal", "first wins", "last wins", "random", "two groups"))
    for rater, (one, other), prompt in itertools.product(raters, itertools.combinations(rated, 2), range(3)):
        together = rated.index(one) < 2 and rated.index(other) < 2
        if pattern == "two groups" and not together and (rated.index(one) < 2 or rated.index(other) < 2):
            continue
        sure = {"all equal": 4, "first wins": 2, "last wins": 7}
        for _ in range(draw.choice((1, 1, 4))):
            made.rate(one, other, sure.get(pattern) or draw.randint(1, 8), rater=rater, prompt=prompt)
    if draw.random() < 0.5:
        Study.objects.filter(pk=made.study.pk).update(closed_at=timezone.now())
        made.study.refresh_from_db()
    services.refresh(made.study)
    return made


def rows_of(page: str) -> list[tuple[str, str]]:
    """Name and rank of each row of the leaderboard, in its order."""
    table = page[page.index('id="standings-table"') :]
    table = table[: table.index("</table>")]
    return re.findall(r'<span class="place">(.*?)</span>.*?<bdi>(.*?)</bdi>', table, re.DOTALL)


def first_of(sentence: str, names: list[str]) -> set[str]:
    """Those of whom a sentence says that they are first."""
    told = re.split(r" leads\b| is first\b| share the first place\b", sentence)[0]
    if more := re.fullmatch(r"(\w+) and (\d+) others|All (\d+) models", told):
        return set(names[: int(more[2]) + 1 if more[2] else int(more[3])])
    return set(told.split(" and "))


@pytest.mark.parametrize("seed", SEEDS)
def test_who_is_said_to_be_first_is_first_in_the_table_and_ranks_are_the_same_everywhere(seed, client):
    made = make_small(seed)
    raters = [one["selector"] for one in made.study.snapshots.get().counts["raters"]]
    for number, (one, how) in enumerate(zip(raters, itertools.cycle(METHODS), strict=False)):
        query = f"?raters={one}&method={how}"
        found = client.get(f"/studies/small/standings.json{query}").json()
        says_the_same(client, query, expected := ranking(found), found)
        if number == 0:
            for rank, name in expected:
                slug = made.contestants[name].slug
                one = client.get(f"/studies/small/contestants/{slug}/{query}").content.decode()
                assert re.search(r"<dt>Rank</dt><dd>(.*?) <", one)[1] == rank
    home, opened = (client.get(address).content.decode() for address in ("/", "/studies/small/"))
    top = re.findall(r'<td class="num">(\d+=?)</td>\s*<th scope="row"><bdi>(.*?)</bdi>', home)
    assert top == rows_of(opened)[:3]
    assert said(opened) in home
    assert said(opened) in client.get(release(made).get_absolute_url()).content.decode()


def ranking(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Ranks as they are to be written, and names."""
    scored = [row for row in found["standings"] if row["rating"] is not None]
    ranks = ranks_written((row["component"], row["rank"]) for row in scored)
    return [(rank, row["contestant"]) for rank, row in zip(ranks, scored, strict=True)]


def says_the_same(client, query: str, expected: list[tuple[str, str]], found: dict[str, Any]) -> None:
    """Leaderboard, categories and command, for one kind of raters and one method."""
    page = client.get(f"/studies/small/{query}").content.decode()
    names = [name for _, name in expected]
    assert rows_of(page) == expected
    first = {row["contestant"] for row in found["standings"] if (row["component"], row["rank"]) == (0, 1)}
    assert first_of(said(page), names) == first, said(page)
    assert ("provisional" in said(page)) == bool(first & set(in_class(page, "provisional")))
    assert in_class(page, "leads") == [name for name in names if name in in_class(page, "leads")]
    assert first <= set(in_class(page, "leads") or first)
    categories = client.get(f"/studies/small/categories/{query}").content.decode()
    assert over_all(categories) == {name: rank for rank, name in expected}
    raters, method = re.findall(r"=([^&]+)", query)
    out = StringIO()
    call_command("standings", "small", "--raters", raters, "--method", method, "--rounds", "10", stdout=out)
    assert re.findall(r"^ *(\d+=?) .*?([A-Z][a-z]+) ", out.getvalue(), re.MULTILINE) == expected
    everything = found["games"] + found["left_out"] + sum(found["not_used"].values())
    assert (
        everything
        == Comparison.objects.filter(rater__in=Rater.objects.selected(Study.objects.get(), raters)).count()
    )


def said(page: str) -> str:
    """Who leads, in words."""
    return re.search(r'<p class="lead-first">(.*?)<', page, re.DOTALL)[1].strip()


def in_class(page: str, name: str) -> list[str]:
    return re.findall(rf'<tr role="row" class="[a-z ]*{name}.*?<bdi>(.*?)</bdi>', page, re.DOTALL)


def over_all(page: str) -> dict[str, str]:
    """The ranks over all categories."""
    body = page[page.index('id="category-table"') : page.index("</table>")]
    rows = re.findall(r"<bdi>(.*?)</bdi>(.*?)</tr>", body, re.DOTALL)
    return {name: re.findall(r"rank ([^< ]+)", rest)[0] for name, rest in rows}
