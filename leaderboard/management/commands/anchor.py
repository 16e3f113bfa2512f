"""Rank contestants by people and a judge together: ``manage.py anchor FILE`` or ``--study SLUG``."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from leaderboard.stats import StatsError
from leaderboard.stats.intervals import check_level
from leaderboard.terminal.anchoring import (
    AnchoringError,
    Panel,
    anchored_json,
    anchored_table,
    panel_of_study,
    panel_of_votes,
)
from leaderboard.terminal.options import choice, study_named
from leaderboard.terminal.votes import VoteFileError, read_votes


class Command(BaseCommand):
    help = (
        "Ranks contestants by people's comparisons, made more certain by a judge's without its bias. "
        "A file needs no database."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file", nargs="?", metavar="FILE", help="votes with the columns prompt and rater, as for rank"
        )
        parser.add_argument("--study", metavar="SLUG", help="instead of a file: a study of this arena")
        parser.add_argument(
            "--judges",
            required=True,
            metavar="NAME[,NAME]",
            help="the judge: raters of the file, or judges of the study; several count as one judge",
        )
        parser.add_argument(
            "--without",
            default="",
            metavar="NAME[,NAME]",
            help="raters of the file that count for nothing, such as another judge; all others are people",
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
        render = anchored_json if choice(options, "format", ("table", "json")) == "json" else anchored_table
        try:
            interval = check_level(float(str(options["interval"])))
        except StatsError as error:
            raise CommandError(f"--{error}.") from error
        except ValueError as error:
            raise CommandError(f"--interval is {options['interval']!r}; it must be a number.") from error
        try:
            self.stdout.write(render(_panel(options).ranking(interval)))
        except StatsError as error:
            raise CommandError(f"{options['study'] or options['file']}: {error}.") from error


def _panel(options: dict[str, Any]) -> "Panel":
    ties = choice(options, "ties", ("on", "off")) == "on"
    judges, without = (_names(options[name]) for name in ("judges", "without"))
    file, slug = options["file"], options["study"]
    if not judges:
        raise CommandError("--judges names nobody.")
    if bool(file) == bool(slug):
        raise CommandError("Give a vote file or --study, one of the two.")
    if slug and without:
        raise CommandError("--without is for files; of a study only people and the judges named are used.")
    try:
        if file:
            return panel_of_votes(str(file), read_votes(file), judges, without=without, ties=ties)

        return panel_of_study(study_named(slug), judges, ties=ties)
    except VoteFileError as error:
        raise CommandError(f"{error}.") from error
    except AnchoringError as error:
        raise CommandError(f"{slug or file}: {error}.") from error


def _names(listed: str) -> list[str]:
    return [name.strip() for name in str(listed).split(",") if name.strip()]
