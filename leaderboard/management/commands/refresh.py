from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from arena.management.command import ArenaCommand
from leaderboard.refreshing import services
from leaderboard.snapshots.presentation import counted
from leaderboard.snapshots.study_lock import BusyError
from leaderboard.terminal.options import study_named


class Command(ArenaCommand):
    help = "Compute and publish the scores of a study now."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the study's slug")

    def handle(self, *args: Any, **options: Any) -> None:
        study = study_named(options["study"])
        try:
            outcome = services.refresh(study, anew=True)
        except BusyError as error:
            raise CommandError(f"{error}.") from error
        snapshot = outcome.snapshot
        if not outcome.made:
            self.stdout.write(f"{study.slug}: newer scores were published meanwhile and are kept.")
            return
        self.stdout.write(
            f"{study.slug}: {counted(snapshot.counts['comparisons'], 'ratings')}, "
            f"{counted(snapshot.slices.count(), 'tables')}, "
            f"{snapshot.seconds:.1f} s; watermark {snapshot.watermark}."
        )
