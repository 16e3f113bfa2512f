"""The command that makes, lists and revokes tokens."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from arena.api.auth import digest
from arena.models import ApiToken, Rater
from tests.factories import make_rater, make_user

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    output = StringIO()
    call_command("api_token", *arguments, stdout=output)
    return output.getvalue()


def test_a_token_is_shown_once_and_revoked() -> None:
    rater = make_rater(kind=Rater.Kind.JUDGE, slug="gpt", name="GPT")
    token = run("gpt", "--label", "laptop").split()[-1]
    row = ApiToken.objects.get()
    assert (row.rater, row.label, row.digest, row.revoked_at) == (rater, "laptop", digest(token), None)
    assert token not in str(vars(row))
    assert row.scopes == ["rate", "read"]
    assert run("gpt", "--revoke") == "Revoked 1 token(s) of GPT.\n"
    row.refresh_from_db()
    assert row.revoked_at is not None


def test_unknown_and_ambiguous_raters() -> None:
    with pytest.raises(CommandError, match='Unknown rater "nobody"'):
        run("nobody")
    make_rater(kind=Rater.Kind.JUDGE, slug="kim")
    make_rater(kind=Rater.Kind.PERSON, slug="kim")
    with pytest.raises(CommandError, match='both named "kim"'):
        run("kim")


def test_scopes_are_chosen_and_runs_are_for_operators() -> None:
    judge = make_rater(kind=Rater.Kind.JUDGE, slug="gpt")
    run("gpt", "--scope", "read")
    assert ApiToken.objects.get(rater=judge).scopes == ["read"]
    with pytest.raises(
        CommandError, match='Only an operator\'s own token may start runs; "gpt" is no operator'
    ):
        run("gpt", "--scope", "runs")
    make_rater(slug="olga", user=make_user(is_staff=True))
    assert "for read, runs, shown only now" in run("olga", "--scope", "runs", "--scope", "read")
    with pytest.raises(CommandError, match="invalid choice: 'write'"):
        run("gpt", "--scope", "write")


def test_an_account_that_never_rated_can_have_a_token() -> None:
    make_user(username="olga", is_staff=True)
    run("--user", "olga", "--scope", "runs")
    row = ApiToken.objects.get()
    assert (row.rater.slug, row.rater.kind, row.scopes) == ("olga", "person", ["runs"])
    run("--user", "olga")
    assert Rater.objects.count() == 1
    with pytest.raises(CommandError, match='Unknown account "nobody"'):
        run("--user", "nobody")
    with pytest.raises(CommandError, match="required"):
        run("--label", "x")


def test_tokens_are_listed_and_revoked_one_by_one() -> None:
    make_rater(kind=Rater.Kind.JUDGE, slug="gpt", name="GPT")
    assert run("gpt", "--list") == "GPT has no tokens.\n"
    tokens = [run("gpt", "--label", label).split()[-1] for label in ("laptop", "cluster", "7")]
    listed = run("gpt", "--list")
    assert "laptop  rate, read  created" in listed
    assert not any(text in listed for token in tokens for text in (token, digest(token)))
    assert run("gpt", "--revoke", "laptop") == "Revoked 1 token(s) of GPT.\n"
    cluster = ApiToken.objects.get(label="cluster")
    assert run("gpt", "--revoke", str(cluster.pk)) == "Revoked 1 token(s) of GPT.\n"
    assert [row.label for row in ApiToken.objects.filter(revoked_at=None)] == ["7"]
    assert "revoked" in run("gpt", "--list")
    named = ApiToken.objects.get(label="7")
    run("gpt", "--label", str(named.pk))
    run("gpt", "--revoke", str(named.pk))
    assert [row.label for row in ApiToken.objects.filter(revoked_at=None)] == [str(named.pk)]
    run("gpt")
    for nothing in ("", "9" * 5000):
        with pytest.raises(CommandError, match="no token in use"):
            run("gpt", "--revoke", nothing)
    for which in ("laptop", "", "9" * 30):
        with pytest.raises(CommandError, match=f'no token in use with the id or label "{which}"'):
            run("gpt", "--revoke", which)
