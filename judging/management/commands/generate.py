"""Have a model write the answers that a study lacks, and watch it."""

from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError

from judging.judges.services import JudgeError
from judging.management.following import RunCommand
from judging.writing.probing import gifts, probe
from judging.writing.second import MOST
from judging.writing.services import author_named
from judging.writing.wanted import Wanted


class Command(RunCommand):
    help = "Let a model write the answers that it lacks in a study. Needs a running arena."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--again", action="store_true", help="also ask again where a reply was refused, filtered or empty"
        )
        parser.add_argument(
            "--weakest-by",
            default="",
            metavar="FEATURE",
            help=f"write second answers to those that it finds weakest, {MOST} without --limit",
        )
        parser.add_argument(
            "--probe", action="store_true", help="only find out which features the endpoint can give"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["probe"]:
            super().handle(*args, **options)
            return
        try:
            author = author_named(options["study"], options["contestant"])
            probe(author)
        except JudgeError as error:
            raise CommandError(str(error)) from error
        for gift in gifts(author):
            self.stdout.write(f"{gift.label}: {gift.how or f'no, it needs {gift.needs}'}")

    def wanted(self, options: dict[str, Any], limit: int | None, budget: Decimal | None) -> Wanted:
        return Wanted(limit=limit, budget=budget, again=options["again"], weakest_by=options["weakest_by"])
