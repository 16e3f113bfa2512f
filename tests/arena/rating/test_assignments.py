"""Claim, answer, skip, undo, expire: the whole life of an assignment."""

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from arena.models import Assignment, Comparison, Completion, Flag, Membership, Pair, Prompt, Rater, Study
from arena.models.signals import opinion_recorded
from arena.rating import assignments as rating_assignments
from arena.rating import recording
from arena.rating.opinions import InvalidAnswerError, NotAllowedError, Rating
from arena.rating.recording import AlreadyAnsweredError
from arena.rules.pairing import choose_order
from tests import factories as make
from tests.arena.rating.answering import answer, claimed

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def study() -> Study:
    return make.make_small_study(prompts=2, contestants=3)


# --- claim --------------------------------------------------------------------------------------------------


def test_a_claim_is_leased_and_kept_until_answered(study: Study, rater: Rater) -> None:
    first = claimed(study, rater)
    assert Assignment.objects.live().filter(pk=first.pk).exists()
    with time_machine.travel(timezone.now() + timedelta(minutes=5), tick=False):
        again = claimed(study, rater)
    assert again == first
    assert timedelta(minutes=4) < again.leased_until - first.leased_until < timedelta(minutes=6)
    answer(rater, first)
    assert claimed(study, rater) != first


def test_a_skipped_pair_does_not_come_back_to_the_same_rater(study: Study, rater: Rater) -> None:
    skipped = claimed(study, rater)
    rating_assignments.skip(rater, skipped.public_id, "cannot tell")
    later = []
    while assignment := rating_assignments.claim(study, rater):
        later.append(assignment.pair_id)
        answer(rater, assignment)
    assert skipped.pair_id not in later
    other = make.make_member(study)
    assert claimed(study, other).pair_id == skipped.pair_id


def test_the_wanted_overlap_counts_live_claims(study: Study) -> None:
    Study.objects.update(ratings_per_pair_people=2)
    raters = [make.make_member(study) for _ in range(13)]
    taken = [rating_assignments.claim(study, rater) for rater in raters]
    assert [assignment is None for assignment in taken] == [False] * 12 + [True]
    per_pair = [Assignment.objects.filter(pair=pair).count() for pair in Pair.objects.all()]
    assert per_pair == [2] * 6


def test_a_pair_is_made_when_it_is_needed_in_the_order_of_the_stored_seed(study: Study, rater: Rater) -> None:
    assert Pair.objects.count() == 0
    assignment = claimed(study, rater)
    assert Pair.objects.count() == 1
    assert assignment.swapped == choose_order(assignment.seed)
    assert len(assignment.public_id) == 16
    assert str(assignment) == assignment.public_id


def test_retired_old_and_unknown_texts_are_not_offered(rater: Rater) -> None:
    study = make.make_small_study(prompts=1, contestants=3)
    retired = study.contestants.first()
    study.contestants.filter(pk=retired.pk).update(retired_at=timezone.now())
    assignment = claimed(study, rater)
    shown = {assignment.pair.first.contestant_id, assignment.pair.second.contestant_id}
    assert retired.pk not in shown
    answer(rater, assignment)
    assert rating_assignments.claim(study, rater) is None
    Completion.objects.update(turns=[])
    assert rating_assignments.claim(study, make.make_member(study)) is None


def test_a_prompt_without_text_is_not_offered(study: Study, rater: Rater) -> None:
    Prompt.objects.update(turns=[])
    assert rating_assignments.claim(study, rater) is None


def test_a_closed_study_and_a_paused_rater_get_nothing(study: Study, rater: Rater) -> None:
    rater.paused_at = timezone.now()
    with pytest.raises(NotAllowedError, match="paused"):
        rating_assignments.claim(study, rater)
    Study.objects.update(closed_at=timezone.now())
    with pytest.raises(NotAllowedError, match="closed"):
        rating_assignments.claim(study, make.make_member(study))


# --- record_comparison --------------------------------------------------------------------------------------


def test_an_answer_is_stored_once_in_presentation_order(study: Study, rater: Rater) -> None:
    assignment = claimed(study, rater)
    comparison = answer(rater, assignment, 2, rationale="why", seconds=4.5)
    shown = (comparison.rating, comparison.swapped, comparison.pair_id)
    assert shown == (2, assignment.swapped, assignment.pair_id)
    assert (comparison.rationale, comparison.seconds, comparison.status) == ("why", 4.5, "scored")
    assert answer(rater, assignment, 2, rationale="why", seconds=4.5) == comparison
    assert Comparison.objects.count() == 1
    assignment.refresh_from_db()
    assert assignment.state == "submitted"
    assert Pair.objects.get(pk=assignment.pair_id).people_ratings == 1


