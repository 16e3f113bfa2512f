"""Human-anchored ratings: by hand, against independent root finding, and what they must not depend on."""

import json

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import root
from scipy.special import expit, fdtrc

from leaderboard.stats.anchored import anchored
from leaderboard.stats.anchored_pairs import rated_pairs
from leaderboard.stats.anchored_result import anchored_cautions
from leaderboard.stats.bradley_terry import bradley_terry
from leaderboard.stats.checks import NoGamesError, ParameterError, ScoreError
from leaderboard.stats.games import make_games
from leaderboard.stats.ratings import make_ratings
from tests.leaderboard.stats.anchored_studies import JUDGES, Design, coverage, simulated

POINTS = 400 / np.log(10)


def make_study(**overrides):
    """Judged pairs of contestants on prompts, some rated by people; the judge is kind to the last."""
    usual = {"contestants": 4, "prompts": 60, "rated": 20, "kind": 0.8, "agree": 0.7, "seed": 0}
    wanted = {**usual, **overrides}
    generator = np.random.default_rng(wanted["seed"])
    low, high = np.triu_indices(wanted["contestants"], 1)
    a, b = np.tile(low, wanted["prompts"]), np.tile(high, wanted["prompts"])
    prompt = np.repeat(np.arange(wanted["prompts"]), len(low))
    strength = np.linspace(0.6, -0.6, wanted["contestants"])
    human = (generator.random(len(a)) < expit(strength[a] - strength[b])).astype(float)
    kind = strength + wanted["kind"] * (np.arange(wanted["contestants"]) == wanted["contestants"] - 1)
    own = (generator.random(len(a)) < expit(kind[a] - kind[b])).astype(float)
    judge = np.where(generator.random(len(a)) < wanted["agree"], human, own)
    human[prompt >= wanted["rated"]] = np.nan
    return {"a": a, "b": b, "human": human, "judge": judge, "prompt": prompt}


def rate(study, contestants=4, **options):
    columns = [study[name] for name in ("a", "b", "human", "judge")]
    return anchored(*columns, contestants, prompt=study["prompt"], **options)


def directly(study, contestants=4):
    """The same by the formulas alone: root finding on the estimating equation, loops over prompts."""
    x = np.zeros((len(study["a"]), contestants))
    x[np.arange(len(x)), study["a"]], x[np.arange(len(x)), study["b"]] = 1, -1
    y, f, prompt = study["human"], study["judge"], study["prompt"]
    people, judged = ~np.isnan(y), ~np.isnan(f)
    both = people & judged

    def mean(theta, chosen, outcome):
        return (x[chosen] * (expit(x[chosen] @ theta) - outcome[chosen])[:, None]).mean(axis=0)

    def solve(power):
        def equation(theta):
            rectifier = mean(theta, judged, f) - mean(theta, both, f)
            return mean(theta, people, y) + power * rectifier + theta.mean()

        return root(equation, np.zeros(contestants), tol=1e-13).x

    def influences(theta, power):
        def part(chosen, outcome):
            score = x * (expit(x @ theta) - np.where(chosen, outcome, 0))[:, None] * chosen[:, None]
            centred = (score - score.sum(axis=0) / chosen.sum()) * chosen[:, None]
            return np.array([centred[prompt == p].sum(axis=0) for p in np.unique(prompt)]) / chosen.sum()

        weight = people / people.sum() + power * (judged / judged.sum() - both / both.sum())
        slope = expit(x @ theta) * expit(-x @ theta) * weight
        bread = np.linalg.pinv((x * slope[:, None]).T @ x)
        rectifier = part(judged, f) - part(both, f)
        return part(people, y) @ bread, rectifier @ bread, bread

    theta = solve(0)
    own, rectifier, _ = influences(theta, 0)
    power = np.clip(-(own * rectifier).sum() / (rectifier**2).sum(), 0, 1)
    theta = solve(power)
    own, rectifier, _ = influences(theta, power)
    prompts = len(np.unique(prompt[people]))
    error = np.sqrt(((own + power * rectifier) ** 2).sum(axis=0) * prompts / (prompts - 1))
    return power, 1000 + POINTS * theta, POINTS * error


