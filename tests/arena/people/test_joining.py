"""Getting in: invitations, sign-up, accounts."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.models import Invitation, Membership, Rater, Role, Study
from arena.people import anonymising, joining
from arena.rating.accounts import rater_of
from tests import factories as make

pytestmark = pytest.mark.django_db
NEW = {"username": "ada", "password1": "a long enough phrase", "password2": "a long enough phrase"}


def link(**overrides: Any) -> tuple[Invitation, str]:
    study = overrides.pop("study", None) or make.make_small_study()
    invitation = Invitation.objects.create(study=study, **overrides)
    return invitation, reverse("join", args=[invitation.token])


def test_a_newcomer_joins_with_a_new_account_and_the_group_of_the_link(client: Client) -> None:
    invitation, address = link(group=make.make_group())
    assert "short training" not in client.get(address).content.decode()
    make.make_training_pairs(invitation.study)
    assert "short training" in client.get(address).content.decode()
    answer = client.post(address, NEW)
    assert answer.headers["Location"] == reverse("guidelines", args=[invitation.study.slug])
    rater = Rater.objects.get(user__username="ada")
    assert rater.memberships.get().study == invitation.study
    assert list(rater.groups.all()) == [invitation.group]
    invitation.refresh_from_db()
    assert invitation.uses == 1
    assert client.get(answer.headers["Location"]).status_code == 200


def test_an_account_in_use_joins_and_counts_once(client: Client) -> None:
    invitation, address = link(max_uses=5)
    client.force_login(make.make_user(username="bo"))
    assert "Join as bo" in client.get(address).content.decode()
    for _ in range(2):
        assert client.post(address).status_code == 302
    invitation.refresh_from_db()
    assert invitation.uses == 1
    assert Membership.objects.count() == 1


def test_a_rater_with_a_second_link_joins_its_group_without_a_use(client: Client) -> None:
    study = make.make_small_study()
    rater = make.make_member(study)
    invitation, address = link(study=study, group=make.make_group())
    client.force_login(rater.user)
    assert client.get(address).status_code == 200
    client.post(address)
    invitation.refresh_from_db()
    assert (invitation.uses, rater.groups.count()) == (0, 1)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"revoked_at": timezone.now()}, "withdrawn"),
        ({"expires_at": timezone.now() - timedelta(seconds=1)}, "expired"),
        ({"uses": 1}, "used up"),
    ],
)
def test_a_dead_link_says_why(client: Client, state: dict[str, Any], words: str) -> None:
    _, address = link(**state)
    for answer in (client.get(address), client.post(address, NEW)):
        assert answer.status_code == 410
        assert words in answer.content.decode()
    assert not get_user_model().objects.exists()


def test_the_link_of_a_closed_study_and_an_unknown_one_say_so(client: Client) -> None:
    closed = make.make_study(closed_at=timezone.now())
    assert "closed" in client.get(link(study=closed)[1]).content.decode()
    answer = client.get(reverse("join", args=["nonsense"]))
    assert answer.status_code == 404
    assert "not valid" in answer.content.decode()
    assert client.get("/join/%00/").status_code == 404, "a token that no database stores"
    _, address = link(study=closed, role=Role.VIEWER)  # viewers are taken still
    assert client.get(address).status_code == 200
    assert client.post(address, NEW).status_code == 302
    assert Membership.objects.get().role == Role.VIEWER


def test_a_use_lost_in_a_race_leaves_no_account() -> None:
    invitation, _ = link()
    Invitation.objects.update(uses=1)  # somebody else was faster; this object does not know
    with pytest.raises(joining.JoiningError, match="used up"):
        joining.admit(make.make_user, lambda user: joining.join_by_invitation(invitation, user))
    assert not get_user_model().objects.exists()
    assert not Membership.objects.exists()


def test_a_bad_password_is_explained_and_uses_nothing(client: Client) -> None:
    invitation, address = link()
    answer = client.post(address, {**NEW, "password1": "short", "password2": "short"})
    assert "too short" in answer.content.decode()
    invitation.refresh_from_db()
    assert invitation.uses == 0


def test_a_rater_agrees_to_the_text_that_was_shown(client: Client) -> None:
    study = make.make_small_study(sign_up_open=True, consent="We keep **ratings**.")
    address = reverse("sign-up", args=[study.slug])
    page = client.get(address).content.decode()
    assert "We keep <strong>ratings</strong>." in page
    agreed = re.search(r'name="agreed" id="agreed" value="(\w+)"', page)[1]
    assert "Tick the box" in client.post(address, NEW).content.decode()
    Study.objects.update(consent="We sell ratings.")
    assert "just changed" in client.post(address, NEW | {"agreed": agreed}).content.decode()
    assert not get_user_model().objects.exists()
    Study.objects.update(consent=study.consent)
    assert client.post(address, NEW | {"agreed": agreed}).status_code == 302
    member = Membership.objects.get()
    assert (member.consent, member.consented_at is None) == (study.consent, False)
    client.force_login(make.make_user(is_staff=True))
    assert "We keep **ratings**." in client.get(reverse("operate-people", args=[study.slug])).content.decode()
    anonymising.anonymise(member.rater, None)
    member.refresh_from_db()
    assert (member.consent, member.consented_at is None) == (study.consent, False)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"username": "Ada L"}, "A name has no spaces"),
        ({"username": "BO"}, "This name is taken."),
        ({"username": "Admin"}, "This name is taken."),
        ({"username": "b\u043e"}, "mixes Latin and Cyrillic letters"),
        ({"username": "-@"}, "A name needs a letter or a digit."),
        ({"password2": "another long phrase"}, "The two passwords differ."),
    ],
)
def test_the_rules_of_an_account_are_told_where_they_are_broken(
    client: Client, sent: dict[str, str], words: str
) -> None:
    make.make_user(username="bo")
    _, address = link()
    assert words not in client.get(address).content.decode()
    answer = client.post(address, NEW | sent)
    assert (answer.status_code, words in answer.content.decode()) == (422, True)


def test_sign_up_where_anyone_may_join(client: Client) -> None:
    study = make.make_small_study(sign_up_open=True)
    address = reverse("sign-up", args=[study.slug])
    assert client.post(address, NEW).headers["Location"] == reverse("guidelines", args=[study.slug])
    member = Membership.objects.get()
    assert (member.rater.user.username, member.role) == ("ada", Role.RATER)
    assert client.get(address).headers["Location"] == reverse("rate-study", args=[study.slug])


def test_sign_up_by_invitation_only_is_told_where_the_study_is_public(client: Client) -> None:
    study = make.make_small_study(visibility="public")
    answer = client.post(reverse("sign-up", args=[study.slug]), NEW)
    assert answer.status_code == 410
    assert "need an invitation" in answer.content.decode()
    assert not get_user_model().objects.exists()


def test_operators_may_join_any_study(client: Client) -> None:
    study = make.make_small_study()
    client.force_login(make.make_user(is_staff=True))
    client.post(reverse("sign-up", args=[study.slug]))
    assert Membership.objects.filter(study=study).count() == 1


def test_raters_get_slugs_of_their_own_once() -> None:
    users = [make.make_user(username=name) for name in ("ann.b", "ann-b", "annb", "李明", "王芳")]
    raters = [rater_of(user) for user in users]
    assert len({rater.slug for rater in raters}) == len(users)
    assert raters[0].slug == "annb"
    assert rater_of(users[0]) == raters[0]


def test_sign_in_leads_where_one_wanted_to_go(client: Client) -> None:
    make.make_user(username="eve", password="right one")
    sent = {"username": "eve", "password": "right one"}
    for wanted, place in ((reverse("rate"), "rate"), ("https://evil.example/", "home")):
        answer = Client().post(reverse("account_login"), sent | {"next": wanted})
        assert answer.headers["Location"] == reverse(place)


def test_a_rater_who_joins_a_group_changes_what_it_says_of_studies_rated_before() -> None:
    user = make.make_user()
    comparison = make.make_comparison(rater=make.make_rater(user=user))
    invitation, _ = link(group=make.make_group(), max_uses=5)
    joining.join_by_invitation(invitation, user)
    comparison.study.refresh_from_db()
    assert comparison.study.revision == 1
    joining.join_by_invitation(invitation, user)
    comparison.study.refresh_from_db()
    assert comparison.study.revision == 1, "already a member"


class TestRoles:
    @pytest.mark.parametrize(
        ("role", "words", "inside"),
        [
            (Role.VIEWER, "Become a viewer", "study"),
            (Role.RATER, "Become a rater", "guidelines"),
            (Role.OPERATOR, "Become an operator", "operate-study"),
        ],
    )
    def test_a_link_says_and_gives_a_role(self, client: Client, role: Role, words: str, inside: str) -> None:
        invitation, address = link(role=role)
        text = client.get(address).content.decode()
        assert words in text
        assert ("We record your ratings" in text) is (role != Role.VIEWER)
        answer = client.post(address, NEW)
        assert answer.headers["Location"] == reverse(inside, args=[invitation.study.slug])
        assert Membership.objects.get().role == role
        told = [] if role == Role.RATER else [("role", f"{role}, by joining")]
        assert [(event.kind, event.note) for event in invitation.study.events.all()] == told

    def test_a_link_raises_a_role_and_counts_a_use(self, client: Client) -> None:
        study = make.make_small_study()
        member = make.make_member(study).memberships.get()
        invitation, address = link(study=study, role=Role.OPERATOR, max_uses=5)
        client.force_login(member.rater.user)
        assert "By joining you become an operator" in client.get(address).content.decode()
        for _ in range(2):
            client.post(address)
        member.refresh_from_db()
        invitation.refresh_from_db()
        assert (member.role, invitation.uses) == (Role.OPERATOR, 1)
        assert [(event.kind, event.note) for event in study.events.all()] == [
            ("role", "rater to operator, by joining")
        ]

    @pytest.mark.parametrize("role", [Role.VIEWER, Role.RATER])
    def test_a_link_never_lowers_a_role(self, client: Client, role: Role) -> None:
        study = make.make_small_study()
        member = make.make_member(study).memberships.get()
        Membership.objects.update(role=Role.OPERATOR)
        invitation, address = link(study=study, role=role, group=make.make_group())
        client.force_login(member.rater.user)
        assert "become" not in client.get(address).content.decode().partition("notice")[2]
        answer = client.post(address)
        assert answer.headers["Location"] == reverse("operate-study", args=[study.slug])
        member.refresh_from_db()
        invitation.refresh_from_db()
        assert (member.role, invitation.uses, member.rater.groups.count()) == (Role.OPERATOR, 0, 1)

    def test_a_used_up_link_raises_nobody(self, client: Client) -> None:
        study = make.make_small_study()
        member = make.make_member(study).memberships.get()
        invitation, address = link(study=study, role=Role.OPERATOR, uses=1)
        with pytest.raises(joining.JoiningError, match="used up"):
            joining.join_by_invitation(invitation, member.rater.user)
        member.refresh_from_db()
        assert (member.role, study.events.count()) == (Role.RATER, 0)
        client.force_login(member.rater.user)
        assert client.get(address).headers["Location"] == reverse("guidelines", args=[study.slug])

    def test_signing_up_makes_a_rater_also_of_a_viewer(self, client: Client) -> None:
        study = make.make_small_study(sign_up_open=True)
        member = make.make_member(study).memberships.get()
        Membership.objects.update(role=Role.VIEWER)
        client.force_login(member.rater.user)
        address = reverse("sign-up", args=[study.slug])
        assert "By joining you become a rater" in client.get(address).content.decode()
        assert client.post(address).headers["Location"] == reverse("guidelines", args=[study.slug])
        member.refresh_from_db()
        assert member.role == Role.RATER