def test_the_signal_is_sent_once_after_the_commit(
    study: Study, rater: Rater, hear: Any, django_capture_on_commit_callbacks: Any
) -> None:
    heard = hear(opinion_recorded)
    assignment = claimed(study, rater)
    with django_capture_on_commit_callbacks(execute=True):
        answer(rater, assignment)
        answer(rater, assignment)
    assert [(each["sender"], each["study_id"]) for each in heard] == [(Comparison, study.pk)]


def test_another_answer_or_comment_needs_undo(study: Study, rater: Rater) -> None:
    assignment = claimed(study, rater)
    first = answer(rater, assignment, 3, rationale="in this tab")
    for other, told in (
        ({"rating": 4}, "already answered with 3."),
        ({"rating": 3, "rationale": "in another one"}, "already answered with 3, with another comment."),
        ({"rating": 3, "rationale": "in this tab", "reasons": ("Safer",)}, "with 3, with other reasons."),
    ):
        with pytest.raises(AlreadyAnsweredError, match=f"{told}$") as refused:
            answer(rater, assignment, **other)
        assert refused.value.stored == [first]
    assert Comparison.objects.get().rationale == "in this tab"


def test_an_answer_without_rating_keeps_its_reason(study: Study, rater: Rater) -> None:
    assignment = claimed(study, rater)
    unscored = Rating(points=8, reason="refused", raw_reply="no")
    comparison = recording.record(rater, assignment.public_id, unscored)
    assert (comparison.status, comparison.reason, comparison.rating) == ("unscored", "refused", None)


def test_two_scores_and_criteria_are_stored() -> None:
    study = make.make_small_study(criteria=["truth"])
    rater = make.make_member(study)
    comparison = answer(
        rater, claimed(study, rater), scores=(Decimal("7.5"), Decimal(9)), criteria={"truth": 5}
    )
    assert (comparison.first_score, comparison.second_score) == (Decimal("7.5"), Decimal(9))
    assert comparison.criterion_ratings.get().rating == 5


@pytest.mark.parametrize(
    ("bad", "field", "words"),
    [
        ({"rating": None}, "rating", "either a rating or the reason"),
        ({"reason": "empty"}, "rating", "either a rating or the reason"),
        ({"rating": 9}, "rating", "between 1 and 8"),
        ({"rating": 0}, "rating", "between 1 and 8"),
        ({"criteria": {"truth": 9}}, "criteria.truth", "between 1 and 8"),
        ({"criteria": {"other": 1}}, "criteria.other", "no criterion other"),
        ({"points": 5}, "points", "rates on 8 points, not 5"),
    ],
)
def test_what_is_not_stored(study: Study, rater: Rater, bad: dict[str, Any], field: str, words: str) -> None:
    assignment = claimed(study, rater)
    with pytest.raises(InvalidAnswerError, match=words) as refused:
        recording.record(rater, assignment.public_id, Rating(**{"points": 8, "rating": 1} | bad))
    assert refused.value.field == field
    assert not Comparison.objects.exists()


def test_an_unknown_and_a_strangers_assignment_look_the_same(study: Study, rater: Rater) -> None:
    mine = claimed(study, rater)
    stranger = make.make_member(study)
    for public_id in (mine.public_id, "nonsense"):
        with pytest.raises(NotAllowedError, match="no such assignment"):
            recording.record(stranger, public_id, Rating(points=8, rating=1))


def test_an_answer_to_a_study_closed_meanwhile_is_not_recorded(study: Study, rater: Rater) -> None:
    assignment = claimed(study, rater)
    Study.objects.update(closed_at=timezone.now())
    with pytest.raises(NotAllowedError, match="closed before"):
        answer(rater, assignment)
    assert not Comparison.objects.exists()


def test_judges_are_counted_apart(study: Study) -> None:
    judge = make.make_rater(kind=Rater.Kind.JUDGE)
    pair = make.make_pair(prompt=study.prompts.first())
    assignment = make.make_assignment(pair=pair, rater=judge)
    recording.record(judge, assignment.public_id, Rating(points=3, rating=1))
    pair.refresh_from_db()
    assert (pair.people_ratings, pair.judge_ratings) == (0, 1)


