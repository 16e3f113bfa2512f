import json
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management.base import CommandError

from arena.management.command import ArenaCommand
from leaderboard.anchoring.content import data_of_study
from leaderboard.anchoring.ranking import AnchoringData, AnchoringError
from leaderboard.stats.checks import StatsError, check_level
from leaderboard.terminal.anchoring import anchored_table, data_of_votes
from leaderboard.terminal.options import (
    FORMATS,
    add_file_options,
    choice,
    failures,
    names,
    number,
    study_named,
    votes_in,
)


class Command(ArenaCommand):
    help = (
        "Rank models by people's ratings with a judge's help, corrected for the judge's bias. "
        "A file needs no database."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file", nargs="?", metavar="FILE", help="ratings with the columns prompt and rater, as for rank"
        )
        add_file_options(parser)
        parser.add_argument("--study", metavar="SLUG", help="slug of a study, instead of a file")
        parser.add_argument(
            "--judges",
            required=True,
            metavar="NAME[,NAME]",
            help="raters of the file or judges of the study; several count as one judge",
        )
        parser.add_argument(
            "--without",
            default="",
            metavar="NAME[,NAME]",
            help="raters of the file to leave out, such as another judge; all others are people",
        )
        parser.add_argument(
            "--ties",
            default="on",
            metavar="on|off",
            help="on: ties count half; off: as for rank (default: on)",
        )
        parser.add_argument("--interval", default="95", metavar="PERCENT", help="default: 95")
        parser.add_argument("--format", default="table", metavar="table|json", help="default: table")

    def handle(self, *args: Any, **options: Any) -> None:
        form = choice(options, "format", FORMATS)
        try:
            interval = check_level(number(options, "interval", float))
        except StatsError as error:
            raise CommandError(f"--{error}.") from error
        with failures(options["study"] or options["file"]):
            found = _data(options, self.stderr.write).ranking(interval)
        as_json = json.dumps(found.as_dict(), indent=2, allow_nan=False) if form == "json" else ""
        self.stdout.write(as_json or anchored_table(found))


def _data(options: dict[str, Any], note: Callable[[str], object]) -> AnchoringData:
    ties = choice(options, "ties", ("on", "off")) == "on"
    judges, without = names(options["judges"]), names(options["without"])
    file, slug = options["file"], options["study"]
    if not judges:
        raise CommandError("--judges needs a name.")
    if bool(file) == bool(slug):
        raise CommandError("Give either a file of ratings or --study.")
    if slug and without:
        raise CommandError("--without is for files. A study uses only people and the judges named.")
    try:
        if file:
            return data_of_votes(file, votes_in(options, note), judges, without=without, ties=ties)
        return data_of_study(study_named(slug), judges, ties=ties)
    except AnchoringError as error:
        raise CommandError(f"{slug or file}: {error}.") from error