class TestByHand:
    """Two contestants: the rating difference is the logit of a difference of means."""

    @pytest.fixture
    def found(self):
        # Eight judged pairs, each on a prompt of its own; people rated the first four.
        human = [1, 1, 0, 0, np.nan, np.nan, np.nan, np.nan]
        judge = [1, 0, 0, 0, 1, 1, 1, 0]
        return anchored([0] * 8, [1] * 8, human, judge, 2, prompt=range(8))

    def test_the_rating_its_interval_and_what_the_judge_was_worth(self, found):
        # People: 1/2. The judge: 1/2 on all eight, 1/4 on the four, so it is unkind to the first there.
        # Influence on the mean: people (y - 1/2)/4, that is 1/8 twice and -1/8 twice. Rectifier, on the four
        # (f - 1/2)/8 - (f - 1/4)/4: -1/8, 0, 0, 0; on the rest (f - 1/2)/8: 1/16 three times, -1/16.
        # Power: (1/64) / (2/64) = 1/2.
        assert found.power == pytest.approx(1 / 2, abs=1e-9)
        # 1/2 + 1/2 (1/2 - 1/4) = 5/8.
        points = 400 * np.log10(5 / 3)
        assert points == pytest.approx(88.74, abs=0.005)
        assert found.rating == pytest.approx([1000 + points / 2, 1000 - points / 2], abs=1e-6)
        assert found.human.value == pytest.approx([1000, 1000], abs=1e-6)
        assert found.judge.value == pytest.approx([1000, 1000], abs=1e-6)
        assert found.bias.value == pytest.approx([-points / 2, points / 2], abs=1e-6)
        # Influence with power 1/2: 1/16, 1/8, -1/8, -1/8, 1/32 three times, -1/32: squares add up to 14/256,
        # times 4/3 for four prompts of people. The logit is 1 / (5/8 x 3/8) = 64/15 times as steep.
        error = POINTS / 2 * np.sqrt(4 / 3 * 14 / 256) * 64 / 15
        assert error == pytest.approx(100.07, abs=0.005)
        assert found.standard_error == pytest.approx([error, error], abs=1e-6)
        # Student's t with three degrees of freedom: 3.1824.
        assert found.high - found.rating == pytest.approx([3.182446305 * error] * 2, abs=1e-5)
        assert found.rating - found.low == pytest.approx([3.182446305 * error] * 2, abs=1e-5)
        # People's influence alone: four times 1/64 = 16/256 against 14/256.
        assert found.effective_votes == pytest.approx([4 * 16 / 14] * 2, abs=1e-6)
        assert found.effective_votes_overall == pytest.approx(4.571429, abs=1e-6)
        # The four prompts add 1/2, 0, 0, 0 to the power: a standard deviation of 1/4, times the root of four.
        ends = 0.5 - 3.182446305 / 2, 0.5 + 3.182446305 / 2
        assert (found.power_low, found.power_high) == pytest.approx(ends, abs=1e-6)
        assert not found.gain_may_be_chance, "less than a pair"

    @pytest.mark.parametrize("prompts", [5, 20])
    def test_a_judge_that_throws_coins_is_seldom_said_to_help(self, prompts):
        found = [simulated(JUDGES["useless"], Design(rated=prompts, judged=60), seed) for seed in range(100)]
        assert np.mean([each.power_low > 0 for each in found]) < 0.06
        gained = [each.effective_votes_overall > 1.001 * each.counts.human_pairs for each in found]
        assert np.mean(gained) > 0.3
        good = [simulated(JUDGES["good"], Design(rated=20, judged=60), seed) for seed in range(20)]
        assert all(each.power_low > 0 for each in good)

    def test_what_a_judge_like_people_or_without_opinion_changes(self):
        study = make_study()
        study["judge"][:] = 0.5
        found = rate(study)
        assert found.power == 0
        assert np.array_equal(found.rating, found.human.value)
        assert found.effective_votes_overall == found.counts.human_pairs
        study = make_study(agree=1.0, rated=60)
        full = rate(study)
        study["human"][study["prompt"] >= 30] = np.nan
        assert rate(study).power == pytest.approx(1.0, abs=0.15)
        found = rate(study, power=1.0)
        assert found.rating == pytest.approx(full.human.value, abs=1e-6)
        ratio = (found.standard_error / full.human.standard_error) ** 2
        assert ratio == pytest.approx([(30 / 29) / (60 / 59)] * 4, rel=1e-6)
        study = make_study(rated=60)
        found = rate({**study, "judge": study["human"]})
        assert found.bias.value == pytest.approx([0] * 4, abs=1e-6)
        assert np.isnan(found.bias.standard_error).all()
        assert (found.judge.standard_error > 1).all()


