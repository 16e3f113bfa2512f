"""What *Progress* says of the rest of a study: a table of cases, and what raters then really get."""

import random
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.models import Assignment, Comparison, Completion, Membership, Pair, Rater, Study
from arena.rating import assignments, recording
from arena.rating.opinions import Check, Checks, NotAllowedError, Rating, TextScore
from arena.rating.progress import progress_in
from arena.studies import counts, forecast
from tests import factories as make

pytestmark = pytest.mark.django_db


def small(*tasks: str, people: int = 0, **of_study: Any) -> Study:
    """A study of two pairs, four answers with a requirement each, and as many people."""
    study = make.make_small_study(
        prompts=2, contestants=2, **{"tasks": list(tasks or ("compare",)), **of_study}
    )
    for prompt in study.prompts.all():
        make.make_question(prompt=prompt)
    for _ in range(people):
        make.make_member(study)
    return study


def people_of(study: Study) -> list[Rater]:
    return list(Rater.objects.filter(memberships__study=study).order_by("pk"))


def said(study: Study) -> str:
    study.refresh_from_db()
    found = forecast.outlook(study, _totals(study))
    return f"{found.words} {found.invite}".rstrip()


def _totals(study: Study) -> dict[str, counts.Wanted]:
    by_task = counts.wanted_by_task(study)
    return {kind: sum(each.values(), counts.Wanted()) for kind, each in by_task.items()}


def do(study: Study, rater: Rater, most: int = 100) -> int:
    """Rate whatever is offered; how much that was."""
    for number in range(most):
        try:
            found = assignments.claim(study, rater)
        except NotAllowedError:
            return number
        if found is None:
            return number
        recording.record(rater, found.public_id, _answer(found))
    return most


def _answer(found: Assignment) -> Any:
    if found.kind == "compare":
        return Rating(points=8, rating=3)
    if found.kind == "score":
        return TextScore(lowest=1, highest=5, value=3)
    return Checks(answers=[Check(position=1, value="yes")])


TASKS = (("compare",), ("score",), ("check",), ("compare", "score"), ("score", "check", "compare"))


@pytest.mark.parametrize(
    ("tasks", "people", "wants", "words"),
    [
        (("compare",), 0, 1, "Each pair needs 1 person; none counts yet. Invite 1"),
        (("compare",), 0, 6, "Each pair needs 6 people; none counts yet. Invite 6"),
        (("compare",), 1, 6, "Each pair needs 6 people; 1 counts. Invite 5"),
        (("compare",), 3, 6, "Each pair needs 6 people; 3 count. Invite 3"),
        (("compare",), 6, 6, "No estimate yet."),
        (("score",), 1, 2, "Each answer needs 2 people; 1 counts. Invite 1"),
        (("check",), 0, 2, "Each answer needs 2 people; none counts yet. Invite 2"),
        (("score", "compare"), 1, 2, "Each answer needs 2 people; 1 counts. Invite 1"),
        (("score", "compare"), 2, 2, "No estimate yet."),
    ],
)
def test_it_says_how_many_people_are_missing(
    tasks: tuple[str, ...], people: int, wants: int, words: str
) -> None:
    assert said(small(*tasks, people=people, ratings_per_pair_people=wants)) == words


def test_people_who_have_rated_all_are_missing_like_those_who_never_came() -> None:
    study = small(people=3, ratings_per_pair_people=6)
    for rater in people_of(study):
        do(study, rater)
    assert said(study) == "Each pair needs 6 people; 3 count. Invite 3"


@pytest.mark.parametrize(
    "change",
    [
        lambda study: study.memberships.update(left_out_at=timezone.now()),
        lambda study: study.memberships.update(paused_at=timezone.now()),
        lambda study: study.memberships.update(role="viewer"),
        lambda study: Rater.objects.update(paused_at=timezone.now()),
        lambda study: Rater.objects.update(anonymised_at=timezone.now()),
    ],
)
def test_who_may_not_rate_or_does_not_count_is_not_counted_on(change: Any) -> None:
    study = small(people=2, ratings_per_pair_people=2)
    assert said(study) == "No estimate yet."
    change(study)
    assert said(study) == "Each pair needs 2 people; none counts yet. Invite 2"