# --- skip and undo ------------------------------------------------------------------------------------------


def test_skipping_twice_is_skipping_once_and_of_an_answered_pair_nothing(study: Study, rater: Rater) -> None:
    assignment = claimed(study, rater)
    first = rating_assignments.skip(rater, assignment.public_id, "unclear").finished_at
    assert rating_assignments.skip(rater, assignment.public_id, "other").finished_at == first
    assignment.refresh_from_db()
    assert (assignment.state, assignment.skip_reason) == ("skipped", "unclear")
    answered = claimed(study, rater)
    answer(rater, answered)
    assert rating_assignments.skip(rater, answered.public_id).state == "submitted"


def test_undo_goes_back_step_by_step_and_forward_again(study: Study, rater: Rater) -> None:
    done = []
    for _ in range(2):
        done.append(claimed(study, rater))
        answer(rater, done[-1])
    current = claimed(study, rater)
    assert rating_assignments.undo(study, rater) == done[1]
    assert rating_assignments.undo(study, rater) == done[0]
    # The one reopened last comes first, then what was on screen before it, and so on.
    order = []
    for _ in range(3):
        order.append(claimed(study, rater))
        answer(rater, order[-1], 5)
    assert order == [*done, current]
    assert Comparison.objects.current().count() == 3


def test_undo_can_name_an_earlier_pair_but_not_a_strangers(study: Study, rater: Rater) -> None:
    first = claimed(study, rater)
    assert rating_assignments.undo(study, rater) is None
    answer(rater, first)
    answer(rater, claimed(study, rater))
    assert rating_assignments.undo(study, make.make_member(study), first.public_id) is None
    assert rating_assignments.undo(study, rater, first.public_id) == first
    assert claimed(study, rater) == first


@pytest.mark.parametrize("change", [{"rating": 6}, {"rating": 3, "rationale": "forgot to say"}])
def test_a_revision_is_a_row_and_keeps_the_count(study: Study, rater: Rater, change: dict[str, Any]) -> None:
    assignment = claimed(study, rater)
    old = answer(rater, assignment, 3)
    rating_assignments.undo(study, rater)
    new = answer(rater, assignment, **change)
    old.refresh_from_db()
    assert (old.is_current, new.is_current, new.revises) == (False, True, old)
    assert Comparison.objects.current().get().rationale == change.get("rationale", "")
    assert Pair.objects.get(pk=assignment.pair_id).people_ratings == 1


@pytest.mark.parametrize(
    "leave",
    [
        lambda rater, public_id: recording.record(rater, public_id, Rating(points=8, rating=3)),
        lambda rater, public_id: rating_assignments.skip(rater, public_id, "no"),
        lambda rater, public_id: rating_assignments.flag(rater, public_id, "harm"),
    ],
    ids=["submitted unchanged", "skipped", "flagged"],
)
def test_reopened_pairs_keep_answers(study: Study, rater: Rater, leave: Callable[[Rater, str], Any]) -> None:
    assignment = claimed(study, rater)
    old = answer(rater, assignment, 3)
    rating_assignments.undo(study, rater)
    leave(rater, assignment.public_id)
    assert Comparison.objects.get() == old
    assert old.is_current
    assignment.refresh_from_db()
    assert assignment.state == "submitted"


# --- abandoned claims ---------------------------------------------------------------------------------------


def lapse(*assignments: Assignment) -> None:
    long_ago = timezone.now() - timedelta(hours=1)
    Assignment.objects.filter(pk__in=[each.pk for each in assignments]).update(leased_until=long_ago)


def test_an_abandoned_pair_goes_to_somebody_else() -> None:
    study = make.make_small_study(prompts=1, contestants=2)
    first, second = make.make_member(study), make.make_member(study)
    lost = claimed(study, first)
    assert rating_assignments.claim(study, second) is None
    lapse(lost)
    assert rating_assignments.expire_lapsed() == 1
    lost.refresh_from_db()
    assert lost.state == "expired"
    assert claimed(study, second).pair_id == lost.pair_id


