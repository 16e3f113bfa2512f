"""What is offered stays blind and counts as what it was chosen for, whatever went before."""

import pytest
from django.utils import timezone

from arena.models import Assignment, Completion
from arena.rating import assignments
from arena.rating.progress import progress
from tests import factories as make
from tests.arena.rating.answering import answer, rate_all

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("choice", ["balanced", "adaptive"])
def test_of_a_prompt_whose_names_may_be_told_nothing_more_is_offered(choice: str) -> None:
    study = make.make_small_study(
        prompts=3, contestants=4, reveal_names=True, repeat_share=0.5, gold_share=0.5, pairing=choice
    )
    for prompt in study.prompts.all():
        first, *_, last = prompt.completions.order_by("pk")
        make.make_pair(prompt=prompt, first=first, second=last, gold="first", gold_source="test", use="check")
    offered = rate_all(study, make.make_member(study))
    assert len({each.pair.prompt_id for each in offered}) == Assignment.objects.count() == 3


def test_a_pair_fetched_ahead_is_of_another_prompt() -> None:
    study = make.make_small_study(prompts=2, contestants=4, reveal_names=True)
    rater = make.make_member(study)
    on_screen = assignments.claim(study, rater)
    ahead = assignments.claim(study, rater, ahead=on_screen.public_id)
    assert on_screen.pair.prompt != ahead.pair.prompt


def test_of_the_prompt_of_a_lost_pair_only_that_pair_is_offered() -> None:
    study = make.make_small_study(prompts=1, contestants=6, reveal_names=True)
    rater = make.make_member(study)
    lost = assignments.claim(study, rater)
    Assignment.objects.update(leased_until=timezone.now())
    assignments.expire_lapsed()
    assert assignments.claim(study, rater) == lost


def test_where_names_are_kept_texts_come_again() -> None:
    study, empty = make.make_small_study(prompts=1, contestants=4), make.make_study(pairing="adaptive")
    assert len(rate_all(study, make.make_member(study))) == 6
    assert rate_all(empty, make.make_member(empty)) == []


@pytest.mark.parametrize("before", ["check", "adjudication"])
def test_a_lost_assignment_counts_as_what_it_is_offered_for_now(before: str) -> None:
    study = make.make_small_study(prompts=1, contestants=2)
    first, second = Completion.objects.order_by("pk")
    pair = make.make_pair(prompt=first.prompt, first=first, second=second, gold="first", gold_source="test")
    rater = make.make_member(study)
    lost = make.make_assignment(pair=pair, rater=rater, purpose=before, state="expired")
    Assignment.objects.filter(pk=lost.pk).update(leased_until=timezone.now())
    again = assignments.claim(study, rater)
    assert again == lost
    assert answer(rater, lost).purpose == "study"
    pair.refresh_from_db()
    assert pair.people_ratings == 1


def test_no_number_tells_which_pairs_were_hidden() -> None:
    """What a rater reads after an answer changes alike for the study's own pairs and for hidden ones."""
    study = make.make_small_study(prompts=20, contestants=3, repeat_share=0.3, gold_share=0.3)
    for prompt in study.prompts.all()[:8]:
        first, second = prompt.completions.order_by("pk")[:2]
        gold = {"gold": "first", "gold_source": "test", "use": "check"}
        make.make_pair(prompt=prompt, first=first, second=second, **gold)
    rater = make.make_member(study)
    before = progress(rater, [study])[study.pk]
    changes: dict[str, set[tuple[int, int]]] = {}
    for _ in range(30):
        assignment = assignments.claim(study, rater)
        answer(rater, assignment)
        now = progress(rater, [study])[study.pk]
        is_step = now.left == before.left - 10
        assert is_step or now.left == before.left
        if not is_step:  # which one of ten it was is not told
            change = (now.rated - before.rated, now.left - before.left)
            changes.setdefault(assignment.purpose, set()).add(change)
        before = now
    assert changes["study"] == changes["repeat"] == changes["check"] == {(1, 0)}


def test_pairs_that_would_not_be_blind_are_not_said_to_be_left() -> None:
    study = make.make_small_study(prompts=3, contestants=4, reveal_names=True)
    rater, another = make.make_member(study), make.make_small_study()
    for left in (3, 2, 1):
        for studies in ([study], [study, another]):
            assert progress(rater, studies)[study.pk].left == left
        answer(rater, assignments.claim(study, rater))
    assert assignments.claim(study, rater) is None
