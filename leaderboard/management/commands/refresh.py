import time
from argparse import ArgumentParser
from itertools import count
from typing import Any, Final

from arena.management.command import ArenaCommand
from arena.models import Study
from leaderboard.pages.aligned_text import counted
from leaderboard.refreshing import services
from leaderboard.snapshots.study_lock import BusyError
from leaderboard.terminal.options import study_named

WAIT_SECONDS: Final = 0.5


class Command(ArenaCommand):
    help = "Compute and publish the scores of a study now."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the study's slug")

    def handle(self, *args: Any, **options: Any) -> None:
        study = study_named(options["study"])
        outcome = self._when_free(study)
        snapshot = outcome.snapshot
        if not outcome.made:
            self.stdout.write(f"{study.slug}: newer scores were published meanwhile and are kept.")
            return
        self.stdout.write(
            f"{study.slug}: {counted(snapshot.counts['comparisons'], 'ratings')}, "
            f"{counted(snapshot.slices.count(), 'tables')}, "
            f"{snapshot.seconds:.1f} s; watermark {snapshot.watermark}."
        )

    def _when_free(self, study: Study) -> services.Outcome:
        """A worker may be quicker: then the command follows it."""
        for attempt in count():
            try:
                return services.refresh(study, anew=True)
            except BusyError:
                if not attempt:
                    self.stderr.write(f"{study.slug}: another process computes it; waiting for its end.")
                time.sleep(WAIT_SECONDS)
        raise AssertionError("counting ends")
