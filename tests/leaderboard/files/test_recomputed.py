"""What pages and files print of random small studies, computed again from the answers by other libraries.

Nothing here is shared with the code that made the numbers: answers are kept as they were given, in a data
frame, and what is printed is read back from CSV and JSON.
"""

import csv
import io
import random
from itertools import product

import krippendorff
import numpy as np
import pandas as pd
import pytest
from django.db import transaction
from django.utils import timezone
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from arena.models import Comparison, Contestant, Study
from leaderboard.refreshing import computing, services
from tests import factories
from tests.leaderboard.rows import HandMade, few_rounds

pytestmark = pytest.mark.django_db

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")
RETIRED = "epsilon"
CATEGORIES = ("coding", "poems") * 4
PLACE = "/studies/again/"


@pytest.fixture(scope="module", params=[1, 2])
def answers(request, shared_rows):
    """Every current answer of a random study: two people on 8 points, a judge on 3 and now and then on 5."""
    with few_rounds(2), transaction.atomic():  # one study after the other
        yield rated_at_random(random.Random(request.param))
        transaction.set_rollback(True)


def rated_at_random(draw):
    made = HandMade(*NAMES, slug="again", categories=CATEGORIES)
    raters = {
        "Ada": (made.person, (8,)),
        "Bob": (factories.make_rater(name="Bob"), (8,)),
        "STRICT": (made.judge("strict"), (3, 3, 3, 5)),
    }
    rows = []
    for _ in range(120):
        name = draw.choice(list(raters))
        rater, scales = raters[name]
        (first, second), prompt, points = draw.sample(NAMES, 2), draw.randrange(8), draw.choice(scales)
        better = NAMES.index(second) - NAMES.index(first) + draw.gauss(-0.5, 2)
        rating = None if draw.random() < 0.1 else 1 + min(points - 1, max(0, round(points / 2 + better)))
        more = {"reason": draw.choice(["refused", "empty"])} if rating is None else {}
        given = made.rate(first, second, rating, prompt=prompt, rater=rater, points=points, **more)
        if draw.random() < 0.1:  # it thought again
            Comparison.objects.filter(pk=given.pk).update(is_current=False)
            rating, more = draw.randint(1, points), {}
            made.rate(first, second, rating, prompt=prompt, rater=rater, points=points, revises=given)
        rows.append((name, prompt, first, second, points, rating))
    Contestant.objects.filter(name=RETIRED).update(retired_at=timezone.now())
    services.refresh(made.study)
    frame = pd.DataFrame(rows, columns=["rater", "prompt", "first", "second", "points", "rating"])
    frame["kind"] = np.where(frame.rater == "STRICT", "judge:strict", "people")
    frame["pair"] = [
        f"{row.prompt} {min(row.first, row.second)} {max(row.first, row.second)}"
        for row in frame.itertuples()
    ]
    frame["category"] = [CATEGORIES[prompt] for prompt in frame.prompt]
    middle, half = (frame.points + 1) / 2, (frame.points - 1) / 2
    frame["place"] = (frame.rating - middle) / half  # -1: whatever stands first is much better
    frame["opinion"] = np.where(frame["first"] < frame["second"], frame.place, -frame.place)
    return frame


def table(client, address):
    """The rows of a CSV file, numbers as numbers and nothing as None."""
    text = client.get(PLACE + address).content.decode("utf-8-sig")
    return [{name: _cell(cell) for name, cell in row.items()} for row in csv.DictReader(io.StringIO(text))]


def _cell(cell):
    try:
        return float(cell) if cell else None
    except ValueError:
        return cell


def games(rows, ties):
    """Winner, loser and whether it was a tie, of each game."""
    playing = rows[(rows["first"] != RETIRED) & (rows["second"] != RETIRED) & rows.rating.notna()]
    for row in playing.itertuples():
        tied = abs(row.place) <= 1 / 7 + 1e-9  # 4 and 5 of 8, and the middle of an odd scale
        if (tied and ties) or row.place:
            better, worse = (row.first, row.second) if row.place < 0 else (row.second, row.first)
            yield better, worse, tied and ties


def points(played, one, other=None):
    """Games of one (against the other), and of these won and tied."""
    met = [game for game in played if one in game[:2] and (other is None or other in game[:2])]
    return len(met), sum(game[0] == one and not game[2] for game in met), sum(game[2] for game in met)


def test_games_wins_and_win_rates(client, answers):
    settings = product(("people", "judge:strict"), ("on", "off"), ("", "coding", "poems"))
    for raters, ties, category in settings:
        rows = answers[(answers.kind == raters) & answers.category.str.startswith(category)]
        played = list(games(rows, ties == "on"))
        query = f"?raters={raters}&ties={ties}&category={category}"
        standings = table(client, f"tables/standings.csv{query}")
        assert {row["Contestant"] for row in standings} == {name for game in played for name in game[:2]}
        for row in standings:
            n, won, tied = points(played, row["Contestant"])
            assert row["Games"] == n
            assert (row["Win %"], row["Tie %"]) == pytest.approx((100 * won / n, 100 * tied / n), abs=0.01)
            assert row["Win share %"] == pytest.approx(100 * (won + tied / 2) / n, abs=0.01)
        for row in table(client, f"tables/win-rates.csv{query}"):
            for other in {row["Contestant"] for row in standings} - {row["Contestant"]}:
                n, won, tied = points(played, row["Contestant"], other)
                expected = [None] * 3
                if n:
                    rate = (won + tied / 2) / n
                    expected = pytest.approx([rate, *proportion_confint(rate * n, n, 0.05, "wilson")])
                assert [row[f"{other}: {what}"] for what in ("win rate", "low", "high")] == expected
        if not category:
            for row in table(client, f"contestants/{slug(NAMES[0])}/tables/opponents.csv{query}"):
                assert (row["Games"], row["Wins"], row["Ties"]) == points(played, NAMES[0], row["Opponent"])


