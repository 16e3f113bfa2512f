import json
import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from arena.models import Comparison, Contestant, Pair, Rater
from judging.panels.services import create_panel
from tests import factories
from tests.leaderboard.judges.studies import make_field, make_judge_rater, rate
from tests.leaderboard.reading import printed, refusal

BIAS = {"calm": 0, "leaning": 150}
pytestmark = pytest.mark.django_db
KEYS = Path(__file__).parents[3] / "docs" / "api.md"


def ablate(*arguments):
    return printed("ablate", *arguments, "--rounds", "20")


@pytest.fixture(scope="module")
def study(shared_rows):
    """Two simulated judges asked twice in both orders, and a person in one order."""
    made = make_field()
    for number, (slug, bias) in enumerate(BIAS.items()):
        rate(made, make_judge_rater(slug), bias, repeats=2, seed=number)
    rate(made, factories.make_rater(name="Ada"), 0, 100, orders=(False,), seed=9)
    return made


@pytest.fixture(scope="module")
def found(study):
    return json.loads(ablate(study.slug, "--judges", "calm,leaning,people", "--json", "-"))


def of(found, selector):
    return next(own for own in found["raters"] if own["selector"] == selector)


class TestTheInstrument:
    @pytest.mark.parametrize("slug", BIAS)
    def test_the_bias_given_to_the_simulated_judge_is_measured(self, found, slug):
        worth = of(found, f"judge:{slug}")["place"]["worth"]
        assert worth["low"] <= BIAS[slug] <= worth["high"]
        assert worth["high"] - worth["low"] < 120

    def test_the_bias_given_to_the_simulated_judges_is_measured_and_moves_pairs_and_flips(self, found):
        calm, leaning = (of(found, f"judge:{slug}") for slug in BIAS)
        assert leaning["place"]["both_orders"]["low"] > 0
        assert leaning["place"]["both_orders"]["value"] == pytest.approx(
            leaning["place"]["every_rating"]["value"], abs=0.05
        )
        assert calm["place"]["both_orders"]["low"] < 0 < calm["place"]["both_orders"]["high"]
        assert leaning["ratings"]["flips"]["to_second"] > leaning["ratings"]["flips"]["to_first"]


class TestJson:
    def test_pairs_are_those_all_judges_rated_and_repeats_are_retested(self, found):
        assert (found["pairs"], found["prompts"]) == (60, 20)
        assert [own["pairs"] for own in found["raters"]] == [60, 60, 60]
        assert [own["pairs_in_both_orders"] for own in found["raters"]] == [60, 60, 0]
        retest = of(found, "judge:calm")["retest"]
        assert retest["n"] == 120
        assert 0 < retest["exact_low"] < retest["exact"] < retest["same"] < 1
        assert of(found, "people")["retest"] is None
        rows = {row["category"]: row for row in of(found, "judge:calm")["correlation"]}
        assert {None, "code", "talk"} <= set(rows)
        assert rows[None]["n"] == 60
        assert rows[None]["pearson_low"] < rows[None]["pearson"] < rows[None]["pearson_high"]
        text = KEYS.read_text()
        keys = set(re.findall(r"`([a-z_0-9]+)`", text))
        assert set(found) <= keys
        own = of(found, "judge:calm")
        assert set(own) <= keys
        for part in ("unscored", "place", "retest"):
            assert {key.removesuffix("_low").removesuffix("_high") for key in own[part]} <= keys

    def test_standings_are_those_of_the_standings_command_and_a_file_gets_the_same(
        self, found, study, tmp_path
    ):
        for ties in ("on", "off"):
            out = StringIO()
            options = ("--raters", "judge:calm", "--ties", ties, "--rounds", "20", "--format", "json")
            call_command("standings", study.slug, *options, stdout=out)
            ranked = json.loads(out.getvalue())["standings"]
            own = of(found, "judge:calm")["standings"][ties]["standings"]
            assert [{**row, "kind": "model"} for row in ranked] == own
        path = tmp_path / "found.json"
        assert ablate(study.slug, "--judges", "calm,leaning,people", "--json", path) == ""
        assert json.loads(path.read_text()) == found
        with pytest.raises(CommandError, match=r"cannot be written: there is no folder .*/no"):
            ablate(study.slug, "--judges", "calm,leaning", "--json", tmp_path / "no" / "found.json")


