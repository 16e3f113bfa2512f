"""What people are offered: ahead, hidden repeats and checks, the control share, and who gets nothing."""

import random
from collections import Counter
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from django.db import connection
from django.db.models import Count, Max, Min
from django.urls import reverse
from django.utils import timezone
from scipy.stats import binom

from arena.models import (
    Assignment,
    Comparison,
    Completion,
    Membership,
    Pair,
    Prompt,
    Rater,
    Study,
)
from arena.rating import assignments, offering, pair_queue, progress
from arena.rating.opinions import NotAllowedError
from arena.rules.pairing import choose_order
from arena.studies import changes
from tests import factories as make
from tests.arena.rating.answering import answer, claimed, rate_all

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

GOLD = {"gold": "first", "gold_source": "an operator"}


@pytest.fixture
def study() -> Study:
    return make.make_small_study(prompts=4, contestants=4)


# --- one ahead ----------------------------------------------------------------------------------------------


def test_one_further_pair_can_be_held_ahead_and_comes_next(study: Study, rater: Rater) -> None:
    current = claimed(study, rater)
    assignments.mark_shown(current)
    following = claimed(study, rater, current.public_id)
    assert following != current
    assert claimed(study, rater, current.public_id) == following
    for unknown in ("", "nonsense", "\0"):
        assert claimed(study, rater, unknown) == current
    assert claimed(study, rater) == current
    assert Assignment.objects.live().filter(rater=rater).count() == 2
    answer(rater, current)
    assert claimed(study, rater) == following


def test_a_pair_brought_back_comes_before_the_one_held_ahead(study: Study, rater: Rater) -> None:
    first = claimed(study, rater)
    assignments.mark_shown(first)
    second = claimed(study, rater, first.public_id)
    answer(rater, first)
    assignments.mark_shown(second)
    third = claimed(study, rater, second.public_id)
    assert assignments.undo(study, rater) == first
    order = [claimed(study, rater)]
    while len(order) < 3:
        answer(rater, order[-1], 6)
        order.append(claimed(study, rater))
    assert order == [first, second, third]


def test_the_pair_on_screen_is_not_offered_ahead_when_its_lease_ran_out() -> None:
    study = make.make_small_study(prompts=1, contestants=2)
    rater = make.make_member(study)
    current = claimed(study, rater)
    Assignment.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assignments.expire_lapsed()
    assert assignments.claim(study, rater, current.public_id) is None
    assert claimed(study, rater) == current


# --- who is offered nothing ---------------------------------------------------------------------------------


def test_a_paused_study_offers_nothing_and_takes_answers_in_hand(study: Study, rater: Rater) -> None:
    held = claimed(study, rater)
    Study.objects.update(paused_at=timezone.now())
    with pytest.raises(NotAllowedError, match="This study is paused"):
        assignments.claim(study, rater)
    assert answer(rater, held).rating == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [({"paused_at": timezone.now()}, "The operator has paused you"), ({"role": "viewer"}, "not rate in it")],
)
def test_who_is_offered_nothing(study: Study, rater: Rater, change: dict[str, Any], words: str) -> None:
    Membership.objects.update(**change)
    with pytest.raises(NotAllowedError, match=words):
        assignments.claim(study, rater)
    assert not Assignment.objects.exists()


# --- pairs for something else -------------------------------------------------------------------------------


def gold_pair(study: Study, use: str) -> Pair:
    prompt = make.make_prompt(study=study)
    return pair_of(prompt, use, gold="first")


def pair_of(prompt: Prompt, use: str, gold: str) -> Pair:
    """A pair with a known answer of two texts that nobody else wrote."""
    first, second = (make.make_completion(prompt=prompt, contestant=None) for _ in range(2))
    return make.make_pair(prompt=prompt, first=first, second=second, use=use, gold=gold, gold_source="a key")


def test_training_pairs_and_checks_are_not_rated_for_the_study(study: Study, rater: Rater) -> None:
    apart = [gold_pair(study, "train"), gold_pair(study, "check")]
    pair_of(apart[0].prompt, "train", gold="tie")
    assert len(rate_all(study, rater)) == 24
    assert not Comparison.objects.filter(pair__prompt__in=[pair.prompt for pair in apart]).exists()
    assert Pair.objects.filter(use="rate").count() == 24


def test_a_check_among_the_studys_own_texts_leaves_their_other_pairs() -> None:
    study = make.make_small_study(prompts=1, contestants=3)
    first, second, _ = Completion.objects.filter(prompt__study=study).order_by("pk")
    make.make_pair(prompt=first.prompt, first=first, second=second, use="check", **GOLD)
    pairs = {assignment.pair_id for assignment in rate_all(study, make.make_member(study))}
    assert pairs == set(Pair.objects.filter(prompt__study=study, use="rate").values_list("pk", flat=True))
    assert len(pairs) == 2


