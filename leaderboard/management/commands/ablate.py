from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from arena.files import output
from arena.management.command import ArenaCommand
from leaderboard.judges.ablation import as_json, as_text, report
from leaderboard.judges.measuring import NothingInCommonError
from leaderboard.stats.checks import StatsError
from leaderboard.terminal.options import add_sampling_options, choice, method_from, names, study_named


class Command(ArenaCommand):
    help = "Compare judges (and people) on the pairs that all these judges rated."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the study's slug")
        parser.add_argument(
            "--judges",
            required=True,
            metavar="A,B,...",
            help="slugs of judges or panels; also people and group:NAME",
        )
        parser.add_argument(
            "--json",
            metavar="FILE",
            help="write JSON to this file (-: standard output)",
        )
        parser.add_argument(
            "--ties",
            default="both",
            metavar="on|off|both",
            help="leaderboard in the table; the JSON has both (default: both)",
        )
        parser.add_argument(
            "--tie-band", metavar="LOW-HIGH", help="ratings that count as ties, such as 3-6 of 8"
        )
        add_sampling_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        method = method_from(options)
        rule = choice(options, "ties", ("on", "off", "both"))
        study = study_named(options["study"])
        try:
            found = report(study, [_selector(name) for name in names(options["judges"])], method)
        except (NothingInCommonError, StatsError) as error:
            raise CommandError(f"{study.slug}: {error}.") from error
        target = options["json"] or ("-" if options["format"] == "json" else "")
        if not target:
            self.stdout.write(as_text(found, ("on", "off") if rule == "both" else (rule,)))
        elif target == "-":
            self.stdout.write(as_json(found))
        else:
            _write(Path(target), as_json(found))


def _selector(name: str) -> str:
    return name if name == "people" or ":" in name else f"judge:{name}"


def _write(path: Path, text: str) -> None:
    try:
        output.save(path, [f"{text}\n".encode()])
    except OSError as error:
        raise CommandError(output.refusal(path, error)) from error
