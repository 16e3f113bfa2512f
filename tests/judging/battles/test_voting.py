"""Votes on battles: stored once, as comparisons like any other."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from arena.models import Assignment, Comparison, Completion, Pair, Prompt, Study
from arena.models.signals import announce
from arena.rating.assignments import claim_task, undo
from arena.rating.limits import allowance
from arena.rating.progress import progress_in
from arena.rules.subsets import LIVE_SUBSET
from judging.battles import showing
from judging.battles.errors import BattleError
from judging.battles.release import STOP
from judging.battles.showing import may_go_on
from judging.battles.voting import Told, reveal, say_why, tell, vote
from judging.models import Battle, BattleCall
from tests.factories import make_battle, make_battle_call, make_battle_rules, make_member, make_study

pytestmark = pytest.mark.django_db

A, B = "The sky is blue. It scatters light.", "Because of the air. Short waves scatter more."


def refused(battle: Battle, rating: int | None = 3, neither: bool = False, **more: Any) -> str:
    with pytest.raises(BattleError) as error:
        vote(battle, rating, neither, **more)
    return str(error.value)


def test_a_vote_is_a_comparison_of_a_live_prompt() -> None:
    battle = make_battle(A, B)
    comparison = vote(battle, 2, False)
    prompt, pair = comparison.pair.prompt, comparison.pair
    assert (prompt.subset, prompt.external_id, prompt.turns) == (
        LIVE_SUBSET,
        battle.public_id,
        ["Why is the sky blue?"],
    )
    assert prompt.is_private
    assert [one.text for one in pair.shown(comparison.swapped)] == [A, B]
    assert [one.contestant for one in pair.shown(comparison.swapped)] == [battle.first, battle.second]
    assert (comparison.rating, comparison.points, comparison.status) == (2, 8, "scored")
    assert (comparison.purpose, comparison.source, comparison.neither) == ("study", "battle", False)
    assert comparison.seconds == pytest.approx(60, abs=20)
    battle.refresh_from_db()
    assert (battle.state, battle.comparison, battle.prompt) == ("voted", comparison, prompt)
    assert battle.voted_at == battle.told_at is not None
    assert (battle.is_early, battle.is_fast) == (False, False)
    pair.refresh_from_db()
    assert pair.people_ratings == 1


def test_the_same_vote_twice_is_stored_once() -> None:
    battle = make_battle(A, B)
    assert vote(battle, 2, True) == vote(battle, 2, True)
    assert Comparison.objects.count() == Prompt.objects.filter(subset=LIVE_SUBSET).count() == 1
    assert Assignment.objects.get().state == "submitted"


@pytest.mark.parametrize(("rating", "neither"), [(3, True), (2, False), (None, True)])
def test_another_vote_is_refused_and_the_first_kept(rating: int | None, neither: bool) -> None:
    battle = make_battle(A, B)
    vote(battle, 2, True)
    assert "That rating is kept" in refused(battle, rating, neither)
    assert Comparison.objects.get().rating == 2


def test_neither_is_stored_beside_a_rating_or_is_the_reason_why_there_is_none() -> None:
    beside = vote(make_battle(A, B), 4, True)
    alone = vote(make_battle(A, B), None, True)
    assert (beside.rating, beside.neither, beside.reason) == (4, True, "")
    assert (alone.rating, alone.neither, alone.reason) == (None, True, "neither")
    assert (beside.status, alone.status) == ("scored", "unscored")


def test_nothing_chosen_is_no_vote() -> None:
    assert "Choose a rating" in refused(make_battle(A, B), None, False)


def test_a_rating_outside_the_scale_stores_nothing() -> None:
    battle = make_battle(A, B)
    assert "between 1 and 8" in refused(battle, 9)
    assert not Prompt.objects.filter(subset=LIVE_SUBSET).exists()
    battle.refresh_from_db()
    assert battle.state == "ready"


@pytest.mark.parametrize("greater_first", [False, True])
def test_a_rating_is_in_presentation_order(greater_first: bool) -> None:
    battle = make_battle(A, B)
    if greater_first:
        Battle.objects.update(first=battle.second, second=battle.first)
        battle.refresh_from_db()
    comparison = vote(battle, 1, False)
    first, second = comparison.pair.shown(comparison.swapped)
    assert (first.text, second.text) == (A, B)
    assert (first.contestant, second.contestant) == (battle.first, battle.second)
    assert comparison.swapped is greater_first


def test_a_tie_takes_no_side() -> None:
    battle = make_battle(A, B, rules=make_battle_rules(study=make_study(points=5)))
    assert vote(battle, 3, False).points == 5


def early(first: str, second: str, **overrides: Any) -> Battle:
    now = timezone.now()
    still = {"state": "answering", "pace": 0.001, "released_at": now}  # characters a second
    battle = make_battle(begun_at=now - timedelta(seconds=20), **{**still, **overrides})
    for side, text in enumerate((first, second)):
        make_battle_call(battle=battle, side=side, text=text, state="in_flight", deadline=timezone.now())
    return battle


def test_an_early_vote_is_about_what_could_be_seen() -> None:
    battle = early(A, B, released=20)
    comparison = vote(battle, 7, False)
    assert [one.text for one in comparison.pair.shown(comparison.swapped)] == [A[:20], B[:20]]
    battle.refresh_from_db()
    assert battle.is_early
    assert list(BattleCall.objects.values_list("ends_early", flat=True)) == [True, True]


def test_what_was_seen_at_an_early_vote_stays() -> None:
    battle = early(A, B, released=20)
    vote(battle, 7, False)
    BattleCall.objects.update(shown="Much more has come since. And more.", state="replied")
    battle.refresh_from_db()
    assert [side.text for side in showing.turns(battle)[-1].sides] == [A[:20], B[:20]]


@pytest.mark.parametrize(
    ("first", "second", "can"),
    [
        ("The sky", "Because", False),
        ("The sky is blue. It", "Because", False),
        ("The sky is 3.5", "It is. So", False),
        ("The sky is blue. It", "It is. So", True),
        ("# Title\nThe", "空は青い。そ", True),
    ],
)
def test_votes_are_taken_from_the_first_full_sentence_of_both(first: str, second: str, can: bool) -> None:
    battle = early(first, second, released=40)
    if can:
        assert vote(battle, 2, False).rating == 2
    else:
        assert "full sentence" in refused(battle)


def test_a_short_answer_without_a_full_stop_can_be_voted_on_once_complete() -> None:
    assert vote(make_battle("Blue", "42"), 2, False).rating == 2


def test_a_vote_faster_than_reading_is_taken_and_marked() -> None:
    battle = make_battle(A * 50, B * 50, begun_at=timezone.now() - timedelta(seconds=5))
    vote(battle, 2, False)
    battle.refresh_from_db()
    assert battle.is_fast


@pytest.mark.parametrize(
    ("overrides", "why"),
    [
        ({"state": "waiting"}, "full sentence"),
        ({"state": "void", "void": "hung"}, "ended without a rating"),
    ],
)
def test_a_battle_that_cannot_be_voted_on_says_why(overrides: dict[str, str], why: str) -> None:
    assert why in refused(make_battle(A, B, **overrides))


def test_a_closed_study_takes_no_vote() -> None:
    battle = make_battle(A, B)
    battle.study.closed_at = timezone.now()
    battle.study.save()
    assert "closed" in refused(battle)
    assert not Pair.objects.exists()


def test_a_page_of_an_earlier_turn_votes_on_nothing() -> None:
    battle = make_battle(A, B, turns=["One", "Two"])
    assert "newest answers" in refused(battle, turn=1)
    assert vote(battle, 2, False, turn=2).rating == 2


def test_a_battle_of_chosen_models_ranks_nobody() -> None:
    comparison = vote(make_battle(A, B, is_chosen=True), 2, False)
    assert comparison.purpose == "chosen"
    assert not Comparison.objects.counted(comparison.study).exists()
    comparison.pair.refresh_from_db()
    assert comparison.pair.people_ratings == 0


def test_thinking_is_kept_apart() -> None:
    battle = make_battle(A, B)
    BattleCall.objects.filter(side=1).update(text=f"<think>Hm.</think>{B}")
    comparison = vote(battle, 2, False)
    first, second = comparison.pair.shown(comparison.swapped)
    assert (first.thinking, second.text) == ([], B)
    assert "Hm." in second.thinking[0]


def conversation(thread: str, **overrides: Any) -> Battle:
    rules = make_battle_rules(thread=thread, most_turns=3)
    battle = make_battle("One a.", "One b.", rules=rules, turns=["One"], **overrides)
    return battle


def second_turn(battle: Battle) -> Battle:
    battle.refresh_from_db()
    battle.turns, battle.state = ["One", "Two"], "ready"
    battle.save()
    for side, text in enumerate(("Two a.", "Two b.")):
        make_battle_call(battle=battle, side=side, text=text, state="replied")
    return battle


def test_sides_that_go_on_alone_are_rated_as_whole_conversations() -> None:
    battle = conversation("own")
    assert may_go_on(battle, battle.study.battle_rules)
    comparison = vote(second_turn(battle), 2, False)
    assert comparison.pair.prompt.turns == ["One", "Two"]
    first, second = comparison.pair.shown(comparison.swapped)
    assert (first.turns, second.turns) == (["One a.", "Two a."], ["One b.", "Two b."])
    battle.refresh_from_db()
    seen = [[side.text for side in turn.sides] for turn in showing.turns(battle)]
    assert seen == [["One a.", "One b."], ["Two a.", "Two b."]]
    assert not may_go_on(battle, battle.study.battle_rules)


@pytest.mark.parametrize(
    ("rating", "neither", "before"),
    [
        (1, False, ["One a."] * 2),
        (8, False, ["One b."] * 2),
        (4, False, ["One a.", "One b."]),
        (None, True, ["One a.", "One b."]),
    ],
)
def test_a_conversation_goes_on_from_the_better_answer(
    rating: int | None, neither: bool, before: list[str]
) -> None:
    battle = conversation("better")
    vote(battle, rating, neither)
    battle.refresh_from_db()
    assert may_go_on(battle, battle.study.battle_rules)
    assert Comparison.objects.get().turn == 0  # of one turn, which is all of it
    comparison = vote(second_turn(battle), 2, False)
    assert comparison.turn == 2
    assert comparison.pair.prompt.external_id == f"{battle.public_id}.2"
    texts = [one.turns for one in comparison.pair.shown(comparison.swapped)]
    assert texts == [[before[0], "Two a."], [before[1], "Two b."]]
    assert Comparison.objects.count() == 2


def told(battle: Battle) -> tuple[Told, Told]:
    return reveal(battle, showing.turns(battle)[-1])


def test_names_are_told_only_when_a_conversation_has_ended() -> None:
    battle = conversation("better")
    vote(battle, 2, False)
    battle.refresh_from_db()
    with pytest.raises(BattleError):
        told(battle)
    tell(battle)
    battle.refresh_from_db()
    assert [each.contestant for each in told(battle)] == [battle.first, battle.second]
    assert not may_go_on(battle, battle.study.battle_rules)


def test_a_vote_tells_names_and_lengths() -> None:
    battle = make_battle(A, B)
    with pytest.raises(BattleError):
        told(battle)
    BattleCall.objects.filter(side=0).update(completion_tokens=9)
    vote(battle, 2, False)
    battle.refresh_from_db()
    first, second = told(battle)
    assert (first.contestant, first.words, first.tokens) == (battle.first, 7, 9)
    assert (second.contestant, second.tokens) == (battle.second, None)


def test_reasons_are_said_after_the_vote_of_each_answer() -> None:
    battle = make_battle(A, B)
    clear, safe = "Clearer", "Safer"
    with pytest.raises(BattleError, match="Rate first"):
        say_why(battle, [clear], [], "")
    vote(battle, 2, False)
    say_why(battle, [clear, clear], [safe], "B rambles.")
    battle.refresh_from_db()
    assert (battle.first_reasons, battle.second_reasons, battle.comment) == ([clear], [safe], "B rambles.")
    with pytest.raises(BattleError, match="does not offer"):
        say_why(battle, ["Nicer"], [], "")
    with pytest.raises(BattleError, match="5,000"):
        say_why(battle, [], [], "x" * 5001)


def test_release_never_passes_an_answer_that_is_still_written() -> None:
    """It waits for more at a round number, which tells nothing of whose sentence ends."""
    nine_ago = timezone.now() - timedelta(seconds=9)
    battle = early(A * 5, "It is. " * 10, released=5, pace=100.0, released_at=nine_ago)
    first, second = showing.turns(battle)[-1].sides
    assert (len(first.text), len(second.text)) == (STOP, STOP)
    assert (first.is_complete, second.is_complete) == (False, False)


def test_completions_belong_to_no_other_prompt() -> None:
    vote(make_battle(A, B), 2, False)
    assert {one.prompt.subset for one in Completion.objects.all()} == {LIVE_SUBSET}


def voted(**overrides: Any) -> Comparison:
    """A battle's vote by a person who also rates in the study, which is about to take one rating a day."""
    study = make_study(daily_limit=1, **overrides)
    return vote(make_battle(A, B, rules=make_battle_rules(study=study), rater=make_member(study)), 2, False)


def test_what_people_do_on_the_rating_page_knows_no_battles() -> None:
    comparison = voted()
    study, rater = comparison.study, comparison.rater
    allowed = allowance(study, rater)
    assert allowed is not None
    assert allowed.given == 0
    assert progress_in(study, rater).rated == 0
    assert undo(study, rater) is None
    assert undo(study, rater, comparison.assignment.public_id if comparison.assignment else "") is None


def test_private_prompts_are_for_judges_and_not_for_people() -> None:
    comparison = voted()
    study = comparison.study
    assert not Completion.objects.rateable_in(study).exists()
    assert Completion.objects.comparable().filter(prompt__study=study).count() == 2
    assert claim_task(study, make_member(study)).assignment is None
    Prompt.objects.update(is_private=False)
    announce([study])
    study.refresh_from_db()
    assert claim_task(study, make_member(study)).assignment is None  # it has the one rating wanted
    Study.objects.update(ratings_per_pair_people=2)
    announce([study])
    study.refresh_from_db()
    assert claim_task(study, make_member(study)).assignment is not None