def slug(name):
    return Contestant.objects.get(name=name).slug


def test_the_whole_leaderboard_holds_those_who_played(client, answers):
    for raters in ("people", "judge:strict"):
        found = client.get(f"{PLACE}leaderboard.json?raters={raters}&ties=off").json()
        for category, entries in found.items():
            about = answers.category == category if category != "full" else answers.category != ""
            played = list(games(answers[about & (answers.kind == raters)], ties=False))
            assert {name: entry["n"] for name, entry in entries.items()} == {
                name: points(played, name)[0] for game in played for name in game[:2]
            }
            assert all(entry["rating"] is not None for entry in entries.values())


def test_position_and_flips(client, answers):
    rated = answers[answers.rating.notna()]
    for row in table(client, "raters/tables/position.csv"):
        kind = "people" if row["Raters"].startswith("People") else "judge:strict"
        own = rated[(rated.kind == kind) & (rated.points == row["Scale (points)"])]
        assert row["Ratings (n)"] == len(own)
        assert row["Prefers first %"] == pytest.approx(
            100 * (own.place < 0).sum() / (own.place != 0).sum(), abs=0.01
        )
        assert row["Mean rating"] == pytest.approx(own.rating.mean(), abs=1e-6)
        counts = own.rating.value_counts()
        met = [
            (counts.get(r, 0), counts.get(row["Scale (points)"] + 1 - r, 0))
            for r in range(1, int(row["Scale (points)"]) // 2 + 1)
        ]
        used = [(a, b) for a, b in met if a + b]
        chi2 = sum(stats.chisquare(pair).statistic for pair in used)
        assert (row["Chi-square"], row["df"]) == (pytest.approx(chi2, abs=1e-6), len(used))
    for kind in ("people", "judge:strict"):
        own, pairs, to_first, to_second = rated[rated.kind == kind], 0, 0, 0
        for _, same in own.groupby(["pair", "rater"]):
            one, other = (same[same["first"] == name] for name in sorted({*same["first"], *same["second"]}))
            if len(one) and len(other):
                sides = [
                    np.sign(place) * (abs(place) > 1 / 7 + 1e-9)
                    for place in (one.place.iloc[0], other.place.iloc[0])
                ]
                pairs, to_first, to_second = (
                    pairs + 1,
                    to_first + (sum(sides) < 0),
                    to_second + (sum(sides) > 0),
                )
        (row,) = table(client, f"raters/{kind}/tables/flips.csv")
        assert row["Pairs in both orders"] == pairs
        assert (row["Followed the first"], row["Followed the second"]) == (to_first, to_second)
        assert row["Verdict changed"] == to_first + to_second, (
            "a verdict that changed leans to one of the places"
        )


def test_correlation_kappa_and_alpha(client, answers):
    rated = answers[answers.rating.notna()]
    people, judge = rated[rated.kind == "people"], rated[rated.kind == "judge:strict"]
    means = pd.concat([side.groupby("pair").opinion.mean() for side in (judge, people)], axis=1).dropna()
    x, y = (np.concatenate((column, -column)).round(9) for column in means.to_numpy().T)
    row = next(
        row
        for row in table(client, "agreement/tables/correlations.csv")
        if row["Category"] == "All" and row["Raters"] == "STRICT"
    )
    found = (row["Pearson r"], row["Spearman rho"], row["Kendall tau"])
    wanted = [test(x, y)[0] for test in (stats.pearsonr, stats.spearmanr, stats.kendalltau)]
    assert row["Pairs (n)"] == len(means)
    assert found == pytest.approx(tuple(wanted), abs=1e-6)

    both = judge.merge(people, on="pair")
    a, b = (np.concatenate((both[side], -both[side])) for side in ("opinion_x", "opinion_y"))
    kappa = 1 - ((a - b) ** 2).mean() / ((a[:, None] - b[None, :]) ** 2).mean()
    row = next(row for row in table(client, "agreement/tables/kappa.csv") if row["Category"] == "All")
    assert (row["Ratings compared (n)"], row["Pairs"]) == (len(both), both.pair.nunique())
    assert row["Weighted kappa"] == pytest.approx(kappa, abs=1e-6)

    once = people.drop_duplicates(["pair", "rater"])
    units = [list(own.opinion) for _, own in once.groupby("pair") if len(own) > 1]
    ratings = np.array(units + [[-value for value in unit] for unit in units]).T
    alpha = krippendorff.alpha(reliability_data=ratings, level_of_measurement="interval")
    row = next(
        row
        for row in table(client, "agreement/tables/within.csv")
        if row["Category"] == "All" and row["Raters"] == "People"
    )
    assert (row["Pairs (2+ ratings)"], row["Alpha"]) == (len(units), pytest.approx(alpha, abs=1e-6))


def test_a_table_of_ratings_says_what_it_leaves_out(client, answers):
    rated = answers[answers.rating.notna()]
    people, judge = rated[rated.kind == "people"], rated[rated.kind == "judge:strict"]
    every, counted = (len(side.merge(people, on="pair")) for side in (judge, judge[judge.points == 3]))
    client.get(f"{PLACE}agreement/two/")
    assert computing.compute_next(Study.objects.get(slug="again").pk)
    page = client.get(f"{PLACE}agreement/two/").content.decode()
    assert f"It counts {counted} of {every}: those on the commonest scale of both." in page
    columns = table(client, "agreement/two/tables/confusion.csv")
    cells = [cell for row in columns for name, cell in row.items() if "\\" not in name]
    assert sum(cells) == 2 * counted
    assert "scale of 3 points" in client.get(f"{PLACE}raters/").content.decode()
