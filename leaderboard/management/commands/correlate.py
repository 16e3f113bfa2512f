import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from arena.management.command import ArenaCommand
from arena.rules.feature_names import Variant
from leaderboard.answers.features.content import NoFeatureError, as_printed, bridges
from leaderboard.answers.features.from_traces import measure_missing
from leaderboard.answers.features.reading import TURNS, WHOLE
from leaderboard.answers.features.report import as_text
from leaderboard.answers.scores.reading import score_rows
from leaderboard.snapshots.reading import opinions
from leaderboard.terminal.options import FORMATS, choice, study_named


class Command(ArenaCommand):
    help = "Show how far a feature of answers, such as entropy, goes with what raters say of them."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the study's slug")
        parser.add_argument(
            "--feature",
            default="",
            metavar="NAME",
            help="as imported, such as entropy (default: a line for each feature and model)",
        )
        parser.add_argument(
            "--with",
            required=True,
            dest="quality",
            metavar="people|judge:SLUG|group:NAME|scores:SLUG",
            help="preferences of raters among pairs, or the text scores of a judge or of people",
        )
        parser.add_argument(
            "--variant",
            default="",
            metavar="|".join(Variant),
            help="by whose formula (default: each by itself)",
        )
        parser.add_argument(
            "--source", metavar="SOURCE", help="where it comes from (default: each by itself)"
        )
        parser.add_argument(
            "--turn",
            default="",
            metavar=f"NUMBER|{TURNS}",
            help=f"values of one turn, {WHOLE}: of whole answers, {TURNS}: of all turns together (default: "
            "each by itself)",
        )
        parser.add_argument("--format", default="table", metavar="table|json", help="default: table")

    def handle(self, *args: Any, **options: Any) -> None:
        form = choice(options, "format", FORMATS)
        variant = choice(options, "variant", tuple(Variant)) if options["variant"] else ""
        study = study_named(options["study"])
        measure_missing(study)
        known = bridges(study, opinions(study).at(), score_rows(study))
        wanted = (options["feature"], options["quality"], variant, options["source"], options["turn"])
        try:
            content = as_printed(study.slug, known, *wanted)
        except NoFeatureError as error:
            raise CommandError(f"{study.slug}: {error}.") from error
        self.stdout.write(
            json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False)
            if form == "json"
            else as_text(content)
        )
