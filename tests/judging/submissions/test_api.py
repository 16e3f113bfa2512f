"""Proposing with a rater's token, listing and deciding with an operator's."""

import json
from typing import Any

import pytest
from django.test import Client

from arena.api.auth import issue_token, operator_token
from arena.models import Contestant, ImportJob, Study
from judging.models import Author, Submission
from tests import factories as make

URL = "/api/v1/submissions/"
GIVEN = {"study": "rivers", "name": "Loop", "licence": "MIT", "contact": "me@example.org", "consent": True}
PLACE = {"base_url": "http://127.0.0.1:9/v1", "model": "loopback"}


@pytest.fixture(autouse=True)
def study(db: None) -> Study:
    return make.make_small_study(prompts=2, contestants=1, slug="rivers", takes_models=True)


@pytest.fixture
def token() -> str:
    return issue_token(make.make_rater(user=make.make_user()))


def ask(token: str, path: str = "", body: object = None) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    if body is None:
        return Client().get(f"{URL}{path}", headers=headers)
    return Client().post(f"{URL}{path}", json.dumps(body), content_type="application/json", headers=headers)


def test_from_a_token_to_a_decision(token: str) -> None:
    own = {"token": "9b0f7f1e-6d5c-4e1c-9a52-1b6a3f6f9a11"}
    replies = [ask(token, "", {**GIVEN, **PLACE, **own}) for _ in range(2)]
    assert [reply.status_code for reply in replies] == [201, 201]
    row = Submission.objects.get()
    assert replies[0].json() == replies[1].json()
    assert (replies[0].json()["state"], row.account) == ("waiting", row.account)
    listed = ask(operator_token(), "?state=waiting").json()
    assert [(one["id"], one["contact"]) for one in listed] == [(row.pk, "me@example.org")]
    decided = ask(
        operator_token(), f"{row.pk}/decide/", {"decision": "accept", "api_key_env": "LOOP_API_KEY"}
    )
    assert (decided.status_code, decided.json()["contestant"]) == (200, "loop")
    author = Author.objects.get()
    assert (author.endpoint.api_key_env, author.contestant.provisional) == ("LOOP_API_KEY", True)
    again = ask(operator_token(), f"{row.pk}/decide/", {"decision": "decline", "reason": "No."})
    assert (again.status_code, again.json()["detail"]) == (
        409,
        "Somebody has accepted this proposal already.",
    )
    assert ask(operator_token(), "?state=waiting").json() == []


def test_answers_wait_as_a_file(token: str, study: Study) -> None:
    reply = ask(token, "", {**GIVEN, "answers": "prompt,contestant,text\nx,Loop,Hello"})
    assert reply.status_code == 201
    job = ImportJob.objects.get()
    assert (job.state, job.files.get().name) == ("held", "pasted.csv")
    declined = {"decision": "decline", "reason": "No."}
    assert ask(operator_token(), f"{reply.json()['id']}/decide/", declined).json()["reason"] == "No."
    assert not Contestant.objects.filter(name="Loop").exists()


@pytest.mark.parametrize(
    ("changed", "status", "sentence"),
    [
        ({"study": "nowhere"}, 404, "takes proposals"),
        ({"contact": "nobody"}, 409, "valid email"),
        ({"consent": False}, 422, "consent"),
        ({"answers": "a,b"}, 409, "not both"),
        ({"base_url": "http://169.254.169.254/"}, 409, "may not ask this address"),
        ({"key": "sk-1"}, 422, "key"),
        ({"name": ""}, 409, "blank"),
    ],
)
def test_bad_requests_are_explained(token: str, changed: dict[str, Any], status: int, sentence: str) -> None:
    reply = ask(token, "", {**GIVEN, **PLACE, **changed})
    assert (reply.status_code, sentence in reply.json()["detail"]) == (status, True), reply.json()
    assert not Submission.objects.exists()


def test_only_operators_list_and_decide(token: str) -> None:
    number = ask(token, "", {**GIVEN, **PLACE}).json()["id"]
    assert ask(token).status_code == 403
    assert ask(token, f"{number}/decide/", {"decision": "accept"}).status_code == 403
    judge = issue_token(make.make_judge().rater)
    assert ask(judge, "", {**GIVEN, **PLACE, "name": "Other"}).status_code == 404
    assert ask(operator_token(), "99/decide/", {"decision": "accept"}).status_code == 404
    staff = issue_token(make.make_rater(user=make.make_user(is_staff=True, paid_runs=False)), scopes=["runs"])
    taken = ask(staff, f"{number}/decide/", {"decision": "accept", "api_key_env": "OTHER_API_KEY"})
    assert (taken.status_code, Submission.objects.get().state) == (403, "waiting")
