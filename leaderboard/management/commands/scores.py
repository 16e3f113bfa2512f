import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from arena.management.command import ArenaCommand
from arena.pages.counts import is_number
from leaderboard.answers.asked import NoOpinionsError
from leaderboard.answers.scores.content import Asked, as_printed, scored
from leaderboard.answers.scores.reading import text_scores
from leaderboard.answers.scores.report import as_text
from leaderboard.snapshots.text_sizes import measure_missing
from leaderboard.terminal.options import FORMATS, choice, names, study_named


class Command(ArenaCommand):
    help = "Show how raters score the answers of each model, and how far raters agree on the same answers."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the study's slug")
        parser.add_argument(
            "--raters",
            default="",
            metavar="A,B,...",
            help="people, judge:SLUG or group:NAME (default: all that scored answers)",
        )
        parser.add_argument(
            "--turn",
            default="",
            metavar="NUMBER",
            help="scores of one turn, 0: of whole answers (default: all)",
        )
        parser.add_argument("--format", default="table", metavar="table|json", help="default: table")

    def handle(self, *args: Any, **options: Any) -> None:
        form, written = choice(options, "format", FORMATS), options["turn"]
        if written and not is_number(written):
            raise CommandError(f'--turn "{written[:100]}" is no whole number.')
        study, turn = study_named(options["study"]), int(written) if written else None
        measure_missing(study)
        try:
            found = scored(text_scores(study), Asked("", turn="" if turn is None else str(turn)))
            content = as_printed(study.slug, found, names(options["raters"]), turn)
        except NoOpinionsError as error:
            raise CommandError(f"{study.slug}: {error}.") from error
        as_json = form == "json"
        self.stdout.write(
            json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False)
            if as_json
            else as_text(content)
        )
