"""A run in a terminal: whose it is, its progress, and what went wrong."""

from argparse import ArgumentParser
from datetime import timedelta
from decimal import Decimal
from time import sleep
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone

from arena.api.auth import operator_token
from arena.management.command import ArenaCommand
from judging.endpoints.costs import in_words
from judging.judges.services import JudgeError
from judging.management.commands.judge import amount, away
from judging.models import WritingProgress, WritingRun
from judging.models.writing import errors_of
from judging.runs.committing import retry_until
from judging.worker.arena_client import ArenaClient, ArenaUnreachableError
from judging.writing import services
from judging.writing.wanted import Wanted

POLL_SECONDS = 1.0
PATIENCE = timedelta(minutes=1)  # while the database is away


class RunCommand(ArenaCommand):
    """Estimates, starts and follows a run of a contestant's model."""

    done = "written"
    """What became of a text that was asked for."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="slug of the study")
        parser.add_argument("--contestant", metavar="SLUG", required=True, help="slug of the model there")
        parser.add_argument("--limit", type=int, metavar="N", help="maximum number of answers")
        parser.add_argument(
            "--budget", metavar="AMOUNT", help="maximum cost, in the currency of the model's price"
        )
        parser.add_argument("--dry-run", action="store_true", help="only estimate calls and cost")

    def wanted(self, options: dict[str, Any], limit: int | None, budget: Decimal | None) -> Wanted:
        raise NotImplementedError

    def handle(self, *args: Any, **options: Any) -> None:
        limit, given = options["limit"], amount(options["budget"])
        if limit is not None and limit < 1:
            raise CommandError("The limit must be at least 1.")
        wanted = self.wanted(options, limit, None if given is None else Decimal(given))
        try:
            author = services.author_named(options["study"], options["contestant"])
            for name, value in wanted.in_words(author):
                self.stdout.write(f"{name:<15}{value}")
            if options["dry_run"]:
                return
            check_running()
            run = wanted.start(author)
        except JudgeError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Run {run.pk} of {author.contestant} has begun.")
        try:
            told = self._followed(run)
        except KeyboardInterrupt:
            self.stdout.write(f"\nRun {run.pk} continues in the arena.")
            return
        for why, count in errors_of(run):
            self.stdout.write(f"{count:,} × {why}")
        if not told.is_well:
            raise SystemExit(1)

    def _followed(self, run: WritingRun) -> WritingProgress:
        shown = ""
        while True:
            told = retry_until(lambda: run.progress, timezone.now() + PATIENCE)
            if (said := self._said(told)) != shown:
                self.stdout.write(said)
                self.stdout.flush()
                shown = said
            if not told.left:
                return told
            sleep(POLL_SECONDS)

    def _said(self, told: WritingProgress) -> str:
        parts = [f"{told.ended:,}/{told.wanted:,} done: {told.written:,} {self.done}"]
        counts = {
            "cut at the token limit": told.cut,
            "refused, filtered or empty": told.unanswered,
            "failed": told.failed,
            "had another answer by then": told.left_out,
            "not asked": told.dropped,
            "calls abandoned": told.abandoned,
        }
        parts += [f"{count:,} {words}" for words, count in counts.items() if count]
        if told.cost is not None:
            parts.append(f"cost {in_words(told.cost, told.currency)}")
        return "; ".join(parts)


def check_running() -> None:
    """A broker in memory has no workers but those of the running arena."""
    if not settings.EMBEDDED_WORKER:
        return
    try:
        ArenaClient(operator_token()).get("/studies/")
    except ArenaUnreachableError as error:
        raise away(error) from error
