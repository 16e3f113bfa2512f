"""Rank by every method, side by side: ``manage.py compare FILE`` or ``compare --study STUDY``."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.stats import Ratings, StatsError
from leaderboard.terminal.options import (
    add_sampling_options,
    choice,
    method_from,
    opinions_chosen,
    study_named,
)
from leaderboard.terminal.side_by_side import as_json, as_table, side_by_side
from leaderboard.terminal.standings_text import About
from leaderboard.terminal.votes import VoteFileError, read_votes


class Command(BaseCommand):
    help = "Ranks the contestants of a vote file or a study by every method and prints them side by side."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", metavar="FILE", help="votes; or a study, with --study")
        parser.add_argument("--study", metavar="STUDY", help="the study's slug")
        parser.add_argument(
            "--raters",
            metavar="people|group:NAME|judge:SLUG",
            help="whose comparisons of the study count (default: people)",
        )
        parser.add_argument("--category", metavar="NAME", help="only the study's prompts of this category")
        add_sampling_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        method = method_from(options)
        if (options["file"] is None) == (options["study"] is None):
            raise CommandError("Give either a vote file or --study STUDY.")
        for name in ("raters", "category"):
            if options[name] is not None and options["study"] is None:
                raise CommandError(f"--{name} chooses from a study; give --study with it.")
        ratings, names, about = _of_study(options) if options["study"] else _of_file(options["file"])
        try:
            compared = side_by_side(ratings, names, method)
        except StatsError as error:
            raise CommandError(f"{options['study'] or options['file']}: {error}.") from error
        if choice(options, "format", ("table", "json")) == "json":
            self.stdout.write(as_json(compared, about.as_dict() if about else {}))
        else:
            self.stdout.write(as_table(compared, about.line() if about else ""))


def _of_file(path: str) -> "tuple[Ratings, tuple[str, ...], About | None]":
    try:
        votes = read_votes(path)
    except VoteFileError as error:
        raise CommandError(f"{error}.") from error
    return votes.ratings(), votes.names, None


def _of_study(options: dict[str, Any]) -> "tuple[Ratings, tuple[str, ...], About | None]":
    raters = "people" if options["raters"] is None else options["raters"]
    chosen, about = opinions_chosen(study_named(options["study"]), raters, options["category"] or "")
    players = chosen.present()
    return players.ratings(), players.names, about
