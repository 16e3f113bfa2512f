"""Which text comes next to be scored or checked: the order, who gets a place, and what opens when."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import groupby
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.models import Assignment, Completion, Contestant, Question, Rater, Score, Study
from arena.rating import assignments, recording
from arena.rating.offering_texts import place
from arena.rating.opinions import Check, Checks, NotAllowedError, Rating, Said, TextScore
from arena.rating.progress import progress
from tests import factories as make
from tests.arena.rating.answering import claimed

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def texts_study(prompts: int = 3, contestants: int = 3, **columns: Any) -> Study:
    """A study in which every prompt has two requirements."""
    study = make.make_small_study(prompts, contestants, **{"tasks": ["score", "check"], **columns})
    for prompt in study.prompts.all():
        for _ in range(2):
            make.make_question(prompt=prompt)
    return study


def opinion(assignment: Assignment) -> Said:
    if assignment.kind == "compare":
        return Rating(points=8, rating=3)
    if assignment.kind == "score":
        return TextScore(lowest=1, highest=5, value=4)
    asked = Question.objects.asked().filter(prompt__completions=assignment.completion_id)
    return Checks(answers=[Check(position=each.position, value="yes") for each in asked])


def answer(assignment: Assignment) -> Any:
    return recording.record(assignment.rater, assignment.public_id, opinion(assignment))  # type: ignore[call-overload]


def answer_all(study: Study, rater: Rater) -> list[Assignment]:
    """Everything there is for this rater, in the order it came in."""
    done = []
    while assignment := assignments.claim(study, rater):
        answer(assignment)
        done.append(assignment)
    return done


def kinds(done: Sequence[Assignment]) -> list[str]:
    return [each.kind for each in done]


# --- the order ----------------------------------------------------------------------------------------------


@pytest.mark.both_databases(False)
def test_a_text_is_scored_and_then_checked_prompt_by_prompt() -> None:
    study = texts_study()
    done = answer_all(study, make.make_member(study))
    assert kinds(done) == ["score", "check"] * 9
    assert all(
        score.completion == check.completion for score, check in zip(done[::2], done[1::2], strict=True)
    )
    prompts = [prompt for prompt, _ in groupby(each.completion.prompt_id for each in done)]
    assert len(prompts) == len(set(prompts)) == 3


def test_pairs_come_before_texts_where_the_study_says_so() -> None:
    study = texts_study(1, 3, tasks=["compare", "check"])
    assert kinds(answer_all(study, make.make_member(study))) == ["compare"] * 3 + ["check"] * 3
    assert assignments.claim(make.make_small_study(tasks=[]), make.make_rater()) is None


@pytest.mark.both_databases(False)
def test_a_stored_seed_shuffles_the_texts_of_a_prompt_anew_for_each_rater_and_prompt() -> None:
    study = texts_study(4, 6, tasks=["score"], ratings_per_pair_people=2)
    ways = set()
    for _ in range(2):
        done = answer_all(study, make.make_member(study))
        for _, some in groupby(done, lambda each: each.completion.prompt_id):
            of_prompt = list(some)
            (seed,) = {each.seed for each in of_prompt}
            shown = [each.completion_id for each in of_prompt]
            assert shown == sorted(shown, key=lambda pk: place(seed, pk))
            ways.add((seed, tuple(each.completion.contestant_id for each in of_prompt)))
    assert len(ways) == len({seed for seed, _ in ways}) == 8
    assert len({order for _, order in ways}) >= 5  # of 720; that fewer differ has a chance below 1e-6


@pytest.mark.both_databases(False)
def test_each_contestant_is_first_as_often_as_the_others() -> None:
    firsts = [min(range(4), key=lambda pk: place(seed, pk)) for seed in range(4000)]
    assert all(abs(firsts.count(pk) - 1000) < 120 for pk in range(4))


# --- what is offered ----------------------------------------------------------------------------------------


def test_only_texts_that_can_be_rated_and_only_requirements_that_are_asked() -> None:
    study = texts_study(1, 5)
    gone, excluded, unknown, old, *_ = Completion.objects.order_by("pk")
    Contestant.objects.filter(pk=gone.contestant_id).update(retired_at=timezone.now())
    Study.objects.update(naming="exclude")
    Completion.objects.filter(pk=excluded.pk).update(telling=["me"])
    Completion.objects.filter(pk=unknown.pk).update(turns=[])
    Completion.objects.filter(pk=old.pk).update(is_current=False)
    apart = [make.make_completion(prompt=gone.prompt, contestant=None) for _ in range(2)]
    make.make_pair(
        prompt=gone.prompt, first=apart[0], second=apart[1], use="check", gold="tie", gold_source="k"
    )
    make.make_training_pairs(study)
    bare = make.make_completion(prompt=make.make_prompt(study=study))
    make.make_question(prompt=bare.prompt, is_accepted=False, proposed_by="model-1")
    make.make_question(prompt=bare.prompt, is_current=False)
    done = answer_all(study, make.make_member(study))
    assert sorted(kinds(done)) == ["check", "score", "score"]
    assert bare in [each.completion for each in done if each.kind == "score"]


def test_every_text_gets_its_places_and_no_more() -> None:
    study = texts_study(2, 2, tasks=["check"], ratings_per_pair_people=2)
    one, two, three = (make.make_member(study) for _ in range(3))
    assert len(answer_all(study, one)) == 4
    held = claimed(study, two)
    left_out = make.make_member(study)
    answer_all(study, left_out)
    study.memberships.filter(rater=left_out).update(left_out_at=timezone.now())
    judge = make.make_rater(kind="judge")
    make.make_answer(completion=held.completion, rater=judge)
    # One text is held by the second, and who was left out takes no place.
    assert held.completion not in [each.completion for each in answer_all(study, three)]
    assert assignments.claim(study, make.make_member(study)) is None
    assert claimed(study, two) == held
    assert progress(three, [study])[study.pk].left == 1


def test_an_imported_opinion_takes_a_place() -> None:
    study = texts_study(1, 2)
    text = Completion.objects.first()
    make.make_score(completion=text, rater=make.make_rater(study=study))
    done = answer_all(study, make.make_member(study))
    # It is scored enough, so that its requirements can be checked.
    assert [(each.kind, each.completion == text) for each in done] == [
        ("check", True),
        ("score", False),
        ("check", False),
    ]


def test_a_text_whose_requirements_were_seen_is_not_left_to_score() -> None:
    """Its score had no place when this rater came, and has one again since."""
    study = texts_study(1, 1)
    rater, other = make.make_member(study), make.make_member(study)
    make.make_score(completion=Completion.objects.get(), rater=other)
    assert kinds(answer_all(study, rater)) == ["check"]
    study.memberships.filter(rater=other).update(left_out_at=timezone.now())
    assert assignments.claim(study, rater) is None
    assert progress(rater, [study])[study.pk].left == 0
    assert progress(make.make_member(study), [study])[study.pk].left == 1


def test_requirements_open_only_once_the_score_is_stored() -> None:
    study = texts_study(2, 2)
    rater, other = make.make_member(study), make.make_member(study)
    score = claimed(study, rater)
    assert score.kind == "score"
    assert assignments.claim(study, rater, score.public_id) is None
    others = answer_all(study, other)
    assert score.completion not in [each.completion for each in others]
    answer(score)
    check = claimed(study, rater)
    assert (check.kind, check.completion) == ("check", score.completion)
    assert assignments.claim(study, rater, check.public_id) is None
    with pytest.raises(NotAllowedError, match="after you have seen the requirements"):
        assignments.undo(study, rater)
    answer(check)
    assert assignments.undo(study, rater) == check


def test_the_next_text_is_fetched_ahead_while_the_requirements_are_on_screen() -> None:
    study = texts_study(1, 2)
    rater = make.make_member(study)
    answer(claimed(study, rater))
    check = claimed(study, rater)
    ahead = claimed(study, rater, check.public_id)
    assert (ahead.kind, ahead.completion == check.completion) == ("score", False)
    answer(check)
    assert claimed(study, rater) == ahead


def test_who_skips_the_score_does_not_check_and_somebody_else_does() -> None:
    study = texts_study(1, 2)
    rater, other = make.make_member(study), make.make_member(study)
    skipped = claimed(study, rater)
    assignments.skip(rater, skipped.public_id)
    assert skipped.completion not in [each.completion for each in answer_all(study, rater)]
    now = progress(rater, [study])[study.pk]
    assert (now.scored, now.checked, now.skipped, now.left) == (1, 1, 1, 0)
    assert [each.completion for each in answer_all(study, other)] == [skipped.completion] * 2


def test_a_lapsed_claim_is_offered_again_and_a_late_answer_is_marked() -> None:
    study = texts_study(1, 1, tasks=["check"])
    slow, other = make.make_member(study), make.make_member(study)
    lost = claimed(study, slow)
    Assignment.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert assignments.expire_lapsed() == 1
    assert assignments.claim(study, slow, lost.public_id) is None
    assert claimed(study, slow) == lost
    Assignment.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assignments.expire_lapsed()
    answer(claimed(study, other))
    assert assignments.claim(study, slow) is None
    assert all(each.is_late for each in answer(lost))


def test_a_reopened_score_that_lapses_stands() -> None:
    study = texts_study(1, 1, tasks=["score"])
    rater = make.make_member(study)
    answer(claimed(study, rater))
    reopened = assignments.undo(study, rater)
    Assignment.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assignments.expire_lapsed()
    reopened.refresh_from_db()
    assert reopened.state == "submitted"
    assignments.undo(study, rater)
    assert assignments.skip(rater, reopened.public_id).state == "submitted"
    assert Score.objects.current().get().value == 4


@pytest.mark.parametrize("tasks", [["compare", "score"], ["score", "compare"]])
def test_whoever_was_told_two_authors_is_not_asked_about_texts_of_the_prompt(tasks: list[str]) -> None:
    """The third author of three is known when two are."""
    study = texts_study(2, 3, tasks=tasks, reveal_names=True)
    rater = make.make_member(study)
    left = progress(rater, [study])[study.pk].left
    kinds = [each.kind for each in answer_all(study, rater)]
    assert kinds == ["score"] * (6 if tasks[0] == "score" else 0) + ["compare"] * 2
    assert (left, progress(rater, [study])[study.pk].left) == (len(kinds), 0)


@pytest.mark.parametrize("first", ["skip", "answer"])
def test_a_score_stays_once_names_of_its_prompt_are_seen(first: str) -> None:
    study = texts_study(1, 2, tasks=["score", "compare"], reveal_names=True)
    rater = make.make_member(study)
    text = claimed(study, rater)
    if first == "skip":
        assignments.skip(rater, text.public_id)
    else:
        answer(text)
    assert not assignments.is_last_swayed(study, rater)
    answer_all(study, rater)
    with pytest.raises(NotAllowedError, match="seen the names"):
        assignments.undo(study, rater, text.public_id)
    assert assignments.is_last_swayed(study, rater)


def test_a_score_after_names_of_its_prompt_were_seen_is_not_stored() -> None:
    """A program may answer what it fetched ahead before what is on screen."""
    study = texts_study(1, 2, tasks=["score", "compare"], reveal_names=True)
    rater = make.make_member(study)
    answer(claimed(study, rater))
    on_screen = claimed(study, rater)
    answer(assignments.claim(study, rater, ahead=on_screen.public_id))
    with pytest.raises(NotAllowedError, match="seen who wrote"):
        answer(on_screen)


def test_a_judge_sees_no_names() -> None:
    study = texts_study(1, 2, tasks=["compare", "score"], reveal_names=True)
    judge = make.make_rater(kind="judge")
    first, second = Completion.objects.filter(prompt__study=study).order_by("pk")
    answer(
        make.make_assignment(
            rater=judge, pair=make.make_pair(prompt=first.prompt, first=first, second=second)
        )
    )
    answer(make.make_assignment(rater=judge, completion=first, kind="score"))
    assert Score.objects.count() == 1


# --- what it costs ------------------------------------------------------------------------------------------


@pytest.mark.both_databases(False)
def test_a_claim_asks_as_much_of_a_large_study_as_of_a_small_one() -> None:
    def queries(study: Study) -> int:
        rater = make.make_member(study)
        answer(claimed(study, rater))
        with CaptureQueriesContext(
            connection,
        ) as asked:
            claimed(study, rater)
        return len(asked)

    assert queries(texts_study(2, 2)) == queries(texts_study(12, 6)) <= 20


# --- progress -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        ["score", "check"],
        ["compare", "score"],
        pytest.param(["check"], marks=pytest.mark.both_databases(False)),
        pytest.param(["check", "score"], marks=pytest.mark.both_databases(False)),
    ],
)
def test_what_is_left_is_what_is_offered(asked: list[str]) -> None:
    study = texts_study(2, 2, tasks=asked)
    make.make_completion(prompt=make.make_prompt(study=study))  # without requirements
    rater, other = make.make_member(study), make.make_small_study()
    while assignment := assignments.claim(study, rater):
        before = progress(rater, [study])[study.pk]
        answer(assignment)
        after = progress(rater, [study])[study.pk]
        assert (before.left - after.left, after.rated - before.rated) == (1, 1)
        assert progress(rater, [study, other])[study.pk] == after
    assert after.left == 0
