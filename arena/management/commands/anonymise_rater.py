from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import Q

from arena.management.command import ArenaCommand
from arena.models import Rater
from arena.people.anonymising import anonymise


class Command(ArenaCommand):
    help = (
        "Delete a person's account and name in all studies. Their ratings stay, by a former rater. "
        "You cannot undo this."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("rater", help="user name, or the rater's slug")
        parser.add_argument("--study", help="for imported raters: slug of their study")
        parser.add_argument("--comments", choices=["keep", "blank"], default="keep")
        parser.add_argument("--yes", action="store_true", help="do not ask for the name")

    def handle(self, *args: Any, **options: Any) -> None:
        rater = _found(options["rater"], options["study"])
        if rater.user is not None and rater.user.is_staff:
            raise CommandError(f"{rater.slug} has a staff account. Remove its staff rights first.")
        if not options["yes"]:
            self.stdout.write(f"This permanently removes the details of {rater.name} ({rater.slug}).")
            try:
                typed = input("Type the name to continue: ")
            except EOFError as error:
                raise CommandError("No name was typed. Nothing was changed; --yes asks for none.") from error
            if typed.strip() != rater.name:
                raise CommandError("The name is different. Nothing was changed.")
        name = anonymise(rater, None, keep_comments=options["comments"] == "keep").name
        self.stdout.write(f"Removed. Their ratings are now by {name}.")


def _found(name: str, study: str | None) -> Rater:
    people = Rater.objects.filter(Q(user__username=name) | Q(slug=name), kind=Rater.Kind.PERSON)
    people = people.filter(study__slug=study) if study else people.filter(study__isnull=True)
    found = list(people.select_related("user")[:2])
    if not found:
        where = f" in the study {study}" if study else "; imported ones need --study"
        raise CommandError(f'Unknown person "{name}"{where}.')
    if len(found) > 1:
        raise CommandError(f'"{name}" is the user name of one person and the slug of another.')
    return found[0]