class TestTable:
    def test_every_measure_has_its_interval(self, study, found):
        text = ablate(study.slug, "--judges", "calm,leaning,people")
        worth = of(found, "judge:leaning")["place"]["worth"]
        assert f"{worth['points']:.0f} Elo points ({worth['low']:.0f}–{worth['high']:.0f} Elo points" in text
        for name in (
            "Prefers the first",
            "Changes its verdict",
            "Same verdict again",
            "Pearson r with the mean of people",
        ):
            assert re.search(rf"^{name} ", text, re.MULTILINE)
        assert "Elo, ties on" in text
        assert "Elo, ties off" in text
        assert "60 pairs of 20 prompts that every judge rated (CALM: 60, 60 of them in both orders" in text

    def test_one_rule_of_ties_and_one_order(self, study):
        text = ablate(study.slug, "--judges", "calm,leaning", "--ties", "off")
        assert "Elo, ties off" in text
        assert "Elo, ties on" not in text
        rate(study, make_judge_rater("hasty"), orders=(False,), seed=5)
        text = ablate(study.slug, "--judges", "calm,hasty")
        assert "Warning: HASTY rated each pair in one order only" in text
        assert "Warning: HASTY saw 100% of pairs in the same order" in text
        assert "CALM saw" not in text

    def test_the_order_cannot_change_what_an_order_free_judge_says(self, study):
        Rater.objects.filter(slug="calm").update(study=study, facts={"order_free": True})
        text = ablate(study.slug, "--judges", "calm,leaning")
        assert re.search(r"Changes its verdict +– ", text)


def test_what_cannot_be_compared_is_refused(study):
    for slug, pair in zip(("elsewhere", "late"), Pair.objects.filter(prompt__study=study), strict=False):
        factories.make_comparison(study=study, pair=pair, rater=make_judge_rater(slug))
    text = refusal(ablate, study.slug, "--judges", "elsewhere,late")
    assert "no pair of this study was rated by all of ELSEWHERE, LATE" in text


def test_few_pairs_unscored_controls_and_expected_ratings(db):
    made = make_field(4)
    one, other = make_judge_rater("one"), make_judge_rater("other")
    rate(made, one, seed=1, expected=4.5)
    rows = rate(made, other, seed=2)
    lost = [row.pk for row in rows if row.pair_id == rows[0].pair_id]
    Comparison.objects.filter(pk__in=lost).update(status="unscored", rating=None, reason="refused")
    same = Comparison.objects.filter(rater=one, pair=rows[-1].pair_id)
    same.update(status="identical", rating=8, expected=None)
    found = json.loads(ablate(made.slug, "--judges", "one,other", "--json", "-"))
    mine, theirs = found["raters"]
    assert found["pairs"] == 10  # of 12: one has a refusal, of one both texts are the same
    assert found["warnings"][0].startswith("All of these judges rated only 10 pairs.")
    assert theirs["unscored"]["reasons"] == {"refused": 2}
    assert theirs["unscored"]["answers"] == 22
    assert mine["unscored"]["unscored"] == 0
    assert (mine["controls"]["n"], mine["controls"]["shift"], mine["controls"]["sided"]) == (2, 1, 1)
    assert theirs["controls"] is None
    assert mine["expected"]["n"] == 20
    assert mine["expected"]["shift"] == 0  # 4.5 of 8 is the middle
    assert mine["expected"]["difference"] == pytest.approx(-mine["place"]["every_rating"]["value"])
    assert theirs["expected"] is None
    assert mine["correlation"] == []


class TestPanels:
    def test_the_mean_of_a_panel_is_not_taken_for_an_expectation_of_tokens(self, db):
        made = make_field(4)
        rate(made, make_judge_rater("one"), seed=1, expected=4.5)
        rate(made, make_judge_rater("both"), seed=2, expected=4.5)
        Comparison.objects.filter(rater__slug="both").update(source="panel")
        found = json.loads(ablate(made.slug, "--judges", "one,both", "--json", "-"))
        judge, panel = found["raters"]
        assert judge["expected"]["n"] == 24
        assert panel["expected"] is None

    def test_a_panel_costs_what_its_members_cost_and_has_their_kin(self, db):
        made = make_field(2)
        Contestant.objects.filter(study=made, slug="a").update(name="Acme 7B")
        one = factories.make_judge(slug="one", name="One", model="acme-7b")
        other = factories.make_judge(slug="other", name="Other", model="zeta-1")
        rate(made, one.rater, seed=1)
        panel = create_panel("both", "Both", "majority", [one, other])
        rate(made, panel.rater, seed=2, points=3)
        run = factories.make_run(study=made, judge=other, state="finished")
        pair = Pair.objects.filter(prompt__study=made).order_by("pk")[0]
        for key, state in (("a", "replied"), ("b", "replied"), ("c", "failed")):
            asked = factories.make_assignment(pair=pair, rater=other.rater, repeat=ord(key))
            ended = {"state": state, "error_kind": "server" if state == "failed" else ""}
            factories.make_call(run, assignment=asked, key=key, finished_at=timezone.now(), **ended)
        found = json.loads(ablate(made.slug, "--judges", "one,both", "--json", "-"))
        mine, theirs = found["raters"]
        assert mine["cost"] is None
        assert (theirs["cost"]["calls"], theirs["cost"]["failed"], theirs["cost"]["pairs"]) == (3000, 1, 1)
        assert (theirs["cost"]["cost"], theirs["cost"]["unpriced"]) == (None, 2)
        assert [flag["kind"] for flag in theirs["flags"]] == ["competes", "self-preference"]
        assert theirs["judge"] is None
