import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm
from statsmodels.stats.power import normal_sample_size_one_tail

from leaderboard.stats import StatsError, bradley_terry
from leaderboard.stats.planning import (
    Aim,
    Evidence,
    PromptVariance,
    _plan,
    assumed_variance,
    measured,
    plan_from_assumptions,
    plan_from_data,
    typical_pair,
)
from leaderboard.stats.ratings import make_ratings
from leaderboard.terminal.votes import read_votes
from tests.leaderboard.stats.simulation import simulated_games

POINTS_PER_UNIT = 400 / math.log(10)


def make_study(prompts=100, strengths=(1020.0, 980.0), *, raters=2, seed=0, named=True, **overrides):
    """A study whose every pair on every prompt is rated by the same so many raters."""
    options = {"prompt_effect": 150.0, "tie_share": 0.2} | overrides
    games = simulated_games(prompts, strengths, seed=seed, raters=raters, clustered=True, **options)
    pair = np.unique(games.a * 100 + games.b, return_inverse=True)[1]
    rater, seen = [], {}
    for cell in zip(games.cluster.tolist(), pair.tolist(), strict=True):
        rater.append(seen.setdefault(cell, 0))
        seen[cell] += 1
    rating = (3 - 2 * games.score).astype(int)
    numbers = rater if named else None
    return make_ratings(games.a, games.b, rating, 3, len(strengths), prompt=games.cluster, rater=numbers)


def two_alike():
    return make_ratings([0, 0], [1, 1], [1, 2], 2, 2, prompt=[0, 1])


def evidence_of(study, first=0, second=1):
    games = study.games(ties=True)
    return measured(games, study.rater, first, second)


class TestAim:
    def test_by_hand(self):
        # 30 / (1.959964 + 0.841621) = 10.708; its square is 114.67.
        assert Aim(30).variance == pytest.approx(114.666, abs=0.01)
        aim = Aim(30, power=50)
        assert aim.width * math.sqrt(aim.variance) == pytest.approx(30)

    @pytest.mark.parametrize(("level", "power"), [(95, 80), (90, 90), (99, 50)])
    def test_agrees_with_the_sample_size_of_another_library(self, level, power):
        # One tail of half the size: a result on the wrong side is none.
        wanted = normal_sample_size_one_tail(30, power / 100, (1 - level / 100) / 2, std_null=300)
        assert 300**2 / Aim(30, level, power).variance == pytest.approx(wanted)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"gap": 0.0}, "gap is 0; it must be a positive"),
            ({"gap": math.nan}, "gap is nan"),
            ({"gap": 1e-200}, "gap is 1e-200; it must be from 0.001 to 100000 points"),
            ({"gap": 1e308}, "gap is 1e.308; it must be from"),
            ({"gap": 30, "level": 100}, "level is 100; it must be a percentage between 0 and 100"),
            ({"gap": 30, "power": 49}, "power is 49"),
            ({"gap": 30, "power": 100}, "power is 100"),
        ],
    )
    def test_what_is_out_of_range_is_refused(self, options, message):
        with pytest.raises(StatsError, match=message):
            Aim(**options)


class TestAssumedVariance:
    def test_equals_and_ties_by_hand(self):
        # A score of 0 or 1 has variance p (1 - p), and the slope is p (1 - p) / 173.72.
        p = 1 / (1 + 10 ** (-5 / 400))
        found = assumed_variance(5, 0, 0, 2)
        assert found.between == pytest.approx(0, abs=1e-9)
        assert found.within == pytest.approx(POINTS_PER_UNIT**2 / (p * (1 - p)))
        # Nearly equal, half of all ties: a score is 0, 1/2, 1 with 1/4, 1/2, 1/4: variance 1/8.
        assert assumed_variance(1e-6, 0.5, 0, 2).within == pytest.approx(POINTS_PER_UNIT**2 * 2)

    def test_prompts_by_the_plain_normal_integral(self):
        draws = 0.5 + 0.5 * np.tanh(
            np.random.default_rng(0).normal(0, 100 * math.sqrt(2), 400_000) / (2 * POINTS_PER_UNIT)
        )
        found = assumed_variance(1e-6, 0, 100, 2)
        assert found.between == pytest.approx(draws.var() * 16 * POINTS_PER_UNIT**2, rel=0.01)
        assert found.within == pytest.approx((draws * (1 - draws)).mean() * 16 * POINTS_PER_UNIT**2, rel=0.01)

    def test_the_widest_spread_of_prompts_by_adaptive_integration(self):
        # Nearly equal, no ties: what 64 nodes find of the most that is taken, against as many as it takes.
        def score(z):
            return 0.5 + 0.5 * math.tanh(600 * math.sqrt(2) * z / (2 * POINTS_PER_UNIT))

        def mean(function):
            weighted = quad(lambda z: function(score(z)) * norm.pdf(z), -9, 9, points=[0], limit=500)
            return weighted[0] * 16 * POINTS_PER_UNIT**2

        found = assumed_variance(1e-6, 0, 600, 2)
        assert found.between == pytest.approx(mean(lambda share: (share - 0.5) ** 2), rel=0.01)
        assert found.within == pytest.approx(mean(lambda share: share * (1 - share)), rel=0.01)

    def test_a_gap_that_ties_rule_out_is_refused(self):
        with pytest.raises(StatsError, match=r"gap is 400, which cannot be: with a share of 0\.5 ties"):
            assumed_variance(400, 0.5, 0, 2)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ((1.0, 0, 2), "ties is"),
            ((0.2, -1, 2), "prompt_sd is -1"),
            ((0.2, 1e308, 2), "prompt_sd is 1e"),
            ((0.2, math.nan, 2), "prompt_sd is nan"),
            ((0.2, 0, 1), "contestants is 1"),
            ((0.2, 0, 2.5), "contestants is 2.5; it must be a whole number"),
        ],
    )
    def test_what_is_out_of_range_is_refused(self, options, message):
        with pytest.raises(StatsError, match=message):
            assumed_variance(30, *options)


