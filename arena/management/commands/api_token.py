from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError
from django.db import transaction
from django.utils import timezone

from arena.api.auth import USUAL_SCOPES, Scope, ScopeError, issue_token
from arena.audit.recording import Kind, record
from arena.management.command import ArenaCommand
from arena.models import ApiToken, Rater
from arena.pages.counts import is_number
from arena.rating.accounts import rater_of


class Command(ArenaCommand):
    help = "Create an API token for a rater, or list or revoke tokens."
    refusals = (ScopeError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        who = parser.add_mutually_exclusive_group(required=True)
        who.add_argument("rater", nargs="?", help="slug of a judge or a person")
        who.add_argument("--user", metavar="NAME", help="user name of an account, instead of a slug")
        parser.add_argument("--label", default="", help="what the token is for")
        parser.add_argument(
            "--scope",
            action="append",
            choices=Scope.values,
            help=f"what the token allows; repeat for several (default: {' and '.join(USUAL_SCOPES)})",
        )
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--list", action="store_true", help="list the rater's tokens")
        what.add_argument(
            "--revoke",
            nargs="?",
            const=True,
            metavar="WHICH",
            help="revoke the tokens with this id or label, or all",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        rater = _rater_of_account(options["user"]) if options["user"] else _rater_named(options["rater"])
        if options["list"]:
            self._list(rater)
        elif options["revoke"] is not None:
            self._revoke(rater, None if options["revoke"] is True else options["revoke"])
        else:
            self._make(rater, options["label"][:100], options["scope"] or USUAL_SCOPES)

    def _make(self, rater: Rater, label: str, scopes: Any) -> None:
        token = issue_token(rater, label, set(scopes))
        self.stdout.write(f"Token of {rater}, for {', '.join(sorted(set(scopes)))}, shown only now: {token}")

    def _list(self, rater: Rater) -> None:
        rows = ApiToken.objects.filter(rater=rater).order_by("pk")
        for row in rows:
            state = f"revoked {row.revoked_at:%Y-%m-%d}" if row.revoked_at else "in use"
            label, scopes = row.label or "-", ", ".join(row.scopes)
            self.stdout.write(f"{row.pk}  {label}  {scopes}  created {row.created_at:%Y-%m-%d}  {state}")
        if not rows:
            self.stdout.write(f"{rater} has no tokens.")

    def _revoke(self, rater: Rater, which: str | None) -> None:
        live = ApiToken.objects.filter(rater=rater, revoked_at=None)
        if which is not None:
            # An id comes first, so that a label that looks like one takes no other token along.
            by_id = live.filter(pk=int(which)) if is_number(which) else live.none()
            live = by_id if by_id.exists() else live.filter(label=which).exclude(label="")
        found = list(live.values_list("pk", flat=True))
        with transaction.atomic():
            count = live.update(revoked_at=timezone.now())
            for key in found:
                record(Kind.KEY, None, f"Key {key} revoked.", rater=rater)
        if which is not None and not count:
            raise CommandError(f'{rater} has no token in use with the id or label "{which}".')
        self.stdout.write(f"Revoked {count} token(s) of {rater}.")


def _rater_named(slug: str) -> Rater:
    found = list(Rater.objects.filter(slug=slug, study=None)[:2])
    if not found:
        raise CommandError(f'Unknown rater "{slug}".')
    if len(found) > 1:
        raise CommandError(f'A person and a judge are both named "{slug}"; rename one.')
    return found[0]


def _rater_of_account(name: str) -> Rater:
    user = get_user_model().objects.filter(username=name).first()
    if user is None:
        raise CommandError(f'Unknown account "{name}".')
    return rater_of(user)
