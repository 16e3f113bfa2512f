from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from arena.audit.recording import Kind, record
from arena.files import output
from arena.management.command import ArenaCommand
from leaderboard.files.bundle.archive import BundleError
from leaderboard.files.bundle.making import make
from leaderboard.terminal.options import study_named


class Command(ArenaCommand):
    help = "Save the published leaderboard of a study with everything needed to compute it again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the study's slug")
        parser.add_argument("--out", required=True, metavar="FILE.zip", help="the archive to write")
        parser.add_argument(
            "--private", action="store_true", help="with --with-texts, include prompts that visitors typed"
        )
        parser.add_argument(
            "--with-texts",
            action="store_true",
            help="include prompts and answers (check their licences), not only their digests",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study, out = study_named(options["study"]), Path(options["out"])
        texts = " with texts" if options["with_texts"] else ""
        texts += ", private ones too" if texts and options["private"] else ""
        try:
            output.form_of(out, ("zip",))
            record(Kind.EXPORTED, None, f"Bundle{texts}.", study=study)
            with output.opened(out) as file:
                snapshot = make(study, file, with_texts=options["with_texts"], private=options["private"])
        except (BundleError, output.EndingError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(output.refusal(out, error)) from error
        if not output.streams(out):
            size = out.stat().st_size / 1e6
            self.stdout.write(f"{out}: {size:.1f} MB, data of watermark {snapshot.watermark}.")
            self.stdout.write(f"To compute it again: {settings.COMMAND} recompute {out}")
