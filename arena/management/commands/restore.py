from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from arena.backup.archive import BackupError, checked
from arena.backup.restoring import content, restore
from arena.management.command import ArenaCommand
from arena.process.serve import only_server


class Command(ArenaCommand):
    help = "Fill an empty database with a backup. Stop the web server and the workers first."
    refusals = (BackupError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", metavar="FILE.zip", help="what the command backup wrote")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="first delete everything in the database: studies, ratings, accounts, judges, releases",
        )
        parser.add_argument(
            "--check", action="store_true", help="only read the file and say if it is whole; change nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["path"])
        if options["check"]:
            manifest = checked(path)
            self.stdout.write(f"{path} is whole: {manifest}, made by version {manifest.version}.")
            return
        with only_server():
            before, manifest = restore(path, replace=options["replace"])
        if options["replace"]:
            self.stdout.write(f"Deleted: {before}.")
        self.stdout.write(f"Restored: {content()}, as of {manifest.moment}.")
