"""Training: what is right, in which order it is shown, attempts, the threshold, and whom it holds up."""

from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from arena.models import Completion, Membership, Pair, Role, Study, TrainingAnswer
from arena.rating import assignments, training
from arena.rating.opinions import NotAllowedError
from arena.rules import scales
from arena.rules.subsets import TRAINING_SUBSET
from tests import factories as make


def pair(gold: str = "first", explanation: str = "", **columns: Any) -> Pair:
    return Pair(pk=columns.pop("pk", 1), gold=gold, use="train", explanation=explanation, **columns)


class TestIsRight:
    @pytest.mark.parametrize(
        ("gold", "points", "right", "right_swapped"),
        [
            ("first", 8, {1, 2, 3, 4}, {5, 6, 7, 8}),
            ("second", 8, {5, 6, 7, 8}, {1, 2, 3, 4}),
            ("tie", 8, {4, 5}, {4, 5}),
            ("first", 5, {1, 2}, {4, 5}),
            ("tie", 5, {3}, {3}),
            ("second", 3, {3}, {1}),
            ("tie", 3, {2}, {2}),
            ("first", 2, {1}, {2}),
            ("tie", 2, {1, 2}, {1, 2}),
        ],
    )
    def test_by_hand(self, gold: str, points: int, right: set[int], right_swapped: set[int]) -> None:
        for swapped, expected in ((False, right), (True, right_swapped)):
            ratings = range(1, points + 1)
            found = {r for r in ratings if training.is_right(pair(gold), r, points, swapped=swapped)}
            assert found == expected

    @given(st.sampled_from(scales.POINTS), st.sampled_from(["first", "tie", "second"]), st.data())
    def test_the_other_order_mirrors_it(self, points: int, gold: str, data: st.DataObject) -> None:
        rating = data.draw(st.integers(1, points))
        mirrored = scales.mirror(rating, points)
        assert training.is_right(pair(gold), rating, points, swapped=False) == training.is_right(
            pair(gold), mirrored, points, swapped=True
        )


class TestOrder:
    def test_it_is_drawn_evenly_and_again_the_same(self) -> None:
        drawn = [training.is_swapped(pair(pk=n), rater, 1) for n in range(1, 21) for rater in range(50)]
        # 1,000 fair draws lie within four standard deviations, 63, of 500.
        assert 437 <= sum(drawn) <= 563
        again = [training.is_swapped(pair(pk=n), rater, 1) for n in range(1, 21) for rater in range(50)]
        assert drawn == again

    @pytest.mark.parametrize(
        "explanation",
        ["System A is right.", "Only the second answer rhymes.", "B misses the point.", "See the left one."],
    )
    def test_an_explanation_that_names_a_place_keeps_the_order_of_the_file(self, explanation: str) -> None:
        first, second = Completion(external_id="first"), Completion(external_id="second")
        kept = pair(explanation=explanation, first=first, second=second)
        turned = pair(explanation=explanation, first=second, second=first)
        assert not any(training.is_swapped(kept, rater, 1) for rater in range(20))
        assert all(training.is_swapped(turned, rater, 1) for rater in range(20))

    def test_an_explanation_without_places_does_not(self) -> None:
        free = pair(explanation="A joke needs a point; both systems are a failure at first.")
        assert len({training.is_swapped(free, rater, 1) for rater in range(20)}) == 2


