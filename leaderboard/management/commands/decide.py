import json
import sys
import traceback
from argparse import ArgumentParser
from typing import Any, Final, NoReturn

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from arena.management.command import ArenaCommand
from arena.models import Contestant, Study
from arena.process.environment import UNUSABLE
from leaderboard.head_to_head.measuring import anchored_difference, described, difference_of
from leaderboard.head_to_head.verdict import Decision, MarginError, Verdict, margin_of
from leaderboard.models import Snapshot
from leaderboard.pages.rater_kinds.flags import flag_sentences
from leaderboard.snapshots.reading import opinions
from leaderboard.stats.checks import check_level
from leaderboard.stats.elo import EloParameters
from leaderboard.stats.head_to_head import METHODS
from leaderboard.stats.ranking_method import Method
from leaderboard.terminal.options import choice, failures, number, opinions_chosen, study_named

CODES: Final = {Verdict.BETTER: 0, Verdict.NOT_WORSE: 0, Verdict.WORSE: 1, Verdict.UNDECIDED: 2}
FAILED: Final = UNUSABLE
"""Exit code without an answer, such as for an unknown study, or of a defect."""


class Command(ArenaCommand):
    help = (
        "Tell whether model A is better than B, or not worse by more than a margin. "
        "Exit code 0: better, or not worse; 1: worse; 2: undecided; 3: an error."
    )

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)

        def leave(status: int = 0, message: str | None = None) -> NoReturn:
            sys.stderr.write(message or "")
            sys.exit(FAILED if status else 0)

        parser.exit = leave  # type: ignore[method-assign]
        return parser

    def run_from_argv(self, argv: list[str]) -> None:
        try:
            super().run_from_argv(argv)
        except DatabaseError:
            raise
        except Exception:  # Python's own code would say that A is worse
            traceback.print_exc()
            sys.exit(FAILED)

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except CommandError as error:
            error.returncode = FAILED
            raise

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the study's slug")
        parser.add_argument("first", metavar="A", help="slug or name of a model")
        parser.add_argument("second", metavar="B", help="slug or name of the other model")
        parser.add_argument(
            "--margin", default="0", metavar="D", help="points by which A may be worse (default: 0)"
        )
        parser.add_argument(
            "--raters",
            default="people",
            metavar="people|group:NAME|judge:SLUG|anchored:SLUG",
            help="whose ratings count; anchored: people and a judge together (default: people)",
        )
        parser.add_argument("--category", default="", metavar="NAME", help="only prompts of this category")
        parser.add_argument("--ties", default="on", metavar="on|off", help="default: on")
        parser.add_argument("--method", default="elo", metavar="|".join(METHODS), help="default: elo")
        parser.add_argument("--level", default="95", metavar="PERCENT", help="of the interval (default: 95)")
        parser.add_argument("--k", default="32", metavar="K", help="of elo (default: 32)")
        parser.add_argument(
            "--every-look",
            action="store_true",
            help="use an interval that is valid however often you look",
        )
        parser.add_argument("--format", default="text", metavar="text|json", help="default: text")

    def handle(self, *args: Any, **options: Any) -> None:
        form = choice(options, "format", ("text", "json"))
        study = study_named(options["study"])
        found, cautions = _decision(study, options), _cautions(study, options["raters"])
        if form == "json":
            self.stdout.write(
                json.dumps(found.as_dict() | {"cautions": cautions}, indent=2, ensure_ascii=False)
            )
        else:
            self.stdout.write("\n".join([found.sentence, *(f"Caution: {each}" for each in cautions)]))
        if CODES[found.verdict]:
            sys.exit(CODES[found.verdict])


def _cautions(study: Study, raters: str) -> list[str]:
    """What the page says beside a judge's numbers."""
    selector = raters.replace("anchored:", "judge:", 1)
    snapshot = Snapshot.objects.newest(study)
    return flag_sentences(study, snapshot, selector) if snapshot else []


def _decision(study: Study, options: dict[str, Any]) -> Decision:
    raters, (first, second) = options["raters"], (_name(study, options[each]) for each in ("first", "second"))
    judge = f"judge:{raters.removeprefix('anchored:')}" if raters.startswith("anchored:") else ""
    try:
        margin = margin_of(options["margin"])
    except MarginError as error:
        raise CommandError(str(error)) from error
    with failures(f"{study.slug}, {raters}"):
        level = check_level(number(options, "level", float), "level")
        method = Method(
            choice(options, "method", METHODS),
            ties=choice(options, "ties", ("on", "off")) == "on",
            interval=level,
            elo=EloParameters(k=number(options, "k", float)),
        )
        own, _ = opinions_chosen(study, judge or raters, options["category"])
        if judge:
            read = opinions(study).at().about(options["category"])
            found, games, _ = anchored_difference(read, judge, first, second, method)
        else:
            found, games = difference_of(own, first, second, method)
    return Decision(first, second, described(found, level), games, level, margin, options["every_look"])


def _name(study: Study, wanted: str) -> str:
    contestants = Contestant.objects.filter(study=study)
    found = contestants.filter(slug=wanted).first() or contestants.filter(name=wanted).first()
    if found is None:
        known = ", ".join(contestants.order_by("slug").values_list("slug", flat=True)[:20])
        raise CommandError(f'"{study.slug}" has no model "{wanted}". It has: {known or "none"}.')
    if found.retired_at is not None:
        raise CommandError(f"{found.name} is retired, so it is in no ranking.")
    return str(found.name)