# --- repeats and checks -------------------------------------------------------------------------------------


@pytest.fixture
def watched() -> Study:
    """A study with hidden repeats and checks: 60 pairs and five to check by."""
    study = make.make_small_study(prompts=10, contestants=4, repeat_share=0.3, gold_share=0.2)
    for _ in range(5):
        gold_pair(study, "check")
    return study


@pytest.mark.both_databases(False)
def test_repeats_and_checks_come_once_each_and_nothing_of_them_counts(watched: Study) -> None:
    rater = make.make_member(watched)
    done = rate_all(watched, rater)
    purposes = Counter(each.purpose for each in done)
    assert (purposes["study"], purposes["check"]) == (60, 5)
    assert Counter(Comparison.objects.values_list("purpose", flat=True)) == purposes
    assert set(Pair.objects.filter(use="rate").values_list("people_ratings", flat=True)) == {1}
    assert set(Pair.objects.filter(use="check").values_list("people_ratings", flat=True)) == {0}
    # A number that stood still at a repeat or a check would tell it.
    assert progress.progress(rater, [watched])[watched.pk] == progress.Progress(len(done), 0, 0)
    # Where nothing is left to rate, nobody is asked the same again.
    Study.objects.update(repeat_share=0.5, gold_share=0.5)
    assert assignments.claim(watched, make.make_member(watched)) is None
    check_hidden(done)


def check_hidden(done: list[Assignment]) -> None:
    """Repeats come in the other order after ten others, and what is drawn follows from the stored seed."""
    place = {(each.pair_id, each.purpose): number for number, each in enumerate(done)}
    assert len(place) == len(done)
    assert 5 <= sum(each.purpose == "repeat" for each in done) <= 55  # but once in 10,000 runs
    for assignment in done:
        drawn = random.Random(assignment.seed).random()
        if assignment.purpose != "repeat":
            assert assignment.swapped is choose_order(assignment.seed)
        if assignment.purpose == "check":
            assert 0.3 <= drawn < 0.5
        elif assignment.purpose == "repeat":
            assert drawn < 0.3
            earlier = done[place[assignment.pair_id, "study"]]
            assert (assignment.repeat, earlier.repeat) == (1, 0)
            assert assignment.swapped is not earlier.swapped
            assert place[assignment.pair_id, "repeat"] - place[assignment.pair_id, "study"] > 10


@pytest.mark.both_databases(False)
def test_without_pairs_made_for_it_gold_pairs_are_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = count(1)
    monkeypatch.setattr(offering, "new_seed", lambda: next(seeds))
    study = make.make_small_study(prompts=3, contestants=2, gold_share=0.5, ratings_per_pair_people=9)
    known = gold_pair(study, "rate")
    seen = Counter[str]()
    for _ in range(9):
        done = rate_all(study, make.make_member(study))
        assert len({each.pair_id for each in done}) == len(done)
        seen.update(each.purpose for each in done if each.pair_id == known.pk)
    known.refresh_from_db()
    # As a check for the more part: the first draw of every other offer is one, as long as there is one.
    assert seen["check"] >= 2
    assert seen["check"] + seen["study"] == 9
    assert known.people_ratings == seen["study"]


# --- adaptive -----------------------------------------------------------------------------------------------


@pytest.mark.both_databases(False)
def test_the_control_share_of_an_adaptive_study_is_marked(study: Study, rater: Rater) -> None:
    assert not any(each.is_random for each in rate_all(study, rater))
    adaptive = make.make_small_study(prompts=6, contestants=4, pairing="adaptive", control_share=0.25)
    done = rate_all(adaptive, make.make_member(adaptive))
    assert len(done) == 36
    low, high = binom.interval(0.9999, 36, 0.25)
    assert low <= sum(each.is_random for each in done) <= high


def test_an_adaptive_study_joins_contestants_first() -> None:
    study = make.make_small_study(prompts=8, contestants=6, pairing="adaptive", control_share=0.0)
    rater = make.make_member(study)
    joined: set[frozenset[int]] = {frozenset([pk]) for pk in study.contestants.values_list("pk", flat=True)}
    for _ in range(5):
        assignment = claimed(study, rater)
        sides = {assignment.pair.first.contestant_id, assignment.pair.second.contestant_id}
        met = [group for group in joined if group & sides]
        assert len(met) == 2
        joined = (joined - set(met)) | {met[0] | met[1]}
        answer(rater, assignment)
    assert len(joined) == 1