def test_an_abandoned_pair_that_returns_to_its_rater_is_the_same_assignment() -> None:
    study = make.make_small_study(prompts=1, contestants=2)
    rater = make.make_member(study)
    lost = claimed(study, rater)
    lapse(lost)
    rating_assignments.expire_lapsed()
    again = claimed(study, rater)
    assert (again.pk, again.swapped) == (lost.pk, lost.swapped)
    assert Assignment.objects.live().filter(pk=again.pk).exists()
    # The old tab and the new one submit to one assignment, so there is one comparison.
    assert answer(rater, lost) == answer(rater, again)


def test_an_abandoned_undo_leaves_what_was_there(study: Study, rater: Rater) -> None:
    rated = claimed(study, rater)
    answer(rater, rated)
    put_aside = claimed(study, rater)
    rating_assignments.skip(rater, put_aside.public_id)
    assert rating_assignments.undo(study, rater) == put_aside
    assert rating_assignments.undo(study, rater) == rated
    lapse(rated, put_aside)
    assert rating_assignments.expire_lapsed() == 2
    rated.refresh_from_db()
    put_aside.refresh_from_db()
    assert (rated.state, put_aside.state) == ("submitted", "skipped")


def test_live_claims_and_judges_are_left_alone(study: Study, rater: Rater) -> None:
    live = claimed(study, rater)
    judge = make.make_assignment(rater=make.make_rater(kind=Rater.Kind.JUDGE))
    lapse(judge)
    assert rating_assignments.expire_lapsed() == 0
    live.refresh_from_db()
    judge.refresh_from_db()
    assert (live.state, judge.state) == ("claimed", "claimed")


# --- late answers -------------------------------------------------------------------------------------------


@pytest.fixture
def single() -> Study:
    """A study of one pair that wants one rating."""
    return make.make_small_study(prompts=1, contestants=2)


def test_a_late_answer_to_a_pair_rated_by_others_is_kept_and_marked(single: Study) -> None:
    slow, quick = make.make_member(single), make.make_member(single)
    lost = claimed(single, slow)
    lapse(lost)
    rating_assignments.expire_lapsed()
    assert not answer(quick, claimed(single, quick)).is_late
    assert answer(slow, lost).is_late
    assert Pair.objects.get().people_ratings == 2


def test_a_late_answer_that_is_still_wanted_is_like_any_other(single: Study) -> None:
    slow = make.make_member(single)
    lost = claimed(single, slow)
    lapse(lost)
    rating_assignments.expire_lapsed()
    assert not answer(slow, lost).is_late
    lost.refresh_from_db()
    assert lost.state == "submitted"
    assert rating_assignments.claim(single, make.make_member(single)) is None


@pytest.mark.parametrize("shown", [True, False])
def test_a_late_answer_to_a_pair_held_by_another_is_marked(single: Study, shown: bool) -> None:
    slow, quick = make.make_member(single), make.make_member(single)
    ahead = claimed(single, slow)
    lapse(ahead)
    held = claimed(single, quick)
    if shown:
        rating_assignments.mark_shown(ahead)
    assert not Assignment.objects.live().filter(pk=ahead.pk).exists()
    held_by = {slow: ahead, quick: held}
    for rater in (quick, slow) if shown else (slow, quick):
        assert answer(rater, held_by[rater]).is_late == (rater == slow)


def test_a_pair_fetched_ahead_is_held_from_when_it_is_shown(single: Study) -> None:
    rater = make.make_member(single)
    ahead = claimed(single, rater)
    with time_machine.travel(timezone.now() + timedelta(minutes=20), tick=False):
        rating_assignments.mark_shown(ahead)
    with time_machine.travel(timezone.now() + timedelta(minutes=40), tick=False):
        assert Assignment.objects.live().filter(pk=ahead.pk).exists()


def test_a_revised_late_answer_stays_late(single: Study) -> None:
    slow, quick = make.make_member(single), make.make_member(single)
    lost = claimed(single, slow)
    lapse(lost)
    answer(quick, claimed(single, quick))
    answer(slow, lost, 2)
    rating_assignments.undo(single, slow)
    assert answer(slow, lost, 7).is_late


def test_a_skip_taken_back_after_the_pair_was_rated_is_late(single: Study) -> None:
    first, second = make.make_member(single), make.make_member(single)
    skipped = claimed(single, first)
    rating_assignments.skip(first, skipped.public_id)
    answer(second, claimed(single, second))
    assert rating_assignments.undo(single, first) == skipped
    assert answer(first, skipped).is_late


