import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from arena.management.command import ArenaCommand
from leaderboard.files.bundle.archive import BundleError, Reader
from leaderboard.files.bundle.recomputing import recompute, sentences


class Command(ArenaCommand):
    help = "Compute every table of a bundle again and compare it with the published one. Needs no database."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE.zip", help="a bundle")
        parser.add_argument(
            "--threads", type=int, metavar="N", help="number of threads; changes only the time taken"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = recompute(Reader(options["file"]), options["threads"])
        except BundleError as error:
            raise CommandError(str(error)) from error
        for sentence in sentences(report):
            self.stdout.write(sentence)
        if not report.verdict.is_equal:
            sys.exit(1)
