from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.models import ComputedView, Snapshot, SnapshotSlice
from leaderboard.refreshing import computing, services
from tests import factories
from tests.leaderboard.reading import records, text
from tests.leaderboard.rows import HandMade

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True, scope="module")
def shared(shared_rows, rounds):
    """alpha beats beta 2 of 3 (one tie), and loses to gamma on the poem; a judge sees it the other way."""
    made = HandMade("alpha", "beta", "gamma", "idle", slug="small", categories=("coding", "poems"))
    strict = made.judge("strict")
    made.rate("alpha", "beta", 1)
    made.rate("beta", "alpha", 8)
    made.rate("alpha", "beta", 4)
    made.rate("alpha", "gamma", 7, prompt=1)
    made.rate("alpha", "beta", 8, rater=strict)
    made.rate("gamma", "beta", 2, rater=strict, prompt=1)
    services.refresh(made.study)
    return made


def url(made, name):
    return f"/studies/small/contestants/{made.contestants[name].slug}/"


def test_the_card(client, made):
    alpha = made.contestants["alpha"]
    alpha.kind, alpha.organisation, alpha.licence = "people", "The Lab", "CC0"
    alpha.family, alpha.size = "Lapwing", "34B"
    alpha.generation = {"temperature": 0.5}
    alpha.benchmarks = {"MMLU": 69.8, "Chess": -12}
    alpha.save()
    page = text(client.get(url(made, "alpha")))
    for words in ("The Lab", "CC0", "Lapwing", "34B", "temperature", "0.5", "MMLU", "69.8", "Chess", "-12"):
        assert words in page
    assert '<span class="badge badge-info" title="Written by people">People</span>' in page


def test_place_opponents_categories_and_raters_are_those_of_the_snapshot(client, made):
    row = standing("alpha")
    page = text(client.get(url(made, "alpha")))
    assert '<dd>2 <span class="muted">of 3 (1–3)</span></dd>' in page  # as on the leaderboard
    assert f"<dd>{row['rating']:.0f}</dd>" in page
    found = records(client, url(made, "alpha") + "tables/opponents.csv")
    assert [
        (each["Opponent"], each["Games"], each["Wins"], each["Ties"], each["Win rate"]) for each in found
    ] == [
        ("beta", "3", "2", "1", "0.8333"),
        ("gamma", "1", "0", "0", "0.0"),
    ]
    page = url(made, "alpha")
    assert [row["Category"] for row in records(client, page + "tables/categories.csv")] == [
        "All categories",
        "coding",
        "poems",
    ]
    by_raters = records(client, page + "tables/raters.csv")
    assert [(row["Raters"], row["Rank"]) for row in by_raters] == [("People", "2"), ("STRICT", "3")]


def test_it_begins_with_rank_and_score_and_names_only_clear_categories(client, made, monkeypatch):
    page = text(client.get(url(made, "alpha")))
    score = f"<dd>{standing('alpha')['rating']:.0f}</dd>"
    assert page.index(score) < page.index("switch-raters") < page.index("About</h2>")
    assert "overall in" not in page
    monkeypatch.setattr(
        "leaderboard.standings.contestants.page.differs", lambda row, _: int(row.label == "coding")
    )
    assert "overall in coding" in text(client.get(url(made, "alpha")))


def test_a_usual_level_is_read_from_the_snapshot(client, made, monkeypatch):
    monkeypatch.setattr(services, "ROUNDS", 200)
    services.refresh(made.study, anew=True)
    enough = text(client.get(f"{url(made, 'alpha')}?level=80"))
    assert "<dt>80% interval</dt>" in enough
    row = standing("alpha")
    low, high = row["quantiles"]["10"], row["quantiles"]["90"]
    assert f"<dd>{low:.0f}–{high:.0f}</dd>" in enough
    assert not ComputedView.objects.exists()


def standing(name):
    """The row of a contestant in the newest standings by people over all categories."""
    found = SnapshotSlice.objects.filter(
        kind="standings", raters="people", ties="on", category="", method="elo"
    )
    return next(row for row in found.latest("pk").content["standings"] if row["contestant"] == name)


