import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import minimize

from leaderboard.stats.bradley_terry import bradley_terry
from leaderboard.stats.checks import StatsError
from leaderboard.stats.games import make_games
from leaderboard.stats.robustness import FittedTable, Removed, fewest_removals
from leaderboard.terminal.votes import read_votes
from tests.leaderboard.stats.simulation import simulated_games, small_games


def make_votes(*cells, cluster=None):
    """Games from cells (a, b, score of a, how often)."""
    a, b, score = (np.repeat([cell[i] for cell in cells], [cell[3] for cell in cells]) for i in range(3))
    return make_games(a, b, score, int(max(a.max(), b.max())) + 1, cluster=cluster)


def without(games, picked, unit="games"):
    """The games left, fitted; None where none is left."""
    own = np.arange(len(games)) if unit == "games" else games.cluster
    kept = ~np.isin(own, picked)
    if not kept.any():
        return None
    return bradley_terry(make_games(games.a[kept], games.b[kept], games.score[kept], games.contestants))


def somebody_is_above(fit, first):
    return fit is not None and bool(
        (fit.rating[fit.component == fit.component[first]] > fit.rating[first] + 1e-6).any()
    )


def fewest_by_enumeration(games, first, unit):
    """The smallest removal after which somebody is rated above the first: every subset is tried."""
    units = len(games) if unit == "games" else games.units
    for removed in range(1, units + 1):
        for picked in itertools.combinations(range(units), removed):
            if somebody_is_above(without(games, picked, unit), first):
                return removed
    return None


class TestByHand:
    def test_one_table_by_hand(self):
        # Two removed leave one win each, a tie; the third puts B before A.
        found = fewest_removals(make_votes((0, 1, 1, 3), (0, 1, 0, 1)))
        assert (found.first, found.instead, found.removed, found.units) == (0, 1, 3, 4)
        assert found.share == 0.75
        assert found.outcomes == (Removed(0, 1, 1.0, 3),)
        assert found.picked.tolist() == [0, 1, 2]

    def test_ties_sides_and_who_never_lost(self):
        # 3 wins, 2 ties, 1 loss: without the wins B leads with 1 win and 2 ties.
        found = fewest_removals(make_votes((0, 1, 0.5, 2), (0, 1, 1, 3), (0, 1, 0, 1)))
        assert found.removed == 3
        assert found.picked.tolist() == [2, 3, 4]
        assert fewest_removals(make_votes((1, 0, 0, 3), (1, 0, 1, 1))).removed == 3
        found = fewest_removals(make_votes((0, 1, 1, 3)))
        assert (found.first, found.instead, found.removed, found.share) == (0, None, None, None)
        assert (len(found.picked), found.outcomes) == (0, ())
        assert found.sentence("AB") == "No removal of ratings was found that puts another model before A."

    def test_a_shared_first_place_needs_no_removal(self):
        found = fewest_removals(make_votes((0, 1, 1, 1), (0, 1, 0, 1), (0, 2, 1, 1), (1, 2, 1, 1)))
        assert (found.removed, {found.first, found.instead}) == (0, {0, 1})
        assert "A shares the first place" in found.sentence("ABC")

    def test_whole_prompts_and_who_is_cut_off(self):
        # Prompt 0 holds all of A's three wins: without it B leads.
        games = make_votes((0, 1, 1, 3), (0, 1, 0, 2), (0, 1, 0.5, 1), cluster=[0, 0, 0, 1, 1, 2])
        found = fewest_removals(games, unit="prompts")
        assert (found.removed, found.units, found.picked.tolist()) == (1, 3, [0])
        assert found.outcomes == (Removed(0, 1, 1.0, 3),)
        assert found.sentence("AB") == "Removing 1 of 3 prompts (33%) would put B before A; fewer might do."
        # C met nobody but A, in one game that A won; the two wins over B and that game are what A has.
        games = make_votes((0, 1, 1, 2), (0, 1, 0, 1), (0, 2, 1, 1), cluster=[0, 1, 2, 0])
        found = fewest_removals(games, unit="prompts")
        assert (found.removed, found.cut_off) == (2, (2,))
        assert "and cut off C; fewer might do." in found.sentence("ABC")

    def test_only_the_largest_group_is_looked_at(self):
        # 3 and 4 never met the rest.
        votes = make_votes((0, 1, 1, 3), (1, 2, 1, 3), (2, 0, 1, 1), (1, 0, 1, 1), (3, 4, 1, 1))
        found = fewest_removals(votes)
        assert found.first == 0
        assert found.instead in (1, 2)
        assert found.cut_off == ()


class TestAgainstEnumeration:
    @pytest.mark.parametrize("unit", ["games", "prompts"])
    @pytest.mark.parametrize("seed", range(3))
    def test_small_studies(self, unit, seed):
        generator = np.random.default_rng(seed)
        a, b = np.tile([0, 0, 1], 3), np.tile([1, 2, 2], 3)
        chance = 1 / (1 + np.exp(0.8 * (a - b)))
        score = (generator.random(9) < chance).astype(float)
        games = make_games(a, b, score, 3, cluster=np.repeat(np.arange(3), 3))
        found = fewest_removals(games, unit=unit)
        if found.removed:
            assert found.removed == fewest_by_enumeration(games, found.first, unit)

    @settings(max_examples=20)
    @given(small_games(clustered=True))
    def test_every_answer_holds_when_the_games_are_really_left_out(self, games):
        for unit in ("games", "prompts"):
            found = fewest_removals(games, unit=unit)
            if found.removed:
                after = without(games, found.picked, unit)
                assert somebody_is_above(after, found.first)
                assert after.rating[found.instead] > after.rating[found.first]
                assert len(np.unique(found.picked)) == found.removed
                before = bradley_terry(games)
                lost = (before.component == 0) & (after.component != after.component[found.first])
                assert np.flatnonzero(lost).tolist() == list(found.cut_off)

    @settings(max_examples=20)
    @given(small_games())
    def test_swapping_the_sides_changes_nothing(self, games):
        swapped = make_games(games.b, games.a, 1 - games.score, games.contestants)
        found, again = fewest_removals(games), fewest_removals(swapped)
        assert (found.removed, found.instead) == (again.removed, again.instead)
        assert np.array_equal(found.picked, again.picked)

    def test_prompts_of_one_game_are_games(self):
        games = simulated_games(20, seed=1)
        alone = make_games(games.a, games.b, games.score, 4, cluster=np.arange(len(games)))
        by_game, by_prompt = fewest_removals(games), fewest_removals(alone, unit="prompts")
        assert by_game.removed == by_prompt.removed
        assert by_game.outcomes == by_prompt.outcomes


