import math
from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm
from statsmodels.stats.power import TTestPower, normal_sample_size_one_tail

from leaderboard.head_to_head.measuring import described
from leaderboard.head_to_head.verdict import Decision
from leaderboard.stats.bradley_terry import bradley_terry
from leaderboard.stats.checks import StatsError
from leaderboard.stats.head_to_head import difference
from leaderboard.stats.planning import (
    MORE_FOR_MORE,
    Aim,
    Assumptions,
    Evidence,
    PromptVariance,
    _plan,
    correlation_of_prompts,
    measured,
    plan_from_assumptions,
    plan_from_data,
    points,
    typical_pair,
)
from leaderboard.stats.ranking_method import Method
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


BY_PAIRS = Method("bradley-terry")


def eight_points(prompts, strengths, *, prompt_sd=150.0, raters=1, seed=0):
    """Every pair on every prompt, rated 1 to 8 by all raters; 4 and 5 are ties where the lead seen is small.

    A contestant is better or worse than its strength on a prompt, for all raters alike.
    """
    generator = np.random.default_rng(seed)
    low, high = np.triu_indices(len(strengths), 1)
    better = np.array(strengths) + generator.normal(0.0, prompt_sd, (prompts, 1, len(strengths)))
    lead = np.repeat(better[..., low] - better[..., high], raters, axis=1) / POINTS_PER_UNIT
    rating = 8 - np.searchsorted(EDGES, lead + generator.logistic(size=lead.shape))
    prompt, rater, pair = np.indices(rating.shape)
    given = (low[pair], high[pair], rating, np.full(rating.shape, 8))
    columns = [each.ravel() for each in (*given, prompt, rater)]
    return make_ratings(*columns[:4], len(strengths), prompt=columns[4], rater=columns[5])


EDGES = (-2.45, -1.45, -0.45, 0.0, 0.45, 1.45, 2.45)


def two_alike():
    return make_ratings([0, 0], [1, 1], [1, 2], 2, 2, prompt=[0, 1])


def evidence_of(study, first=0, second=1):
    games = study.games(ties=True)
    return measured(games, study.rater, first, second)


class TestAim:
    def test_by_hand(self):
        # 30 / (1.959964 + 0.841621) = 10.708; its square is 114.67.
        assert Aim(30).variance() == pytest.approx(114.666, abs=0.01)
        aim = Aim(30, power=50)
        assert aim.reach(9) * math.sqrt(aim.variance(9)) == pytest.approx(30)

    @pytest.mark.parametrize(("level", "power"), [(95, 80), (90, 90), (99, 50)])
    def test_agrees_with_the_sample_size_of_another_library(self, level, power):
        # One tail of half the size: a result on the wrong side is none.
        wanted = normal_sample_size_one_tail(30, power / 100, (1 - level / 100) / 2, std_null=300)
        assert 300**2 / Aim(30, level, power).variance() == pytest.approx(wanted)

    @pytest.mark.parametrize("gap", [20, 50, 100, 200, 300])
    @pytest.mark.parametrize("level", [80.0, 95.0])
    def test_few_prompts_agree_with_the_exact_power_of_students_t(self, gap, level):
        plan = plan_from_assumptions(gap, ties=0.1, level=level)
        wanted = TTestPower().solve_power(
            gap / math.sqrt(plan.variance.of_prompt(1)),
            power=0.8,
            alpha=(100 - level) / 200,
            alternative="larger",
        )
        assert plan.need.prompts == pytest.approx(wanted, abs=1)

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


