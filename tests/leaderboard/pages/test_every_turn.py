"""Pages of one turn of conversations show what was said of that turn, or say that it is of all turns."""

import random

import pytest
from django.utils import timezone

from arena.models import Prompt
from leaderboard.raters.agreement.verdict import Verdict
from leaderboard.refreshing import services
from leaderboard.standings.page import Board
from tests import factories
from tests.leaderboard.reading import computed, text
from tests.leaderboard.rows import HandMade, few_rounds

pytestmark = pytest.mark.django_db

ROOT = "/studies/by-turn/"
ADDRESSES = (
    "?raters=people&",
    "?raters=people&method=bradley-terry&pairwise=on&",
    "?raters=judge:strict&",
    "categories/?raters=people&",
    "contestants/{alpha}/?raters=people&",
    "raters/?",
    "raters/?category=prose&",
    "raters/judge:strict/?",
    "agreement/?",
    "agreement/two/?",
)
MODELS = ("alpha", "beta", "gamma")
CHANCE = {1: (0.9, 0.5, 0.1), 2: (0.15, 0.45, 0.85)}
"""How often a model is better, by turn: the best at the first is the worst at the second."""

SENTENCES = (
    *("size", "neither", "leading", "on_judges", "own_families"),
    *("verdict", "notices", "warnings", "sentences"),
)


@pytest.fixture(autouse=True, scope="module")
def study(shared_rows):
    """People and judges of which one is hasty at the first turn; at the second there are fewer ratings."""
    made, rng = HandMade(*MODELS, slug="by-turn", categories=("coding", "prose") * 12), random.Random(5)
    Prompt.objects.update(turns=["Why?", "And?"])
    people = [made.person, factories.make_rater(name="Bea")]
    judges = [made.judge("strict"), made.judge("hasty")]
    for turn, chance in CHANCE.items():
        for prompt in range(24 if turn == 1 else 22):
            for one, other in ((0, 1), (0, 2), (1, 2)):
                for rater in (*people, *judges):
                    for shown in ((one, other), (other, one)) if rater in judges else ((one, other),):
                        _rate(made, rng, rater, shown, chance, prompt=prompt, turn=turn, repeat=0)
    made.change(closed_at=timezone.now())
    with few_rounds(200):
        services.refresh(made.study)
    return made.study


def _rate(made, rng, rater, shown, chance, **about):
    first, second = (chance[at] for at in shown)
    hasty = rater.slug == "hasty"
    if hasty and about["turn"] == 1:
        first += 1  # the answer shown first
    if rng.random() < (0.3 if about["turn"] == 2 else 0.05):
        names = (MODELS[at] for at in shown)
        if hasty:
            made.rate(*names, None, reason="refused", rater=rater, **about)
        else:
            made.rate(*names, 4, neither=rater.kind == "person", rater=rater, **about)
        return
    better = rng.random() < first / (first + second)
    made.rate(*(MODELS[at] for at in shown), 2 if better else 7, rater=rater, **about)


def numbers_said(page):
    """The sentences of a page that hold a number and do not say that it is of all turns."""
    found = [getattr(page, name, "") for name in SENTENCES]
    every = [one for each in found for one in ([each] if isinstance(each, str) else _parts(each))]
    return {one for one in every if any(map(str.isdigit, one)) and "all turns" not in one.lower()}


def _parts(said):
    return [said.short, said.rest] if isinstance(said, Verdict) else said


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_table_or_sentence_of_a_turn_is_of_others(client, study, address):
    address = address.format(alpha=study.contestants.get(name="alpha").slug)
    one, other, every = (
        computed(client, study, f"{ROOT}{address}{turn}").context["page"] for turn in ("turn=1", "turn=2", "")
    )
    tables = [{each.slug: each for each in page.panels} for page in (one, other)]
    both = tables[0].keys() & tables[1].keys()
    assert both
    for slug in both:
        first, second = (each[slug] for each in tables)
        assert first.table.rows != second.table.rows or "all turns" in first.note.lower(), slug
        assert "turn-1" in first.name
        assert "turn" not in every.panel(slug).name
    assert not numbers_said(one) & numbers_said(other)
    assert "turn 1" in one.setting_words


def test_files_name_the_turn(client, study):
    computed(client, study, f"{ROOT}?raters=people&turn=2")
    told = client.get("/api/v1/studies/by-turn/standings/?raters=people&turn=2").json()
    assert (told["turn"], told["games"]) == (2, 132)
    rows = list(Board.newest(study, {"raters": "people", "turn": "2"}).file_rows())
    assert {(row["turn"], row["all_games"]) for row in rows} == {(2, 132)}
    file = client.get(f"{ROOT}tables/standings.csv?raters=people&turn=2")
    assert file["Content-Disposition"] == 'attachment; filename="by-turn-standings-turn-2.csv"'
    assert "Counted: turn 2." in text(client.get(f"{ROOT}tables/standings/?raters=people&turn=2"))


def test_switches_count_what_is_at_the_turn(client, study):
    page = computed(client, study, f"{ROOT}?raters=people&turn=2").context["page"]
    shown = {each.name: [option.comparisons for option in each.options] for each in page.switches}
    assert shown["raters"][0] == shown["turn"][2] == page.content["games"] == 132
    assert shown["category"] == [132, None, None]