@pytest.mark.django_db
class TestCourse:
    def test_raters_need_it_operators_and_the_trained_do_not(self) -> None:
        assert not training.needed(member())
        study = make.make_small_study()
        make.make_training_pairs(study)
        assert training.needed(member(study))
        assert not training.needed(member(study, role=Role.OPERATOR))
        assert not training.needed(member(study, trained_at=timezone.now()))
        assert training.examples(member(study)) == []
        assert len(training.examples(member(study, role=Role.OPERATOR))) == 2

    def test_nothing_is_offered_before_it(self) -> None:
        study = make.make_small_study()
        make.make_training_pairs(study, 1)
        found = member(study)
        with pytest.raises(NotAllowedError, match="do the training"):
            assignments.claim(study, found.rater)
        answered(found, True)
        assigned = assignments.claim(study, found.rater)
        assert assigned.pair.prompt.subset == ""

    def test_checks_and_replaced_texts_are_no_training(self) -> None:
        study = make.make_study()
        check, old, current = make.make_training_pairs(study, 3)
        Pair.objects.filter(pk=check.pk).update(use="check")
        old.first.is_current = False
        old.first.save()
        assert list(training.pairs_of(study)) == [current]

    def test_without_a_threshold_everybody_passes_and_new_pairs_throw_nobody_out(self) -> None:
        found = member(trained(2))
        assert not answered(found, False).is_passed
        assert answered(found, False).is_passed
        make.make_training_pairs(found.study, 2)
        found.refresh_from_db()
        assert found.trained_at
        assert not training.needed(found)

    def test_who_passes_the_second_time_is_through(self) -> None:
        found = member(trained(2, training_threshold=0.6))
        answered(found, False)
        answered(found, True)
        answered(found, True, attempt=2)
        assert answered(found, True, attempt=2).is_passed
        assert not training.needed(Membership.objects.get(pk=found.pk))

    def test_an_operator_lets_somebody_through_and_answers_stay(self) -> None:
        found = member(trained(2, training_threshold=1.0))
        answered(found, False)
        training.let_through(found)
        passed = Membership.objects.get(pk=found.pk)
        training.let_through(passed)
        assert Membership.objects.get(pk=found.pk).trained_at == passed.trained_at
        assert TrainingAnswer.objects.count() == 1

    def test_the_same_answer_twice_is_one_and_the_first_stands(self) -> None:
        found = member(trained(2))
        given = training.answer(found, 1, 1, 2)
        assert training.answer(found, 1, 1, 8) == given
        assert TrainingAnswer.objects.get().rating == 2

    @pytest.mark.parametrize(
        ("attempt", "number", "rating"),
        [(1, 2, 1), (1, 3, 1), (1, 0, 1), (2, 1, 1), (0, 1, 1), (1, 1, 9)],
    )
    def test_what_is_not_next_or_off_the_scale(self, attempt: int, number: int, rating: int) -> None:
        expected = scales.ScaleError if rating == 9 else training.OutOfStepError
        with pytest.raises(expected):
            training.answer(member(trained(2)), attempt, number, rating)
        assert not TrainingAnswer.objects.exists()

    @pytest.mark.parametrize(
        ("threshold", "total", "wanted"),
        [(None, 7, 0), (0.0, 7, 0), (1.0, 7, 7), (0.8, 5, 4), (0.7, 10, 7), (0.5, 7, 4), (0.6, 3, 2)],
    )
    def test_how_many_have_to_be_right(self, threshold: float | None, total: int, wanted: int) -> None:
        assert training.wanted_right(Study(training_threshold=threshold), total) == wanted

    def test_reads_do_not_grow_with_the_study(self, django_assert_num_queries: Any) -> None:
        found = member(trained(5))
        with django_assert_num_queries(1):
            training.needed(found)
        with django_assert_num_queries(2):
            training.course(found)
        assert Pair.objects.filter(prompt__subset=TRAINING_SUBSET).count() == 5


def trained(pairs: int, **columns: Any) -> Study:
    study = make.make_study(**columns)
    make.make_training_pairs(study, pairs)
    return study


def member(study: Study | None = None, **columns: Any) -> Membership:
    study = study or make.make_small_study()
    found = make.make_member(study).memberships.get()
    Membership.objects.filter(pk=found.pk).update(**columns)
    return Membership.objects.select_related("study").get(pk=found.pk)


def answered(membership: Membership, right: bool, attempt: int = 1) -> training.Course:
    """The course after one more answer, a right or a wrong one."""
    before = training.course_at(membership, attempt)
    assert before.next_number
    step = before.step(before.next_number)
    swapped = training.is_swapped(step.pair, membership.rater_id, attempt)
    rating = next(r for r in (1, 8) if training.is_right(step.pair, r, 8, swapped=swapped) is right)
    training.answer(membership, attempt, step.number, rating)
    return training.course(membership)
