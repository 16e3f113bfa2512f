"""Make or revoke the API tokens of a rater."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from arena.api.auth import issue_token
from arena.models import ApiToken, Rater


class Command(BaseCommand):
    """See ``help``."""

    help = "Make an API token for a rater and show it once, or revoke all tokens of a rater."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("rater", help="slug of the rater (a judge or a person who rates here)")
        parser.add_argument("--label", default="", help="what the token is for")
        parser.add_argument("--revoke", action="store_true", help="revoke all tokens of the rater instead")

    def handle(self, *args: Any, **options: Any) -> None:
        found = list(Rater.objects.filter(slug=options["rater"], study=None)[:2])
        if not found:
            raise CommandError(f'There is no rater "{options["rater"]}".')
        if len(found) > 1:
            raise CommandError(f'A person and a judge are both named "{options["rater"]}"; rename one.')
        if options["revoke"]:
            live = ApiToken.objects.filter(rater=found[0], revoked_at=None)
            self.stdout.write(f"Revoked {live.update(revoked_at=timezone.now())} token(s) of {found[0]}.")
            return
        label = options["label"][:100]
        self.stdout.write(f"Token of {found[0]}, shown only now: {issue_token(found[0], label)}")
