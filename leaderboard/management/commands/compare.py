from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from arena.management.command import ArenaCommand
from leaderboard.stats.ratings import Ratings
from leaderboard.terminal.options import (
    FORMATS,
    add_file_options,
    add_sampling_options,
    choice,
    failures,
    method_from,
    opinions_chosen,
    study_named,
    votes_in,
)
from leaderboard.terminal.side_by_side import as_json, as_table, side_by_side
from leaderboard.terminal.standings_text import About


class Command(ArenaCommand):
    help = "Rank the models of a file of ratings or a study by every method, side by side."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", metavar="FILE", help="a file of ratings")
        parser.add_argument("--study", metavar="STUDY", help="slug of a study, instead of a file")
        parser.add_argument(
            "--raters",
            metavar="people|group:NAME|judge:SLUG",
            help="with --study: whose ratings count (default: people)",
        )
        parser.add_argument("--category", metavar="NAME", help="with --study: only prompts of this category")
        add_file_options(parser)
        add_sampling_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        method = method_from(options)
        if bool(options["file"]) == bool(options["study"]):
            raise CommandError("Give either a file of ratings or --study STUDY.")
        for name in ("raters", "category"):
            if options[name] is not None and options["study"] is None:
                raise CommandError(f"--{name} chooses from a study. Add --study.")
        about = None
        if options["study"]:
            ratings, names, about = _of_study(options)
        else:
            votes = votes_in(options, self.stderr.write)
            ratings, names = votes.ratings(), votes.names
        with failures(options["study"] or options["file"]):
            compared = side_by_side(ratings, names, method)
        if choice(options, "format", FORMATS) == "json":
            self.stdout.write(as_json(compared, about.as_dict() if about else {}))
        else:
            self.stdout.write(as_table(compared, about))


def _of_study(options: dict[str, Any]) -> tuple[Ratings, tuple[str, ...], About]:
    study, raters = study_named(options["study"]), options["raters"]
    raters = "people" if raters is None else raters
    chosen, about = opinions_chosen(study, raters, options["category"] or "")
    players = chosen.present()
    return players.ratings(), players.names, about