@pytest.mark.parametrize(
    "changed", [{}, {"agree": 0.95}, {"kind": 3.0}, {"contestants": 7, "prompts": 25, "rated": 12}]
)
class TestReference:
    @pytest.mark.parametrize("unanswered", [None, slice(None, None, 9)])
    def test_root_finding_gives_the_same(self, changed, unanswered):
        study, contestants = make_study(**changed), changed.get("contestants", 4)
        if unanswered:
            study["judge"][unanswered] = np.nan
        found = rate(study, contestants)
        power, rating, error = directly(study, contestants)
        assert found.power == pytest.approx(power, abs=1e-7)
        assert found.rating == pytest.approx(rating, abs=1e-4)
        assert found.standard_error == pytest.approx(error, rel=1e-6)

    def test_people_alone_and_the_judge_alone_are_bradley_terry(self, changed):
        study, contestants = make_study(**changed), changed.get("contestants", 4)
        found = rate(study, contestants)
        for own, score in ((found.human, study["human"]), (found.judge, study["judge"])):
            there = ~np.isnan(score)
            games = make_games(study["a"][there], study["b"][there], score[there], contestants)
            assert own.value == pytest.approx(bradley_terry(games).rating, abs=1e-6)


class TestPublished:
    def test_independent_pairs_follow_the_published_formulas(self):
        """PPI++ for two contestants: power and variance from moments over the rated and the unrated pairs."""
        generator = np.random.default_rng(3)
        judge = generator.choice([0, 0.5, 1], 6000, p=[0.2, 0.3, 0.5])
        human = (generator.random(6000) < 0.1 + 0.7 * judge).astype(float)
        y, f, other = human[:2000], judge[:2000], judge[2000:]
        n, rest = len(y), len(other)
        published = np.cov(y, f)[0, 1] / ((1 + n / rest) * np.var(judge, ddof=1))
        human[2000:] = np.nan
        found = anchored([0] * 6000, [1] * 6000, human, judge, 2, prompt=range(6000))
        # Here the judge's mean runs over all pairs, there over the unrated ones alone.
        assert found.power * rest / (rest + n) == pytest.approx(published, rel=0.03)
        used = found.power * rest / (rest + n)
        share = y.mean() + used * (other.mean() - f.mean())
        assert found.rating[0] - found.rating[1] == pytest.approx(
            POINTS * np.log(share / (1 - share)), abs=1e-6
        )
        variance = np.var(y - used * f, ddof=1) / n + used**2 * np.var(other, ddof=1) / rest
        error = POINTS * np.sqrt(variance) / (share * (1 - share))
        assert 2 * found.standard_error == pytest.approx([error] * 2, rel=0.005)

    def test_people_alone_have_the_errors_of_a_clustered_regression(self):
        study = make_study()
        there = ~np.isnan(study["human"])
        x = (np.eye(4)[study["a"]] - np.eye(4)[study["b"]])[there]
        groups = {"groups": study["prompt"][there], "use_correction": False}
        model = sm.GLM(study["human"][there], x[:, 1:], family=sm.families.Binomial())
        fit = model.fit(tol=1e-12, cov_type="cluster", cov_kwds=groups)
        from_first = np.vstack((np.zeros(3), np.eye(3))) - np.full((4, 3), 1 / 4)
        error = np.sqrt(np.diag(from_first @ fit.cov_params() @ from_first.T) * 20 / 19)
        assert rate(study).human.standard_error == pytest.approx(POINTS * error, rel=1e-6)

    def test_resampling_prompts_gives_the_same_errors(self):
        """The power is tuned again in every round."""
        study = make_study(prompts=150, rated=50, agree=0.8)
        generator = np.random.default_rng(5)
        rows = np.arange(900).reshape(150, 6)
        rounds = []
        for _ in range(200):
            drawn = generator.integers(0, 150, 150)
            again = {name: values[rows[drawn].ravel()] for name, values in study.items()}
            again["prompt"] = np.repeat(np.arange(150), 6)
            rounds.append(rate(again).rating)
        assert np.std(rounds, axis=0) == pytest.approx(rate(study).standard_error, rel=0.15)


