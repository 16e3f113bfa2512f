import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from arena.management.command import ArenaCommand
from arena.models import Study
from arena.texts.self_naming import find_names


class Command(ArenaCommand):
    help = (
        "Search the answers of a study for words that tell who wrote them. An import does so itself. Run "
        "this for older answers, and after you changed a model's name or maker."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="slug of the study")
        parser.add_argument("--json", action="store_true", help="the numbers as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["study"]
        study = Study.objects.filter(slug=slug).first() if "\0" not in slug else None
        if study is None:
            raise CommandError(f'No study is called "{slug}".')
        found = find_names(study)
        if options["json"]:
            self.stdout.write(json.dumps({"study": study.slug, "naming": study.naming, **asdict(found)}))
            return
        news = (
            f"{found.changed:,} of them changed since the last search" if found.changed else "nothing changed"
        )
        tell = f"{found.telling:,} of {found.completions:,} answers tell who wrote them"
        self.stdout.write(f"{study.slug}: {tell}; {news}. Raters: {study.get_naming_display().lower()}.")
