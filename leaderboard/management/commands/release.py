import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError, CommandParser

from arena.management.command import ArenaCommand
from leaderboard.releases import services
from leaderboard.releases.fields import Fields, FieldsError
from leaderboard.terminal.options import study_named


class Command(ArenaCommand):
    help = "Release the published leaderboard of a study, so that people can cite it."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        # In place of Django's own --version.
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the study's slug")
        parser.add_argument("--version", required=True, help="such as 1.0; unique in the study")
        parser.add_argument(
            "--author",
            action="append",
            default=[],
            metavar="NAME <ORCID or affiliation>",
            help="an author; repeat for several, in order",
        )
        parser.add_argument("--licence", help="default: the study's")
        parser.add_argument("--doi", default="", help="you can add it later")
        parser.add_argument("--changelog", default="", metavar="TEXT", help="what is new in this version")
        parser.add_argument("--format", choices=("text", "json"), default="text")

    def handle(self, *args: Any, **options: Any) -> None:
        study = study_named(options["study"])
        licence = study.licence if options["licence"] is None else options["licence"]
        try:
            fields = Fields.read(
                options["version"], options["author"], licence, options["doi"], options["changelog"]
            )
            outcome = services.release(study, fields)
        except (FieldsError, services.ReleaseError) as error:
            raise CommandError(str(error)) from error
        release = outcome.release
        if options["format"] == "json":
            self.stdout.write(json.dumps(_facts(release, made=outcome.made), ensure_ascii=False, indent=2))
            return
        self.stdout.write(
            f"{study.slug}: release {release.number}, version {release.version}, "
            f"{'created' if outcome.made else 'exists already; nothing changed'}."
        )
        self.stdout.write(f"Page: {release.get_absolute_url()}")
        self.stdout.write(f"Data: watermark {release.snapshot.watermark}.")
        self.stdout.write(f"Bundle: {release.size / 1e6:.1f} MB, SHA-256 {release.sha256}")


def _facts(release: Any, *, made: bool) -> dict[str, Any]:
    names = ("number", "version", "name", "authors", "licence", "doi", "changelog", "sha256", "size")
    return {
        "study": release.study.slug,
        **{name: getattr(release, name) for name in names},
        "made": made,
        "path": release.get_absolute_url(),
        "created_at": release.created_at.isoformat(),
        "watermark": release.snapshot.watermark,
        "methodology": release.snapshot.methodology,
    }
