"""Have a model read its answers, for what its probabilities say about them, and watch it."""

from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

from judging.management.following import RunCommand
from judging.writing.wanted import Kind, Wanted


class Command(RunCommand):
    help = "Let a model read its answers in a study, for features of them. Needs a running arena."
    done = "read"

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--references",
            action="store_true",
            help="also read reference answers, and answers after a reference was shown",
        )

    def wanted(self, options: dict[str, Any], limit: int | None, budget: Decimal | None) -> Wanted:
        return Wanted(Kind.READ, limit, budget, references=options["references"])
