"""The worked numbers of docs/methodology.md and docs/rating.md are those the code computes."""

import re
from pathlib import Path

import numpy as np
import pytest
from django.urls import reverse

from leaderboard.pages.standings.sentences import interval_line
from leaderboard.stats.agreement_opinions import Topics, opinion_rows, pair_sums
from leaderboard.stats.alpha import repeated_pairs, within_measure
from leaderboard.stats.alternative_annotator import alternative_annotator
from leaderboard.stats.bradley_terry import bootstrap_bradley_terry, bradley_terry
from leaderboard.stats.correlation import (
    ceiling_entries,
    coefficients,
    correlation,
    in_their_place,
    shared_entries,
)
from leaderboard.stats.descriptive import describe, matrices
from leaderboard.stats.elo import EloParameters, sequential_elo
from leaderboard.stats.elo_bootstrap import bootstrap_elo
from leaderboard.stats.elo_mean import mean_elo
from leaderboard.stats.games import make_games
from leaderboard.stats.intervals import central_interval
from leaderboard.stats.kappa import VALUES, kappa_measure
from leaderboard.stats.length_bias import length_effect
from leaderboard.stats.p_values import mcnemar
from leaderboard.stats.position_bias import position
from leaderboard.stats.ranking_method import METHODOLOGY
from leaderboard.stats.separation import rank_upper_bound
from leaderboard.stats.style import size_of, tokenizer_name
from leaderboard.stats.token_features import (
    entropy_bounds,
    logprob_variance,
    mean_logprob,
    reference_surprise,
)
from tests.leaderboard.stats.distribution_features import mean_entropy
from tests.leaderboard.stats.simulation import CENTRED, coverage, simulated_games

DOCS = Path(__file__).parents[3] / "docs"
PAGE = " ".join(f"{(DOCS / 'methodology.md').read_text()} {(DOCS / 'rating.md').read_text()}".split())


def half_width(samples, interval):
    low, high = central_interval(samples, interval)
    return ((high - low) / 2).mean()


def test_elo_game_by_game():
    one, two = (sequential_elo([0] * n, [1] * n, [1, 0][:n], 2) for n in (1, 2))
    expected = 1 / (1 + 10 ** ((one[1] - one[0]) / 400))
    assert f"A moves to {one[0]:.2f} and B to {one[1]:.2f}." in PAGE
    assert f"score {expected:.4f}, so A gives back {32 * expected:.2f} points" in PAGE
    assert f"ends at {two[0]:.2f}, B at {two[1]:.2f}." in PAGE
    mean = mean_elo(make_games([0] * 4, [1] * 4, [1, 1, 1, 0], 2), EloParameters(k=8)).rating
    assert f"`mean_elo`: {mean[0] - mean[1]:.2f}" in PAGE
    fast, slow = (EloParameters(k=k).settling_games for k in (32, 4))
    assert f"{fast:.0f} games per model for K=32, {slow:.0f} for K=4" in PAGE
    assert f"Methodology version: {METHODOLOGY}." in PAGE


@pytest.mark.parametrize("prompts", [327, 3270])
def test_widths_of_intervals(prompts):
    games = simulated_games(prompts)
    arrays = (games.a, games.b, games.score, 4)
    elo, slow = bootstrap_elo(*arrays).samples, bootstrap_elo(*arrays, k=4).samples
    fitted = bootstrap_bradley_terry(*arrays).samples
    widths = half_width(elo, 90), half_width(elo, 95), half_width(slow, 90), half_width(fitted, 90)
    row = " | ".join([str(prompts), str(len(games)), *(f"{width:.1f}" for width in widths)])
    assert f"| {row} |" in PAGE


@pytest.mark.parametrize("prompts", [10, 25, 50, 100, 327])
def test_spread_by_number_of_games(prompts):
    studies = [simulated_games(prompts, seed=seed) for seed in range(5)]
    elo = [
        np.ptp(np.median(bootstrap_elo(g.a, g.b, g.score, 4, k=4, rounds=200).samples, axis=0))
        for g in studies
    ]
    fitted = [np.ptp(bradley_terry(games).rating) for games in studies]
    assert f"| {prompts} | {3 * prompts} | {np.mean(elo):.0f} | {np.mean(fitted):.0f} |" in PAGE