@pytest.mark.parametrize(
    ("columns", "before"),
    [
        ({"is_draft": True}, "People can rate once you publish the study."),
        ({"paused_at": timezone.now()}, "The study is paused."),
    ],
)
def test_a_study_in_which_nobody_can_rate_now_has_no_pace(columns: dict[str, Any], before: str) -> None:
    study = small(people=1)
    do(study, *people_of(study), most=1)
    assert "an hour" in said(study)
    Study.objects.filter(pk=study.pk).update(**columns)
    assert said(study) == before
    Study.objects.filter(pk=study.pk).update(ratings_per_pair_people=2)
    assert said(study) == f"{before} Each pair needs 2 people; 1 counts. Invite 1"


def test_a_closed_study_and_a_finished_one_say_so() -> None:
    study = small(people=1)
    do(study, *people_of(study), most=1)
    Study.objects.filter(pk=study.pk).update(closed_at=timezone.now())
    assert said(study) == "The study is closed."
    Study.objects.filter(pk=study.pk).update(closed_at=None)
    do(study, *people_of(study))
    assert said(study) == "All ratings are in."
    Study.objects.filter(pk=study.pk).update(tasks=["check"])
    do(study, *people_of(study))
    assert said(Study.objects.get(pk=study.pk)) in ("Everything is done.", "No estimate yet.")


@pytest.mark.parametrize(
    ("tasks", "answers", "words"),
    [
        (("compare",), 0, "Nothing to rate yet: no answers."),
        (("compare",), 1, "Nothing to rate yet: no prompt has two answers."),
        (("check",), 2, "Nothing to rate yet: no answer has requirements."),
        (("check", "score"), 0, "Nothing to rate yet: no answers."),
    ],
)
def test_a_study_with_nothing_to_rate(
    tasks: tuple[str, ...], answers: int, words: str, client: Client
) -> None:
    study = make.make_small_study(prompts=1, contestants=answers, tasks=list(tasks), is_draft=True)
    member = make.make_member(study)
    study.memberships.update(role="operator", guidelines_read_at=timezone.now())
    assert said(study) == words
    client.force_login(member.user)
    publish, rate = (reverse(name, args=[study.slug]) for name in ("operate-publish", "rate-study"))
    assert words in client.get(publish).content.decode()
    sent = client.post(publish, {"name": study.name, "visibility": "private"}, follow=True)
    assert f"Study published. {words}" in sent.content.decode()
    text = client.get(rate).content.decode()
    assert f"{study.name} has nothing to rate yet." in text
    assert "You are done" not in text
    assert "You rated" not in text


def test_the_pace_is_that_of_people_who_count_and_have_something_left() -> None:
    study = small(people=3, ratings_per_pair_people=3)
    fast, out, slow = people_of(study)
    do(study, fast)
    do(study, out, most=1)
    do(study, slow, most=1)
    Membership.objects.filter(rater=out).update(left_out_at=timezone.now())
    make.make_member(study)
    make.make_member(study)
    # By hand: 3 of 6 count; fast has rated all, and what out rated counts no more. So slow alone has a pace:
    # 1 in the last 10 minutes, 6 an hour, and 3 are left.
    assert said(study) == (
        "Less than an hour left, at the rate of the last 10 minutes (6 ratings an hour). This is a "
        "rough estimate."
    )
    Comparison.objects.filter(rater=slow).update(source="import")
    assert said(study) == "No estimate yet."


def test_what_came_by_import_counts_but_its_people_rate_no_more() -> None:
    study = small(people=1, ratings_per_pair_people=2)
    came = make.make_rater(study=study)
    for prompt in study.prompts.all():
        first, second = prompt.completions.order_by("pk")
        pair = make.make_pair(prompt=prompt, first=first, second=second, people_ratings=1)
        make.make_comparison(pair=pair, rater=came)
    assert said(study) == "No estimate yet."  # one rating of each pair is left, and one person is there
    assert do(study, *people_of(study)) == 2
    assert said(study) == "All ratings are in."