def test_wins_follow_revisions_and_leave_out_what_does_not_count() -> None:
    study = make.make_small_study(prompts=3, contestants=2, pairing="adaptive", ratings_per_pair_people=5)
    rater, out = make.make_member(study), make.make_member(study)
    both = list(study.contestants.order_by("pk").values_list("pk", flat=True))
    assignment = claimed(study, rater)
    answer(rater, assignment, 1)
    wins = [[0.0, 0.0], [1.0, 0.0]] if assignment.swapped else [[0.0, 1.0], [0.0, 0.0]]
    assert offering._wins(study, both).tolist() == wins
    assignments.undo(study, rater)
    answer(rater, assignment, 4)
    answer(out, claimed(study, out), 8)
    Membership.objects.filter(rater=out).update(left_out_at=timezone.now())
    assert offering._wins(study, both).tolist() == [[0.0, 0.5], [0.5, 0.0]]


def test_pairs_about_which_judges_and_a_feature_disagree_come_first() -> None:
    """The entropy of every answer is known; a judge rated two pairs alone, one as entropy says, one not."""
    study = make.make_small_study(prompts=6, contestants=2, pairing="disagreement", control_share=0.0)
    rater, judge = make.make_member(study), make.make_rater(kind="judge")
    prompts = list(study.prompts.order_by("pk"))
    for number, prompt in enumerate(prompts):
        for place, text in enumerate(prompt.completions.order_by("pk")):
            make.make_feature(completion=text, value=float((number + place) % 2))
    for prompt, rating in ((prompts[3], 3), (prompts[4], 3)):
        first, second = prompt.completions.order_by("pk")
        pair = make.make_pair(prompt=prompt, first=first, second=second)
        make.make_comparison(pair=pair, rater=judge, rating=rating)
        make.make_comparison(pair=pair, rater=judge, rating=9 - rating, swapped=True, repeat=1)
    # Less entropy is better: the judge prefers the first of both, which has more of it in the fourth prompt.
    for expected in (True, False):
        assert (claimed(study, rater).pair.prompt == prompts[3]) is expected
        answer(rater, study.assignments.get(state="claimed"), 4)


@pytest.mark.parametrize(
    ("chosen", "value"),
    [
        ("", -0.5),
        ("entropy", -0.5),
        ("mean_logprob", -2.0),
        ("entropy_low", -0.25),
        ("own", 7.0),
        ("gone", None),
    ],
)
def test_the_study_names_the_feature(chosen: str, value: float | None) -> None:
    study = make.make_small_study(prompts=1, contestants=1, pairing_feature=chosen)
    text = study.prompts.get().completions.get()
    for name, number, more in (
        ("entropy", 0.5, {"source": "a"}),
        ("entropy", 0.75, {"source": "b"}),
        ("entropy", 9.0, {"variant": "released"}),
        ("entropy", 9.0, {"turn": 1}),
        ("mean_logprob", -2.0, {}),
        ("entropy_low", 0.25, {"variant": "bounds"}),
        ("own", 7.0, {}),
    ):
        make.make_feature(completion=text, name=name, value=number, **more)
    assert pair_queue.feature(study) == ({} if value is None else {text.pk: value})


# --- the queue ----------------------------------------------------------------------------------------------


def queue(study: Study) -> list[tuple[int, int]]:
    return list(Pair.rows.filter(queued_in=study).order_by("turn").values_list("first", "second"))


@pytest.mark.both_databases(False)
def test_of_a_very_large_study_a_part_has_rows_and_yet_all_is_rated_once_before_any_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pair_queue, "MOST_MADE", 7)
    study = make.make_small_study(prompts=6, contestants=3, ratings_per_pair_people=2)
    one, other = make.make_member(study), make.make_member(study)
    claimed(study, one)
    assert Pair.rows.count() == 7
    assert Pair.objects.count() == 1, "what nobody was offered is seen nowhere else"
    assert progress.progress(one, [Study.objects.get(pk=study.pk)])[study.pk].left == 18
    for number in range(36):
        rater = (one, other)[number % 2]
        answer(rater, claimed(study, rater))
        given = Pair.rows.aggregate(low=Min("people_ratings"), high=Max("people_ratings"), n=Count("pk"))
        assert given["high"] <= (1 if number < 18 else 2)
    assert (given["n"], given["low"]) == (18, 2)


def test_a_queue_follows_its_study(study: Study, rater: Rater) -> None:
    held = claimed(study, rater)
    before = queue(study)
    assert len(before) == 24
    retired = study.contestants.exclude(completions__in=[held.pair.first_id, held.pair.second_id]).first()
    for retired_at, left in ((timezone.now(), 12), (None, 24)):
        study.contestants.filter(pk=retired.pk).update(retired_at=retired_at)
        study.touch()
        claimed(study, make.make_member(study))
        assert len(queue(study)) == left
        assert set(queue(study)) <= set(before)
    make.make_completion(prompt=make.make_prompt(study=study), contestant=retired)
    Completion.objects.filter(pk=held.pair.first_id).update(telling=["Koala"])
    Study.objects.update(naming="exclude")
    claimed(study, make.make_member(study))
    assert (held.pair.first_id, held.pair.second_id) not in queue(study)
    assert len(queue(study)) == 21


