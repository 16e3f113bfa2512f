"""Invitation links, roles, and decisions about a study."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from arena.models import Invitation, Membership, RaterGroup, Role, Study
from arena.people import joining
from arena.people.members import InvitationForm
from tests import factories as make


def page(name: str, *more: object) -> str:
    return reverse(name, args=["rivers", *more])


def test_a_link_is_made_shown_and_withdrawn(operator: Client, study: Study) -> None:
    day = timezone.now().date() + timedelta(days=3)
    sent = {"role": "viewer", "max_uses": "5", "note": "Readers", "last_day": day.isoformat()}
    assert operator.post(page("operate-people"), sent).status_code == 302
    link = Invitation.objects.get()
    assert (link.role, link.max_uses, link.study) == ("viewer", 5, study)
    assert link.expires_at.date() == day + timedelta(days=1)
    text = operator.get(page("operate-people")).content.decode()
    assert f"http://testserver/join/{link.token}/" in text
    assert f"{day.day} {day:%b %Y}" in text
    for _ in range(2):
        operator.post(page("operate-withdraw", link.pk))
    link.refresh_from_db()
    assert "withdrawn" in joining.why_not(link)
    assert link.token not in operator.get(page("operate-people")).content.decode()


def test_no_link_to_rate_is_open_once_the_study_is_closed(operator: Client, study: Study) -> None:
    Invitation.objects.create(study=study, token="new", role="rater", max_uses=2, uses=1)
    used = Invitation.objects.create(study=study, token="old", role="rater", max_uses=1, uses=1)
    Study.objects.update(sign_up_open=True)
    assert "1 open link, sign-up is open" in operator.get(page("operate-study")).content.decode()
    Study.objects.update(closed_at=timezone.now())
    text = operator.get(page("operate-study")).content.decode()
    assert "open link" not in text
    assert "sign-up is open" not in text
    text = operator.get(page("operate-people")).content.decode()
    assert "used up" in text
    assert page("operate-withdraw", used.pk) not in text


def test_a_link_works_on_its_last_day_and_not_after_it(study: Study) -> None:
    today = timezone.now().date()
    form = InvitationForm(
        {"role": "rater", "max_uses": "1", "last_day": today}, instance=Invitation(study=study)
    )
    assert form.is_valid(), form.errors
    link = form.save()
    assert joining.why_not(link) == ""
    assert link.expires_at - timezone.now() <= timedelta(days=1)


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("max_uses", "0", "at least 1"),
        ("max_uses", "10001", "at most 10,000"),
        ("max_uses", "many", "Enter a whole number"),
        ("last_day", "2020-01-01", "Choose today or a later day"),
        ("last_day", "9999-12-31", "in the next ten years"),
        ("last_day", "soon", "Enter a day such as"),
        ("role", "king", "Choose from the list"),
    ],
)
def test_what_no_link_can_be(operator: Client, field: str, value: str, problem: str) -> None:
    sent = {"role": "rater", "max_uses": "1", "note": "kept", "last_day": ""} | {field: value}
    response = operator.post(page("operate-people"), sent)
    assert response.status_code == 422
    assert problem in response.content.decode()
    assert 'value="kept"' in response.content.decode()
    assert not Invitation.objects.exists()


def test_a_note_hides_nothing(study: Study) -> None:
    form = InvitationForm({"note": "for \u202enobody"}, instance=Invitation(study=study))
    assert form.errors["note"] == ["This text contains the invisible character U+202E."]


def test_a_link_takes_groups_of_the_study_s_people_and_new_ones(study: Study) -> None:
    def offered() -> set[str]:
        group = InvitationForm(instance=Invitation(study=study), may_group=True).fields.get("group")
        return set(group.queryset.values_list("slug", flat=True)) if group else set()  # type: ignore[attr-defined]

    judges, strangers = (RaterGroup.objects.create(slug=name, name=name) for name in ("judges", "strangers"))
    judges.raters.add(make.make_rater(kind="judge"))
    strangers.raters.add(make.make_member(make.make_study()))
    assert offered() == set()
    ours = RaterGroup.objects.create(slug="ours", name="ours")
    assert offered() == {"ours"}
    ours.raters.add(make.make_member(study))
    assert offered() == {"ours"}


def test_a_role_is_changed_on_record_and_nobodys_own(operator: Client, study: Study) -> None:
    member = study.memberships.get(role=Role.VIEWER)
    for _ in range(2):
        operator.post(page("operate-role", member.pk), {"role": "operator"})
    member.refresh_from_db()
    event = study.events.get()
    assert member.role == "operator"
    assert (event.kind, event.note, event.rater) == ("role", "viewer to operator", member.rater)
    operator.post(page("operate-role", member.pk), {"role": "king"})
    member.refresh_from_db()
    assert member.role == "operator"
    own = study.memberships.get(rater__user__username="the-operator")
    answer = operator.post(page("operate-role", own.pk), {"role": "viewer"}, follow=True)
    assert "Another operator has to change your role" in answer.content.decode()
    own.refresh_from_db()
    assert own.role == "operator"


def test_a_training_is_counted_as_passed_once(operator: Client, study: Study) -> None:
    prompt = make.make_prompt(study=study)
    make.make_pair(prompt=prompt, use="train", gold="first", gold_source="me", explanation="because")
    member = study.memberships.get(role=Role.RATER)
    assert "Count as passed" in operator.get(page("operate-people")).content.decode()
    operator.post(page("operate-trained", member.pk))
    first = Membership.objects.get(pk=member.pk).trained_at
    operator.post(page("operate-trained", member.pk))
    assert first is not None
    assert Membership.objects.get(pk=member.pk).trained_at == first


def test_pausing_takes_a_click_and_closing_a_tick(operator: Client, study: Study) -> None:
    operator.post(page("operate-state"), {"kind": "paused", "note": "Lunch"})
    study.refresh_from_db()
    assert study.paused_at is not None
    unsure = operator.post(page("operate-state"), {"kind": "closed"})
    assert unsure.status_code == 422
    assert "Tick the box" in unsure.content.decode()
    study.refresh_from_db()
    assert study.closed_at is None
    operator.post(page("operate-state"), {"kind": "closed", "sure": "yes"})
    again = operator.post(page("operate-state"), {"kind": "closed", "sure": "yes"}, follow=True)
    assert "Already done" in again.content.decode()
    text = operator.get(page("operate-state")).content.decode()
    assert "may not be blind" in text
    assert "Lunch" in text
    assert "the-operator" in text
    assert study.events.count() == 2
    assert operator.post(page("operate-state"), {"kind": "exploded"}).status_code == 422
