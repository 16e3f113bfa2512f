"""Many at once, in real threads on the real database: SQLite in a file, or PostgreSQL by DATABASE_URL."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from threading import Barrier
from typing import TypeVar

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.models import Assignment, Comparison, Invitation, Membership, Pair, Rater, RaterGroup, Study
from arena.models import StudyEvent as Event
from arena.people import joining
from arena.people.anonymising import anonymise
from arena.rating import assignments, pair_queue, recording
from arena.rating.opinions import NotAllowedError, Rating
from arena.rating.recording import AlreadyAnsweredError
from arena.texts.rendering_cache import rendered
from tests import factories as make

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]
T = TypeVar("T")


def at_once(*jobs: Callable[[], T]) -> list[T | Exception]:
    """Run all jobs in threads that start together; each gives its result or its exception."""
    start = Barrier(len(jobs))

    def run(job: Callable[[], T]) -> T | Exception:
        try:
            start.wait()
            return job()
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(run, jobs))


def test_a_form_that_is_sent_three_times_at_once_makes_one_link() -> None:
    study, operator = make.make_study(), make.make_user(is_staff=True)
    address = reverse("operate-people", args=[study.slug])

    def post(shown: str) -> Callable[[], str]:
        client = make.make_client(operator)
        form = {"role": "rater", "max_uses": 1, "csrfmiddlewaretoken": shown}
        return lambda: client.post(address, form)["Location"]

    assert at_once(*[post("first")] * 3) == [address] * 3
    assert Invitation.objects.count() == 1
    assert at_once(post("first"), post("shown again")) == [address] * 2
    assert Invitation.objects.count() == 2


def test_two_tabs_of_one_rater_get_the_same_pair_and_hold_one_more() -> None:
    study = make.make_small_study()
    rater = make.make_member(study)
    first, second, third = at_once(*[lambda: assignments.claim(study, rater)] * 3)
    assert first == second == third
    assert Assignment.objects.count() == 1
    ahead = at_once(*[lambda: assignments.claim(study, rater, first.public_id)] * 3)
    assert ahead[0] == ahead[1] == ahead[2] != first
    assert Assignment.objects.count() == 2


def until_done(study: Study, rater: Rater, *, ahead: bool) -> Callable[[], int]:
    """Claim and answer all there is; with ``ahead`` the next pair is held before one is answered."""

    def work() -> int:
        count = 0
        while current := assignments.claim(study, rater):
            following = assignments.claim(study, rater, current.public_id) if ahead else None
            for held in filter(None, [current, following]):
                recording.record(rater, held.public_id, Rating(points=8, rating=3))
                count += 1
        return count

    return work


@pytest.mark.parametrize(("prompts", "contestants", "wanted", "ahead"), [(2, 3, 2, False), (1, 4, 3, True)])
def test_raters_together_give_the_wanted_overlap_and_never_wait_in_a_circle(
    prompts: int, contestants: int, wanted: int, ahead: bool
) -> None:
    """With ``ahead`` each holds a pair that the others may choose while it answers."""
    study = make.make_small_study(prompts, contestants, ratings_per_pair_people=wanted)
    raters = [make.make_member(study) for _ in range(4)]
    counts = at_once(*(until_done(study, rater, ahead=ahead) for rater in raters))
    assert not [each for each in counts if isinstance(each, Exception)]
    assert sum(count for count in counts if isinstance(count, int)) == Pair.objects.count() * wanted
    assert list(Pair.objects.values_list("people_ratings", flat=True)) == [wanted] * 6
    assert set(Counter(Comparison.objects.values_list("rater", "pair")).values()) == {1}


@pytest.mark.parametrize("free", [4, 3])
def test_nobody_hears_that_nothing_is_left_while_others_are_offered_the_last_pair(free: int) -> None:
    for _ in range(5):
        study = make.make_small_study(prompts=1, contestants=2, ratings_per_pair_people=free)
        raters = [make.make_member(study) for _ in range(4)]
        pair_queue.fill(study)
        found = at_once(*[partial(assignments.claim, study, rater) for rater in raters])
        assert Counter(isinstance(each, Assignment) for each in found)[True] == free
        assert [each for each in found if not isinstance(each, Assignment)] == [None] * (4 - free)


def test_a_late_answer_that_meets_a_claim_is_late_or_keeps_the_pair() -> None:
    """Either the claim comes first and the answer is late, or the answer does and the pair is full."""
    for _ in range(6):
        study = make.make_small_study(prompts=1, contestants=2)
        slow, quick = make.make_member(study), make.make_member(study)
        lost = assignments.claim(study, slow)
        Assignment.objects.filter(pk=lost.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
        said, held = at_once(
            lambda lost=lost, slow=slow: recording.record(slow, lost.public_id, Rating(points=8, rating=3)),
            lambda study=study, quick=quick: assignments.claim(study, quick),
        )
        assert not isinstance(held, Exception)
        assert said.is_late == (held is not None)


def test_a_double_click_stores_one_comparison() -> None:
    assignment = make.make_assignment()
    rater = assignment.rater
    same = Rating(points=8, rating=2)
    results = at_once(*[lambda: recording.record(rater, assignment.public_id, same)] * 4)
    assert len({result.pk for result in results if isinstance(result, Comparison)}) == 1
    assert not [result for result in results if isinstance(result, Exception)]
    assert Comparison.objects.count() == 1
    assert Pair.objects.get().people_ratings == 1


def test_two_tabs_with_different_answers_store_the_first() -> None:
    assignment = make.make_assignment()

    def say(rating: int) -> Callable[[], Comparison]:
        answer = Rating(points=8, rating=rating)
        return lambda: recording.record(assignment.rater, assignment.public_id, answer)

    results = at_once(say(1), say(8))
    stored = [result for result in results if isinstance(result, Comparison)]
    refused = [result for result in results if isinstance(result, AlreadyAnsweredError)]
    assert (len(stored), len(refused)) == (1, 1)
    assert Comparison.objects.get() == stored[0]


def test_an_answer_that_meets_the_sweep_is_kept() -> None:
    for _ in range(5):
        assignment = make.make_assignment(leased_until=timezone.now() - timedelta(seconds=1))
        answer = Rating(points=8, rating=2)
        results = at_once(
            lambda: assignments.expire_lapsed(),
            lambda found=assignment, said=answer: recording.record(found.rater, found.public_id, said),
        )
        assert not [result for result in results if isinstance(result, Exception)]
        assignment.refresh_from_db()
        assert assignment.state == "submitted"
    assert Comparison.objects.count() == 5


def test_the_last_use_of_an_invitation_goes_to_one() -> None:
    invitation = Invitation.objects.create(study=make.make_small_study(), max_uses=2)
    users = [make.make_user() for _ in range(5)]
    results = at_once(*[lambda user=user: joining.join_by_invitation(invitation, user) for user in users])
    assert len([result for result in results if isinstance(result, Membership)]) == 2
    assert len([result for result in results if isinstance(result, joining.JoiningError)]) == 3
    invitation.refresh_from_db()
    assert invitation.uses == 2
    assert Membership.objects.count() == 2


def test_one_person_joining_twice_at_once_is_one_rater_and_one_text_rendered_stored_once() -> None:
    study, user = make.make_small_study(sign_up_open=True), make.make_user()
    results = at_once(*[lambda: joining.join_by_sign_up(study, user)] * 3)
    assert not [result for result in results if isinstance(result, Exception)]
    assert (Rater.objects.count(), Membership.objects.count()) == (1, 1)
    texts = at_once(*[lambda: rendered(["*one*", "*two*"])] * 3)
    assert texts[0] == texts[1] == texts[2]
    assert not isinstance(texts[0], Exception)


def test_closing_a_study_stops_claims() -> None:
    study = make.make_small_study()
    rater = make.make_member(study)

    def close() -> int:
        return Study.objects.filter(pk=study.pk).update(closed_at=timezone.now())

    at_once(close, lambda: assignments.claim(study, rater))
    with pytest.raises(NotAllowedError):
        assignments.claim(study, rater)


def posted(*forms: tuple[str, dict[str, str], User | None]) -> list[int]:
    """The statuses of forms that are sent at once, each to its address by its account, from the least on."""

    def send(address: str, form: dict[str, str], user: User | None) -> Callable[[], int]:
        client = Client()
        if user:
            client.force_login(user)
        return lambda: client.post(address, form).status_code

    found = at_once(*(send(*each) for each in forms))
    assert not [each for each in found if isinstance(each, Exception)]
    return sorted(each for each in found if isinstance(each, int))


def test_of_two_who_delete_a_study_one_does() -> None:
    for _ in range(3):
        study = make.make_small_study()
        address = reverse("operate-delete", args=[study.slug])
        both = [make.make_user(is_staff=True) for _ in range(2)]
        assert posted(*((address, {"typed": study.name}, user) for user in both)) == [302, 404]
        assert Event.objects.filter(study_slug=study.slug, kind="deleted").count() == 1


def test_raters_of_a_study_that_is_deleted_hear_that_there_is_none() -> None:
    study = make.make_small_study(prompts=3)
    raters = [make.make_member(study).user for _ in range(4)]
    Membership.objects.update(guidelines_read_at=timezone.now())
    delete = reverse("operate-delete", args=[study.slug])
    undo = reverse("undo", args=[study.slug])
    forms = [(undo, {}, user) for user in raters]
    found = posted((delete, {"typed": study.name}, make.make_user(is_staff=True)), *forms)
    assert set(found) <= {302, 404}
    with pytest.raises(Study.DoesNotExist), transaction.atomic():
        assignments.lock_to_rate(study, Rater.objects.all()[0])


def test_who_removed_their_details_writes_nothing_more() -> None:
    study = make.make_small_study()
    rater = make.make_member(study)
    assignments.claim(study, rater)
    anonymise(Rater.objects.get(pk=rater.pk), rater.user, keep_comments=False)
    with pytest.raises(Study.DoesNotExist), transaction.atomic():
        assignments.lock_to_rate(study, rater)


def test_of_two_who_save_the_same_page_at_once_the_second_hears_of_the_first() -> None:
    from arena.studies.forms import GuidelinesForm

    study = make.make_study()
    address = reverse("operate-guidelines", args=[study.slug])
    both = [make.make_user(is_staff=True) for _ in range(2)]
    for number in range(4):
        seen = GuidelinesForm(instance=Study.objects.get()).seen
        texts = (f"{number} by {user}" for user in both)
        forms = ({"guidelines": text, "consent": "", "seen": seen} for text in texts)
        assert posted(*((address, form, user) for form, user in zip(forms, both, strict=True))) == [302, 422]


def test_a_name_or_address_that_two_choose_at_once_is_one_persons() -> None:
    study = make.make_small_study(sign_up_open=True)
    staff = make.make_user(is_staff=True)
    password = "Correct-horse-9"
    account = {"username": "ann", "password1": password, "password2": password}
    sign_up = reverse("sign-up", args=[study.slug])
    assert posted(*[(sign_up, account, None)] * 3) == [302, 422, 422]
    named = {"name": "New", "slug": "new-one"}
    for address in ("operate-new", "operate-groups", "operate-all-raters"):
        assert posted(*[(reverse(address), named, staff)] * 3) == [302, 422, 422], address
    assert (Study.objects.count(), RaterGroup.objects.count()) == (2, 1)
    moves = [reverse("operate-move", args=[slug]) for slug in Study.objects.values_list("slug", flat=True)]
    assert posted(*((address, {"slug": "same"}, staff) for address in moves)) == [302, 422]
    assert Study.objects.filter(slug="same").count() == 1
