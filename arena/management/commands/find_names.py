import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from arena.models import Study
from arena.texts.self_naming import find_names


class Command(BaseCommand):
    help = (
        "Look through the completions of a study for words that tell who wrote them. An import does that by "
        "itself; this is for completions of before, and after a contestant's name or maker was changed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="slug of the study")
        parser.add_argument("--json", action="store_true", help="the numbers as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["study"]
        study = Study.objects.filter(slug=slug).first() if "\0" not in slug else None
        if study is None:
            raise CommandError(f'There is no study "{slug}".')
        found = find_names(study)
        if options["json"]:
            self.stdout.write(json.dumps({"study": study.slug, "naming": study.naming, **asdict(found)}))
            return
        news = (
            f"{found.changed:,} were not known to, or no longer do" if found.changed else "all that was known"
        )
        tell = f"{found.telling:,} of {found.completions:,} completions tell who wrote them"
        self.stdout.write(f"{study.slug}: {tell}; {news}. In force: {study.get_naming_display().lower()}.")