def test_bradley_terry_three_to_one_and_one_game_only():
    rating = bradley_terry(make_games([0] * 4, [1] * 4, [1, 1, 1, 0], 2)).rating
    assert f"400 × log10(3) = {rating[0] - rating[1]:.2f} points: A gets {rating[0]:.2f} and B gets" in PAGE
    assert f"and B gets {rating[1]:.2f}." in PAGE
    fit = bradley_terry(make_games([0], [1], [1], 2))
    assert fit.prior
    assert f"their only game, A gets {fit.rating[0]:.2f} and B gets {fit.rating[1]:.2f}." in PAGE


def test_coverage():
    simple = [100 * coverage(by_prompt=by_prompt) for by_prompt in (False, True)]
    hard = [100 * coverage(by_prompt=by_prompt, shared=True) for by_prompt in (False, True)]
    assert (
        f"in {simple[0]:.1f}% of the cases resampling games and {simple[1]:.1f}% resampling prompts" in PAGE
    )
    assert f"in only {hard[0]:.1f}% resampling games" in PAGE
    assert f"and in {hard[1]:.1f}% resampling prompts" in PAGE


def test_best_ranks_intervals_and_matrices_in_words():
    best = rank_upper_bound([90, 85, 60], [110, 95, 80], [0, 0, 0])
    assert f"best ranks are {best[0]}, {best[1]} and {best[2]}." in PAGE
    used = {"rounds": 1000, "interval": 95.0, "intervals": "bootstrap", "resample": "prompts", "units": 19}
    assert f'"{interval_line(used)}"' in PAGE
    found = matrices(make_games([0] * 4, [1] * 4, [1, 1, 0, 0.5], 2))
    assert f"row A shows {found.wins[0, 1]} wins, {found.ties[0, 1]} tie, {found.games[0, 1]} games" in PAGE
    assert f"a win rate of {found.win_rate[0, 1]:.3f} against B" in PAGE
    assert found.win_rate[1, 0] == 0.375
    assert f"The true distance is {np.ptp(CENTRED):.0f}." in PAGE


def test_prompts_and_raters_drawn_together():
    """Shares of 16,000 rounds, whose standard error is at most 0.004."""
    cells = {"cluster": [0, 0, 1, 1], "crossed": [0, 1, 0, 1]}
    samples = bootstrap_bradley_terry([0] * 4, [1] * 4, [1, 1, 1, 0], 2, rounds=16_000, **cells).samples[:, 0]
    values, often = np.unique(np.round(samples, 2), return_counts=True)
    assert np.round(16 * often / 16_000, 1) == pytest.approx([1, 4, 4, 7], abs=0.21)
    assert "none of the four games in 7/16 of the resamples, one in 4/16, two in 4/16 and all" in PAGE
    assert f"If it wins one, A gets {values[2]:.2f}." in PAGE


RELIABILITY, PEOPLE = 0.5, 3


def topics(pairs):
    return Topics(np.arange(pairs), np.zeros(pairs, dtype=np.int64), ("",))


def test_a_correlation_and_a_ceiling():
    pearson, spearman, kendall = coefficients(np.array([-1.0, 0, 1]), np.array([-1.0, 1, 1]))
    assert f"2 / √(2 × 3) = {pearson:.4f}, Spearman 48 / √(64 × 54) = {spearman:.4f}" in PAGE
    assert f"Kendall 8 / √(12 × 9) = {kendall:.4f}." in PAGE
    rows = opinion_rows([0, 0, 0, 1, 1], [1, 2, 3, 1, 2], [1, 2, 3, 3, 3], 3, False)
    entries = ceiling_entries(rows, pair_sums(rows, 2))
    listed = sorted(zip(entries.x.tolist(), entries.y.tolist(), strict=True))
    assert listed == [(-1, 0.5), (0, 0), (1, -0.5), (1, 1), (1, 1)]
    assert f"r = 1 / √(4 × 2.5) = {correlation(topics(2), entries)[1][0, 0]:.4f}." in PAGE


