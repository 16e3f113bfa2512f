"""The simulated votes: what they are drawn from can be read back from them."""

from collections import Counter, defaultdict
from statistics import fmean

import pytest

from arena.demo import votes
from arena.demo.votes import AGREEMENT, POINTS, RATERS, STRENGTHS, Vote
from arena.rating import scales

PEOPLE = [rater for rater in RATERS if not rater.is_judge]
JUDGES = [rater for rater in RATERS if rater.is_judge]
PROMPTS = {f"{category}-{number}": category for category in AGREEMENT for number in range(6)}


@pytest.fixture(scope="module")
def simulated() -> list[Vote]:
    return votes.simulate(PROMPTS)


def score_shares(simulated: list[Vote], raters: list[votes.SimulatedRater]) -> dict[str, float]:
    """Mean score of each contestant without ties. All play equally often, so this orders as Elo would."""
    scores = defaultdict(list)
    for vote in simulated:
        if vote.rating is not None and vote.showing.rater in raters:
            first = scales.score(vote.rating, vote.points, ties=False)
            if first is None:
                continue  # equal scores take no side
            scores[vote.showing.first].append(first)
            scores[vote.showing.second].append(1 - first)
    return {contestant: fmean(values) for contestant, values in scores.items()}


def mean_rating(simulated: list[Vote], rater: votes.SimulatedRater) -> float:
    return fmean(vote.rating for vote in simulated if vote.showing.rater == rater and vote.rating is not None)


def test_the_votes_follow_from_the_seed(simulated: list[Vote]) -> None:
    assert votes.simulate(PROMPTS) == simulated
    assert votes.simulate(PROMPTS, seed=1) != simulated
    with pytest.raises(KeyError, match="poetry"):
        votes.simulate({"p": "poetry"})


def test_every_pair_is_rated_by_two_people_and_each_judge(simulated: list[Vote]) -> None:
    orders: dict[tuple[str, frozenset[str]], dict[votes.SimulatedRater, list[str]]] = {}
    for vote in simulated:
        shown = vote.showing
        raters = orders.setdefault((shown.prompt, frozenset((shown.first, shown.second))), {})
        raters.setdefault(shown.rater, []).append(shown.first)
    assert len(orders) == 36 * 10
    for raters in orders.values():
        assert [rater for rater in RATERS if rater in raters and rater.is_judge] == JUDGES
        assert len(raters) == len(JUDGES) + 2
        for rater, first in raters.items():
            assert len(first) == len(set(first)) == (2 if rater.both_orders else 1)


def test_presentation_order_is_balanced(simulated: list[Vote]) -> None:
    first = Counter((vote.showing.rater.is_judge, vote.showing.first) for vote in simulated)
    shown = Counter(
        (vote.showing.rater.is_judge, contestant)
        for vote in simulated
        for contestant in (vote.showing.first, vote.showing.second)
    )
    for contestant in STRENGTHS:
        assert first[False, contestant] * 2 == shown[False, contestant]
        assert first[True, contestant] / shown[True, contestant] == pytest.approx(0.5, abs=0.05)


def test_the_stated_strengths_and_order_are_recovered(simulated: list[Vote]) -> None:
    shares = score_shares(simulated, PEOPLE)
    for contestant, strength in STRENGTHS.items():
        others = [other for name, other in STRENGTHS.items() if name != contestant]
        expected = fmean(1 / (1 + 10 ** ((other - strength) / 400)) for other in others)
        assert shares[contestant] == pytest.approx(expected, abs=0.04)
    shares = score_shares(simulated, JUDGES)
    assert sorted(shares, key=shares.__getitem__, reverse=True) == list(STRENGTHS)


def test_position_bias_shows_in_the_ratings(simulated: list[Vote]) -> None:
    judge_a, judge_b, warned, scoring = (mean_rating(simulated, judge) for judge in JUDGES)
    people = fmean(mean_rating(simulated, rater) for rater in PEOPLE)
    assert judge_a < 4.0
    assert judge_b > 4.8
    assert judge_a + 0.2 < warned < 4.5
    assert scoring < 2
    assert people == pytest.approx(4.5, abs=0.15)