def test_intervals_hold_the_truth_where_those_of_the_judge_do_not():
    """A few studies; tests/simulations has more of them, and other judges."""
    found = coverage(JUDGES["kind to one by 200 points"], Design(60, judged=400), studies=120)
    assert 0.92 < found.anchored < 0.98
    assert 0.92 < found.human < 0.98
    assert found.judge < 0.6
    assert found.width < 0.9


STUDIES = st.builds(
    make_study,
    prompts=st.integers(12, 20),
    rated=st.integers(6, 10),
    kind=st.floats(-1, 1),
    agree=st.floats(0, 1),
    seed=st.integers(0, 1000),
)


class TestWhatDoesNotMatter:
    @settings(max_examples=20)
    @given(STUDIES, st.permutations(range(4)))
    def test_numbering_contestants_otherwise(self, study, numbers):
        number = np.array(numbers)
        found = rate(study)
        other = rate({**study, "a": number[study["a"]], "b": number[study["b"]]})
        assert other.power == pytest.approx(found.power, abs=1e-6)
        for name in ("rating", "low", "high", "effective_votes"):
            assert getattr(other, name)[number] == pytest.approx(getattr(found, name), rel=1e-5)
        bias = pytest.approx(found.bias.low, rel=1e-5, abs=1e-3, nan_ok=True)
        assert other.bias.low[number] == bias

    @settings(max_examples=20)
    @given(STUDIES, st.randoms(use_true_random=False))
    def test_the_order_of_pairs_their_sides_and_the_names_of_prompts(self, study, random):
        order = np.array(random.sample(range(len(study["a"])), len(study["a"])))
        turned = np.array([random.random() < 0.5 for _ in order])
        a, b, human, judge, prompt = (study[name][order] for name in ("a", "b", "human", "judge", "prompt"))
        other = {
            "a": np.where(turned, b, a),
            "b": np.where(turned, a, b),
            "human": np.where(turned, 1 - human, human),
            "judge": np.where(turned, 1 - judge, judge),
            "prompt": [f"prompt {number}" for number in prompt],
        }
        found, again = rate(study), rate(other)
        assert again.rating == pytest.approx(found.rating, abs=1e-4)
        assert again.standard_error == pytest.approx(found.standard_error, rel=1e-5)

    @settings(max_examples=20)
    @given(STUDIES)
    def test_everybody_saying_the_opposite_mirrors_the_ratings(self, study):
        found, other = rate(study), rate({**study, "human": 1 - study["human"], "judge": 1 - study["judge"]})
        assert other.rating - 1000 == pytest.approx(1000 - found.rating, abs=1e-4)
        assert other.power == pytest.approx(found.power, abs=1e-6)

    @settings(max_examples=20)
    @given(STUDIES)
    def test_a_judge_that_always_says_the_opposite_helps_nobody(self, study):
        study["judge"] = np.where(np.isnan(study["human"]), study["judge"], 1 - study["human"])
        found = rate(study)
        assert found.power == 0
        assert not found.power_low > 0
        assert np.array_equal(found.rating, found.human.value)

    def test_a_judge_that_contradicts_people_is_said_to(self):
        study = make_study()
        study["judge"] = 1.0 - study["judge"]
        found = rate(study)
        assert found.power_high < 0
        assert any("The judge contradicts people" in each for each in anchored_cautions(found, "klmn"))