class TestMeasured:
    def test_by_hand(self):
        # Prompts won 2:0, 1:1, 1:1, 0:2 by two raters. Each score of 1/2 above or below moves the gap by
        # 4 / 8 * 1/2 = 1/4 log-odds, so prompts move it by 1/2, 0, 0, -1/2: variance 1/2 * 4/3. The raters
        # differ on two prompts: 2 * ((1/4)^2 + (1/4)^2) * 2 = 1/2 with the factor n / (n - 1), n = 2.
        first, second = [0] * 8, [1] * 8
        rating, prompt, rater = [1, 1, 1, 2, 2, 1, 2, 2], [0, 0, 1, 1, 2, 2, 3, 3], [0, 1] * 4
        study = make_ratings(first, second, rating, 2, 2, prompt=prompt, rater=rater)
        found = evidence_of(study)
        assert (found.gap, found.prompts, found.raters) == (pytest.approx(0), 4, 2.0)
        unit = POINTS_PER_UNIT**2
        assert found.variance.of_prompt(2) == pytest.approx(4 * unit * 2 / 3)
        assert found.variance.within == pytest.approx(4 * unit * 0.5 * 2)

    def test_the_total_is_the_cluster_robust_variance_of_another_library(self):
        study = make_study(60, (1100, 1000, 950, 900), raters=2)
        games = study.games(ties=True)
        design = (np.eye(4)[games.a] - np.eye(4)[games.b])[:, 1:]
        fit = sm.GLM(games.score, design, family=sm.families.Binomial()).fit(
            cov_type="cluster", cov_kwds={"groups": games.cluster, "use_correction": False}
        )
        contrast = np.array([1, -1, 0])
        found = evidence_of(study, 1, 2)
        assert found.gap == pytest.approx(POINTS_PER_UNIT * contrast @ fit.params)
        variance = POINTS_PER_UNIT**2 * contrast @ fit.cov_params() @ contrast * 60 / 59
        assert found.variance.of_prompt(2) / 60 == pytest.approx(variance)

    def test_agrees_with_what_was_assumed_and_others_help_against_raters_alone(self):
        truth = assumed_variance(24.5, 0.2, 150, 2)
        found = evidence_of(make_study(4000, raters=3)).variance
        assert found.between == pytest.approx(truth.between, rel=0.1)
        assert found.within == pytest.approx(truth.within, rel=0.05)
        truth = assumed_variance(24.5, 0.2, 150, 4)
        found = evidence_of(make_study(2000, (1020, 980, 1000, 1000), raters=2)).variance
        assert found.between == pytest.approx(truth.between, rel=0.15)
        assert found.within == pytest.approx(truth.within, rel=0.05)

    def test_who_rated_what(self):
        found = evidence_of(make_study(raters=1))
        assert found.variance.within is None
        assert found.raters == 1.0
        assert found.variance.of_prompt(5) == found.variance.of_prompt(1)
        named, unnamed = evidence_of(make_study()), evidence_of(make_study(named=False))
        assert named.variance.between == pytest.approx(unnamed.variance.between)
        study = make_study(raters=2)
        twice = [np.tile(column, 2) for column in (study.first, study.second, study.rating, study.points)]
        doubled = make_ratings(*twice, 2, prompt=np.tile(study.prompt, 2), rater=np.tile(study.rater, 2))
        once, again = evidence_of(study), evidence_of(doubled)
        assert again.raters == 2.0
        assert again.variance.within == pytest.approx(once.variance.within)

    @given(st.permutations(range(4)), st.integers(0, 5))
    def test_relabelling_and_swapping_change_nothing(self, order, seed):
        study = make_study(20, (1100, 1000, 950, 900), raters=2, seed=seed)
        number = np.array(order)
        moved = make_ratings(
            number[study.second],
            number[study.first],
            4 - study.rating,
            3,
            4,
            prompt=study.prompt,
            rater=study.rater,
        )
        found, again = evidence_of(study, 0, 2), evidence_of(moved, order[0], order[2])
        assert again.gap == pytest.approx(found.gap, abs=1e-6)
        assert again.variance.between == pytest.approx(found.variance.between, abs=1e-3)
        assert again.variance.within == pytest.approx(found.variance.within, abs=1e-3)

    def test_the_typical_pair_has_the_median_variance(self):
        games = make_study(50, (1200, 1000, 1000, 800)).games(ties=True)
        totals = {}
        for first in range(4):
            for second in range(first + 1, 4):
                found = measured(games, None, first, second)
                totals[first, second] = found.variance.of_prompt(found.raters)
        assert typical_pair(games) == sorted(totals, key=totals.get)[2]


