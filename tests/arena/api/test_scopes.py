"""Every operation asks the token for its scope."""

import re
from typing import Any

import pytest
from django.test import Client

from arena.api.auth import ScopeError, check_scopes, issue_token, operator_token, rater_token
from arena.api.urls import api
from arena.models import ApiToken, Membership, Rater
from tests.factories import make_rater, make_study, make_user

pytestmark = pytest.mark.django_db
SCOPE_OF = {
    "assignments": "rate",
    "comparisons": "rate",
    "scores": "rate",
    "answers": "rate",
    "judges": "rate",
    "judge-runs": "runs",
    "writing-runs": "runs",
    "submissions": "runs",
    "adversarial": "runs",
    "studies": "read",
    "snapshots": "read",
}


SET_UP = {"settings", "imports", "models", "invitations", "raters"}
"""Of a study, what only its operators read."""


def scope_of(method: str, path: str) -> str:
    subject, *rest = path.split("/")[3:-1] if path.endswith("/") else path.split("/")[3:]
    if (method, path) == ("POST", "/api/v1/submissions/"):
        return "rate"
    if subject == "studies" and (method != "GET" or SET_UP & {*rest}):
        return "operate"
    if subject == "judges" and rest != ["1"]:
        return "operate"
    return SCOPE_OF[subject]


def operations() -> list[tuple[str, str, Any]]:
    """Method, path and operation of everything the API does."""
    return [
        (method, re.sub(r"{(int:)?\w+}", "1", f"/api/v1{bound.prefix}{path}"), operation)
        for bound in api._get_bound_routers()
        for path, view in bound.path_operations.items()
        for operation in view.operations
        for method in operation.methods
    ]


def test_every_operation_has_a_scope_and_refuses_a_token_without_it(client: Client) -> None:
    assert len(operations()) >= 15
    rater = make_rater(user=make_user(is_staff=True))
    for method, path, operation in operations():
        (auth,) = operation.auth_callbacks
        assert auth.scope == scope_of(method, path), path
        others = [name for name in ApiToken.Scope.values if name != auth.scope]
        for status, token in ((401, "arena_unknown"), (403, issue_token(rater, scopes=others))):
            reply = client.generic(method, path, headers={"Authorization": f"Bearer {token}"})
            assert reply.status_code == status, path
        assert reply.json() == {"detail": f'This token lacks the scope "{auth.scope}".', "field": None}


def test_internal_tokens_carry_no_more_than_they_need(client: Client) -> None:
    judge = make_rater(kind=Rater.Kind.JUDGE)
    for token, path, scope in (
        (rater_token(judge), "/api/v1/judge-runs/1", "runs"),
        (operator_token(), "/api/v1/assignments/", "rate"),
    ):
        method = "GET" if path.endswith("1") else "POST"
        reply = client.generic(method, path, headers={"Authorization": f"Bearer {token}"})
        assert (reply.status_code, reply.json()["detail"]) == (403, f'This token lacks the scope "{scope}".')


@pytest.mark.parametrize(
    ("scopes", "sentence"),
    [
        ([], "A token needs a scope; the scopes are rate, operate, runs, read."),
        (["write"], 'Unknown scope "write"; the scopes are rate, operate, runs, read.'),
    ],
)
def test_scopes_that_do_not_exist(scopes: list[str], sentence: str) -> None:
    with pytest.raises(ScopeError, match=sentence):
        check_scopes(make_rater(), scopes)


def test_an_operator_who_is_none_any_more_starts_nothing(client: Client) -> None:
    user = make_user(is_staff=True)
    token = issue_token(make_rater(user=user), scopes=["runs"])
    path, headers = "/api/v1/judge-runs/1", {"Authorization": f"Bearer {token}"}
    assert client.get(path, headers=headers).status_code == 404
    user.is_staff = False
    user.save()
    assert client.get(path, headers=headers).status_code == 403
    user.is_active = False
    user.save()
    assert client.get(path, headers=headers).status_code == 401


def test_only_operators_may_have_tokens_that_set_up_studies() -> None:
    staff, person = make_rater(user=make_user(is_staff=True)), make_rater(user=make_user())
    judge, operator = make_rater(kind=Rater.Kind.JUDGE), make_rater(user=make_user())
    Membership.objects.create(study=make_study(), rater=person, role="viewer")
    Membership.objects.create(study=make_study(), rater=operator, role="operator")
    for rater in (staff, operator):
        check_scopes(rater, ["operate"])
    for rater in (person, judge):
        with pytest.raises(ScopeError, match=f'may set up studies; "{rater.slug}" is no operator'):
            check_scopes(rater, ["operate"])
