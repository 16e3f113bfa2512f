import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from arena.management.command import ArenaCommand
from leaderboard.answers.asked import NoOpinionsError
from leaderboard.answers.requirements.content import drfr
from leaderboard.answers.requirements.reading import checked
from leaderboard.answers.requirements.report import as_text
from leaderboard.stats.requirements import MISSING
from leaderboard.terminal.options import FORMATS, choice, names, study_named


class Command(ArenaCommand):
    help = "Show which share of the requirements of its prompts each model meets (DRFR)."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the study's slug")
        parser.add_argument(
            "--raters",
            default="",
            metavar="A,B,...",
            help="people, judge:SLUG or group:NAME (default: all that checked requirements)",
        )
        parser.add_argument(
            "--missing",
            default=MISSING[0],
            metavar="|".join(MISSING),
            help="missing answers: left out, not met, or as InFoBench's script has it (default: exclude)",
        )
        parser.add_argument("--format", default="table", metavar="table|json", help="default: table")

    def handle(self, *args: Any, **options: Any) -> None:
        form, missing = choice(options, "format", FORMATS), choice(options, "missing", MISSING)
        study = study_named(options["study"])
        try:
            found = drfr(checked(study), names(options["raters"]), missing)
        except NoOpinionsError as error:
            raise CommandError(f"{study.slug}: {error}.") from error
        written = json.dumps(found, indent=2, allow_nan=False, ensure_ascii=False)
        self.stdout.write(written if form == "json" else as_text(found))