class TestWhoIsAnchored:
    def test_a_contestant_people_never_rated_is_not_ranked_by_the_judge(self):
        study = make_study()
        study["human"][(study["a"] == 2) | (study["b"] == 2)] = np.nan
        found = rate(study)
        assert found.is_anchored.tolist() == [True, True, False, True]
        for values in (found.rating, found.low, found.human.value, found.judge.value, found.bias.value):
            assert np.isnan(values).tolist() == [False, False, True, False]
        assert found.counts.left_out == 180
        without = {name: values[(study["a"] != 2) & (study["b"] != 2)] for name, values in study.items()}
        assert np.nan_to_num(rate(without).rating) == pytest.approx(np.nan_to_num(found.rating))
        row = found.as_dict(["k", "l", "m", "n"])["standings"][-1]
        assert (row["contestant"], row["component"], row["rating"]) == ("m", None, None)

    def test_groups_people_never_compared_and_judges_who_do_not_connect(self):
        study = make_study()
        across = (study["a"] < 2) & (study["b"] >= 2)
        study["human"][across] = np.nan
        found = rate(study)
        assert found.component.tolist() == [0, 0, 1, 1]
        assert found.counts.left_out == across.sum()
        assert [found.rating[:2].mean(), found.rating[2:].mean()] == pytest.approx([1000, 1000])
        study = make_study()
        study["judge"][study["a"] == 0] = np.nan
        found = rate(study)
        assert np.isfinite(found.rating).all()
        assert np.isnan(found.judge.value).all()
        assert np.isnan(found.bias.low).all()


class TestLimits:
    def test_one_prompt_a_prior_and_a_level(self):
        found = anchored([0, 0, 1], [1, 2, 2], [1, 0, 0.5], [1, 1, 0.5], 3, prompt=[0, 0, 0])
        assert np.isfinite(found.rating).all()
        assert np.isnan(found.low).all()
        assert found.as_dict("xyz")["standings"][0]["low"] is None
        study = make_study()
        study["human"][(study["a"] == 0) & ~np.isnan(study["human"])] = 1.0
        found = rate(study)
        assert found.human.prior
        assert np.isfinite(found.rating).all()
        study = make_study()
        wide, narrow = rate(study, interval=95), rate(study, interval=50)
        assert np.array_equal(wide.rating, narrow.rating)
        assert ((wide.high - wide.low) / (narrow.high - narrow.low)) == pytest.approx(
            [2.093024 / 0.687621] * 4
        )

    def test_a_correction_beyond_any_rating_is_taken_back(self):
        # People 3/4, the judge 1 on all and 1/2 on those people rated: more than 1 at a power over 1/2.
        human, judge = [1, 1, 1, 0] + [np.nan] * 40, [1, 1, 0, 0] + [1] * 40
        found = anchored([0] * 44, [1] * 44, human, judge, 2, prompt=range(44), power=1.0)
        assert found.power == 0.5
        share = 3 / 4 + 0.5 * (42 / 44 - 1 / 2)
        assert found.rating[0] - found.rating[1] == pytest.approx(400 * np.log10(share / (1 - share)))

    def test_a_judge_that_answers_few_of_the_rated_pairs_is_used_less(self):
        study = make_study(agree=1.0)
        people = np.flatnonzero(~np.isnan(study["human"]))
        study["judge"][people[: len(people) * 3 // 4]] = np.nan
        found = rate(study)
        assert 0 < found.power < 0.5
        assert np.isfinite(found.rating).all()

    def test_no_pair_of_contestants_is_left_with_fewer_than_no_games(self):
        # People rated A-B once and B-C three times; of these the judge rated A-B alone, and B-C nine
        # times besides. A-B is 1/4 of people's games and a power p takes away p (1 - 1/10): p is at most
        # 5/18, and nine tenths of that are used.
        human, judge = [0.5, 0.5, 1, 0] + [np.nan] * 9, [0.5, np.nan, np.nan, np.nan] + [0.5] * 9
        found = anchored([0] + [1] * 12, [1] + [2] * 12, human, judge, 3, prompt=range(13), power=1.0)
        assert found.power == pytest.approx(1 / 4)
        assert found.rating == pytest.approx([1000] * 3)

    def test_what_is_wrong_is_one_sentence(self):
        study = make_study()
        with pytest.raises(ScoreError, match=r"judge\[3\] is 2.0; a score lies between 0 and 1, or is NaN"):
            rate({**study, "judge": np.where(np.arange(360) == 3, 2.0, study["judge"])})
        for changed, message in (
            ({"human": np.full(360, np.nan)}, "people rated no pair"),
            (
                {"judge": np.where(np.isnan(study["human"]), study["judge"], np.nan)},
                "no pair was rated by both people and the judge",
            ),
        ):
            with pytest.raises(NoGamesError, match=message):
                rate({**study, **changed})
        for option, message in (
            ({"power": 2.0}, r"power is 2\.0; it must be between 0 and 1"),
            ({"interval": 100.0}, r"interval is 100\.0"),
        ):
            with pytest.raises(ParameterError, match=message):
                rate(study, **option)


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 25), st.integers(1, 6))
def test_any_tiny_study_has_finite_ratings_or_a_reason(seed, contestants, pairs, prompts):
    generator = np.random.default_rng(seed)
    a = generator.integers(0, contestants, pairs)
    scores = generator.choice([0, 0.5, 1, np.nan], (2, pairs))
    b = (a + generator.integers(1, contestants, pairs)) % contestants
    try:
        found = anchored(a, b, *scores, contestants, prompt=generator.integers(0, prompts, pairs))
    except NoGamesError:
        assert np.isnan(scores).any(axis=0).all()
        return
    for estimate in (found.best, found.human):
        assert np.isfinite(estimate.value).tolist() == found.is_anchored.tolist()
    for group in set(found.component[found.is_anchored].tolist()):
        assert found.rating[found.component == group].mean() == pytest.approx(1000)
    json.dumps(found.as_dict([*"klmno"[:contestants]]), allow_nan=False)