class TestPlan:
    def test_from_assumptions_by_hand(self):
        # One rating without ties has the variance 173.72^2 / (p (1 - p)) = 121,615 at p = 0.543, which is 30
        # points. Divided by 114.67: 1060.6.
        plan = plan_from_assumptions(30, ties=0, prompt_sd=0)
        assert plan.need.prompts == plan.need.more == 1061
        assert [need.prompts for need in plan.needs] == [1061, 531, 354, 213]
        assert "1,061 prompts with 1 rater for every pair to see a gap of 30 points" in plan.sentence()
        plan = plan_from_assumptions(30)
        assert [need.prompts for need in plan.needs] == [847, 501, 385, 293]
        assert plan.variance.between / plan.aim.variance == pytest.approx(153.3, abs=0.1)
        plan = plan_from_assumptions(30, raters=1000, prompt_sd=150)
        limit = assumed_variance(30, 0.2, 150, 2).between / Aim(30).variance
        assert limit < plan.need.prompts < 1.02 * limit

    def test_a_public_crowd_study(self, reference_data, tmp_path):
        path = tmp_path / "votes.csv"
        text = (reference_data / "llmfao" / "crowd-comparisons.csv").read_text()
        path.write_text(text.replace("worker", "rater", 1))
        plan = plan_from_data(read_votes(path).ratings(), gap=30)
        assert {need.raters: need.more for need in plan.needs} == {1: 452, 2: 293, 3: 243, 4: 219, 5: 205}
        parts = (plan.variance.between, plan.variance.within)
        assert [round(math.sqrt(part)) for part in parts] == [134, 184]
        assert (plan.evidence.prompts, round(plan.evidence.raters, 1)) == (13, 4.2)

    def test_studies_of_the_planned_size_tell_the_two_apart_as_often_as_planned(self):
        # 48.5 points is what Bradley-Terry shows of contestants 80 apart, with these ties and prompts.
        plan = plan_from_assumptions(48.5, raters=3, ties=0.2, prompt_sd=150)
        told = []
        for seed in range(200):
            games = make_study(plan.need.prompts, (1040, 960), raters=3, seed=seed).games(ties=True)
            found = measured(games, None, 0, 1)
            error = math.sqrt(found.variance.of_prompt(found.raters) / found.prompts)
            told.append(found.gap > plan.aim.width * error)
        assert 0.7 < np.mean(told) < 0.9

    def test_the_prompts_at_hand_count(self):
        study = make_study(100, raters=2)
        plan = plan_from_data(study, between=(0, 1), gap=30)
        fresh = plan.variance.of_prompt(2) / plan.aim.variance
        assert plan.need.raters == 2
        assert plan.need.prompts == math.ceil(fresh)
        assert plan.need.more == plan.need.prompts - 100

    @pytest.mark.parametrize("raters", [1, 2, 3, 5])
    def test_the_need_is_the_smallest_that_serves(self, raters):
        plan = plan_from_data(make_study(100, raters=2), between=(0, 1), gap=30, raters=raters)
        evidence, need = plan.evidence, plan.need

        def variance(more):
            parts = [(2.0, evidence.variance.of_prompt(2))] * 100
            parts += [(raters, evidence.variance.of_prompt(raters))] * more
            weight, own = np.array(parts).T
            return (weight**2 * own).sum() / weight.sum() ** 2

        assert variance(need.more) <= plan.aim.variance < variance(need.more - 1)
        assert need.half_width == pytest.approx(plan.aim.width * math.sqrt(variance(need.more)))

    def test_the_half_width_now_is_that_of_the_sandwich(self):
        study = make_study(200)
        plan = plan_from_data(study, between=(0, 1))
        assert plan.half_width_now == pytest.approx(
            1.959964 * math.sqrt(plan.variance.of_prompt(2) / 200), rel=1e-6
        )
        assert plan.aim.gap == pytest.approx(abs(np.subtract(*bradley_terry(study.games(ties=True)).rating)))

    def test_what_is_needed_and_what_is_enough_is_said(self):
        plan = plan_from_data(make_study(300, (1300, 700)), between=(1, 0))
        assert plan.need.more == 0
        assert plan.evidence.gap < 0 < plan.aim.gap
        assert plan.sentence("AB").startswith("The 300 prompts so far are enough to tell B from A (")
        plan = plan_from_data(make_study(50), between=(0, 1), gap=20, raters=3)
        said = plan.sentence("AB")
        for part in (
            f" {plan.need.more} ",
            f" {plan.need.prompts} in all",
            "3 raters",
            "A from B (20 points apart)",
        ):
            assert part in said
        assert "see a gap of 20 points" in plan_from_data(make_study(50), gap=20).sentence()
        plan = plan_from_data(make_study(50, raters=1), between=(0, 1), gap=20, raters=3)
        assert "at most about" in plan.sentence("AB")
        assert plan.need.prompts == plan_from_data(make_study(50, raters=1), gap=20).need.prompts
        assert len(plan.needs) == 1
        assert any("No two raters rated the same pair" in warning for warning in plan.warnings())

    def test_more_raters_that_need_more_prompts_are_explained(self):
        # 20 prompts of one rater, with a variance of 1000 each, of which 1 is the raters'; 1001/25 is wanted.
        aim = Aim(gap=math.sqrt(1001 / 25 / Aim(1.0).variance))
        parts = PromptVariance(between=1000.0, within=1.0)
        found = _plan(aim, 1, parts, Evidence(0, 1, aim.gap, parts, prompts=20, raters=1.0))
        # (20 * 1001 + n r^2 (1000 + 1 / r)) / (20 + n r)^2 is 40.2 with 8 prompts of 2 raters and 38.8
        # with 9, 40.8 with 12 of 3 and 39.4 with 13, 40.4 with 17 of 5 and 38.9 with 18.
        assert [need.more for need in found.needs] == [5, 9, 13, 18]
        assert "More raters can need more prompts here" in " ".join(found.warnings())

    def test_few_prompts_are_warned_about(self):
        assert plan_from_data(make_study(40), gap=20).warnings() == ()
        few = plan_from_data(make_study(20), gap=20).warnings()
        assert few == ("Only 20 prompts show how much prompts differ. Take the number as rough.",)
        assert plan_from_assumptions(250).warnings() == (
            "With fewer than 30 prompts, intervals tend to be too narrow.",
        )

    def test_ties_off_and_raters_stay_in_step(self):
        study = make_study(60)
        plan = plan_from_data(study, between=(0, 1), gap=20, ties=False)
        assert plan.evidence.prompts <= 60
        assert plan.variance.within is not None
        found = plan_from_data(make_study(50), between=(0, 1), gap=20).as_dict("abcdef")
        assert found["gap"] == 20
        assert found["needed"] in found["needs"]
        assert found["evidence"]["prompts"] == 50
        assert plan_from_assumptions(20).as_dict()["evidence"] is None

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: plan_from_data(make_study(5)), "two models or a gap"),
            (lambda: plan_from_data(make_study(5), between=(0, 0)), "choose two different models"),
            (lambda: plan_from_data(two_alike(), between=(0, 1)), "the two are rated alike"),
            (lambda: plan_from_data(make_study(5), gap=20, raters=0), "raters is 0"),
            (
                lambda: plan_from_data(make_ratings([], [], [], 2, 2, prompt=[]), gap=9),
                "a plan needs ratings",
            ),
            (lambda: plan_from_data(make_ratings([0], [1], [1], 2, 2), gap=9), "needs the prompts"),
            (
                lambda: plan_from_data(make_ratings([0], [1], [1], 2, 2, prompt=[0]), gap=9),
                "one prompt says nothing",
            ),
        ],
    )
    def test_what_cannot_be_planned_is_refused(self, call, message):
        with pytest.raises(StatsError, match=message):
            call()

    def test_two_who_never_met_are_refused(self):
        study = make_ratings([0, 0, 2], [1, 1, 3], [1, 2, 1], 2, 4, prompt=[0, 1, 2])
        with pytest.raises(StatsError, match="no chain of ratings connects"):
            plan_from_data(study, between=(0, 3))
