from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import DatabaseError

from arena.audit.recording import Kind, record
from arena.backup.archive import BackupError
from arena.backup.saving import save
from arena.files import output
from arena.management.command import ArenaCommand


class Command(ArenaCommand):
    help = "Save everything in the database to one file, as of one moment, while the arena runs."
    refusals = (BackupError, output.EndingError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", metavar="FILE.zip", help="the file to write, readable by you alone")

    def handle(self, *args: Any, **options: Any) -> None:
        out = Path(options["path"])
        try:
            output.form_of(out, ("zip",))
            with output.opened(out, private=True) as file:
                manifest = save(file)
        except OSError as error:
            raise CommandError(output.refusal(out, error)) from error
        try:
            record(Kind.BACKUP, None, f"Backup made, as of {manifest.moment}.")
        except DatabaseError as error:  # the disk is full, or the database away
            self.stderr.write(f"The backup is whole, but the audit log could not be written ({error}).")
        if not output.streams(out):
            size = f"{out.stat().st_size / 1e6:.1f} MB"
            self.stdout.write(f"{out}: {manifest}, {size}. It holds password hashes: keep it private.")