class TestBalance:
    def test_who_were_chosen_tells(self):
        p = [rate(make_study(seed=seed)).balance["decided"] for seed in range(20)]
        assert min(p) > 0.001
        study = make_study()
        study["human"][study["a"] == 0] = np.where(study["judge"] == 1, 1.0, 0.0)[study["a"] == 0]
        assert rate(study).balance["contestants"] < 1e-6
        study = make_study()
        study["judge"] = np.where(np.isnan(study["human"]), study["judge"], 0.5)
        study["judge"][:3] = 1.0
        assert rate(study).balance["decided"] < 1e-6
        assert rate(make_study(rated=60)).balance == {}

    def test_prompts_chosen_whole_are_units(self):
        # The judge wavers on six of the ten prompts people rated, and on four of the ten others. Every prompt
        # adds 6 x 1/2 x 1/4 to the sum or takes it away: (4 x 3/4)^2 / (20 x 9/16) = 0.8, which is F with 1
        # and 19 degrees. That is nothing strange, although 36 of 60 pairs against 24 of 60 would be.
        study = make_study(prompts=20, rated=10)
        study["judge"] = np.where((study["prompt"] < 6) | (study["prompt"] >= 16), 0.5, 1.0)
        assert rate(study).balance["decided"] == pytest.approx(fdtrc(1, 19, 0.8), abs=1e-9)


