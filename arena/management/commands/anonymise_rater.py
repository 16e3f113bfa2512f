from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q

from arena.models import Rater
from arena.people.anonymising import anonymise


class Command(BaseCommand):
    help = (
        "Deletes a person's account and everything that names them, in all studies. Ratings stay as "
        "those of a former rater, and leaderboards do not change. You cannot undo this."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("rater", help="user name, or the rater's slug")
        parser.add_argument("--study", help="the slug of the study with which an imported rater came")
        parser.add_argument("--comments", choices=["keep", "blank"], default="keep")
        parser.add_argument("--yes", action="store_true", help="do not ask for the name to be typed")

    def handle(self, *args: Any, **options: Any) -> None:
        rater = _found(options["rater"], options["study"])
        if rater.user is not None and rater.user.is_staff:
            raise CommandError(f"{rater.slug} has a staff account; take its staff rights away first.")
        if not options["yes"]:
            self.stdout.write(f"This removes the details of {rater.name} ({rater.slug}) for good.")
            if input("Type the name to go on: ").strip() != rater.name:
                raise CommandError("Nothing was changed: this is not the name.")
        name = anonymise(rater, None, keep_comments=options["comments"] == "keep").name
        self.stdout.write(f"Removed. The ratings stay as those of {name}.")


def _found(name: str, study: str | None) -> Rater:
    people = Rater.objects.filter(Q(user__username=name) | Q(slug=name), kind=Rater.Kind.PERSON)
    people = people.filter(study__slug=study) if study else people.filter(study__isnull=True)
    found = list(people.select_related("user")[:2])
    if not found:
        where = f" in the study {study}" if study else "; imported ones need --study"
        raise CommandError(f'There is no person "{name}"{where}.')
    if len(found) > 1:
        raise CommandError(f'"{name}" is the user name of one person and the slug of another.')
    return found[0]
