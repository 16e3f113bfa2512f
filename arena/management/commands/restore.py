from argparse import ArgumentParser
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from arena.backup import archive
from arena.backup.restoring import RestoreError, content, restore
from arena.backup.tables import TablesError
from arena.management.command import ArenaCommand
from arena.process.serve import ServerError, only_server


class Command(ArenaCommand):
    help = "Fill an empty database with a backup. Stop the web server and the workers first."

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
        try:
            with archive.opened(path) as found, ExitStack() as stack:
                if options["check"]:
                    self._check(path, found)
                    return
                if settings.EMBEDDED_WORKER:
                    stack.enter_context(only_server())
                before = restore(found, replace=options["replace"])
        except (archive.ArchiveError, RestoreError, TablesError, ServerError) as error:
            raise CommandError(str(error)) from error
        if options["replace"]:
            self.stdout.write(f"Deleted: {before}.")
        self.stdout.write(f"Restored: {content()}, as of {found.manifest.moment}.")

    def _check(self, path: Path, found: archive.Archive) -> None:
        found.check()
        rows = sum(member.rows for member in found.manifest.tables)
        self.stdout.write(
            f"{path} is whole: {rows:,} rows of {len(found.manifest.tables)} tables as of "
            f"{found.manifest.moment}, made by version {found.manifest.version}."
        )