class TestAssumptions:
    def test_equals_and_ties_by_hand(self):
        # A score of 0 or 1 has variance p (1 - p), and the slope is p (1 - p) / 173.72.
        p = 1 / (1 + 10 ** (-5 / 400))
        found = Assumptions(ties=0.0, correlation=0.0).variance(5)
        assert found.between == 0
        assert found.within == pytest.approx(POINTS_PER_UNIT**2 / (p * (1 - p)))
        # Nearly equal, half of all ties: a score is 0, 1/2, 1 with 1/4, 1/2, 1/4: variance 1/8. Raters share
        # a quarter of it; four contestants leave half of the rest.
        found = Assumptions(ties=0.5, correlation=0.25, contestants=4).variance(1e-6)
        assert found.between == pytest.approx(POINTS_PER_UNIT**2 * 2 / 4)
        assert found.within == pytest.approx(POINTS_PER_UNIT**2 * 2 * 3 / 4 / 2)

    @given(st.floats(0, 0.9), st.floats(0, 1), st.integers(2, 9), st.floats(0.01, 0.99))
    def test_raters_save_prompts_save_where_they_agree_wholly(self, ties, correlation, contestants, part):
        gap = part * POINTS_PER_UNIT * math.log((2 - ties) / ties) if ties > 0.01 else 400 * part
        plan = plan_from_assumptions(gap, ties=ties, correlation=correlation, contestants=contestants)
        needed = [need.prompts for need in plan.needs]
        assert needed == sorted(needed, reverse=True)
        whole = plan_from_assumptions(gap, ties=ties, correlation=1.0)
        assert len({need.prompts for need in whole.needs}) == 1
        assert whole.need.prompts >= needed[0]
        easier = plan_from_assumptions(gap, ties=ties, correlation=correlation / 2, contestants=contestants)
        assert all(more.prompts >= less.prompts for more, less in zip(plan.needs, easier.needs, strict=True))

    def test_prompts_by_the_plain_normal_integral(self):
        draws = 0.5 + 0.5 * np.tanh(
            np.random.default_rng(0).normal(0, 100 * math.sqrt(2), 400_000) / (2 * POINTS_PER_UNIT)
        )
        assert correlation_of_prompts(1e-6, 0, 100) == pytest.approx(draws.var() * 4, rel=0.01)

    def test_the_widest_spread_of_prompts_by_adaptive_integration(self):
        # Nearly equal, no ties: what 64 nodes find of the most that is taken, against as many as it takes.
        def part(z):
            share = 0.5 + 0.5 * math.tanh(600 * math.sqrt(2) * z / (2 * POINTS_PER_UNIT))
            return (share - 0.5) ** 2 * norm.pdf(z) * 4

        wanted = quad(part, -9, 9, points=[0], limit=500)[0]
        assert correlation_of_prompts(1e-6, 0, 600) == pytest.approx(wanted, rel=0.01)

    @pytest.mark.parametrize("prompt_sd", [60.0, 150.0, 300.0])
    def test_prompts_and_the_ties_of_eight_points_by_simulation(self, prompt_sd):
        # Ties are fewer where one is far ahead, so they say little of what two raters share.
        study = eight_points(40_000, (1040, 960), prompt_sd=prompt_sd, raters=2)
        games = study.games(ties=True)
        score = np.empty((40_000, 2))
        score[study.prompt, study.rater] = games.score
        gap = float(np.subtract(*bradley_terry(games).rating))
        found = correlation_of_prompts(gap, float((score == 0.5).mean()), prompt_sd)
        assert found == pytest.approx(np.corrcoef(score.T)[0, 1], abs=0.02)

    def test_a_gap_that_ties_rule_out_is_refused(self):
        with pytest.raises(StatsError, match=r"gap is 400, which cannot be: with a share of 0\.5 ties"):
            plan_from_assumptions(400, ties=0.5)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"ties": 1.0}, "ties is"),
            ({"correlation": -0.1}, "correlation is -0.1; it must be from 0 to 1"),
            ({"correlation": math.nan}, "correlation is nan"),
            ({"prompt_sd": -1}, "prompt_sd is -1"),
            ({"prompt_sd": 1e308}, "prompt_sd is 1e"),
            ({"prompt_sd": math.nan}, "prompt_sd is nan"),
            ({"prompt_sd": 9, "correlation": 0.2}, "correlation and prompt_sd say the same"),
            ({"contestants": 1}, "contestants is 1"),
            ({"contestants": 2.5}, "contestants is 2.5; it must be a whole number"),
        ],
    )
    def test_what_is_out_of_range_is_refused(self, options, message):
        with pytest.raises(StatsError, match=message):
            plan_from_assumptions(30, **options)


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
        # Of what they differ from the mean, 8 (1/4)^2 in all, twice (1/4)^2 on each of two prompts is left to
        # the raters, twice that without the mean being known: nothing they share.
        assert found.correlation == pytest.approx(0)

    def test_prompts_that_all_agree_are_no_certainty(self):
        won = make_ratings([0] * 2, [1] * 2, [1] * 2, 2, 2, prompt=[0, 1])
        plan, seen = plan_from_data(won, between=(0, 1)), difference(won.games(ties=True), 0, 1, BY_PAIRS)
        assert plan.half_width_now == pytest.approx(np.subtract(*seen.ends(95)[::-1]) / 2)
        assert plan.need.more

    @pytest.mark.parametrize("rating", [1, 2, 3])
    def test_ratings_that_all_agree_do_not_show_how_much_prompts_and_raters_differ(self, rating):
        same = make_ratings([0] * 6, [1] * 6, [rating] * 6, 3, 2, prompt=[0, 0, 1, 1, 2, 2], rater=[0, 1] * 3)
        found = evidence_of(same)
        assert (found.variance.within, found.correlation, found.spread_known) == (None, None, False)
        warnings = " ".join(plan_from_data(same, gap=30).warnings())
        assert "The ratings so far hardly differ" in warnings
        assert "No two raters" not in warnings
        assert evidence_of(make_study()).spread_known

    def test_raters_who_always_agree_add_nothing(self):
        rating = [1, 1, 3, 3, 1, 1, 1, 1]
        study = make_ratings(
            [0] * 8, [1] * 8, rating, 3, 2, prompt=[0, 0, 1, 1, 2, 2, 3, 3], rater=[0, 1] * 4
        )
        found = evidence_of(study)
        assert (found.variance.within, found.correlation) == (0.0, 1.0)

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
        for contestants, prompts in ((2, 4000), (4, 2000)):
            strengths = (1020, 980, *(1000,) * (contestants - 2))
            evidence = evidence_of(eight_points(prompts, strengths, raters=3))
            assert evidence.correlation == pytest.approx(0.255, abs=0.02)
            truth = Assumptions(0.17, evidence.correlation, contestants).variance(abs(evidence.gap))
            assert evidence.variance.between == pytest.approx(truth.between, rel=0.12)
            assert evidence.variance.within == pytest.approx(truth.within, rel=0.05)

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
        # Student's t of 1062 degrees of freedom is 1.9622 for 1.9600: 1062.3.
        plan = plan_from_assumptions(30, ties=0, correlation=0)
        assert plan.need.prompts == plan.need.more == 1063
        assert [need.prompts for need in plan.needs] == [1063, 532, 356, 214]
        assert "1,063 prompts with 1 rater for every pair to see a gap of 30 points" in plan.sentence()
        # One tie in five leaves (0.2481 - 0.05) / 0.2481 of it: 846.9 and two for Student's t; raters share a
        # quarter, 211.7.
        plan = plan_from_assumptions(30)
        assert [need.prompts for need in plan.needs] == [849, 532, 426, 341]
        assert plan.variance.between / plan.aim.variance() == pytest.approx(211.7, abs=0.1)
        limit = plan_from_assumptions(30, correlation=0.25, raters=1000).need.prompts
        assert 211 < limit < 218

    def test_a_public_crowd_study(self, reference_data, tmp_path):
        path = tmp_path / "votes.csv"
        text = (reference_data / "llmfao" / "crowd-comparisons.csv").read_text()
        path.write_text(text.replace("worker", "rater", 1))
        plan = plan_from_data(read_votes(path).ratings(), gap=30)
        assert {need.raters: need.more for need in plan.needs} == {1: 454, 2: 295, 3: 244, 4: 220, 5: 207}
        parts = (plan.variance.between, plan.variance.within)
        assert [round(math.sqrt(part)) for part in parts] == [134, 184]
        assert (plan.evidence.prompts, round(plan.evidence.raters, 1)) == (13, 4.2)

    @pytest.mark.parametrize("raters", [1, 3])
    def test_studies_of_the_planned_size_tell_the_two_apart_as_often_as_planned(self, raters):
        # 61.4 points is what Bradley-Terry shows of contestants 80 apart on eight points, with 17% ties and
        # two raters that correlate by 0.25.
        plan = plan_from_assumptions(61.4, raters=raters, ties=0.167, correlation=0.253)
        told = [
            difference(study.games(ties=True), 0, 1, Method()).ends(95)[0] > 0
            for seed in range(100)
            for study in [eight_points(plan.need.prompts, (1040, 960), raters=raters, seed=seed)]
        ]
        assert 0.7 < np.mean(told) < 0.9  # 0.8, and 2.5 standard errors

    def test_the_prompts_at_hand_count(self):
        study = make_study(100, raters=2)
        plan = plan_from_data(study, between=(0, 1), gap=30)
        fresh = plan.variance.of_prompt(2) / plan.aim.variance(plan.need.prompts)
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

        wanted = [plan.aim.variance(100 + more) for more in (need.more, need.more - 1)]
        assert variance(need.more) <= wanted[0]
        assert wanted[1] < variance(need.more - 1)
        assert need.half_width == pytest.approx(plan.aim.reach(need.prompts) * math.sqrt(variance(need.more)))

    def test_the_half_width_now_and_the_prompts_are_those_head_to_head(self):
        study = make_study(200)
        plan = plan_from_data(study, between=(0, 1))
        found = difference(study.games(ties=True), 0, 1, BY_PAIRS)
        assert plan.aim.gap == pytest.approx(abs(found.points))
        assert plan.half_width_now == pytest.approx(np.subtract(*found.ends(95)[::-1]) / 2)
        decision = Decision("A", "B", described(found, 95.0), len(study), 95.0)
        assert decision.more_units == pytest.approx(plan.need.more, abs=1)

    def test_what_is_needed_and_what_is_enough_is_said(self):
        plan = plan_from_data(make_study(300, (1300, 700)), between=(1, 0))
        assert plan.need.more == 0
        assert plan.evidence.gap < 0 < plan.aim.gap
        apart, reach = (points(each) for each in (plan.aim.gap, plan.half_width_now))
        assert plan.sentence("AB") == (
            f"The 300 prompts so far tell B from A: they are {apart} points apart, give or take {reach} at "
            "95%."
        )
        plan = plan_from_data(make_study(300), between=(0, 1), gap=200)
        assert plan.sentence("AB") == (
            "The 300 prompts so far are enough to see a gap of 200 points between A and B with a chance of "
            "80%."
        )
        plan = plan_from_data(make_study(50), between=(0, 1), gap=20, raters=3)
        said = plan.sentence("AB")
        for part in (
            f" {plan.need.more} ",
            f" {plan.need.prompts} in all",
            "3 raters",
            "a gap of 20 points between A and B. A 95% interval then shows such a gap with a chance of 80%",
        ):
            assert part in said
        assert "see a gap of 20 points. A" in plan_from_data(make_study(50), gap=20).sentence("AB")
        said = plan_from_data(make_study(10), between=(0, 1)).sentence("AB")
        assert "points apart). If the gap is as wide as measured, a 95% interval then shows it" in said

    @pytest.mark.parametrize(
        ("gap", "asked", "said"),
        [
            (1.0, {}, "to see a gap of 1 point. A 95% interval"),
            (30.0, {"level": 99.9999}, "A 99.9999% interval"),
            (30.0, {"power": 99.99999}, "with a chance of 99.99999%."),
            (30.0, {"raters": 1000}, "with 1,000 raters for every pair"),
            (30.0, {"raters": 20_000_000}, "with 20,000,000 raters for every pair"),
        ],
    )
    def test_numbers_at_their_ends_are_said_in_full(self, gap, asked, said):
        assert said in plan_from_assumptions(gap, **asked).sentence()

    def test_a_gap_that_is_seen_needs_nothing_and_one_that_is_not_needs_more(self):
        for seed in range(20):
            study = make_study(60, (1070, 930), seed=seed)
            plan, found = (
                plan_from_data(study, between=(0, 1)),
                difference(study.games(ties=True), 0, 1, BY_PAIRS),
            )
            low, high = found.ends(95)
            assert {need.more > 0 for need in plan.needs} == {low <= 0 <= high}

    def test_one_rater_gives_a_bound_for_more(self):
        study = make_study(50, raters=1)
        plan = plan_from_data(study, between=(0, 1), gap=20, raters=3)
        assert "at most about" in plan.sentence("AB")
        assert len(plan.needs) == 1
        assert any("No two raters rated the same pair" in warning for warning in plan.warnings())
        # Whatever part of the variance is the raters', no more prompts are needed than that.
        total = plan.variance.between
        for part in np.linspace(0, 1, 11):
            split = PromptVariance(total * (1 - part), total * part)
            known = replace(plan.evidence, variance=split)
            assert _plan(plan.aim, 3, split, known).need.more <= plan.need.more
        same = plan_from_data(study, between=(0, 1), gap=20)
        assert "You need about" in same.sentence("AB")

    @given(
        st.integers(2, 200),
        st.floats(1, 6),
        st.floats(100, 1e6),
        st.floats(0, 1),
        st.floats(5, 200),
        st.floats(1.01, 3),
        st.integers(1, 6),
    )
    def test_wider_gaps_more_prompts_at_hand_and_less_chance_need_fewer(
        self, had, now, total, part, gap, times, raters
    ):
        parts = PromptVariance(total * (1 - part), total * part)

        def more(gap=gap, had=had, **options):
            evidence = Evidence(0, 1, 0.0, parts, had, now)
            return _plan(Aim(gap, **options), raters, parts, evidence).need

        assert more(gap * times).prompts <= more().prompts
        assert more(power=50).prompts <= more().prompts <= more(level=99).prompts
        assert more(had=round(had * times)).more <= more().more
        if raters >= now:
            evidence = Evidence(0, 1, 0.0, parts, had, now)
            fresh = _plan(Aim(gap), raters, parts).need.prompts
            assert more().more <= max(fresh, 2 * had) + _plan(Aim(gap), 1, parts, evidence).need.more

    def test_more_raters_that_need_more_prompts_are_explained(self):
        # 20 prompts of one rater, with a variance of 1000 each, of which 1 is the raters'; 1001/25 is wanted
        # of 25, 40.4 of 28, 40.7 of 33 and 41.0 of 37, as Student's t falls.
        aim = Aim(gap=math.sqrt(1001 / 25 / Aim(1.0).variance(25)))
        parts = PromptVariance(between=1000.0, within=1.0)
        found = _plan(aim, 1, parts, Evidence(0, 1, 0.0, parts, prompts=20, raters=1.0))
        # (20 * 1001 + n r^2 (1000 + 1 / r)) / (20 + n r)^2 is 41.6 with 7 prompts of 2 raters and 40.2
        # with 8, 40.8 with 12 of 3 and 39.4 with 13, 42.0 with 16 of 5 and 40.4 with 17.
        assert [need.more for need in found.needs] == [5, 8, 13, 17]
        assert MORE_FOR_MORE in found.warnings()

    def test_few_prompts_are_warned_about(self):
        assert plan_from_data(make_study(40), gap=20).warnings() == ()
        few = plan_from_data(make_study(20), gap=20).warnings()
        assert few == ("Only 20 prompts show how much prompts differ. Take the number as rough.",)
        assert plan_from_assumptions(100).warnings() == ()

    def test_wide_gaps_get_upper_bounds(self):
        plan = plan_from_assumptions(250)
        assert "You need at most about " in plan.sentence()
        assert plan.warnings() == (
            "For gaps from 150 points on the numbers are upper bounds: the chance is higher than 80%.",
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
            (lambda: plan_from_data(two_alike(), between=(0, 1)), "the two have the same score"),
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
