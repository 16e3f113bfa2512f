"""What judges' own probabilities say about their verdicts."""

import math

import pytest
from django.utils import timezone

from leaderboard.files.bundle import making
from leaderboard.models import Snapshot, SnapshotSlice
from leaderboard.refreshing import services
from tests import factories
from tests.leaderboard.reading import records, words
from tests.leaderboard.trust.studies import Judging

pytestmark = pytest.mark.django_db

PAGE = "/studies/small/trust/"


def logprobs(**probabilities):
    return [[token.removeprefix("r"), math.log(share)] for token, share in probabilities.items()]


def asked(made, judge, run, number, rating, said, *, swapped=False, key="rate"):
    """A verdict with its probabilities, as a run stores it."""
    pair = made.pairs[number]
    now = timezone.now()
    assignment = factories.make_assignment(
        pair=pair, rater=judge.rater, state="submitted", finished_at=now, swapped=swapped
    )
    given = {"state": "replied", "finished_at": now, "logprobs": said, "key": key}
    factories.make_call(run, assignment=assignment, **given)
    factories.make_comparison(
        pair=pair, rater=judge.rater, assignment=assignment, rating=rating, swapped=swapped
    )
    return assignment


@pytest.fixture
def made():
    """Of 8 points the judge says 2, right at 90%; 6, wrong at 60%; 7 in the other order, right at 80%."""
    made = Judging()
    for gold in ("first", "first", "first", "tie", "second"):
        made.pair(gold)
    judge = factories.make_judge(slug="sure", name="Sure", form="likert", points=8, logprobs=True)
    run = factories.make_run(study=made.study, judge=judge, state="finished")
    asked(made, judge, run, 0, 2, logprobs(r2=0.5, r1=0.4, r7=0.1))
    asked(made, judge, run, 1, 6, logprobs(r6=0.3, r8=0.15, r3=0.3, B=0.25))
    asked(made, judge, run, 2, 7, logprobs(r7=0.8, r2=0.2), swapped=True)
    asked(made, judge, run, 3, 1, logprobs(r1=1.0))  # no side is right
    several = asked(made, judge, run, 4, 1, logprobs(r1=1.0))
    second = {"state": "replied", "finished_at": timezone.now(), "logprobs": logprobs(r8=1.0), "key": "b"}
    factories.make_call(run, assignment=several, **second)
    made.publish(slug="small")
    return made


def test_three_verdicts_by_hand(client, made):
    page = client.get(PAGE).context["page"]
    (own,) = page.confidence["judges"]
    found = own["probability"]
    # .9 and .8 are right, and .6 (45 of 75) is wrong.
    assert (own["judge"], found["n"], own["left_out"]) == ("sure", 3, 1)
    assert [(each["confidence"], each["right"]["value"]) for each in found["bins"]] == [
        (pytest.approx(0.6), 0.0),
        (pytest.approx(0.8), 1.0),
        (pytest.approx(0.9), 1.0),
    ]
    assert found["error"] == pytest.approx((0.6 + 0.2 + 0.1) / 3, abs=1e-6)
    assert (found["right"], found["tells_apart"]) == (pytest.approx(2 / 3, abs=1e-6), 1.0)
    # Expected ratings 2.1, 5.2 (of 6, 8 and 3) and 6: as shares of the way to the other end.
    means = [(8 - 2.1) / 7, (5.2 - 1) / 7, (6 - 1) / 7]
    assert own["expected"]["confidence"] == pytest.approx(sum(means) / 3, abs=1e-6)
    entropies = [
        -sum(share * math.log(share) for share in shares)
        for shares in ((0.5, 0.4, 0.1), (0.8, 0.2), (0.4, 0.4, 0.2))
    ]
    assert own["entropy"]["right"] == pytest.approx(sum(entropies[:2]) / 2, abs=1e-6)
    assert own["entropy"]["wrong"] == pytest.approx(entropies[2], abs=1e-6)
    assert "Surer of a right verdict than of a wrong one, where 50% is chance: Sure 100.0%." in words(
        client.get(PAGE)
    )


def test_figures_tables_and_the_api_have_it(client, made):
    assert client.get(f"{PAGE}figures/confidence.json").status_code == 200
    rows = records(client, f"{PAGE}tables/confidence.csv")
    assert [row["Verdicts"] for row in rows] == ["1", "1", "1"]
    (row,) = records(client, f"{PAGE}tables/confidence-judges.csv")
    assert row["Probability of the verdict: calibration error (%)"] == "30.0"
    found = client.get("/api/v1/studies/small/trust/").json()
    assert found["confidence"]["judges"][0]["probability"]["n"] == 3


def test_it_stays_hidden_until_the_study_closes(client, admin_client, made):
    made.publish(closed_at=None)
    assert client.get(PAGE).context["page"].confidence is None
    assert admin_client.get(PAGE).context["page"].confidence


def test_judges_without_probabilities_have_no_table(client, made):
    other = Judging()
    other.pair("first")
    other.judge("plain", "1", "1")
    services.refresh(other.study)
    assert not SnapshotSlice.objects.filter(snapshot__study=other.study, method="confidence").exists()
    snapshot = Snapshot.objects.newest(made.study)
    assert not any(b"confidence" in line for line in making.results(snapshot, lambda known: iter(())))
