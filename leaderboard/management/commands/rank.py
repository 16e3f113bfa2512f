from argparse import ArgumentParser
from typing import Any

from arena.management.command import ArenaCommand
from leaderboard.terminal.options import (
    add_file_options,
    add_method_options,
    failures,
    method_from,
    rendered,
    votes_in,
)
from leaderboard.terminal.votes import rank_votes


class Command(ArenaCommand):
    help = "Rank the models of a file of ratings (CSV, Excel, JSON or Parquet). Needs no database."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="ratings, with the columns of docs/methodology.md")
        add_file_options(parser)
        add_method_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        method = method_from(options)
        votes = votes_in(options, self.stderr.write, method.adjust)
        if votes.judges and set(votes.rater or ()) - votes.judges:
            self.stderr.write("Note: ratings by people and by judges count alike.")
        with failures(options["file"]):
            standings = rank_votes(votes, method)
        self.stdout.write(rendered(standings, options))
