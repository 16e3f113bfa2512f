"""Have a model read its answers, for what its probabilities say about them, and watch it."""

from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

from judging.management.following import Row, RunCommand
from judging.models import Author, WritingRun
from judging.writing import services
from judging.writing.reading import targets
from judging.writing.summary import estimated_reading


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

    def estimated(self, author: Author, limit: int | None, options: dict[str, Any]) -> list[Row]:
        return estimated_reading(author, targets(author, options["references"], limit))

    def begin(
        self, author: Author, limit: int | None, budget: Decimal | None, options: dict[str, Any]
    ) -> WritingRun:
        return services.start_reading(author, limit, budget, references=options["references"])