def test_who_joins_late_catches_up(study: Study, rater: Rater) -> None:
    for _ in range(12):
        answer(rater, claimed(study, rater))
    newcomer = make.make_contestant(study=study)
    for prompt in study.prompts.all():
        make.make_completion(prompt=prompt, contestant=newcomer)
    study.touch()
    sides = []
    for _ in range(8):
        assignment = claimed(study, rater)
        sides += [assignment.pair.first.contestant_id, assignment.pair.second.contestant_id]
        answer(rater, assignment)
    assert sides.count(newcomer.pk) >= 6


@pytest.mark.both_databases(False)
def test_a_free_pair_is_drawn_evenly() -> None:
    study = make.make_small_study(prompts=1, contestants=3, ratings_per_pair_people=2)
    rater = make.make_member(study)
    answer(rater, claimed(study, rater))
    numbers, drawn = random.Random(0), Counter[int]()
    for _ in range(100):
        free = offering.FreePairs(study, rater, timezone.now(), None)
        drawn[free.at_random(numbers).pk] += 1
    assert sorted(drawn.values()) == [pytest.approx(50, abs=20)] * 2


def test_a_pair_that_filled_up_meanwhile_is_not_offered(study: Study, rater: Rater) -> None:
    """As if another claim came between: the row itself says that the pair is full."""
    free = offering.FreePairs(Study.objects.get(pk=study.pk), rater, timezone.now(), None)
    held = claimed(study, make.make_member(study))
    draw = offering._draw(study)
    assert offering._lease(free, offering._Chosen(held.pair_id), draw) is None
    other = Pair.rows.exclude(pk=held.pair_id).first()
    assert offering._lease(free, offering._Chosen(other.pk), draw).pair == other


def test_one_study_and_many_are_counted_alike(study: Study, rater: Rater) -> None:
    other = make.make_small_study(prompts=1, contestants=3)
    gold_pair(study, "check")
    for _ in range(3):
        answer(rater, claimed(study, rater))
    assignments.skip(rater, claimed(study, rater).public_id)
    expected = progress.Progress(compared=3, skipped=1, open=20)
    assert progress.progress(rater, [study])[study.pk] == expected
    assert progress.progress(rater, [study, other])[study.pk] == expected
    assert progress.progress(rater, [study, other])[other.pk].left == 3


# --- what is not offered any more ---------------------------------------------------------------------------


@pytest.mark.parametrize("why", ["retired", "telling"])
def test_a_check_with_a_text_that_is_left_out_is_not_offered(why: str) -> None:
    wanted = {"ratings_per_pair_people": 50, "gold_share": 0.5}
    study = make.make_small_study(prompts=3, contestants=4, naming="exclude", **wanted)
    first, second = Completion.objects.filter(prompt=study.prompts.first()).order_by("pk")[:2]
    check = make.make_pair(prompt=first.prompt, first=first, second=second, use="check", **GOLD)
    study.touch()
    offered = {claimed(study, make.make_member(study)).pair_id for _ in range(20)}
    assert check.pk in offered
    if why == "retired":
        study.contestants.filter(pk=first.contestant_id).update(retired_at=timezone.now())
    else:
        Completion.objects.filter(pk=first.pk).update(telling=["Koala"])
    study.touch()
    offered = {claimed(study, make.make_member(study)).pair_id for _ in range(20)}
    assert check.pk not in offered


def test_nothing_of_a_contestant_is_offered_while_it_is_being_retired(
    study: Study, monkeypatch: pytest.MonkeyPatch, admin_client: Any
) -> None:
    """Claims learn of it by the revision: both change in one transaction."""
    inside: list[int] = []
    monkeypatch.setattr(changes, "announce", lambda studies: inside.append(len(connection.savepoint_ids)))
    before = len(connection.savepoint_ids)
    address = reverse("operate-contestant", args=[study.slug, study.contestants.first().pk])
    assert admin_client.post(address, {"retire": "1"}).status_code == 302
    assert inside == [before + 1]


def test_a_pair_that_was_lost_and_comes_again_is_new_to_its_rater(study: Study, rater: Rater) -> None:
    lost = claimed(study, rater)
    assignments.mark_shown(lost)
    Assignment.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assignments.expire_lapsed()
    while claimed(study, rater) != lost:
        Assignment.objects.filter(state="claimed").update(state="skipped", finished_at=timezone.now())
    lost.refresh_from_db()
    assert (lost.state, lost.shown_at) == ("claimed", None)