class TestAnySetting:
    WANTED = "?raters=people&band=3-6&level=97.5&resample=games"

    def test_it_waits_and_then_shows_what_board_and_categories_show(self, client, made):
        page = url(made, "alpha")
        waiting = text(client.get(page + self.WANTED))
        assert "ratings 3–6 are ties, resampled ratings, 97.5% intervals" in waiting
        assert f'hx-get="{page}computing/{self.WANTED.replace("&", "&amp;")}&amp;shown=wanted"' in waiting
        assert "Scores by category" not in waiting
        assert client.get(f"{page}tables/opponents.csv{self.WANTED}").status_code == 202
        for _ in ("the board", "the categories"):
            assert computing.compute_next(made.study.pk)
        board = client.get(f"/studies/small/standings.json{self.WANTED}").json()
        row = next(row for row in board["standings"] if row["contestant"] == "alpha")
        shown = text(client.get(page + self.WANTED))
        assert "<dt>97.5% interval</dt>" in shown
        assert f"<dd>{row['rating']:.0f}</dd>" in shown
        everywhere, *each = records(client, f"{page}tables/categories.csv{self.WANTED}")
        for found in (everywhere, records(client, f"{page}tables/raters.csv{self.WANTED}")[0]):
            assert [found[name] for name in ("Rank", "Rating", "Low (97.5 % interval)", "Games")] == [
                str(row[name]) for name in ("rank", "rating", "low", "games")
            ]
        matrix = records(client, f"/studies/small/categories/tables/categories.csv{self.WANTED}")
        own = next(line for line in matrix if line["Contestant"] == "alpha")
        assert [(line["Category"], line["Rating"]) for line in each] == [
            (name, own[f"{name}: rating"]) for name in ("coding", "poems")
        ]

    def test_a_wider_band_makes_ties_of_more_games(self, client, made):
        """Against beta 1, 8 (turned round) and 4; against gamma 7, which is a tie from 2 to 7."""
        where = url(made, "alpha") + "tables/opponents.csv?band=2-7"
        client.get(where)
        computing.compute_next(made.study.pk)
        computing.compute_next(made.study.pk)
        found = [
            (each["Opponent"], each["Wins"], each["Ties"], each["Win rate"])
            for each in records(client, where)
        ]
        assert found == [("beta", "2", "1", "0.8333"), ("gamma", "0", "1", "0.5")]

    def test_models_only_leave_people_out(self, client, made):
        made.contestants["gamma"].kind = "people"
        made.contestants["gamma"].save()
        made.study.touch()
        services.refresh(made.study)
        alpha, gamma = (url(made, name) + "?contestants=models" for name in ("alpha", "gamma"))
        client.get(alpha)
        computing.compute_next(made.study.pk)
        computing.compute_next(made.study.pk)
        assert '<span class="muted">of 2</span>' in text(client.get(alpha))
        assert "leaves out answers by people" in text(client.get(gamma))

    def test_the_history_is_of_settings_that_snapshots_hold(self, client, made):
        grow_older(made)
        assert client.get(url(made, "alpha") + "tables/history.csv").status_code == 200
        client.get(url(made, "alpha") + "?band=3-6")
        computing.compute_next(made.study.pk)
        computing.compute_next(made.study.pk)
        assert client.get(url(made, "alpha") + "tables/history.csv?band=3-6").status_code == 404

    def test_snapshots_without_a_level_have_no_interval_in_the_history(self, client, made, monkeypatch):
        monkeypatch.setattr(services, "ROUNDS", 200)
        grow_older(made)
        old, _, new = records(client, url(made, "alpha") + "tables/history.csv?level=80")
        assert old["Low (80 % interval)"] == ""
        assert new["Low (80 % interval)"] == str(standing("alpha")["quantiles"]["10"])


def test_ties_off_counts_no_ties(client, made):
    (beta, _) = records(client, url(made, "alpha") + "tables/opponents.csv?ties=off")
    assert (beta["Games"], beta["Wins"], beta["Ties"]) == ("3", "3", "0")


def test_a_contestant_without_games_or_without_lengths(client, made):
    page = text(client.get(url(made, "idle")))
    assert "No score with this setting" in page
    assert client.get(url(made, "idle") + "tables/opponents.csv").status_code == 404
    SnapshotSlice.objects.filter(kind="data").delete()
    assert "Rank and score" in text(client.get(url(made, "alpha")))


def test_a_retired_contestant(client, made):
    gone = made.contestants["gamma"]
    gone.retired_at = timezone.now()
    gone.save()
    made.study.touch()
    services.refresh(made.study)
    page = text(client.get(url(made, "gamma")))
    assert "Retired on" in page
    assert "No score with this setting" in page


def test_the_list_is_the_board_and_strangers_are_not_there(client, made):
    other = factories.make_contestant()
    for slug in (other.slug, "nobody"):
        assert client.get(f"/studies/small/contestants/{slug}/").status_code == 404
    assert client.get("/studies/small/contestants/")["Location"] == "/studies/small/"


def grow_older(made):
    """Two more snapshots, each two days and a rating after the one before."""
    for _ in range(2):
        for snapshot in Snapshot.objects.all():
            Snapshot.objects.filter(pk=snapshot.pk).update(created_at=snapshot.created_at - timedelta(days=2))
        made.rate("beta", "alpha", 2)
        services.refresh(made.study)


def test_the_history_holds_every_kept_snapshot(client, made):
    assert client.get(url(made, "alpha") + "tables/history.csv").status_code == 404
    Snapshot.objects.update(methodology="1")
    grow_older(made)
    found = records(client, url(made, "alpha") + "tables/history.csv")
    assert [row["Games"] for row in found] == ["4", "5", "6"]
    assert found[0]["Methodology"] == "1"
    assert "Open circles are scores by an earlier method" in text(client.get(url(made, "alpha")))


def test_samples_are_shown_once_the_study_is_closed(client, made):
    page = text(client.get(url(made, "alpha")))
    assert "Pairs open when rating ends" in page
    assert made.prompts[0].instruction not in page
    made.change(closed_at=timezone.now())
    page = text(client.get(url(made, "alpha")))
    assert made.prompts[0].instruction in page
    pair = made.pair("alpha", "beta")
    assert f'href="/studies/small/comparisons/{pair.pk}/?contestant={made.contestants["alpha"].slug}"' in page
    assert "None of its answers was rated" in text(client.get(url(made, "idle")))