def test_a_rating_of_what_is_no_longer_offered_is_neither_needed_nor_done() -> None:
    study = small(people=2, ratings_per_pair_people=2)
    do(study, people_of(study)[0])
    text = Completion.objects.filter(prompt__study=study).first()
    Completion.objects.filter(pk=text.pk).update(is_current=False)  # type: ignore[union-attr]
    _recount(study)
    # By hand: one of two pairs is left; it wants 2 and has 1, and 1 rating is of the pair that is gone.
    assert counts.wanted(study) == counts.Wanted(1, 2, 1, 1, 0, 0, gone=1)
    assert do(study, people_of(study)[1]) == 1
    assert said(study) == "All ratings are in."


def test_a_limit_that_leaves_no_room_is_named() -> None:
    study = small(people=2, ratings_per_pair_people=2, rater_limit=1)
    assert said(study) == "The limit per rater leaves room for 2 of 4. Invite more people"
    for rater in people_of(study):
        do(study, rater)
    assert "Invite" in said(study)
    assert "an hour" not in said(study)


def test_people_who_failed_the_training_are_not_counted_on() -> None:
    study = small(people=1)
    pairs = make.make_training_pairs(study, 1)
    assert said(study) == "No estimate yet."
    (member,) = study.memberships.all()
    for attempt in (1, 2, 3):
        member.training_answers.create(
            pair=pairs[0], attempt=attempt, swapped=False, points=8, rating=8, is_right=False
        )
    assert said(study) == "Each pair needs 1 person; none counts yet. Invite 1"


@pytest.mark.parametrize("seed", range(7))
def test_what_nobody_can_give_is_what_is_left_when_everybody_has_rated_all_they_get(seed: int) -> None:
    """Studies by chance: people who skip, are left out or paused, names that are shown, several tasks."""
    rng = random.Random(seed)
    study = small(
        *rng.choice(TASKS),
        people=rng.randint(0, 3),
        ratings_per_pair_people=rng.randint(1, 4),
        reveal_names=rng.random() < 0.3,
    )
    for rater in people_of(study):
        for _ in range(rng.randint(0, 4)):
            found = assignments.claim(study, rater)
            if found and rng.random() < 0.4:
                assignments.skip(rater, found.public_id)
            elif found:
                recording.record(rater, found.public_id, _answer(found))
        if rng.random() < 0.3:
            field = rng.choice(["left_out_at", "paused_at"])
            Membership.objects.filter(rater=rater).update(**{field: timezone.now()})
            _recount(study)
    totals, people = _totals(study), forecast.may_rate(study)
    found_by_task = forecast.supplies(study, totals, people)
    able = frozenset[int]().union(*(each.able for each in found_by_task.values()))
    open_to = {rater.pk for rater in people_of(study) if progress_in(study, rater).left}
    assert able == open_to & people.keys()
    stuck = {kind: each.stuck for kind, each in found_by_task.items()}
    for _ in range(3):
        for rater in Rater.objects.filter(pk__in=people):
            do(study, rater)
    left = {kind: each.left for kind, each in _totals(study).items() if kind in stuck}
    if study.reveal_names and study.tasks[0] == "compare":
        # Who is shown names with a pair gets no answer of its prompt; who will be is not foretold.
        assert all(left[kind] >= number for kind, number in stuck.items())
    else:
        assert left == stuck
    if any(left.values()):
        assert "Invite" in said(study)


def _recount(study: Study) -> None:
    """What follows when raters are left out or texts change: counters, and what processes keep."""
    Pair.objects.filter(prompt__study=study).recount(study)
    study.revision += 1
    study.save(update_fields=["revision"])


def test_who_comes_after_all_is_rated_reads_that(client: Client) -> None:
    study = small(people=1)
    do(study, *people_of(study))
    late = make.make_member(study)
    study.memberships.update(guidelines_read_at=timezone.now())
    client.force_login(late.user)
    text = client.get(reverse("rate-study", args=[study.slug])).content.decode()
    assert f"Others have rated all of {study.name}." in text
    assert "You are done" not in text
