"""The command that makes and revokes tokens."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from arena.api.auth import digest
from arena.models import ApiToken, Rater
from tests.factories import make_rater

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
    assert run("gpt", "--revoke") == "Revoked 1 token(s) of GPT.\n"
    row.refresh_from_db()
    assert row.revoked_at is not None


def test_unknown_and_ambiguous_raters() -> None:
    with pytest.raises(CommandError, match='There is no rater "nobody"'):
        run("nobody")
    make_rater(kind=Rater.Kind.JUDGE, slug="kim")
    make_rater(kind=Rater.Kind.PERSON, slug="kim")
    with pytest.raises(CommandError, match='both named "kim"'):
        run("kim")