def test_a_judge_in_the_place_of_people():
    rows = opinion_rows([0, 0, 0, 1, 1], [1, 2, 3, 1, 2], [1, 2, 3, 3, 3], 3, False)
    judge = pair_sums(opinion_rows([0, 1], 9, [1, 3], 3, False), 2)
    places = in_their_place(ceiling_entries(rows, pair_sums(rows, 2)), judge)
    own, person = (float(correlation(topics(2), entries)[1][0, 0]) for entries in places)
    assert f"r = 2 / √(5 × 2.5) = {own:.4f}, so the difference is {own - person:.4f}." in PAGE
    pair, rater = np.tile(np.arange(40), 3), np.repeat([1, 2, 3], 40)
    label = ((rater == 3) & (pair >= 30)).astype(int)
    found = alternative_annotator(pair, rater, label, (np.arange(40) == 0).astype(int))
    assert f"= −3 and p = {found.people[0].p:.4f}. In Cal's" in PAGE
    assert f"t = −4.28 and p = {found.people[2].p:.5f}. Adjusted, these are" in PAGE
    adjusted = [f"{each.p_adjusted:.4f}" for each in found.people]
    assert f"{adjusted[0]}, {adjusted[1]} and {adjusted[2]}: ω = {found.winning_rate:g}" in PAGE
    assert f"ρ = {found.advantage}, and the judge passes." in PAGE


def test_two_judges():
    p = mcnemar(np.array([1, 1, 1, 1, 1, -1]))
    assert f"so p = 2 × 7/64 = {p:.4f}." in PAGE
    assert f"p = 2 × 3/16 = {mcnemar(np.array([3, 1, -1, 2])):.3f}." in PAGE


def with_mean_of(people):
    """Correlation of what people think on average with the mean of some of them (Spearman and Brown)."""
    return float(np.sqrt(people * RELIABILITY / (1 + (people - 1) * RELIABILITY)))


def test_how_far_the_ceiling_is_too_low():
    person = np.sqrt(RELIABILITY)
    others, everybody = person * with_mean_of(PEOPLE - 1), person * with_mean_of(PEOPLE)
    assert f"correlate at {RELIABILITY} and three rate every pair" in PAGE
    assert f"reaches {others:.4f} against the two others" in PAGE
    assert f"just as good as a person {everybody:.4f} against all three" in PAGE
    # The same by simulation: votes of two points that follow a hidden side of each pair.
    found = simulated(pairs=40_000)
    assert found == pytest.approx([others, everybody, with_mean_of(PEOPLE)], abs=0.01)


def simulated(pairs):
    """People against each other, one more person against them, and the hidden side against them."""
    generator = np.random.default_rng(0)
    side = generator.integers(0, 2, pairs)

    def votes(raters, chance):
        pair = np.tile(np.arange(pairs), raters)
        right = generator.random(len(pair)) < chance
        rating = 1 + np.where(right, side[pair], 1 - side[pair])
        return opinion_rows(pair, np.repeat(np.arange(raters), pairs), rating, 2, False)

    # Two votes that are right with the chance p correlate at (2p - 1) squared.
    chance = (1 + RELIABILITY**0.5) / 2
    people, person, truth = votes(PEOPLE, chance), votes(1, chance), votes(1, 1.0)
    sums = pair_sums(people, pairs)
    entered = [
        ceiling_entries(people, sums),
        *(shared_entries(sums, pair_sums(one, pairs)) for one in (person, truth)),
    ]
    return [float(correlation(topics(pairs), entries)[1][0, 0]) for entries in entered]


def test_kappa_alpha_and_fleiss():
    sums = [pair_sums(opinion_rows(range(3), 1, given, 3, False), 3) for given in ([1, 2, 3], [1, 1, 3])]
    found = dict(zip(VALUES, kappa_measure(topics(3), *sums).estimate[0], strict=True))
    assert f"Weighted kappa is 2 × 2 / (2 + 3) = {found['kappa']:.4f}" in PAGE
    assert f"given in {found['exact']:.4f} of the cases, 0.3333 were expected by chance" in PAGE
    assert (found["exact"] - 1 / 3) / (1 - 1 / 3) == pytest.approx(found["kappa_verdict"])
    assert f"so kappa of verdicts is {found['kappa_verdict']:.4f}." in PAGE
    sums = [pair_sums(opinion_rows(range(3), 1, given, 2, False), 3) for given in ([1, 1, 2], [1, 2, 2])]
    found = dict(zip(VALUES, kappa_measure(topics(3), *sums).estimate[0], strict=True))
    assert f"so kappa is {found['kappa_unmirrored']:.4f} (mirrored {found['kappa']:.4f})" in PAGE
    rows = opinion_rows([0, 0, 1, 1], [1, 2, 1, 2], [1, 1, 1, 2], 3, False)
    alpha, _, fleiss, *_ = within_measure(topics(2), repeated_pairs(rows, 2)).estimate[0]
    assert f"1 − (1/2) / (12/7) = {alpha:.4f}" in PAGE
    assert f"(0.5 − 22/64) / (1 − 22/64) = {fleiss:.4f}." in PAGE


