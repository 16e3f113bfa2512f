from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from arena.management.command import ArenaCommand
from arena.models import Completion
from leaderboard.answers.local_features.measuring import Measuring, Summary
from leaderboard.answers.local_features.model import Dropout, LocalModel, LocalModelError, Wanted
from leaderboard.pages.format import counted
from leaderboard.pages.wording import enumerated
from leaderboard.terminal.options import flag, number, study_named


class Command(ArenaCommand):
    help = "Compute what a language model on this machine says about the answers it has written to a study."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        usual = Dropout()
        parser.add_argument("study", metavar="STUDY", help="the study's slug")
        parser.add_argument("--contestant", required=True, metavar="SLUG", help="the model that wrote them")
        parser.add_argument(
            "--model", required=True, metavar="PATH", help="its folder, as transformers saves it"
        )
        parser.add_argument("--device", default="cpu", metavar="cpu|cuda", help="default: cpu")
        parser.add_argument("--limit", metavar="N", help="at most so many answers (default: all)")
        parser.add_argument(
            "--dropout",
            default=f"{usual.share:g}",
            metavar="P",
            help=f"share of the embeddings to drop in each pass; 0: no passes (default: {usual.share:g})",
        )
        parser.add_argument(
            "--passes",
            default=str(usual.passes),
            metavar="N",
            help=f"passes with dropout (default: {usual.passes})",
        )
        parser.add_argument("--seed", default="0", metavar="N", help="of the first pass (default: 0)")
        parser.add_argument(
            "--no-attention", action="store_true", help="attention takes much memory: leave it out"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study, wanted = study_named(options["study"]), _wanted(options)
        contestant = study.contestants.filter(slug=options["contestant"]).first()
        if contestant is None:
            raise CommandError(f'{study.slug}: there is no model "{options["contestant"]}".')
        limit = _at_least(1, options, "limit")
        folder = Path(options["model"])
        try:
            model = LocalModel(folder, options["device"])
            measuring = Measuring(model, f"local model {folder.resolve().name}", wanted)
            self._report(measuring.all(contestant, limit, self._tell))
        except LocalModelError as error:
            raise CommandError(str(error)) from error

    def _tell(self, number: int, count: int, completion: Completion) -> None:
        self.stderr.write(f"{number + 1:,} of {count:,}: prompt {completion.prompt}")

    def _report(self, summary: Summary) -> None:
        for sentence in summary.too_long:
            self.stderr.write(f"Left out, prompt {sentence}.")
        measured, stored = counted(summary.measured, "answer"), counted(summary.features, "feature")
        others = {
            "measured before": summary.known,
            "without a known text": summary.without_text,
            "too long": len(summary.too_long),
        }
        left = enumerated([f"{number:,} {what}" for what, number in others.items() if number] or [""])
        self.stdout.write(f"{measured} measured, {stored} stored.{f' Others: {left}.' if left else ''}")


def _wanted(options: dict[str, Any]) -> Wanted:
    share = number(options, "dropout", float)
    if not 0 <= share < 1:
        raise CommandError("--dropout must be at least 0 and less than 1.")
    dropout = Dropout(share, _at_least(1, options, "passes"), _at_least(0, options, "seed"))
    return Wanted(dropout if share else None, attention=not options["no_attention"])


def _at_least(least: int, options: dict[str, Any], name: str) -> Any:
    found = number(options, name, int)
    if found is not None and found < least:
        raise CommandError(f"{flag(name)} must be at least {least}.")
    return found
