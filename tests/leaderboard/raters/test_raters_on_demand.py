import json
import re
from dataclasses import replace

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from arena.models import Comparison
from leaderboard.models import ComputedView
from leaderboard.raters import content as rater_content
from leaderboard.refreshing import computing, services
from leaderboard.refreshing import tables as refreshing_tables
from leaderboard.snapshots import on_demand
from leaderboard.snapshots.declarations import method_of
from leaderboard.snapshots.reading import opinions
from leaderboard.snapshots.settings import Scope, Setting, parse_for_all
from leaderboard.snapshots.text_sizes import texts
from leaderboard.stats.ranking_method import Method
from tests import factories
from tests.leaderboard.reading import records
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db

ROUNDS = 20
ABOUT_RATERS = ("ratings", "length", "agreement", "correlation")
PAGES = ("raters/", "raters/people/", "raters/judge:strict/", "agreement/")


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """Two people and a judge rate the same pairs on 8 points, in both orders; another judge on 3 points."""
    made = HandMade("alpha", "beta", "gamma", slug="small", categories=("coding", "poems") * 3)
    for number, prompt in enumerate(made.prompts):
        for place, name in enumerate(("alpha", "beta", "gamma")):
            factories.make_completion(
                prompt=prompt,
                contestant=made.contestants[name],
                turns=["word " * (1 + (number * 5 + place * 3) % 7)],
                digest=f"{number} {place}",
            )
    strict, three, second = made.judge("strict"), made.judge("three"), factories.make_rater(name="Bob")
    for number in range(36):
        one, other = (("alpha", "beta"), ("beta", "gamma"), ("gamma", "alpha"))[number % 3]
        prompt = number % 6
        for turn, rater in enumerate((made.person, second, strict)):
            rating = 1 + (number * 5 + turn * (number % 4)) % 8
            shown = (one, other) if (number // 6 + turn) % 2 else (other, one)
            made.rate(*shown, rating, prompt=prompt, rater=rater)
        made.rate(one, other, 1 + number % 3, points=3, prompt=prompt, rater=three)
    made.snapshot = services.refresh(made.study).snapshot
    return made


def computed(made, band="", level="95"):
    """Tables about raters, as a worker makes them: contents by kind, raters and category."""
    chosen = Setting("", band=band, level=level)
    on_demand.contents(made.snapshot, chosen, Scope.RATERS)
    assert computing.compute_next(made.study.pk)
    answer = on_demand.contents(made.snapshot, chosen, Scope.RATERS)
    assert not isinstance(answer, on_demand.Pending), ComputedView.objects.get().error
    return {place[:3]: json.loads(payload) for place, payload in answer.items()}


def stored(made):
    rows = made.snapshot.slices.filter(kind__in=ABOUT_RATERS)
    return {(row.kind, row.raters, row.category): row.content for row in rows}


def of_answers(made, method, change=lambda rows: rows):
    """What a snapshot would hold of the study's answers after a ``change``."""
    read = opinions(made.study)
    tables = refreshing_tables.tables(replace(read, rows=change(read.rows)), method, {}, texts(made.study))
    found = [table for table in tables if table.kind in ABOUT_RATERS]
    return {(table.kind, table.raters, table.category): json.loads(table.payload) for table in found}


def to_three_points(rows):
    """With 2 to 7 of 8 as ties a rating says no more than one on 3 points."""
    eight, rating = rows["points"] == 8, rows["rating"]
    return rows.replaced(
        rating=np.where(eight, 1 + (rating > 1) + (rating == 8), rating),
        points=np.where(eight, 3, rows["points"]),
    )


class TestTables:
    def test_the_usual_setting_computed_anew_is_what_the_snapshot_holds(self, made):
        args = (opinions(made.study), method_of(made.snapshot), {}, texts(made.study))
        found = {(t.kind, t.raters, t.category): t.payload for t in rater_content.rater_tables(*args)}
        rows = made.snapshot.slices.filter(kind__in=ABOUT_RATERS)
        assert found == {(row.kind, row.raters, row.category): row.payload for row in rows}

    def test_a_band_of_all_but_the_ends_is_a_scale_of_three_points(self, made):
        """Verdicts are the same words; so are flips, wins of the longer, and agreement of verdicts."""
        found, expected = computed(made, "2-7"), of_answers(made, Method(rounds=ROUNDS), to_three_points)
        assert set(found) == set(expected)
        for place, content in found.items():
            other = expected[place]
            if place[0] == "ratings":
                kept = ("pairs", "prompts", "flipped", "rate", "low", "high", "to_first", "to_second")
                assert [(content["flips"] or {}).get(name) for name in kept] == [
                    (other["flips"] or {}).get(name) for name in kept
                ]
            elif place[0] == "length":
                assert content["measures"] == other["measures"]
            elif place[0] == "agreement":
                assert_same(content["within"]["rows"], other["within"]["rows"], ("alpha_verdict", "fleiss"))
                for one, again in zip(content["others"], other["others"], strict=True):
                    assert_same(one["rows"], again["rows"], ("kappa_verdict", "exact"))
        assert found["ratings", "people", ""]["flips"]["pairs"] > 0
        assert found["agreement", "judge:strict", ""]["others"][0]["rows"][0]["kappa_verdict"] is not None

    def test_a_band_leaves_what_is_no_verdict_and_other_scales_alone(self, made):
        found, before = computed(made, "3-6"), stored(made)
        assert found["ratings", "people", ""]["flips"] != before["ratings", "people", ""]["flips"]
        for place, content in found.items():
            if place[0] == "correlation":
                assert content.pop("band") == "3-6"
                assert content == before[place]
            if place[0] == "ratings":
                assert content["scales"] == before[place]["scales"]
            if place[0] in ("ratings", "length") and place[1] == "judge:three":
                content.pop("band", None)
                assert content == before[place]
            if place[0] == "agreement":
                for row, again in zip(
                    content["within"]["rows"], before[place]["within"]["rows"], strict=True
                ):
                    assert row["alpha"] == again["alpha"]

    def test_a_level_is_that_of_every_interval(self, made):
        assert computed(made, level="80") == of_answers(made, Method(rounds=ROUNDS, interval=80.0))

    def test_texts_that_changed_while_they_were_read_and_bands_that_nobody_used(self, made, monkeypatch):
        def changed(study):
            study.touch()
            return texts(study)

        monkeypatch.setattr(rater_content, "texts", changed)
        on_demand.contents(made.snapshot, Setting("", band="3-6"), Scope.RATERS)
        assert computing.compute_next(made.study.pk)
        assert on_demand.contents(made.snapshot, Setting("", band="3-6"), Scope.RATERS).state == "changed"
        with pytest.raises(ValueError, match='has no band "2-4"'):
            parse_for_all({"band": "2-4"}, made.snapshot.counts)


def assert_same(rows, others, names):
    for row, other in zip(rows, others, strict=True):
        for name in names:
            for end in ("", "_low", "_high"):
                assert row[name + end] == other[name + end]


class TestPages:
    @pytest.mark.parametrize("page", PAGES)
    def test_it_waits_and_then_shows_the_numbers(self, client, made, page):
        address = f"/studies/small/{page}"
        waiting = client.get(f"{address}?category=coding&band=3-6&level=90")
        text = waiting.content.decode()
        assert "no-store" in waiting["Cache-Control"]
        assert "coding; ratings 3-6 of 8 are ties; 90% intervals" in text
        query = "category=coding&amp;band=3-6&amp;level=90"
        assert f'hx-get="{address}computing/?{query}&amp;shown=wanted"' in text
        assert "<figure" not in text
        assert "before some of what this page shows was computed" not in text
        work(made)
        shown = client.get(f"{address}?category=coding&band=3-6&level=90").content.decode()
        assert 'id="computing"' not in shown
        assert "<figure" in shown

    def test_one_computation_serves_every_page_and_category(self, client, made):
        client.get("/studies/small/raters/?band=3-6")
        work(made)
        for page in PAGES:
            for query in ("?band=3-6", "?band=3-6&category=poems"):
                assert 'id="computing"' not in client.get(f"/studies/small/{page}{query}").content.decode()
        assert ComputedView.objects.get().setting.startswith("raters/?band=3-6#")

    def test_ties_are_those_of_the_band(self, client, made):
        where = "/studies/small/raters/tables/kinds.csv?band=2-7"
        assert client.get(where).status_code == 202
        work(made)
        rows = {row["Raters"]: row for row in records(client, where)}
        ratings = Comparison.objects.filter(rater__slug="strict").values_list("rating", flat=True)
        ties = 100 * sum(2 <= rating <= 7 for rating in ratings) / len(ratings)
        assert float(rows["STRICT"]["Tie %"]) == pytest.approx(ties, abs=0.01)

    def test_standings_under_a_band_are_on_the_board(self, client, made):
        assert client.get("/studies/small/raters/tables/ranks.csv").status_code == 200
        client.get("/studies/small/raters/?band=3-6")
        work(made)
        assert client.get("/studies/small/raters/tables/ranks.csv?band=3-6").status_code == 404
        # 4 and 5 of 8 and 2 of 3 are the usual ties; 3 points have no other band.
        page = client.get("/studies/small/raters/").content.decode()
        assert re.findall(r'id="band-\d" href="(.*?)".*?>(.*?)</a>', page) == [
            ("?", "4-5 of 8, 2 of 3"),
            ("?band=3-6", "3-6"),
            ("?band=2-7", "2-7"),
        ]

    @pytest.mark.parametrize("page", PAGES)
    def test_what_is_ready_takes_no_more_queries_than_what_is_stored(self, client, made, page):
        client.get(f"/studies/small/{page}?band=3-6")
        work(made)
        counts = []
        for query in ("", "?band=3-6"):
            with CaptureQueriesContext(connection) as captured:
                client.get(f"/studies/small/{page}{query}")
            counts.append(len(captured))
        assert counts[1] <= counts[0] + 1


def work(made):
    assert computing.compute_next(made.study.pk)
