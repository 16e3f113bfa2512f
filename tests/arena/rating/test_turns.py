"""Studies that have the turns of conversations rated: what is offered, shown, recorded and counted."""

import random
from collections import Counter
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.models import Assignment, Comparison, Completion, Membership, Pair, Prompt, Rater, Study
from arena.rating import assignments, planning, progress
from arena.rating.opinions import NotAllowedError
from arena.rating.plans import Plan
from arena.rules import turns
from arena.studies import changes, counts
from tests import factories as make
from tests.arena.rating.answering import answer, claimed, rate_all

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

HIDDEN = timedelta(seconds=1)


def make_conversations(rated: str = "each", prompts: int = 1, contestants: int = 2, **more: object) -> Study:
    """A study whose prompts have two turns."""
    study = make.make_small_study(prompts, contestants, rated_turns=rated, **more)
    for prompt in Prompt.objects.filter(study=study):
        prompt.turns = [f"Question 1 of {prompt.pk}", f"Question 2 of {prompt.pk}"]
        prompt.save()
    for one in Completion.objects.filter(prompt__study=study):
        one.turns = [f"Reply 1 by {one.pk}.", f"Reply 2 by {one.pk}."]
        one.save()
    return study


@pytest.fixture
def study() -> Study:
    return make_conversations()