def test_about_one_vote_in_five_is_a_tie_and_votes_come_in_time_order(simulated: list[Vote]) -> None:
    ratings = [vote.rating for vote in simulated if vote.rating is not None and vote.points == POINTS]
    assert sum(rating in scales.TIE_BAND[POINTS] for rating in ratings) / len(ratings) == pytest.approx(
        0.2, abs=0.03
    )
    assert set(ratings) == set(range(1, POINTS + 1))
    times = [vote.created_at for vote in simulated]
    assert times == sorted(times)
    assert times[0] > votes.START
    assert all(0 < vote.seconds < 600 for vote in simulated)


def test_judges_differ_from_people_most_in_coding(simulated: list[Vote]) -> None:
    distance = {category: _distance(simulated, category) for category in AGREEMENT}
    assert distance["coding"] == max(distance.values())
    assert distance["coding"] > distance["brainstorm"] + 0.1
    assert distance["coding"] > distance["generation"] + 0.1


def _distance(simulated: list[Vote], category: str) -> float:
    """Mean share of the sign on which judges and people disagree about a pair, ties left out."""
    sides: dict[tuple[str, str, str], dict[bool, list[float]]] = defaultdict(lambda: {True: [], False: []})
    for vote in simulated:
        shown = vote.showing
        if vote.rating is not None and PROMPTS[shown.prompt] == category:
            side = scales.preference(vote.rating, vote.points) * (1 if shown.first < shown.second else -1)
            sides[shown.prompt, *sorted((shown.first, shown.second))][shown.rater.is_judge].append(side)
    means = [(fmean(side[True]), fmean(side[False])) for side in sides.values() if side[True]]
    people_squared = sum(people**2 for _, people in means)
    judges_squared = sum(judge**2 for judge, _ in means)
    return 1 - sum(j * p for j, p in means) / (people_squared * judges_squared) ** 0.5


def test_only_judges_leave_votes_unscored_and_their_reply_is_kept(simulated: list[Vote]) -> None:
    unscored = [vote for vote in simulated if vote.rating is None]
    assert {vote.reason for vote in unscored} == {"empty", "out_of_range"}
    assert all(vote.showing.rater.is_judge for vote in unscored)
    assert {(vote.reason, vote.raw_reply) for vote in unscored} == {("empty", ""), ("out_of_range", "0")}
    for vote in simulated:
        if vote.rating is not None and vote.scores is None:
            assert vote.reason == ""
            assert vote.raw_reply.split("\n")[0] == (str(vote.rating) if vote.showing.rater.is_judge else "")


def test_the_higher_of_two_scores_wins_and_equal_scores_are_a_tie(simulated: list[Vote]) -> None:
    scored = [vote for vote in simulated if vote.showing.rater.gives_scores]
    assert len(scored) == 720
    for vote in scored:
        assert vote.scores is not None
        first, second = vote.scores
        assert 1 <= first <= 10
        assert 1 <= second <= 10
        assert vote.rating == (1 if first > second else 2 if first == second else 3)
        assert vote.raw_reply.split("\n")[0] == f"{first} {second}"
    assert {vote.rating for vote in scored} == {1, 2, 3}
    assert all(vote.scores is None for vote in simulated if not vote.showing.rater.gives_scores)


def test_the_method_note_states_what_the_votes_are_drawn_from() -> None:
    note = votes.method_note()
    for contestant, strength in STRENGTHS.items():
        assert f"| {contestant} | {strength} |" in note
    assert "| Simulated judge A | 180 points for the answer shown first |" in note
    assert "| Simulated judge B | 90 points for the answer shown second |" in note
    assert "| Simulated rater 1 | none |" in note
    assert "| coding | 35% |" in note
    assert f"The seed is {votes.SEED}." in note
