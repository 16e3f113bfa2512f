"""The pages of the training: from the guidelines to the first pair, what they tell when, and a try of it."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.models import Comparison, Membership, Pair, Role, Study, TrainingAnswer
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    found = make.make_small_study(slug="s", guidelines="Look for facts.")
    for number, pair in enumerate(make.make_training_pairs(found, 3), start=1):
        for side, text in (("first", "<b>good</b>"), ("second", "poor")):
            completion = getattr(pair, side)
            completion.turns = [f"A {text} answer to {number}"]
            completion.save()
        Pair.objects.filter(pk=pair.pk).update(explanation=f"Secret <i>reason</i> {number}.")
    return found


@pytest.fixture
def rater(client: Client, study: Study) -> Membership:
    """A member who has read the guidelines, signed in."""
    membership = make.make_member(study).memberships.get()
    client.force_login(membership.rater.user)
    client.post(reverse("guidelines", args=["s"]))
    return membership


def page(client: Client, name: str, *numbers: int) -> Any:
    return client.get(reverse(name, args=["s", *numbers]))


def answer(client: Client, attempt: int, number: int, *, right: bool = True) -> Any:
    """Answer a pair and see what is told; the good text tells which side is right."""
    address = reverse("training-pair", args=["s", attempt, number])
    content = client.get(address).content.decode()
    good_is_first = content.index("good") < content.index("poor")
    return client.post(address, {"rating": "1" if good_is_first is right else "8"}, follow=True)


def test_the_way_leads_from_the_guidelines_through_the_training(client: Client, study: Study) -> None:
    rater = make.make_member(study)
    client.force_login(rater.user)
    assert page(client, "rate-study").headers["Location"] == reverse("guidelines", args=["s"])
    assert page(client, "training").headers["Location"] == reverse("guidelines", args=["s"])
    guidelines = page(client, "guidelines").content.decode()
    assert "Secret" not in guidelines
    client.post(reverse("guidelines", args=["s"]))
    assert page(client, "rate-study").headers["Location"] == reverse("training", args=["s"])
    by_script = client.get(reverse("rate-study", args=["s"]), headers={"Accept": "application/json"})
    assert "do the training" in by_script.content.decode()
    assert "Practise on 3 pairs" in page(client, "training").content.decode()


def test_what_is_right_is_told_after_the_answer(client: Client, rater: Membership) -> None:
    before = page(client, "training-pair", 1, 1).content.decode()
    assert "Secret" not in before
    assert "Pair 1 of 3" in before
    assert "<b>good</b>" not in before
    told = answer(client, 1, 1).content.decode()
    assert "Right" in told
    assert "Secret &lt;i&gt;reason&lt;/i&gt; 1." in told
    assert reverse("training-pair", args=["s", 1, 2]) in told
    assert page(client, "training-pair", 1, 1).content.decode().count("Secret") == 1
    wrong = answer(client, 1, 2, right=False).content.decode()
    assert "Not quite" in wrong
    assert Comparison.objects.count() == 0


def test_a_reload_leads_back_to_the_pair_that_is_next(client: Client, rater: Membership) -> None:
    answer(client, 1, 1)
    expected = reverse("training-pair", args=["s", 1, 2])
    assert page(client, "training").headers["Location"] == expected
    ahead = page(client, "training-pair", 1, 3)
    assert (ahead.status_code, ahead.headers["Location"]) == (302, reverse("training", args=["s"]))


def test_the_end_opens_rating(client: Client, rater: Membership) -> None:
    for number in (1, 2, 3):
        answer(client, 1, number, right=number != 2)
    end = page(client, "training").content.decode()
    assert "You got 2 of 3 training pairs right" in end
    assert page(client, "rate-study").status_code == 200
    rate = page(client, "rate-study").content.decode()
    assert "Secret &lt;i&gt;reason&lt;/i&gt; 3." in rate  # an example in the guidelines
    assert page(client, "training-pair", 1, 1).status_code == 200
    assert page(client, "training-pair", 2, 1).headers["Location"] == reverse("training", args=["s"])


def test_who_fails_goes_through_it_again(client: Client, study: Study, rater: Membership) -> None:
    Study.objects.update(training_threshold=0.8)
    for attempt in (1, 2, 3):
        for number in (1, 2, 3):
            answer(client, attempt, number, right=number == 1)
        content = page(client, "training").content.decode()
        assert "You got 1 of 3 pairs right; you need 3" in content
        assert page(client, "rate-study").headers["Location"] == reverse("training", args=["s"])
        assert ("Try again" in content) is (attempt < 3)
        assert (f"You have {3 - attempt} attempt" in content) is (attempt < 3)
    assert "Please ask the operator" in content
    address = reverse("training-pair", args=["s", 4, 1])
    assert client.post(address, {"rating": "1"}).status_code == 302
    assert TrainingAnswer.objects.count() == 9


@pytest.mark.parametrize("sent", ["", "9", "0", "x", "²", "1.0", "-1", "12"])
def test_what_is_no_rating_is_named(client: Client, rater: Membership, sent: str) -> None:
    refused = client.post(reverse("training-pair", args=["s", 1, 1]), {"rating": sent})
    assert refused.status_code == 422
    words = "Choose one of the buttons." if sent else "Choose a rating first."
    assert words in refused.content.decode()
    assert not TrainingAnswer.objects.exists()


class TestTry:
    @pytest.mark.parametrize("staff", [True, False])
    def test_operators_see_all_and_nothing_is_stored(self, client: Client, study: Study, staff: bool) -> None:
        operator = make.make_user(is_staff=staff)
        if not staff:
            rater = make.make_rater(user=operator)
            Membership.objects.create(study=study, rater=rater, role=Role.OPERATOR)
            client.force_login(operator)
            assert page(client, "training").headers["Location"] == reverse("training-try", args=["s", 1])
        client.force_login(operator)
        for number in (1, 2, 3):
            assert "nothing is stored" in page(client, "training-try", number).content.decode()
            address = reverse("training-try", args=["s", number])
            assert (
                f"Secret &lt;i&gt;reason&lt;/i&gt; {number}."
                in client.post(address, {"rating": "1"}).content.decode()
            )
        assert "End of the training" in page(client, "training-try", 4).content.decode()
        assert client.post(reverse("training-try", args=["s", 1]), {"rating": "x"}).status_code == 422
        assert not TrainingAnswer.objects.exists()

    def test_a_study_without_training_says_so(self, client: Client) -> None:
        make.make_study(slug="s")
        client.force_login(make.make_user(is_staff=True))
        assert "No training yet" in page(client, "training-try", 1).content.decode()

    def test_it_is_for_operators_only(self, client: Client, rater: Membership) -> None:
        assert page(client, "training-try", 1).status_code == 404
        client.logout()
        assert page(client, "training-try", 1).status_code == 302


def test_strangers_and_a_closed_study(client: Client, study: Study, rater: Membership) -> None:

    Study.objects.update(closed_at=timezone.now())
    assert page(client, "training").headers["Location"] == reverse("rate-study", args=["s"])
    assert page(client, "training-pair", 1, 1).headers["Location"] == reverse("training", args=["s"])
    client.force_login(make.make_user())
    assert page(client, "training").status_code == 404
    client.logout()
    assert page(client, "training-pair", 1, 1).status_code == 302


def test_no_study_of_its_own_is_led_to_a_training(client: Client) -> None:
    study = make.make_small_study(slug="s")
    client.force_login(make.make_member(study).user)
    assert page(client, "training").headers["Location"] == reverse("guidelines", args=["s"])
    client.post(reverse("guidelines", args=["s"]))
    assert page(client, "training").headers["Location"] == reverse("rate-study", args=["s"])
    assert page(client, "rate-study").status_code == 200