def test_a_skip_taken_back_and_the_claim_of_a_judge_keep_no_place(single: Study) -> None:
    first, second = make.make_member(single), make.make_member(single)
    skipped = claimed(single, first)
    rating_assignments.skip(first, skipped.public_id)
    assert rating_assignments.undo(single, first) == skipped
    make.make_assignment(pair=skipped.pair, rater=make.make_rater(kind=Rater.Kind.JUDGE))
    assert claimed(single, second).pair == skipped.pair
    assert answer(first, skipped).is_late


def test_an_answer_in_time_is_never_late_for_what_others_did(single: Study) -> None:
    Study.objects.update(ratings_per_pair_people=2)
    slow, second, third = (make.make_member(single) for _ in range(3))
    lost = claimed(single, slow)
    lapse(lost)
    held = [(rater, claimed(single, rater)) for rater in (second, third)]
    assert answer(slow, lost).is_late
    assert [answer(rater, assignment).is_late for rater, assignment in held] == [False, False]


# --- flags, reasons, and what counts ------------------------------------------------------------------------


def test_a_flag_puts_the_pair_aside_and_undo_takes_it_back(study: Study, rater: Rater) -> None:
    assignment = claimed(study, rater)
    flag = rating_assignments.flag(rater, assignment.public_id, "names", "It says so.")
    assignment.refresh_from_db()
    assert (flag.reason, flag.comment) == ("names", "It says so.")
    assert (assignment.state, assignment.skip_reason) == ("skipped", "flagged: names")
    assert rating_assignments.flag(rater, assignment.public_id, "other", "again") == flag
    assert claimed(study, rater) != assignment
    assert rating_assignments.undo(study, rater) == assignment
    assert not Flag.objects.exists()


def test_an_unknown_reason_a_strangers_pair_or_a_rated_one_is_not_flagged(study: Study, rater: Rater) -> None:
    assignment = claimed(study, rater)
    with pytest.raises(InvalidAnswerError, match="must be one of"):
        rating_assignments.flag(rater, assignment.public_id, "bored")
    with pytest.raises(NotAllowedError, match="no such assignment"):
        rating_assignments.flag(make.make_member(study), assignment.public_id, "other")
    answer(rater, assignment)
    with pytest.raises(NotAllowedError, match="rated this already"):
        rating_assignments.flag(rater, assignment.public_id, "other")
    assert not Flag.objects.exists()


def test_reasons_are_those_of_the_study_each_once(rater: Rater) -> None:
    study = make.make_small_study()
    rater = make.make_member(study)
    assignment = claimed(study, rater)
    for offered, listed in (([], "none"), (["Clearer", "Safer"], "“Clearer”, “Safer”")):
        Study.objects.update(reasons=offered)
        words = f"This study does not offer the reason “Shorter”. It offers: {listed}."
        with pytest.raises(InvalidAnswerError, match=re.escape(words)) as refused:
            answer(rater, assignment, reasons=(*offered, "Shorter"))
        assert refused.value.field == "reasons"
    with pytest.raises(InvalidAnswerError, match="named twice"):
        answer(rater, assignment, reasons=("Safer", "Clearer", "Safer"))
    said = answer(rater, assignment, reasons=("Safer", "Clearer"))
    assert said.reasons == ["Safer", "Clearer"]
    rating_assignments.undo(study, rater)
    assert answer(rater, assignment, reasons=("Clearer",)).revises == said


@pytest.mark.parametrize("purpose", ["repeat", "check", "adjudication"])
def test_only_what_is_given_for_the_study_counts_as_wanted(purpose: str) -> None:
    assignment = make.make_assignment(purpose=purpose)
    assert answer(assignment.rater, assignment).purpose == purpose
    assert Pair.objects.get().people_ratings == 0


def test_what_a_rater_says_who_is_left_out_is_kept_and_not_counted(study: Study, rater: Rater) -> None:
    Membership.objects.update(left_out_at=timezone.now())
    answer(rater, claimed(study, rater))
    assert Pair.objects.get().people_ratings == 0


def test_adjudications_are_not_mixed_with_rating(study: Study, rater: Rater) -> None:
    apart = make.make_assignment(
        pair=make.make_pair(prompt=study.prompts.first()), rater=rater, purpose="adjudication"
    )
    assert claimed(study, rater) != apart
    answer(rater, apart)
    assert rating_assignments.undo(study, rater) is None