RATINGS = [1, 8, 1, 1, 8, 1, 1, 2]


def test_position_by_one_and_by_nine_raters():
    found = position(RATINGS, 8, range(8))
    assert f"Six of eight prefer the first, {100 * found['share_first']:.0f}%." in PAGE
    assert f"9/7 + 1 = {found['chi2']:.3f};" in PAGE
    assert found["chi2"] == pytest.approx(9 / 7 + 1)
    assert f"in {100 * found['p_independent']:.1f}% of the cases (p = {found['p_independent']:.3f})" in PAGE
    low, high = 100 * found["share_first_low"], 100 * found["share_first_high"]
    assert f"75% of eight prompts has the 95% interval {low:.1f} to {high:.1f}%" in PAGE
    once = found
    found = position(np.repeat(RATINGS, 9), 8, np.repeat(range(8), 9))
    assert f"there are {found['n']} ratings now" in PAGE
    assert f"p is {found['p_independent']:.5f}, but there are still only eight prompts" in PAGE
    assert f"The p that is printed is {found['p']:.3f}:" in PAGE
    assert (found["share_first_low"], found["p"]) == pytest.approx((once["share_first_low"], once["p"]))


def test_length():
    found = length_effect([19] * 10, [9] * 10, [1] * 8 + [0] * 2, range(10))
    low, high = 100 * found["longer_low"], 100 * found["longer_high"]
    assert f"The longer win {100 * found['longer_wins']:.1f}% (95% interval {low:.1f} to {high:.1f}%)" in PAGE
    assert f"the slope is ln(8 / 2) = {found['slope']:.3f} per doubling" in PAGE


def test_texts_and_summaries():
    assert size_of(["Don’t stop!"]).words == size_of(["snake_case"]).words == 2
    found = size_of(["The cat saw the CAT."])
    words = f"has {found.words} words, {found.unique_words} of them unique, and {found.tokens} tokens"
    assert words in PAGE
    vocabulary, package = tokenizer_name().split(" (")
    assert f"{vocabulary} as the package {package.split()[0]} counts them" in PAGE
    found = describe([1, 2, 4, 9])
    assert f"have the mean {found.mean:g}, the standard deviation {found.sd:.2f}" in PAGE
    assert f"the quartiles {found.q1}, {found.median:g} and {found.q3}" in PAGE


@pytest.mark.django_db
def test_the_page_shows_the_document_with_its_headings_and_tables(client):
    page = client.get(reverse("methodology")).content.decode()
    assert "<h1>How the numbers are made</h1>" in page
    assert page.index("<h2>How to read a leaderboard</h2>") < page.index("<h3>Elo</h3>")
    assert "<table" in page
    sections = re.findall(r'<section class="(?:prose|methodology-part)" id="([\w-]+)">', page)
    assert set(re.findall(r'href="#([\w-]+)"', page)) - {"main"} == set(sections)
    assert "pytest" not in page
    assert f"Methodology version: {METHODOLOGY}." in page
    assert "<br" not in page


@pytest.mark.django_db
def test_every_page_links_to_it(client):
    assert f'href="{reverse("methodology")}"' in client.get(reverse("home")).content.decode()


def test_features_in_numbers():
    tokens = np.log([0.5, 0.25, 0.8])
    assert f"mean is −{-mean_logprob(tokens):.6f}, their variance {logprob_variance(tokens):.6f}" in PAGE
    assert f"0.178515) / 3 = {reference_surprise(tokens):.6f}" in PAGE
    assert f"(0.693147 + 0) / 2 = {mean_entropy([[np.log(0.5)] * 2, [0, -np.inf]]):.6f}" in PAGE
    found = entropy_bounds(np.log([[0.5, 0.2]]), 6)
    assert f"between {found.low:.6f} and {found.high:.6f}" in PAGE
