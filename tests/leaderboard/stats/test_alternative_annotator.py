import numpy as np
import pytest
from scipy.stats import t, ttest_1samp
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.multitest import multipletests

from leaderboard.stats.alternative_annotator import alternative_annotator

ANN, BEN, CAL = 7, 8, 9
PAIRS = 40


def test_by_hand():
    # All say 0, but Cal says 1 on the last ten pairs, and the judge on the first.
    rater = np.repeat([ANN, BEN, CAL], PAIRS)
    pair = np.tile(np.arange(PAIRS), 3)
    label = ((rater == CAL) & (pair >= 30)).astype(int)
    judge = (np.arange(PAIRS) == 0).astype(int)
    found = alternative_annotator(pair, rater, label, judge)
    assert [each.pairs for each in found.people] == [PAIRS] * 3
    assert [each.judge for each in found.people] == [39 / 40] * 3
    assert [each.person for each in found.people] == [1.0, 1.0, 30 / 40]
    # For Ann and Ben: one pair lost, mean 1/40, standard error 1/40, so t = (1/40 - 1/10) / (1/40) = -3.
    # For Cal: one lost, ten won: mean -9/40, standard error 0.07585, so t = -4.285.
    assert [each.p for each in found.people] == pytest.approx([0.002343, 0.002343, 0.0000579], abs=1e-6)
    # 3 * (1 + 1/2 + 1/3) = 5.5, over the rank.
    expected = [0.002343 * 5.5 / 3, 0.002343 * 5.5 / 3, 0.0000579 * 5.5]
    assert [each.p_adjusted for each in found.people] == pytest.approx(expected, abs=2e-6)
    assert (found.winning_rate, found.advantage, found.passes) == (1.0, 39 / 40, True)
    # Nothing is certain about a judge that is wrong on eight pairs: t = (8/40 - 1/10) / 0.064 = 1.56.
    worse = alternative_annotator(pair, rater, label, (np.arange(PAIRS) < 8).astype(int))
    assert worse.people[0].p == pytest.approx(0.937, abs=1e-3)
    assert (worse.winning_rate, worse.passes) == (0.0, False)


def study(seed, reliable, pairs=120, people=5, missing=0.3):
    """People who see the better of three labels in 7 of 10 cases, and a judge that does in ``reliable``."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, 3, pairs)

    def seen(share, size):
        right = generator.random(size) < share
        return np.where(right, np.broadcast_to(truth, size), generator.integers(0, 3, size))

    labels = seen(0.7, (people, pairs))
    rater, pair = np.nonzero(generator.random((people, pairs)) >= missing)
    judge = np.where(generator.random(pairs) < 0.05, -1, seen(reliable, pairs))
    return pair, rater, labels[rater, pair], judge


def slowly(pair, rater, label, judge, epsilon):
    """p-values of the people with 30 pairs, and the winning rate, in plain loops and by SciPy."""
    said = {(i, j): k for i, j, k in zip(pair.tolist(), rater.tolist(), label.tolist(), strict=True)}
    p = []
    for person in sorted(set(rater.tolist())):
        lost = []
        for i in sorted(i for i, j in said if j == person):
            others = [k for (at, j), k in said.items() if at == i and j != person]
            if others and judge[i] >= 0:
                own, theirs = (np.mean([k == one for k in others]) for one in (judge[i], said[i, person]))
                lost.append(int(theirs >= own) - int(own >= theirs))
        if len(lost) >= 30:
            p.append(ttest_1samp(lost, epsilon, alternative="less").pvalue)
    return p, np.mean(multipletests(p, 0.05, method="fdr_by")[0])


@pytest.mark.parametrize(("seed", "reliable", "epsilon"), [(1, 0.9, 0.1), (2, 0.7, 0.2), (3, 0.4, 0.15)])
def test_it_equals_plain_loops_with_scipy(seed, reliable, epsilon):
    given = study(seed, reliable)
    found = alternative_annotator(*given, epsilon)
    p, rate = slowly(*given, epsilon)
    assert [each.p for each in found.people] == pytest.approx(p)
    assert found.winning_rate == pytest.approx(rate)
    assert found.passes == (rate >= 0.5)


@pytest.mark.parametrize(("seed", "each"), [(1, 1), (2, 4), (3, 10)])
def test_pairs_of_a_prompt_count_as_its_cluster(seed, each):
    """statsmodels' regression on a constant with standard errors clustered by prompt."""
    pair, rater, label, judge = study(seed, 0.7)
    prompt = np.arange(len(judge)) // each
    found = alternative_annotator(pair, rater, label, judge, prompt=prompt)
    for person, tested in zip(np.unique(rater), found.people, strict=True):
        own = (rater == person) & (judge[pair] >= 0)
        worse, of = [], []
        for at, said in zip(pair[own], label[own], strict=True):
            others = label[(pair == at) & (rater != person)]
            if len(others):
                worse.append(np.sign((others == said).sum() - (others == judge[at]).sum()))
                of.append(prompt[at])
        fit = OLS(np.array(worse, dtype=float), np.ones(len(worse))).fit(
            cov_type="cluster", cov_kwds={"groups": np.array(of)}, use_t=True
        )
        wanted = t.cdf((fit.params[0] - 0.1) / fit.bse[0], len(set(of)) - 1)
        assert (tested.p, tested.prompts) == (pytest.approx(wanted), len(set(of)))


def test_one_prompt_and_equal_prompts():
    pair, rater, label, judge = study(1, 0.7)
    one = alternative_annotator(pair, rater, label, judge, prompt=np.zeros(len(judge)))
    assert (one.people, one.passes) == ((), None)
    # On each of 20 prompts Ann and Ben lose one pair of two: pairs are as uncertain as if they were alone.
    pairs = np.tile(np.arange(40), 3)
    everybody = np.repeat([ANN, BEN, CAL], 40)
    found = alternative_annotator(
        pairs, everybody, np.zeros(120), np.arange(40) % 2, prompt=np.arange(40) // 2
    )
    plain = alternative_annotator(pairs, everybody, np.zeros(120), np.arange(40) % 2)
    assert [each.p for each in found.people] == [each.p for each in plain.people]


def test_a_judge_drawn_as_people_passes_and_a_random_one_does_not():
    passed = {
        reliable: [alternative_annotator(*study(seed, reliable, pairs=500)).passes for seed in range(20)]
        for reliable in (0.7, 0.0)
    }
    assert sum(passed[0.7]) >= 19
    assert not any(passed[0.0])


@pytest.mark.filterwarnings("error")
def test_too_few_people_or_pairs_have_no_result():
    pair, rater, label, judge = study(0, 0.7, pairs=100, people=2)
    found = alternative_annotator(pair, rater, label, judge)
    assert (len(found.people), found.winning_rate, found.passes) == (2, None, None)
    assert found.reason == (
        "fewer than 3 people rated 30 pairs or more with the judge and somebody else, on two prompts or more"
    )
    few = alternative_annotator(*study(0, 0.7, pairs=29))
    assert (few.people, few.too_few) == ((), 5)
    assert alternative_annotator([], [], [], []).passes is None


def test_relabelling_everything_and_the_order_change_nothing():
    pair, rater, label, judge = study(4, 0.8)
    expected = alternative_annotator(pair, rater, label, judge).as_dict()
    turned = np.where(judge < 0, -1, 2 - judge)
    assert alternative_annotator(pair, rater, 2 - label, turned).as_dict() == expected
    back = slice(None, None, -1)
    assert alternative_annotator(pair[back], rater[back], label[back], judge).as_dict() == expected