class TestRatedPairs:
    def test_comparisons_become_pairs_without_sides(self):
        # Contestants 0 and 1 on one prompt: a person saw 1 first and preferred 0, another called it a tie;
        # the judge preferred what came first in both orders. Then 2 against 1 by the judge alone.
        ratings = make_ratings(
            [1, 0, 0, 1, 2], [0, 1, 1, 0, 1], [3, 2, 1, 1, 8], [3, 3, 3, 3, 8], 3, prompt=[*"pppp", "q"]
        )
        by_judge = np.array([False, False, True, True, True])
        pairs = rated_pairs(ratings, ~by_judge, by_judge, category=[*"xxxx", "y"])
        assert (pairs.a.tolist(), pairs.b.tolist(), pairs.prompt.tolist()) == ([0, 1], [1, 2], [0, 1])
        assert pairs.human == pytest.approx([0.75, np.nan], nan_ok=True)
        assert pairs.judge == pytest.approx([0.5, 1.0])
        assert pairs.category.tolist() == [0, 1]

    def test_ties_off_leaves_the_middle_out_and_strangers_count_for_nothing(self):
        ratings = make_ratings([0, 0], [1, 1], [2, 1], 3, 2, prompt=[0, 0])
        judge = np.array([False, True])
        pairs = rated_pairs(ratings, ~judge, judge, ties=False)
        assert np.isnan(pairs.human).all()
        assert (pairs.judge.tolist(), pairs.left_out) == ([1.0], 1)
        ratings = make_ratings([0, 0, 0], [1, 1, 2], [1, 3, 1], 3, 3, prompt=[0, 0, 0])
        pairs = rated_pairs(ratings, np.array([True, False, False]), np.array([False, True, False]))
        assert (pairs.human.tolist(), pairs.judge.tolist(), len(pairs)) == ([1.0], [0.0], 1)

    def test_without_prompts_nothing_can_be_paired(self):
        ratings = make_ratings([0, 0], [1, 1], [2, 1], 3, 2)
        with pytest.raises(ParameterError, match="the ratings name no prompts"):
            rated_pairs(ratings, np.array([True, False]), np.array([False, True]))


class TestResult:
    def test_json_has_ranks_and_every_estimate(self):
        found = rate(make_study(rated=60))
        values = found.as_dict(["k", "l", "m", "n"])
        assert [row["rank"] for row in values["standings"]] == [1, 2, 3, 4]
        assert [row["rating"] for row in values["standings"]] == sorted(found.rating.round(6), reverse=True)
        best = values["standings"][-1]["rank_ub"]
        assert best == 1 + sum(found.low > found.high[found.rating.argmin()])
        assert json.loads(json.dumps(values, allow_nan=False)) == values
        assert values["votes_gained"] == round(found.effective_votes_overall - 360, 6)

    def test_cautions(self):
        study = make_study()
        study["human"][(study["a"] == 2) | (study["b"] == 2)] = np.nan
        said = anchored_cautions(rate(study), ["k", "l", "m", "n"])
        assert said[0] == "People rated no pair of m, so the ranking leaves them out."
        assert said[1].startswith("People rated pairs of only 20 prompts.")
        assert said[2].startswith("180 pairs of the judge")
        assert len(said) == 3
        study = make_study(rated=60)
        study["human"][(study["a"] < 2) & (study["b"] >= 2)] = np.nan
        study["judge"][np.isnan(study["human"])] = np.nan
        said = anchored_cautions(rate(study), ["k", "l", "m", "n"])
        assert "leave 2 groups that never met (k, l; m, n)" in said[0]
        assert said[1] == "The judge rated only pairs that people rated, so it adds nothing."
        study = make_study(rated=30)
        study["judge"][:] = 0.5
        assert "the scores come from people only" in anchored_cautions(rate(study), [*"klmn"])[0]
        study = make_study(rated=30)
        found = rate(study, category=np.where(study["prompt"] < 30, "prose", "code"))
        said = anchored_cautions(found, [*"klmn"])
        assert "do not look like a random part" in said[0]
        assert "other categories, p < 1e-06" in said[0]


def test_prompts_that_all_say_the_same_give_no_interval():
    """On three prompts people and judge both give the first three quarters, so no prompt moves anything."""
    alike = {"a": [0] * 3, "b": [1] * 3, "human": [0.75] * 3, "judge": [0.75] * 3, "prompt": [0, 1, 2]}
    found = rate(alike, 2)
    assert found.rating - 1000 == pytest.approx([POINTS * np.log(3) / 2, -POINTS * np.log(3) / 2])
    assert np.isnan([found.standard_error, found.low, found.high]).all()
    assert found.difference(0, 1).ends(95) is None