def given_up(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(leased_until=timezone.now() - HIDDEN)
    assignments.expire_lapsed()


def in_turn(text: str, *words: str) -> bool:
    """Whether a text has these words in this order."""
    places = [text.find(word) for word in words]
    return min(places) >= 0 and places == sorted(places)


@pytest.mark.parametrize(
    ("rated", "of_one", "of_three"),
    [("whole", (0,), (0,)), ("last", (0,), (3,)), ("each", (0,), (1, 2, 3))],
)
def test_which_turns_are_asked(rated: str, of_one: tuple[int, ...], of_three: tuple[int, ...]) -> None:
    assert turns.asked(rated, 0) == turns.asked(rated, 1) == of_one
    assert turns.asked(rated, 3) == of_three


# --- what is offered ----------------------------------------------------------------------------------------


def test_the_turns_of_a_pair_come_one_after_another_in_one_order(study: Study, rater: Rater) -> None:
    done = rate_all(study, rater)
    assert [each.turn for each in done] == [1, 2]
    assert len({(each.pair_id, each.swapped, each.repeat) for each in done}) == 1
    stored = Comparison.objects.order_by("turn").values_list("turn", "swapped")
    assert list(stored) == [(turn, done[0].swapped) for turn in (1, 2)]


def test_all_turns_of_a_pair_come_before_the_next_pair(rater: Rater) -> None:
    study = make_conversations(prompts=3, contestants=3)
    make.Membership.objects.update_or_create(study=study, rater=rater)
    done = rate_all(study, rater)
    assert len(done) == 18
    assert [each.turn for each in done] == [1, 2] * 9
    assert all(first.pair_id == second.pair_id for first, second in zip(done[::2], done[1::2], strict=True))


def test_the_next_turn_is_not_fetched_before_this_one_is_rated(study: Study, rater: Rater) -> None:
    current = claimed(study, rater)
    assert assignments.claim(study, rater, current.public_id) is None
    answer(rater, current)
    assert claimed(study, rater).turn == 2


def test_of_a_skipped_pair_no_turn_follows(study: Study, rater: Rater) -> None:
    assignments.skip(rater, claimed(study, rater).public_id)
    assert assignments.claim(study, rater) is None


def test_a_study_of_last_turns_asks_for_these_alone(rater: Rater) -> None:
    study = make_conversations("last")
    make.make_pair(prompt=make.make_prompt(study=study))
    make.Membership.objects.update_or_create(study=study, rater=rater)
    assert sorted(each.turn for each in rate_all(study, rater)) == [0, 2]


def test_a_turn_that_somebody_left_goes_to_the_next_person(study: Study, rater: Rater) -> None:
    answer(rater, claimed(study, rater))
    other = make.make_member(study)
    left = claimed(study, rater)
    assert assignments.claim(study, other) is None
    given_up(left)
    taken = claimed(study, other)
    assert (taken.turn, taken.pair_id) == (2, left.pair_id)
    assert assignments.claim(study, rater) is None
    given_up(taken)
    again = claimed(study, rater)
    assert (again.pk, again.turn, again.swapped) == (left.pk, 2, left.swapped)


def test_a_rating_of_a_turn_stays_once_the_next_was_shown(study: Study, rater: Rater) -> None:
    first = claimed(study, rater)
    answer(rater, first)
    assert not assignments.is_last_swayed(study, rater)
    second = claimed(study, rater)
    assert assignments.is_last_swayed(study, rater)
    with pytest.raises(NotAllowedError, match="after you have seen the next one"):
        assignments.undo(study, rater)
    answer(rater, second)
    assert assignments.undo(study, rater) == second
    answer(rater, second, 7)
    assert Comparison.objects.get(turn=2, is_current=True).rating == 7


@pytest.mark.parametrize("seed", range(6))
def test_every_turn_gets_the_ratings_wanted_and_no_more(seed: int) -> None:
    rng = random.Random(seed)
    wanted = rng.choice([1, 2, 3])
    study = make_conversations(prompts=2, contestants=3, ratings_per_pair_people=wanted)
    people = [make.make_member(study) for _ in range(wanted + 2)]
    idle = 0
    while idle < 40:
        rater = rng.choice(people)
        assignment = assignments.claim(study, rater)
        idle = idle + 1 if assignment is None else 0
        if assignment is None:
            continue
        if rng.random() < 0.2:
            given_up(assignment)
        else:
            answer(rater, assignment, rng.randrange(1, 9))
    pairs = list(Pair.objects.values_list("pk", flat=True))
    found = Counter(Comparison.objects.current().values_list("pair", "turn"))
    assert found == {(pair, turn): wanted for pair in pairs for turn in (1, 2)}
    assert set(Pair.objects.values_list("people_ratings", flat=True)) == {wanted}


# --- what is counted ----------------------------------------------------------------------------------------


def test_the_turn_with_the_fewest_ratings_counts_for_a_pair(study: Study, rater: Rater) -> None:
    answer(rater, claimed(study, rater))
    assert Pair.objects.get().people_ratings == 0
    answer(rater, claimed(study, rater))
    assert Pair.objects.get().people_ratings == 1
    for rated, number in (("whole", 0), ("last", 1), ("each", 1)):
        study.rated_turns = rated
        changes.store(study, make.make_user(), ["rated_turns"])
        assert Pair.objects.get().people_ratings == number, rated


def test_operators_see_how_many_turns_are_done(study: Study, rater: Rater) -> None:
    def told() -> tuple[int, int, int, int]:
        found = counts.wanted_by_category(study)["coding"]
        return found.pairs, found.useful, found.left, found.full

    study.ratings_per_pair_people = 1
    study.save()
    assert told() == (2, 0, 2, 0)
    answer(rater, claimed(study, rater), 5)
    assert told() == (2, 1, 1, 1)
    assert (counts.wanted(study).pairs, counts.wanted(study).useful) == (1, 0)
    answer(rater, claimed(study, rater), 5)
    assert told() == (2, 2, 0, 2)
    assert (counts.wanted(study).full, counts.wanted(study).left) == (1, 0)


def test_several_studies_are_told_apart_and_skips_end_a_pair() -> None:
    rater = make.make_rater(user=make.make_user())
    by_turn, whole = make_conversations(prompts=2), make_conversations("whole", prompts=3)
    for study in (by_turn, whole):
        Membership.objects.create(study=study, rater=rater)

    def left() -> tuple[int, ...]:
        return tuple(each.open for each in progress.progress(rater, [by_turn, whole]).values())

    assert left() == (4, 3)
    answer(rater, claimed(by_turn, rater), 5)
    answer(rater, claimed(whole, rater), 5)
    assert left() == (3, 2)
    assignments.skip(rater, claimed(by_turn, rater).public_id)
    assert left() == (2, 2)


def test_progress_counts_turns(study: Study, rater: Rater) -> None:
    def left() -> int:
        return progress.progress_in(study, rater).left

    assert left() == 2
    answer(rater, claimed(study, rater))
    assert left() == 1
    answer(rater, claimed(study, rater))
    assert left() == 0


def test_a_late_rating_of_a_turn_that_has_all_is_marked(study: Study, rater: Rater) -> None:
    answer(rater, claimed(study, rater))
    late = claimed(study, rater)
    given_up(late)
    other = make.make_member(study)
    answer(other, claimed(study, other))
    assert answer(rater, late).is_late


# --- what the database refuses ------------------------------------------------------------------------------


def refused(**columns: object) -> bool:
    try:
        with transaction.atomic():
            make.make_comparison(**columns)
    except IntegrityError:
        return True
    return False


def test_one_rating_of_each_turn(study: Study) -> None:
    pair = make.make_pair(prompt=study.prompts.get())
    rater = make.make_rater()
    for turn in (0, 1, 2):
        assert not refused(pair=pair, rater=rater, turn=turn)
        assert refused(pair=pair, rater=rater, turn=turn)
    assert refused(pair=pair, rater=rater, turn=3)
    unknown = make.make_pair(prompt=make.make_prompt(turns=[]))
    assert not refused(pair=unknown, turn=3)


def test_one_assignment_of_each_turn_and_only_of_pairs(study: Study) -> None:
    pair = make.make_pair(prompt=study.prompts.get())
    rater = make.make_rater()
    make.make_assignment(pair=pair, rater=rater, turn=1)
    make.make_assignment(pair=pair, rater=rater, turn=2)
    for wrong in (
        {"pair": pair, "rater": rater, "turn": 2},
        {"pair": pair, "rater": rater, "turn": 3},
        {"completion": pair.first, "kind": "score", "turn": 1},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            make.make_assignment(**wrong)


def test_names_are_not_shown_between_turns(study: Study) -> None:
    study.reveal_names = True
    with pytest.raises(changes.SettingError, match="would know them at the next one"):
        changes.store(study, make.make_user(), ["reveal_names"])
    with pytest.raises(IntegrityError), transaction.atomic():
        study.save()


# --- what is shown ------------------------------------------------------------------------------------------


def page(browser: Client, study: Study) -> str:
    return browser.get(reverse("rate-study", args=[study.slug])).content.decode()


def test_a_turn_shows_those_before_it_and_none_after(study: Study, rater: Rater, browser: Client) -> None:
    shown, one = page(browser, study), Assignment.objects.get()
    left, right = (each.pk for each in one.pair.shown(one.swapped))
    assert in_turn(
        shown, "Rate the answers to turn 1 alone", "Question 1", f"Reply 1 by {left}.", f"by {right}."
    )
    assert "Which answer to turn 1 is better?" in shown
    assert "Question 2" not in shown
    assert "Reply 2" not in shown
    answer(rater, one)
    shown = page(browser, study)
    assert in_turn(shown, "turn 2 alone", "before it are context", "Question 1")
    for side in (left, right):
        assert in_turn(shown[shown.index(f"Reply 1 by {side}.") :], "Question 2", f"Reply 2 by {side}.")


def test_a_whole_conversation_stands_interleaved(rater: Rater, browser: Client, study: Study) -> None:
    Study.objects.update(rated_turns="whole")
    shown, one = page(browser, study), Assignment.objects.get()
    assert one.turn == 0
    left, right = (each.pk for each in one.pair.shown(one.swapped))
    assert in_turn(
        shown,
        *("Question 1", f"Reply 1 by {left}.", "Question 2", f"Reply 2 by {left}.", f"Reply 1 by {right}."),
    )
    assert "Which answer is better?" in shown
    assert "alone" not in shown


def test_answers_to_a_turn_that_are_alike_are_said_to_be(study: Study, rater: Rater, browser: Client) -> None:
    for one in Completion.objects.all():
        Completion.objects.filter(pk=one.pk).update(turns=["The same.", *one.turns[1:]])
    assert "Both answers are identical" in page(browser, study)
    answer(rater, Assignment.objects.get())
    assert "Both answers are identical" not in page(browser, study)


# --- judges -------------------------------------------------------------------------------------------------


def test_judges_are_asked_about_every_turn_of_a_pair_in_order() -> None:
    study = make_conversations(prompts=2, contestants=3)
    judge = make.make_rater(kind=Rater.Kind.JUDGE)
    assert planning.preview(study, judge) == Plan(12, 12)
    rows = Assignment.objects.in_bulk(planning.plan(study, judge).assignments)
    planned = [rows[pk] for pk in sorted(rows)]
    assert [each.turn for each in planned] == [1, 2] * 6
    assert all(one.pair_id == two.pair_id for one, two in zip(planned[::2], planned[1::2], strict=True))
    assert planning.preview(study, judge) == Plan(12, 12)  # still waiting, and planned once
    assert sorted(planning.plan(study, judge).assignments) == sorted(rows)


def test_a_turn_up_to_which_answers_are_alike_is_not_asked_about(study: Study) -> None:
    for one in Completion.objects.all():
        Completion.objects.filter(pk=one.pk).update(turns=["The same.", *one.turns[1:]])
    judge = make.make_rater(kind=Rater.Kind.JUDGE)
    assert planning.preview(study, judge) == Plan(1, 1, 1)
    planning.plan(study, judge)
    assert Comparison.objects.get().status == "identical"
    assert Comparison.objects.get().turn == 1
    assert Assignment.objects.get(state="open").turn == 2
    assert Pair.objects.get().judge_ratings == 0


def test_judges_rate_last_turns_where_these_are_wanted() -> None:
    study, judge = make_conversations("last"), make.make_rater(kind=Rater.Kind.JUDGE)
    planning.plan(study, judge)
    assert Assignment.objects.get().turn == 2


# --- what stands beside the turns -----------------------------------------------------------------------

HOSTILE = '<img src="https://example.org/x.png" onerror="alert(1)"> ![x](https://example.org/y.png)'


def test_asides_are_shown_as_what_they_are_and_loaded_from_nowhere(rater: Rater, browser: Client) -> None:
    study = make_conversations()
    make.Membership.objects.update_or_create(study=study, rater=rater, guidelines_read_at=timezone.now())
    system = {"turn": 1, "kind": "system", "text": f"Be kind. {HOSTILE}"}
    image = {"turn": 2, "kind": "image", "text": "A river. https://example.org/a.png"}
    tool = {"turn": 1, "kind": "tool", "name": "<b>look</b>", "text": "Nothing there."}
    Prompt.objects.filter(study=study).update(asides=[system, image])
    Completion.objects.filter(prompt__study=study).update(asides=[tool])
    shown = page(browser, study)
    assert in_turn(
        shown, "System message", "Be kind. &lt;img", "Tool result: &lt;b&gt;look", "Nothing there", "Reply 1"
    )
    assert "Image (not shown)" not in shown  # of the next turn
    answer(rater, Assignment.objects.get())
    shown = page(browser, study)
    assert in_turn(shown, "Reply 1", "Image (not shown)", "A river. https://example.org/a.png", "Question 2")
    assert "<img" not in shown
    assert 'src="https://example' not in shown
    assert "<b>look" not in shown


def test_names_in_asides_are_masked_as_in_answers(rater: Rater, browser: Client) -> None:
    study = make_conversations("whole", naming="mask")
    make.Membership.objects.update_or_create(study=study, rater=rater, guidelines_read_at=timezone.now())
    told = [{"turn": 1, "kind": "system", "text": "You are Heron."}]
    Completion.objects.filter(prompt__study=study).update(asides=told, telling=["Heron"])
    assert "Heron" not in page(browser, study)