def test_a_published_table_hangs_on_a_clear_share():
    games = simulated_games(clustered=True)
    found = fewest_removals(games)
    one_fewer = without(games, found.picked[:-1])
    assert somebody_is_above(without(games, found.picked), found.first)
    assert not somebody_is_above(one_fewer, found.first)
    assert found.removed == found.outcomes[0].games, "the cheapest way is to take wins over the second"


class TestPublicStudy:
    """The numbers of docs/methodology.md."""

    def votes(self, reference_data, tmp_path, name):
        path = tmp_path / "votes.csv"
        text = (reference_data / "llmfao" / f"{name}-comparisons.csv").read_text()
        path.write_text(text.replace("worker", "rater", 1))
        return read_votes(path)

    def test_people(self, reference_data, tmp_path):
        votes = self.votes(reference_data, tmp_path, "crowd")
        found = {
            unit: fewest_removals(votes.ratings().games(ties=True, resample=unit), unit=unit)
            for unit in ("games", "prompts", "raters")
        }
        assert {votes.names[one.first] for one in found.values()} == {"GPT 4"}
        assert {unit: (one.removed, one.units) for unit, one in found.items()} == {
            "games": (13, 8931),
            "prompts": (4, 13),
            "raters": (7, 124),
        }
        assert found["games"].sentence(votes.names) == (
            "Removing 13 of 8931 ratings (0.15%) would put Platypus-2 Instruct (70B) before GPT 4; "
            "fewer might do."
        )

    @pytest.mark.parametrize(
        ("name", "first", "games", "prompts"),
        [("gpt4-crowd", "GPT 3.5 Turbo", 1, 1), ("gpt3-crowd", "command", 2, 1)],
    )
    def test_judges(self, reference_data, tmp_path, name, first, games, prompts):
        votes = self.votes(reference_data, tmp_path, name)
        taken = votes.ratings().games(ties=True)
        by_game, by_prompt = fewest_removals(taken), fewest_removals(taken, unit="prompts")
        assert (votes.names[by_game.first], by_game.removed, by_game.units) == (first, games, 2139)
        assert (by_prompt.removed, by_prompt.units) == (prompts, 13)


@pytest.mark.parametrize(
    ("games", "unit", "message"),
    [
        (make_games([], [], [], 2), "games", "no games to remove"),
        (
            make_votes((0, 1, 1, 3)),
            "prompts",
            "prompts are to be removed, but the games have no clusters",
        ),
        (make_votes((0, 1, 1, 3)), "days", "unit is 'days'"),
    ],
)
def test_what_cannot_be_removed(games, unit, message):
    with pytest.raises(StatsError, match=message):
        fewest_removals(games, unit=unit)


def table_of(games):
    return games.table


def gap(table, outcome, change):
    """The gap from contestant 0 to 1 with ``change`` more games of an outcome, by a general optimiser."""
    weight = table.count_of_outcome + change * (np.arange(len(table.count_of_outcome)) == outcome)
    a, b, score = table.a[table.pair_of_outcome], table.b[table.pair_of_outcome], table.score_of_outcome

    def loss(theta):
        lead = theta[a] - theta[b]
        won, lost = np.logaddexp(0, -lead), np.logaddexp(0, lead)
        return (weight * (score * won + (1 - score) * lost)).sum() + 0.5 * theta.sum() ** 2

    theta = minimize(loss, np.zeros(table.contestants), method="BFGS", options={"gtol": 1e-10}).x
    return theta[0] - theta[1]


@pytest.mark.parametrize("outcome", [0, 4, 16])
def test_influence_is_the_slope_of_the_gap_in_the_weight_of_an_outcome(outcome):
    table = table_of(simulated_games(30, seed=3, tie_share=0.2))
    slope = (gap(table, outcome, 0.01) - gap(table, outcome, -0.01)) / 0.02
    assert FittedTable.of(table).influence(0, 1)[outcome] == pytest.approx(slope, rel=1e-3, abs=1e-5)


def test_two_contestants_by_hand_and_the_sum_of_all_influences():
    # 3 wins of 4: the expected score is 3/4 and the information of a game 3/16, so a win moves the gap
    # by (1 - 3/4) / (4 * 3/16) = 1/3 and a loss by -3/4 / (3/4) = -1.
    games = make_games([0] * 4, [1] * 4, [1, 1, 1, 0], 2)
    assert FittedTable.of(table_of(games)).influence(0, 1) == pytest.approx([-1, 1 / 3])
    table = table_of(simulated_games(50, seed=1, tie_share=0.3))
    moved = FittedTable.of(table).influence(0, 2)
    assert abs(moved @ table.count_of_outcome) < 1e-9
