"""Rank the contestants of a vote file: ``manage.py rank FILE``. Needs no database."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.stats import StatsError
from leaderboard.terminal.options import add_method_options, method_from, rendered
from leaderboard.terminal.votes import VoteFileError, rank_votes, read_votes


class Command(BaseCommand):
    help = "Ranks the contestants of a vote file (CSV, JSON Lines or a JSON array); needs no database."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="votes, with the columns of docs/methodology.md")
        add_method_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        method = method_from(options)
        try:
            votes = read_votes(options["file"], adjust=method.adjust)
            standings = rank_votes(votes, method)
        except VoteFileError as error:
            raise CommandError(f"{error}.") from error
        except StatsError as error:
            raise CommandError(f"{options['file']}: {error}.") from error
        self.stdout.write(rendered(standings, options))
