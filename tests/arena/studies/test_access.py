"""Every page for operators, asked for by everybody who may come by."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, reverse

from arena.api.auth import issue_token
from arena.models import Flag, Invitation, Question, RaterGroup, Study
from arena.studies import urls
from tests import factories as make
from tests.arena.conftest import VISITORS

STAFF_ONLY = {"operate-move", "operate-delete"}
PAGES = sorted(str(pattern.name) for pattern in urls._study if isinstance(pattern, URLPattern))
POSTED = {"operate-move", "operate-withdraw", "operate-role", "operate-trained", "operate-settle"}


@pytest.fixture
def place(study: Study) -> Callable[[str], str]:
    """The address of a page, with rows of the study where it needs some."""
    rater = make.make_member(study)
    pair = make.make_pair(prompt=study.prompts.first())
    assignment = make.make_assignment(pair=pair)
    rows: dict[str, Any] = {
        "job": make.make_import_job(("prompts.jsonl", "{}"), study=study).pk,
        "link": Invitation.objects.create(study=study).pk,
        "member": study.memberships.get(rater=rater).pk,
        "rater": rater.pk,
        "flag": Flag.objects.create(assignment=assignment, reason="other").pk,
        "form": "csv",
        "question": make.make_question(prompt=pair.prompt).pk,
        "prompt": pair.prompt_id,
        "contestant": pair.first.contestant_id,
        "pair": make.make_pair(prompt=study.prompts.last(), gold="tie", gold_source="a key").pk,
    }

    def address(name: str) -> str:
        pattern = next(one for one in urls._study if isinstance(one, URLPattern) and one.name == name)
        needed = pattern.pattern.converters
        return reverse(name, kwargs={"slug": study.slug} | {key: rows[key] for key in needed})

    return address


@pytest.mark.parametrize("visitor", VISITORS)
def test_operators_alone(
    place: Callable[[str], str], signed_in: Callable[[str], Client], visitor: str
) -> None:
    client = signed_in(visitor)
    for name in PAGES:
        address = place(name)
        with transaction.atomic():
            response = client.post(address) if name in POSTED else client.get(address)
            transaction.set_rollback(True)
        if visitor == "anonymous":
            assert response.status_code == 302, name
            assert response["Location"].startswith("/account/sign-in/?next=/operate/"), name
        elif visitor == "operator" and name in STAFF_ONLY:
            assert response.status_code == 403, name
        elif visitor in ("operator", "staff"):
            assert response.status_code in (200, 302), (name, response.content[:500])
            assert "no-store" in response["Cache-Control"], name
        else:
            assert response.status_code == 404, name


@pytest.mark.parametrize("visitor", ["stranger", "viewer", "rater", "anonymous"])
def test_nothing_is_changed_by_others(
    study: Study, place: Callable[[str], str], signed_in: Callable[[str], Client], visitor: str
) -> None:
    client = signed_in(visitor)
    for name in PAGES:
        client.post(
            place(name),
            {"kind": "closed", "sure": "yes", "name": "Mine", "guidelines": "x", "role": "viewer"}
            | {"slug": "mine", "typed": "Rivers", "retire": "1", "category": "other", "gold": "first"}
            | {"add": "1", "text": "Is it mine?"},
        )
    study.refresh_from_db()
    columns = (study.closed_at, study.name, study.slug, study.guidelines)
    assert columns == (None, "Rivers", "rivers", "# Be fair")
    assert not study.invitations.filter(revoked_at__isnull=False).exists()
    assert not study.events.exists()
    assert not Question.objects.filter(text="Is it mine?").exists()


def test_rows_of_another_study_are_out_of_reach(operator: Client) -> None:
    other = make.make_small_study()
    link = Invitation.objects.create(study=other)
    member = other.memberships.get(rater=make.make_member(other))
    job = make.make_import_job(("prompts.jsonl", "{}"), study=other)
    pair = make.make_pair(prompt=other.prompts.first(), gold="tie", gold_source="a key")
    addresses = [
        reverse("operate-prompt", args=["rivers", pair.prompt_id]),
        reverse("operate-prompt-requirements", args=["rivers", pair.prompt_id]),
        reverse(
            "operate-requirement",
            args=["rivers", pair.prompt_id, make.make_question(prompt=pair.prompt).pk],
        ),
        reverse("operate-contestant", args=["rivers", pair.first.contestant_id]),
        reverse("operate-pair", args=["rivers", pair.pk]),
        reverse("operate-withdraw", args=["rivers", link.pk]),
        reverse("operate-role", args=["rivers", member.pk]),
        reverse("operate-trained", args=["rivers", member.pk]),
        reverse("operate-remove-details", args=["rivers", member.rater_id]),
        reverse("operate-import-job", args=["rivers", job.pk]),
    ]
    for address in addresses:
        assert operator.post(address, {"role": "viewer", "apply": "1", "typed": "x"}).status_code == 404


def test_the_list_holds_what_one_operates_and_staff_make_studies(signed_in: Callable[[str], Client]) -> None:
    make.make_study(slug="lakes", name="Lakes")
    assert "Lakes" not in signed_in("operator").get("/operate/").content.decode()
    assert "Rivers" in signed_in("operator").get("/operate/").content.decode()
    assert "Lakes" in signed_in("staff").get("/operate/").content.decode()
    assert "You do not operate a study" in signed_in("rater").get("/operate/").content.decode()
    for visitor, status in (("anonymous", 302), ("operator", 403), ("staff", 200)):
        assert signed_in(visitor).get(reverse("operate-new")).status_code == status


@pytest.mark.parametrize(("visitor", "grouped"), [("operator", False), ("staff", True)])
def test_groups_that_all_studies_share_are_for_staff(
    study: Study, signed_in: Callable[[str], Client], visitor: str, grouped: bool
) -> None:
    """A group makes boards in other studies: who operates one alone puts nobody into it."""
    group = RaterGroup.objects.create(slug="experts", name="Experts of another study")
    client, address = signed_in(visitor), reverse("operate-people", args=[study.slug])
    assert (group.name in client.get(address).content.decode()) is grouped
    client.post(address, {"role": "rater", "max_uses": "1", "group": str(group.pk)})
    assert (study.invitations.get().group == group) is grouped


@pytest.mark.parametrize("address", ["/operate/{}/", "/studies/{}/sign-up/", "/rate/{}/"])
def test_a_study_of_others_takes_as_many_questions_as_none(study: Study, address: str) -> None:
    """Else the time that a page takes tells that there is one."""
    client = Client()
    user = make.make_user()
    make.make_rater(user=user)
    client.force_login(user)

    def asked(slug: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(address.format(slug)).status_code == 404
        return len(queries)

    asked(study.slug)
    assert asked(study.slug) == asked("none")


def test_a_claim_in_a_study_of_others_takes_as_many_questions_as_in_none(study: Study) -> None:
    client = Client()
    headers = {"authorization": f"Bearer {issue_token(make.make_rater(user=make.make_user()))}"}

    def asked(slug: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            reply = client.post("/api/v1/assignments/", {"study": slug}, "application/json", headers=headers)
        assert reply.status_code == 404
        return len(queries)

    asked(study.slug)
    assert asked(study.slug) == asked("none")
